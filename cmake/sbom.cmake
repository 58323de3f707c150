# SPDX-License-Identifier: LGPL-2.1-or-later
# What the programs are made of, as SPDX 2.3 has it, beside the documentation: the libraries that they
# are linked with, in the versions that they were built with. SOURCE_DATE_EPOCH gives it a date.

string(TIMESTAMP sbom_date "%Y-%m-%dT%H:%M:%SZ" UTC)
set(sbom "SPDXVersion: SPDX-2.3
DataLicense: CC0-1.0
SPDXID: SPDXRef-DOCUMENT
DocumentName: kshark-virt-${PROJECT_VERSION}
DocumentNamespace: https://spdx.org/spdxdocs/kshark-virt-${PROJECT_VERSION}-${CMAKE_SYSTEM_PROCESSOR}
Creator: Tool: kshark-virt-cmake/sbom.cmake
Created: ${sbom_date}

PackageName: kshark-virt
SPDXID: SPDXRef-kshark-virt
PackageVersion: ${PROJECT_VERSION}
PackageDownloadLocation: NOASSERTION
FilesAnalyzed: false
PackageLicenseConcluded: LGPL-2.1-or-later
PackageLicenseDeclared: LGPL-2.1-or-later
PackageCopyrightText: NOASSERTION
PrimaryPackagePurpose: APPLICATION
Relationship: SPDXRef-DOCUMENT DESCRIBES SPDXRef-kshark-virt
")

# kshark_virt_sbom(NAME VERSION LICENCE): a library that is linked
function(kshark_virt_sbom name version licence)
	set(sbom "${sbom}
PackageName: ${name}
SPDXID: SPDXRef-${name}
PackageVersion: ${version}
PackageDownloadLocation: NOASSERTION
FilesAnalyzed: false
PackageLicenseConcluded: NOASSERTION
PackageLicenseDeclared: ${licence}
PackageCopyrightText: NOASSERTION
PrimaryPackagePurpose: LIBRARY
Relationship: SPDXRef-kshark-virt DYNAMIC_LINK SPDXRef-${name}
" PARENT_SCOPE)
endfunction()

kshark_virt_sbom(zlib "${ZLIB_VERSION}" Zlib)
kshark_virt_sbom(libzstd "${ZSTD_VERSION}" "BSD-3-Clause OR GPL-2.0-only")
kshark_virt_sbom(json-c "${JSONC_VERSION}" MIT)
kshark_virt_sbom(cairo "${CAIRO_VERSION}" "LGPL-2.1-only OR MPL-1.1")
kshark_virt_sbom(ncurses "${CURSES_VERSION}" X11-distribute-modifications-variant)
kshark_virt_sbom(libseccomp "${SECCOMP_VERSION}" LGPL-2.1-only)
kshark_virt_sbom(sqlite3 "${SQLITE_VERSION}" blessing)
kshark_virt_sbom(protobuf-c "${PROTOBUFC_VERSION}" BSD-2-Clause)
kshark_virt_sbom(libtraceevent "${TRACEEVENT_VERSION}" LGPL-2.1-only)
kshark_virt_sbom(libtracefs "${TRACEFS_VERSION}" LGPL-2.1-only)
kshark_virt_sbom(libtracecmd "${TRACECMD_VERSION}" LGPL-2.1-only)
if(KSHARK_VIRT_PLUGINS)
	kshark_virt_sbom(libkshark "${KSHARK_VERSION}" LGPL-2.1-only)
	kshark_virt_sbom(qt "${Qt${qt}_VERSION}" LGPL-3.0-only)
endif()
if(BABELTRACE_FOUND)
	kshark_virt_sbom(babeltrace2 "${BABELTRACE_VERSION}" MIT)
endif()
if(XEN_FOUND)
	kshark_virt_sbom(xen-libs "${XEN_xencontrol_VERSION}" LGPL-2.1-only)
endif()

file(CONFIGURE OUTPUT kshark-virt.spdx CONTENT "${sbom}" @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/kshark-virt.spdx DESTINATION ${CMAKE_INSTALL_DOCDIR})
