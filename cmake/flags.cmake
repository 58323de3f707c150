# SPDX-License-Identifier: LGPL-2.1-or-later
# Compiler and linker flags of everything that is built here.

set(KSHARK_VIRT_WARNINGS
	-Wall -Wextra -Wshadow -Wformat=2 -Wundef -Wpointer-arith -Wwrite-strings -Wvla
	-Wimplicit-fallthrough)
set(KSHARK_VIRT_WARNINGS_C
	-Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition)

add_compile_options(${KSHARK_VIRT_WARNINGS} "$<$<COMPILE_LANGUAGE:C>:${KSHARK_VIRT_WARNINGS_C}>")
# Empty, so that a source may define it as well; C++ has it anyway.
add_compile_options("$<$<COMPILE_LANGUAGE:C>:-D_GNU_SOURCE=>")
add_compile_options(-fno-common -fstack-protector-strong)

# What limits the damage of an error in memory; meta.elf reads it in the files that are built. CET is
# of x86, branch protection of arm64.
include(CheckCCompilerFlag)
foreach(flag stack-clash-protection cf-protection=full)
	string(MAKE_C_IDENTIFIER KSHARK_VIRT_HAS_${flag} has)
	check_c_compiler_flag(-f${flag} ${has})
	if(${has})
		add_compile_options(-f${flag})
	endif()
endforeach()
# clang for x86 accepts the flag and warns in each file that it is unused, so the check needs -Werror.
check_c_compiler_flag("-Werror -mbranch-protection=standard" KSHARK_VIRT_HAS_branch_protection)
if(KSHARK_VIRT_HAS_branch_protection)
	add_compile_options(-mbranch-protection=standard)
endif()
# It needs an optimizing compiler. A sanitizer checks more, and intercepts the plain functions only.
string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
if("${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${type}}" MATCHES "-O[1-9sg]" AND NOT KSHARK_VIRT_SANITIZE
		AND NOT KSHARK_VIRT_FUZZ)
	add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
endif()
# Structures are cleared by stores: gcc takes "rep stos" for those of 100 bytes, which takes processors
# longer to begin than all of the stores. Without the flag, report of a KVM host takes 4 % more time.
set(strategy -mmemset-strategy=unrolled_loop:256:noalign,libcall:-1:noalign)
check_c_compiler_flag("-Werror ${strategy}" KSHARK_VIRT_HAS_memset_strategy)
if(KSHARK_VIRT_HAS_memset_strategy)
	add_compile_options("$<$<COMPILE_LANGUAGE:C>:${strategy}>")
endif()
# Where it is built is nobody's business: two builds give the same bytes. gdb finds the sources from
# the top of the tree.
add_compile_options("$<$<CONFIG:RelWithDebInfo,Release,MinSizeRel>:\
-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=;-ffile-prefix-map=${PROJECT_BINARY_DIR}=build>")
if(KSHARK_VIRT_WERROR)
	add_compile_options(-Werror)
endif()

# KernelShark's interfaces return "const int": gcc takes "int" for the same.
if(CMAKE_C_COMPILER_ID MATCHES Clang)
	add_compile_options($<$<COMPILE_LANGUAGE:C>:-Wno-incompatible-function-pointer-types>)
endif()

if(KSHARK_VIRT_FUZZ)
	if(NOT CMAKE_C_COMPILER_ID MATCHES Clang)
		message(FATAL_ERROR "KSHARK_VIRT_FUZZ needs clang (Debian: apt-get install clang "
			"libclang-rt-dev); configure with -DCMAKE_C_COMPILER=clang "
			"-DCMAKE_CXX_COMPILER=clang++ or with --preset asan")
	endif()
	option(KSHARK_VIRT_FUZZ_COVERAGE "Measure coverage for libFuzzer" ON)
	if(KSHARK_VIRT_FUZZ_COVERAGE)
		add_compile_options(-fsanitize=fuzzer-no-link)
	endif()
endif()

if(KSHARK_VIRT_SANITIZE)
	add_compile_options(-fsanitize=${KSHARK_VIRT_SANITIZE} -fno-sanitize-recover=all
		-fno-omit-frame-pointer)
	add_link_options(-fsanitize=${KSHARK_VIRT_SANITIZE})
	# Compilers do not agree on macros for these.
	foreach(sanitizer IN ITEMS address thread)
		if(KSHARK_VIRT_SANITIZE MATCHES ${sanitizer})
			string(TOUPPER KSV_SANITIZE_${sanitizer} macro)
			add_compile_definitions(${macro})
		endif()
	endforeach()
endif()

if(KSHARK_VIRT_COVERAGE)
	# What is inlined would have branches of its own in each caller. Atomic counters would make the
	# tests take several times as long; without, threads that share code may miss a few.
	add_compile_options(--coverage -O1 -fno-inline)
	add_link_options(--coverage)
endif()

add_link_options(-Wl,--as-needed -Wl,-z,relro -Wl,-z,now)
