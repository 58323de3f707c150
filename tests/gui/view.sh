# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# "Copy > View command" opens the window again as it is: time, markers, figures from A to B, page, vCPU, pCPU and task,
# graphs, and how far they are scrolled. Of one file, of a KVM pair, of a part of a trace.dat, and of a window.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"
. "$(dirname "$0")/lib_combo.sh"

# state: what a user sees of all that is to come back
state()
{
	local page

	for page in Events vCPUs Worst Histograms Exits Steal Why Bookmarks Search; do
		! virt_on_page "$page" || echo "page $page"
	done
	gui_ask widgets | awk -F '\t' '$1 == "QLabel" && $2 ~ /^<b>|^<i>Nothing selected/ { print $2 }' | head -n 1
	virt_markers
	gui_find widgets QToolButton Visible >/dev/null && echo 'figures from A to B' || echo 'figures of what is in sight'
	! virt_on_page Why || gui_combo_at 1
	gui_ask graphs
}

# again_of NAME...: the same for files of these names in some folder
again_of()
{
	gui_until all_read "$@"
	gui_loaded
	gui_until virt_window
	again
	gui_until all_read "$@"
}

all_read()
{
	local name

	for name; do
		grep -q "Loading  \".*/$name\"" "$GUI_LOG" || return 1
	done
}

# again FILE...: the command that is copied brings the same view in a new KernelShark; sets COMMAND
again()
{
	local file opened=()

	gui_still
	virt_window
	from=$VIRT_FROM to=$VIRT_TO
	state >"$GUI_DIR/before"
	virt_copy 'View command'
	COMMAND=$(<"$GUI_DIR/copied")
	echo "$COMMAND"
	gui_same 'lines of the command' 1 "$(wc -l <"$GUI_DIR/copied")"
	gui_shot "$NAME-before"
	gui_quit
	: >"$GUI_LOG"
	GUI_PROGRAM=(bash -c "exec ${COMMAND/#kshark-virt/$KSV_BIN}")
	gui_run
	for file; do
		opened+=("$file")
	done
	gui_loaded "${opened[@]}"
	gui_until virt_same_window "$from" "$to"
	gui_until is_as_before
	gui_shot "$NAME-after"
}

is_as_before()
{
	gui_still
	state >"$GUI_DIR/after"
	diff "$GUI_DIR/before" "$GUI_DIR/after" >"$KSV_ARTIFACTS/gui-$GUI_NAME-difference"
}

# nothing_read: no process reads a trace for the dock
nothing_read()
{
	! pgrep -P "$GUI_SHARK" >/dev/null
}

# open_whose: the list of vCPUs, pCPUs and tasks of the page Why
open_whose()
{
	gui_click QComboBox 'Selected vCPU'
	gui_until gui_choice_line 'Selected vCPU' >/dev/null
}

close_whose()
{
	xdotool key Escape
	gui_until gui_is choices ''
}

graphs_scrolled()
{
	[ "$(gui_ask scrolled)" -gt 0 ]
}

# has TEXT...: the command has each
has()
{
	local text

	for text; do
		[[ $COMMAND == *"$text"* ]] || gui_fail "the command has no '$text': $COMMAND"
	done
}

gui_init

# one file: a vCPU, the worst moments, a time that is selected
NAME=xen
file=$GUI_SAMPLES/migration.xen
combo_view "$file"
gui_click_found items '*' 'd1v0 | *'
gui_shot first
gui_graphs
x0=$((GUI_X0 + (GUI_X1 - GUI_X0) / 4)) x1=$((GUI_X0 + (GUI_X1 - GUI_X0) / 2)) y=$(($(gui_base 0) - 5))
xdotool keydown shift
gui_drag "$x0" "$y" "$x1" "$y"
xdotool keyup shift
gui_until gui_find widgets QLabel 'A to B: *' >/dev/null
virt_page Worst
again "$file"
has ' --a-to-b' ' --page worst' ' --select d1v0' ' --graphs cpu0' ",task" " $file"

# what it says is known anew, not kept from the command before
gui_click QToolButton "×"
gui_until gui_find widgets QLabel 'Visible: *' >/dev/null
virt_page Why
gui_combo 'Selected vCPU' 'pCPU 1'
xdotool key w
again "$file"
has ' --page why' ' --select pcpu1'
gui_need gui_not grep -q -- '--mark\|--a-to-b' "$GUI_DIR/copied"
gui_quit

# a pair, given by relative names: combos, a task of the guest, scrolled graphs
NAME=pair
cd "$GUI_SAMPLES"
combo_view "$GUI_SAMPLES/kvm-host.dat" "$GUI_SAMPLES/kvm-guest.dat"
touch "$GUI_DIR/hold"
virt_page Why
gui_until test -e "$GUI_DIR/held"
# a list that is open while its tasks become known does not change, but has them when it is opened again
open_whose
rm "$GUI_DIR/hold"
gui_until nothing_read
gui_still
task_of_guest() { gui_ask choices | cut -f1 | sed -n '/^kvm-guest.dat: /{p;q}'; }
gui_same "tasks of the guest in the open list" '' "$(task_of_guest)"
close_whose
gui_still
open_whose
task=$(task_of_guest)
close_whose
gui_need [ -n "$task" ]
gui_combo 'Selected vCPU' "$task"
gui_still
# on the bar: the graphs of KernelShark 2.4 do not scroll by the wheel
gui_split 400
read -r x y w h _ < <(gui_find widgets KsGLWidget '*')
xdotool mousemove $((x + w + 7)) $((y + h / 4)) click 5
gui_until graphs_scrolled
again "$GUI_SAMPLES/kvm-host.dat" "$GUI_SAMPLES/kvm-guest.dat"
has " --select 2:task${task##*-} " ' --graphs 1:' ' --scroll '
# as far as there is something to scroll: the graphs have more room now
read -r _ _ _ h _ < <(gui_find widgets KsGLWidget '*')
[ "$(gui_ask graphs)" -le "$h" ] || gui_need graphs_scrolled
gui_need gui_not grep -q -- --no-combos "$GUI_DIR/copied"
gui_quit

# parts of a trace.dat are files that go with KernelShark: the command makes them again
NAME=part
: >"$GUI_LOG"
GUI_PROGRAM=("$KSV_BIN" view)
gui_run --from 1794 --to 1795 "$GUI_SAMPLES/kvm-host.dat" "$GUI_SAMPLES/kvm-guest.dat"
again_of kvm-host.dat kvm-guest.dat
has ' --from 1794000000000ns --to 1795000000000ns ' " $GUI_SAMPLES/kvm-host.dat $GUI_SAMPLES/kvm-guest.dat"
gui_quit

# a window of a xentrace file, of which the user has loaded the next
NAME=window
export XDG_CACHE_HOME=$GUI_DIR/cache
: >"$GUI_LOG"
GUI_PROGRAM=("$KSV_BIN" view)
gui_run --from 1 --to 2 "$GUI_SAMPLES/pinned.xen"
gui_until gui_find widgets QLabel 'Loaded: pinned.xen from 1.000 *' >/dev/null
gui_loaded
gui_until virt_window
gui_click QPushButton Later
gui_until gui_find widgets QLabel 'Loaded: pinned.xen from 2.000 *' >/dev/null
again
has ' --from 2000000000ns --to 3000000000ns ' " $GUI_SAMPLES/pinned.xen"
gui_need gui_find widgets QLabel 'Loaded: pinned.xen from 2.000 *' >/dev/null

# what cannot be is said
gui_quit
combo_view --select d9v0 --page worst "$file"
gui_until gui_find widgets QLabel '*--select d9v0: there is no such vCPU*' >/dev/null
gui_need virt_on_page Worst
gui_quit
