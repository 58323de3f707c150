# SPDX-License-Identifier: LGPL-2.1-or-later
# Run by cpack before anything else.
if(NOT CPACK_PACKAGING_INSTALL_PREFIX STREQUAL "/usr")
	message(FATAL_ERROR "This build tree is configured for ${CPACK_PACKAGING_INSTALL_PREFIX}; \
a package needs: cmake --preset package && cmake --build --preset package && \
cpack --config build/package/CPackConfig.cmake")
endif()
