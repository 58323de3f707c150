# SPDX-License-Identifier: LGPL-2.1-or-later
# A Debian package by "cpack", for which the tree has to be configured for /usr: preset "package".

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME kshark-virt)
set(CPACK_PACKAGE_VENDOR "kshark-virt")
set(CPACK_PACKAGE_CONTACT "kshark-virt developers <kshark-virt@example.org>")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "look at virtual machines in KernelShark and on the terminal")
set(CPACK_PACKAGE_DESCRIPTION
"KernelShark shows traces of the Linux kernel as graphs. This package adds
virtual machines to it: traces that xentrace records on Xen hosts, and
traces of KVM hosts beside those of their guests, with what each vCPU did
and what it waited for.
.
The command kshark-virt starts KernelShark with everything that a trace
needs, aligns the clocks of hosts and guests, and prints, compares and
plots the same figures without a screen.
.
The library libkshark-virt, which reads such traces, comes with its
headers.")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR})
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_STRIP_FILES ON)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/package-check.cmake)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/package-docs.cmake)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
	GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
# What the ELF files need comes from dpkg-shlibdeps; kernelshark is started by "kshark-virt view".
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
# Plugins fit the window they were built for, and its Qt, alone: they call functions of its C++ classes,
# which they find in the process, so that dpkg-shlibdeps knows nothing of them.
if(KSHARK_VIRT_PLUGINS)
	string(REGEX MATCH "^([0-9]+)\\.([0-9]+)" release ${KSHARK_VERSION})
	math(EXPR next "${CMAKE_MATCH_2} + 1")
	set(CPACK_DEBIAN_PACKAGE_DEPENDS "kernelshark (>= 2.2), libkshark2 (>= ${release}), \
libkshark2 (<< ${CMAKE_MATCH_1}.${next}~)")
endif()
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "xen-utils-common, trace-cmd, openssh-client")
configure_file(cmake/debian/shlibs package-control/shlibs @ONLY)
configure_file(cmake/debian/triggers package-control/triggers COPYONLY)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
	${PROJECT_BINARY_DIR}/package-control/shlibs
	${PROJECT_BINARY_DIR}/package-control/triggers)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
