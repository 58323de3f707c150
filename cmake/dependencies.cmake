# SPDX-License-Identifier: LGPL-2.1-or-later
# Libraries from outside, as imported targets: their headers count as system headers, whose
# warnings are not ours.

find_package(PkgConfig)
if(NOT PkgConfig_FOUND)
	message(FATAL_ERROR "pkg-config is missing (Debian: apt-get install pkg-config)")
endif()
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

# kshark_virt_require(PREFIX MODULE DEBIAN-PACKAGE): PkgConfig::PREFIX, or an error that helps.
function(kshark_virt_require prefix module package)
	pkg_check_modules(${prefix} IMPORTED_TARGET GLOBAL ${module})
	if(NOT ${prefix}_FOUND)
		message(FATAL_ERROR
			"${module} is missing (Debian: apt-get install ${package})")
	endif()
endfunction()

kshark_virt_require(ZLIB zlib zlib1g-dev)
kshark_virt_require(ZSTD libzstd libzstd-dev)
kshark_virt_require(JSONC json-c libjson-c-dev)
kshark_virt_require(CAIRO cairo-pdf libcairo2-dev)
kshark_virt_require(CURSES ncursesw libncurses-dev)
kshark_virt_require(SECCOMP libseccomp libseccomp-dev)
kshark_virt_require(SQLITE sqlite3 libsqlite3-dev)
kshark_virt_require(PROTOBUFC libprotobuf-c libprotobuf-c-dev)
find_program(PROTOC_C protoc-c)
mark_as_advanced(PROTOC_C)
if(NOT PROTOC_C)
	message(FATAL_ERROR "protoc-c is missing (Debian: apt-get install protobuf-c-compiler)")
endif()
kshark_virt_require(TRACEEVENT libtraceevent libtraceevent-dev)
# libtracecmd.pc asks for it, Debian's libtracecmd-dev does not
kshark_virt_require(TRACEFS libtracefs libtracefs-dev)
kshark_virt_require(TRACECMD libtracecmd libtracecmd-dev)

# Of one version of Xen: only the program that asks Xen itself needs them.
pkg_check_modules(XEN QUIET IMPORTED_TARGET GLOBAL xencontrol xenstore)
if(NOT XEN_FOUND)
	message(STATUS "No kshark-virt-xen-meta, which writes facts from Xen about a recording \
(it needs libxenctrl; Debian: libxen-dev)")
endif()

# CTF, which LTTng writes: without it, such traces are refused with a remedy.
pkg_check_modules(BABELTRACE QUIET IMPORTED_TARGET GLOBAL babeltrace2)
if(NOT BABELTRACE_FOUND)
	message(STATUS "No traces of LTTng (they need babeltrace2; Debian: libbabeltrace2-dev)")
endif()

# top --listen: only its header is needed to build, and the library where the option is used.
pkg_check_modules(MICROHTTPD QUIET libmicrohttpd)
if(NOT MICROHTTPD_FOUND)
	message(STATUS "No 'top --listen' (it needs libmicrohttpd; Debian: libmicrohttpd-dev)")
endif()

# top --in-kernel: what compiles its programs. Only headers of libbpf are used.
find_program(BPF_CLANG clang)
find_program(BPFTOOL bpftool PATHS /usr/sbin /sbin)
find_path(BPF_INCLUDE_DIR bpf/skel_internal.h)
mark_as_advanced(BPF_CLANG BPFTOOL BPF_INCLUDE_DIR)
set(KSHARK_VIRT_BPF OFF)
if(BPF_CLANG AND BPFTOOL AND BPF_INCLUDE_DIR)
	set(KSHARK_VIRT_BPF ON)
else()
	message(STATUS "No 'top --in-kernel' (it needs clang, bpftool and libbpf's headers; Debian: \
clang bpftool libbpf-dev)")
endif()

if(KSHARK_VIRT_TESTS STREQUAL AUTO)
	pkg_check_modules(CMOCKA QUIET IMPORTED_TARGET GLOBAL cmocka)
	pkg_check_modules(X11 QUIET IMPORTED_TARGET GLOBAL x11)
	# a normal variable: the next run looks again
	if(PROJECT_IS_TOP_LEVEL AND CMOCKA_FOUND AND X11_FOUND)
		set(KSHARK_VIRT_TESTS ON)
	else()
		set(KSHARK_VIRT_TESTS OFF)
		message(STATUS "No tests (they need cmocka and x11; Debian: libcmocka-dev libx11-dev)")
	endif()
elseif(KSHARK_VIRT_TESTS)
	kshark_virt_require(CMOCKA cmocka libcmocka-dev)
	kshark_virt_require(X11 x11 libx11-dev)
endif()

# Not by pkg-config: libkshark.pc requires libtracecmd's, which libkshark-dev does not pull in and
# which nothing here needs.
if(KSHARK_VIRT_PLUGINS)
	find_path(KSHARK_INCLUDE_DIR libkshark.h PATH_SUFFIXES kernelshark)
	find_library(KSHARK_LIBRARY kshark)
	mark_as_advanced(KSHARK_INCLUDE_DIR KSHARK_LIBRARY)
	set(hint "(Debian: apt-get install libkshark-dev; or build without the KernelShark \
plugins: -DKSHARK_VIRT_PLUGINS=OFF)")
	if(NOT KSHARK_INCLUDE_DIR OR NOT KSHARK_LIBRARY)
		message(FATAL_ERROR "libkshark is missing ${hint}")
	endif()
	file(STRINGS ${KSHARK_INCLUDE_DIR}/KsCmakeDef.hpp version REGEX KS_VERSION_STRING)
	string(REGEX MATCH "[0-9.]+" KSHARK_VERSION "${version}")
	if(KSHARK_VERSION VERSION_LESS 2.2)
		message(FATAL_ERROR
			"KernelShark ${KSHARK_VERSION} is too old, 2.2 is needed ${hint}")
	endif()
	if(KSHARK_VERSION VERSION_GREATER_EQUAL 2.5)
		message(WARNING "KernelShark ${KSHARK_VERSION} is newer than what these plugins "
			"were tried with, 2.2.1 and 2.4.0: classes of its window may have changed")
	endif()
	message(STATUS "Found KernelShark ${KSHARK_VERSION}: ${KSHARK_LIBRARY}")

	add_library(KernelShark::kshark UNKNOWN IMPORTED GLOBAL)
	set_target_properties(KernelShark::kshark PROPERTIES
		IMPORTED_LOCATION ${KSHARK_LIBRARY}
		INTERFACE_INCLUDE_DIRECTORIES ${KSHARK_INCLUDE_DIR}
		INTERFACE_LINK_LIBRARIES PkgConfig::JSONC)

	# The installed window is linked to a Qt, 2.2's to Qt 5, 2.4's to Qt 6: ours has to be the same, as
	# both share a process. It is found by its file's name, as Debian's link for developers leads
	# nowhere with 2.4, whose soname has the full version.
	get_filename_component(dir ${KSHARK_LIBRARY} DIRECTORY)
	foreach(part gui plot)
		file(GLOB files LIST_DIRECTORIES false ${dir}/libkshark-${part}.so.*)
		list(SORT files COMPARE NATURAL ORDER DESCENDING)
		set(KSHARK_${part}_LIBRARY)
		if(files)
			list(GET files 0 KSHARK_${part}_LIBRARY)
		endif()
	endforeach()
	if(NOT KSHARK_gui_LIBRARY OR NOT KSHARK_plot_LIBRARY)
		message(FATAL_ERROR "libkshark-gui and libkshark-plot, which are KernelShark's window, "
			"are missing in ${dir} (Debian: apt-get install libkshark2)")
	endif()
	execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${KSHARK_gui_LIBRARY}
		OUTPUT_VARIABLE needed RESULT_VARIABLE status)
	string(REGEX MATCH "NEEDED +libQt([0-9]+)Widgets" qt "${needed}")
	set(qt "${CMAKE_MATCH_1}")
	if(NOT qt MATCHES "^[56]$")
		message(FATAL_ERROR "${KSHARK_gui_LIBRARY}: the version of Qt that it needs is unknown, "
			"or it is neither 5 nor 6 ('${CMAKE_OBJDUMP} -p': ${status}, Qt '${qt}')")
	endif()
	# QOpenGLWidget has a library of its own in Qt 6
	set(components_of_qt5 Widgets)
	set(components_of_qt6 Widgets OpenGLWidgets)
	find_package(Qt${qt} QUIET COMPONENTS ${components_of_qt${qt}})
	if(NOT Qt${qt}_FOUND)
		set(package_of_qt5 qtbase5-dev)
		set(package_of_qt6 qt6-base-dev)
		message(FATAL_ERROR "Qt ${qt} is missing: KernelShark ${KSHARK_VERSION} is linked to "
			"it, and would crash with plugins that have another one "
			"(Debian: apt-get install ${package_of_qt${qt}}; or build without the "
			"KernelShark plugins: -DKSHARK_VIRT_PLUGINS=OFF)")
	endif()
	message(STATUS "Qt of its window: ${Qt${qt}_VERSION}")
	add_library(KernelShark::qt INTERFACE IMPORTED GLOBAL)
	list(TRANSFORM components_of_qt${qt} PREPEND Qt${qt}::)
	target_link_libraries(KernelShark::qt INTERFACE ${components_of_qt${qt}})
	add_library(KernelShark::window INTERFACE IMPORTED GLOBAL)
	target_link_libraries(KernelShark::window INTERFACE
		KernelShark::qt -Wl,--no-as-needed ${KSHARK_gui_LIBRARY} ${KSHARK_plot_LIBRARY})
	find_path(GLU_INCLUDE_DIR GL/glu.h)
	mark_as_advanced(GLU_INCLUDE_DIR)
	if(NOT GLU_INCLUDE_DIR)
		message(FATAL_ERROR "GL/glu.h, which KernelShark's headers include, is missing \
(Debian: apt-get install libglu1-mesa-dev)")
	endif()
endif()
