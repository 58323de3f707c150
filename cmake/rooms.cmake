# SPDX-License-Identifier: LGPL-2.1-or-later
# The rooms of the sources, and what each may include: its own headers, those of the rooms that it
# needs, and of those that they need. Nothing else is found by the compiler. Rooms are named by their
# folders and come in the order of dependence: one needs only rooms above it (meta.rooms checks it).

# ksv_room(FOLDER [NEEDED-FOLDER...])
function(ksv_room folder)
	string(REPLACE "/" "-" name ${folder})
	add_library(room-${name} INTERFACE)
	target_include_directories(room-${name} INTERFACE
		$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/${folder}>)
	foreach(need IN LISTS ARGN)
		string(REPLACE "/" "-" need ${need})
		target_link_libraries(room-${name} INTERFACE room-${need})
	endforeach()
endfunction()

# ksv_objects(TARGET FOLDER SOURCE...): sources of one room, compiled once, for all targets that
# take $<TARGET_OBJECTS:TARGET>. Calls inside need no indirection: no program is meant to replace functions.
function(ksv_objects target folder)
	list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/${folder}/)
	string(REPLACE "/" "-" room ${folder})
	add_library(${target} OBJECT ${ARGN})
	target_compile_options(${target} PRIVATE -fno-semantic-interposition)
	target_link_libraries(${target} PUBLIC room-${room})
endfunction()

# ksv_bpf(TARGET FOLDER NAME.bpf.c): programs for the kernel, and the header NAME.lskel.h, which loads them without a
# library and has no paths of this machine. TARGET's sources include it.
function(ksv_bpf target folder source)
	set(from ${PROJECT_SOURCE_DIR}/${folder})
	set(to ${CMAKE_CURRENT_BINARY_DIR}/${target})
	string(REPLACE ".bpf.c" "" name ${source})
	if(CMAKE_LIBRARY_ARCHITECTURE)
		set(asm -I/usr/include/${CMAKE_LIBRARY_ARCHITECTURE})
	endif()
	file(MAKE_DIRECTORY ${to})
	add_custom_command(OUTPUT ${to}/${name}.lskel.h
		COMMAND ${BPF_CLANG} -target bpf -mcpu=v3 -O2 -g -Wall -Werror ${asm}
			-ffile-prefix-map=${PROJECT_SOURCE_DIR}/= -fdebug-compilation-dir=.
			-MD -MF ${to}/${name}.d -MT ${to}/${name}.lskel.h
			-c ${from}/${source} -o ${to}/${name}.o
		COMMAND ${BPFTOOL} gen skeleton -L ${to}/${name}.o name ${name}_program
			> ${to}/${name}.lskel.h
		DEPENDS ${from}/${source} DEPFILE ${to}/${name}.d VERBATIM)
	target_sources(${target} PRIVATE ${to}/${name}.lskel.h)
	target_include_directories(${target} SYSTEM PRIVATE ${to})
endfunction()

# ksv_hide(TARGET...): what nobody outside of the file that it is linked into can see
function(ksv_hide)
	set_target_properties(${ARGN} PROPERTIES
		C_VISIBILITY_PRESET hidden
		CXX_VISIBILITY_PRESET hidden
		VISIBILITY_INLINES_HIDDEN ON)
endfunction()

# ksv_readout_plugin(PLUGIN): one that reads a kind of files for KernelShark. It exports KernelShark's entry
# points only, which are marked in the source.
function(ksv_readout_plugin plugin)
	set(map ${PROJECT_SOURCE_DIR}/cmake/readout-plugin.map)
	target_link_options(${plugin} PRIVATE -Wl,--version-script=${map})
	set_target_properties(${plugin} PROPERTIES
		LINKER_LANGUAGE C
		LINK_DEPENDS ${map}
		PREFIX ""
		LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${KSHARK_VIRT_PLUGIN_SUBDIR}
		INSTALL_RPATH "${KSHARK_VIRT_PLUGIN_RPATH}")
	install(TARGETS ${plugin} DESTINATION ${KSHARK_VIRT_PLUGIN_SUBDIR})
endfunction()

ksv_room(virt/base)
ksv_room(hypertrace/wire)
ksv_room(virt/model virt/base)
ksv_room(virt/irq virt/model)
ksv_room(virt/why virt/model)
ksv_room(virt/clock virt/irq)
ksv_room(virt/inside virt/model)
ksv_room(virt/registry virt/inside)
ksv_room(hypertrace/dialect virt/base hypertrace/wire)
ksv_room(hypertrace/guest hypertrace/dialect)
ksv_room(xen-input/file virt/base)
ksv_room(xen-input/events xen-input/file virt/model)
ksv_room(xen-input/trace xen-input/events)
ksv_room(xen-input/tracker xen-input/trace)
ksv_room(kvm-combo/tracker virt/model)
ksv_room(kvm-combo/live virt/base)
ksv_room(kvm-combo/monitor virt/base)
ksv_room(kvm-combo/file kvm-combo/tracker virt/clock hypertrace/dialect)
ksv_room(kvm-combo/foreign kvm-combo/file)
ksv_room(tools/convert kvm-combo/foreign)
ksv_room(tools/read kvm-combo/file)
ksv_room(host xen-input/tracker kvm-combo/file kvm-combo/monitor hypertrace/guest virt/inside virt/why)
ksv_room(tools/cmd xen-input/trace)
ksv_room(tools/input tools/cmd host kvm-combo/foreign)
ksv_room(tools/io tools/cmd)
ksv_room(tools/html tools/io)
ksv_room(tools/table tools/io virt/model)
ksv_room(tools/figure tools/io virt/model)
ksv_room(tools/answer tools/io host)
ksv_room(plugins/shapes virt/irq virt/inside virt/why)
ksv_room(plugins/shared plugins/shapes virt/clock virt/registry)
ksv_room(plugins/clocks plugins/shared host)
ksv_room(plugins/dock plugins/clocks tools/figure tools/answer)
ksv_room(plugins/draw plugins/dock)
ksv_room(xen-input/plugin xen-input/tracker plugins/shared)
ksv_room(hypertrace/plugin plugins/shared host)
ksv_room(kvm-combo/plugin kvm-combo/file plugins/shared xen-input/trace)
ksv_room(kvm-combo/input kvm-combo/monitor plugins/shared)
ksv_room(kvm-combo/lttng kvm-combo/foreign plugins/shared)
ksv_room(tools/model tools/input)
ksv_room(tools/window tools/model tools/table)
ksv_room(tools/results tools/table tools/figure)
ksv_room(tools/recorder tools/io host kvm-combo/live)
ksv_room(tools/database tools/window)
ksv_room(tools/cut tools/window)
ksv_room(tools/align tools/model tools/table)
ksv_room(tools/check tools/model tools/table)
ksv_room(tools/compare tools/results tools/window)
ksv_room(tools/diff tools/window)
ksv_room(tools/dump tools/model tools/table)
ksv_room(tools/export tools/database)
ksv_room(tools/migration tools/window)
ksv_room(tools/plot tools/model tools/figure tools/table)
ksv_room(tools/query tools/database)
ksv_room(tools/record tools/recorder)
ksv_room(tools/report tools/window tools/html tools/answer)
ksv_room(tools/rollup tools/window)
ksv_room(tools/self-test tools/table tools/recorder)
ksv_room(tools/split tools/cut)
ksv_room(tools/study tools/results tools/recorder)
ksv_room(tools/top tools/window tools/recorder)
ksv_room(tools/view tools/cut)
ksv_room(tools/why tools/model tools/figure tools/answer tools/table)
ksv_room(tools/xen-meta virt/base)
