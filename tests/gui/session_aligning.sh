# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sessions while the dock aligns clocks: saved, restored in each way, and KernelShark ended. A session
# shows what was saved: an alignment that was begun before it is restored does not change its clocks. The
# alignment waits in probe.cpp, so that it goes on for certain.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"
. "$(dirname "$0")/lib_combo.sh"

# clock TEXT: the dock says so (a glob)
clock()
{
	gui_find widgets QLabel "$1" >/dev/null
}

# align: begin to, and get no further
align()
{
	rm -f "$GUI_DIR/held"
	touch "$GUI_DIR/hold"
	# the text about the clock comes later, and moves the button
	gui_still
	gui_click QPushButton Align
	gui_until clock 'Aligning ...'
	gui_until test -e "$GUI_DIR/held"
}

# go_on: the alignment does
go_on()
{
	rm "$GUI_DIR/hold"
}

# quit: while it is aligned; KernelShark's window is gone first, and then waits for its threads
quit()
{
	local pid=$GUI_PID status=0 x y w h

	gui_menu File
	gui_until gui_enabled actions QMenu Quit
	read -r x y w h _ < <(gui_find actions QMenu Quit)
	# the process has gone when the click has been seen
	xdotool mousemove $((x + w / 2)) $((y + h / 2)) click 1
	gui_until window_gone
	gui_runs "$pid" || gui_fail 'KernelShark has not waited for what it was doing'
	go_on
	wait "$pid" || status=$?
	GUI_PID=
	gui_same 'exit status of KernelShark' 0 "$status"
}

window_gone()
{
	local said

	# with complaints of one that closes at the same time
	said=$(xdotool search --onlyvisible --name '^Kernel ?Shark' 2>&1) || :
	[ -z "$said" ]
}

# saved: the session that the dock is in
saved()
{
	gui_menu File Sessions 'Export Session'
	gui_file "$session"
	gui_until test -s "$session"
	gui_until gui_main_active
}

# as_saved WHERE: window, markers and the guest's clock are those of the session
as_saved()
{
	gui_until same_markers
	gui_until virt_same_window "${window[@]}"
	gui_same "$1: offset" 0 "$(offset)"
	gui_same "$1: the guest's first row" "$first" "$(gui_ask 'of 1 1 4')"
	gui_shot "${1// /-}"
}

same_markers()
{
	[ "$(virt_markers)" = "$markers" ]
}

# each_way FILE...: of a KVM host, its guest, and others
each_way()
{
	# saved, and ended
	combo_view "$@"
	gui_until clock 'Clock as recorded*'
	gui_click_found items '*' 'g1v0 | *'
	gui_click QToolButton Worst
	gui_click QPushButton 'Next worst'
	gui_still
	align
	saved
	gui_until virt_window
	window=("$VIRT_FROM" "$VIRT_TO") markers=$(virt_markers) first=$(gui_ask 'of 1 1 4') rows=$(gui_ask count)
	gui_need [ "$(grep -c '[0-9]' <<<"$markers")" = 2 ]
	gui_need clock 'Aligning ...'
	gui_shot before
	quit

	# restored by the command line; what was not finished has changed nothing
	gui_run -s "$session"
	gui_loaded "$@"
	gui_until clock 'Clock as recorded*'
	as_saved 'by argument'

	# imported
	align
	gui_click QPushButton '- -'
	gui_menu File Sessions 'Import Session'
	gui_file "$session"
	gui_still
	as_saved 'imported'
	go_on
	gui_until clock '*Not aligned: *reloaded*'
	gui_until gui_enabled widgets QPushButton Align
	as_saved 'imported and gone on'

	# it can be aligned as ever
	gui_click QPushButton Align
	gui_until clock 'Aligned with *'
	# what the dock shows about the graphs comes later, and moves the button
	gui_still
	gui_click QPushButton Undo
	gui_until clock 'Clock as recorded*'
	align
	quit

	# the last one, over other files
	cp "$session" "$KS_USER_CACHE_DIR/lastsession.json"
	combo_view "$GUI_SAMPLES/kvm-migration.dat" "$GUI_SAMPLES/kvm-migration-g1.dat"
	align
	gui_menu File Sessions 'Restore Last Session'
	gui_until gui_is count "$rows"
	gui_still
	as_saved 'last one'
	go_on
	gui_until gui_enabled widgets QPushButton Align
	as_saved 'last one and gone on'
	gui_quit
}

gui_init
cp "$GUI_SAMPLES"/kvm-nosync.dat "$GUI_SAMPLES"/kvm-nosync-g1.dat "$GUI_SAMPLES"/hvm-exits.xen "$GUI_DIR"
host=$GUI_DIR/kvm-nosync.dat guest=$GUI_DIR/kvm-nosync-g1.dat session=$GUI_DIR/session.json
# a trace of Xen beside them; alone, it has no clock to be aligned
each_way "$host" "$guest" "$GUI_DIR/hvm-exits.xen"
