# SPDX-License-Identifier: LGPL-2.1-or-later
# Run by cpack on the installed files: what Debian's policy wants in every package.
set(top ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share)
set(doc ${top}/doc/${CPACK_PACKAGE_NAME})
file(MAKE_DIRECTORY ${doc})
file(COPY ${CMAKE_CURRENT_LIST_DIR}/debian/copyright DESTINATION ${doc})
set(overrides ${top}/lintian/overrides)
file(MAKE_DIRECTORY ${overrides})
configure_file(${CMAKE_CURRENT_LIST_DIR}/debian/overrides ${overrides}/${CPACK_PACKAGE_NAME} COPYONLY)
# Debian 13's lintian has a tag for what appstreamcli says, which is that the project has no domain and no
# page in the internet. That of 12 takes its name for a mistake.
cmake_host_system_information(RESULT debian QUERY DISTRIB_VERSION_ID)
if(NOT debian OR debian VERSION_GREATER_EQUAL 13)
	file(APPEND ${overrides}/${CPACK_PACKAGE_NAME}
		"${CPACK_PACKAGE_NAME}: appstream-metadata-validation-failed *\n")
endif()
# A native package's changelog, with this version on top.
set(version ${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
set(CONTACT ${CPACK_PACKAGE_CONTACT})
configure_file(${CMAKE_CURRENT_LIST_DIR}/debian/changelog ${doc}/changelog.Debian @ONLY)
file(GLOB files ${top}/man/man*/*.[0-9] ${doc}/changelog.Debian)
foreach(file IN LISTS files)
	execute_process(COMMAND gzip -9nf ${file} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(GLOB files ${top}/man/man*/* ${doc}/* ${overrides}/*)
file(CHMOD ${files} FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
