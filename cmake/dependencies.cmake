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
kshark_virt_require(TRACEEVENT libtraceevent libtraceevent-dev)
# libtracecmd.pc asks for it, Debian's libtracecmd-dev does not
kshark_virt_require(TRACEFS libtracefs libtracefs-dev)
kshark_virt_require(TRACECMD libtracecmd libtracecmd-dev)

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
	if(KSHARK_VERSION VERSION_GREATER_EQUAL 2.3)
		message(FATAL_ERROR
			"KernelShark ${KSHARK_VERSION} has Qt 6, these plugins Qt 5 ${hint}")
	endif()
	message(STATUS "Found KernelShark ${KSHARK_VERSION}: ${KSHARK_LIBRARY}")

	add_library(KernelShark::kshark UNKNOWN IMPORTED GLOBAL)
	set_target_properties(KernelShark::kshark PROPERTIES
		IMPORTED_LOCATION ${KSHARK_LIBRARY}
		INTERFACE_INCLUDE_DIRECTORIES ${KSHARK_INCLUDE_DIR}
		INTERFACE_LINK_LIBRARIES PkgConfig::JSONC)

	# The Qt that KernelShark 2.2 has; its version must be the host's, as both share a process.
	find_package(Qt5Widgets QUIET)
	if(NOT Qt5Widgets_FOUND)
		message(FATAL_ERROR "Qt 5 is missing (Debian: apt-get install qtbase5-dev; or \
build without the KernelShark plugins: -DKSHARK_VIRT_PLUGINS=OFF)")
	endif()
	find_path(GLU_INCLUDE_DIR GL/glu.h)
	mark_as_advanced(GLU_INCLUDE_DIR)
	if(NOT GLU_INCLUDE_DIR)
		message(FATAL_ERROR "GL/glu.h, which KernelShark's headers include, is missing \
(Debian: apt-get install libglu1-mesa-dev)")
	endif()
endif()
