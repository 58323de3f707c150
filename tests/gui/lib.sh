# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Drive KernelShark as its user does, on an X server of its own, and look at what it shows.
#
# Mouse and keys are xdotool's. What the window says and where to click comes from probe.cpp, which
# is preloaded and only looks; colours come from photographs of the screen, which eye.c takes. Every
# wait is for something to be seen; it gives up when nothing more happens, not when a slow machine takes long.
#
# Artefacts: $KSV_ARTIFACTS/gui-TEST-*.png, gui-TEST.log (all that KernelShark said).
set -euo pipefail

# shellcheck source=../../scripts/display.sh
. "$KSV_SOURCE_DIR/scripts/display.sh"

GUI_NAME=$(basename "$0" .sh)
GUI_SAMPLES=$KSV_SOURCE_DIR/samples
GUI_LOG=$KSV_ARTIFACTS/gui-$GUI_NAME.log
GUI_PATIENCE=${GUI_PATIENCE:-180}
GUI_SCREEN=1640x1060
GUI_SIZE="1600 1000"
# settings: no overlays that cover the strips, as tests compare their colours pixel by pixel; no lanes, for more room
# for the graphs; all parts of the details but the colours
GUI_STRIPS_ONLY=('[overlays]' labels=false arrows=false migrations=false wakeups=false selected=false
	'[lanes]' visible=false '[sections]' clocks=true overlays=true markers=true)
GUI_DIR=$(mktemp -d)
# LD_PRELOAD and KernelShark's option -a are lists that a blank divides.
[[ $GUI_DIR != *[[:space:]]* ]] || { rmdir "$GUI_DIR" && GUI_DIR=$(mktemp -d -p /tmp); }
if [[ $GUI_SAMPLES == *[[:space:]]* ]]; then
	ln -s "$GUI_SAMPLES" "$GUI_DIR/samples"
	GUI_SAMPLES=$GUI_DIR/samples
fi
# what has been started, and KernelShark itself, which may be a child of that
GUI_PID=
GUI_SHARK=
GUI_EYE_PID=
GUI_MAIN=
GUI_PROGRAM=(kernelshark)
# libraries before the probe, each with a colon
GUI_PRELOAD=
# set while KernelShark may end with a question unanswered
GUI_QUITS=
GUI_FAILED=
# when gui_late() looks again, and gui_ran() when it last did
GUI_LOOK=0
GUI_RAN=
# for each the descriptors of its two FIFOs
declare -A GUI_TALK

gui_cleanup()
{
	local status=$?

	trap - EXIT ERR
	[ -z "$GUI_PID" ] || { kill -KILL "$GUI_PID" && wait "$GUI_PID"; } 2>/dev/null || :
	[ -z "$GUI_EYE_PID" ] || { kill "$GUI_EYE_PID" && wait "$GUI_EYE_PID"; } 2>/dev/null || :
	[ -z "${DISPLAY:-}" ] || ksv_display_stop
	rm -rf "$GUI_DIR"
	exit "$status"
}
trap gui_cleanup EXIT
trap 'gui_fail "line $LINENO: $BASH_COMMAND"' ERR
set -E

# gui_fail TEXT: end the test with all there is to see
gui_fail()
{
	trap - ERR
	set +e
	# the questions below may fail, too
	[ -z "$GUI_FAILED" ] || { kill -TERM $$; exit 1; }
	GUI_FAILED=1
	{
		echo "FAILED: $GUI_NAME: $1"
		echo "called from: ${FUNCNAME[*]:1} (lines ${BASH_LINENO[*]})"
		echo "--- $GUI_LOG:"
		tail -n 50 "$GUI_LOG"
		# last, as KernelShark may not answer
		if [ -n "$GUI_PID" ] && gui_runs "$GUI_PID"; then
			import -silent -window root "$KSV_ARTIFACTS/gui-$GUI_NAME-failed.png"
			# in a subshell, the answers may be what the test itself waits for
			[ "$BASHPID" = $$ ] || { kill -TERM $$; exit 1; }
			for what in windows widgets actions items count selected; do
				echo "--- $what:"
				gui_ask "$what" | sed -n 1,150p
			done
		fi
	} >&2
	# also when called in a subshell or a pipeline
	kill -TERM $$
	exit 1
}
trap 'exit 1' TERM

# gui_need COMMAND...: it must succeed
gui_need()
{
	"$@" || gui_fail "not true: $*"
}

# gui_same WHAT WANTED GOT
gui_same()
{
	[ "$2" = "$3" ] || gui_fail "$1: wanted '$2', got '$3'"
}

# gui_runs PID: it has not ended. kill -0 takes one that was not waited for as running, and bash waits for
# its children when it hears of their end, or when it starts another: what it has missed stays.
gui_runs()
{
	local stat

	{ read -r stat <"/proc/$1/stat"; } 2>/dev/null || return
	stat=${stat##*) }
	[ "${stat%% *}" != Z ]
}

gui_alive()
{
	local status=0

	gui_runs "$GUI_PID" && return
	wait "$GUI_PID" || status=$?
	GUI_PID=
	gui_fail "KernelShark ended by itself, status $status"
}

# gui_pause SECONDS: without starting a process
gui_pause()
{
	read -r -t "$1" -u "$GUI_NOTHING" || :
}

# gui_until COMMAND...: wait for it to succeed while KernelShark lives. It asks for long, and often: on a
# machine with a lot of other work, each question takes longer. The pauses grow with the time waited, as
# most questions start processes, which take CPU time from KernelShark.
gui_until()
{
	local end=$((SECONDS + GUI_PATIENCE)) rounds=0 ms=20 pause

	until "$@"; do
		gui_alive
		rounds=$((rounds + 1))
		[ "$SECONDS" -lt "$end" ] || [ "$rounds" -lt $((5 * GUI_PATIENCE)) ] ||
			gui_fail "never came true: $*"
		printf -v pause '0.%03d' "$ms"
		gui_pause "$pause"
		[ "$ms" -ge 200 ] || ms=$((ms + ms / 4))
	done
}

# gui_ran: CPU time so far of KernelShark and of eye.c
gui_ran()
{
	local pid stat fields sum=0

	for pid in $GUI_SHARK $GUI_EYE_PID; do
		{ read -r stat <"/proc/$pid/stat"; } 2>/dev/null || continue
		read -ra fields <<<"${stat##*) }"
		sum=$((sum + fields[11] + fields[12]))
	done
	echo "$sum"
}

# gui_late SINCE: waiting for an answer since then is hopeless: after GUI_PATIENCE, none of both has run for
# 30 s, or they still run after ten times as long
gui_late()
{
	local waited=$((SECONDS - $1)) ran

	[ "$waited" -ge "$GUI_PATIENCE" ] || return 1
	[ "$waited" -lt $((10 * GUI_PATIENCE)) ] || return 0
	[ "$SECONDS" -ge "$GUI_LOOK" ] || return 1
	ran=$(gui_ran)
	[ "$ran" != "$GUI_RAN" ] || return 0
	GUI_RAN=$ran GUI_LOOK=$((SECONDS + 30))
	return 1
}

# ---- looking ----

# gui_hear probe|eye COMMAND: asks it; GUI_SAID is the file with what it says
gui_hear()
{
	local talk=${GUI_TALK[$1]} since=$SECONDS tries=0 pause=0.001

	echo "$2" >&"${talk% *}"
	GUI_SAID=$GUI_DIR/$1.said
	# what arrives just when a read gives up is lost: look first, without reading; most answers come at
	# once, and each test asks for thousands
	until read -r -t 0 -u "${talk#* }"; do
		[ $((++tries)) -lt 20 ] || pause=0.01
		[ "$tries" -lt 50 ] || pause=0.05
		gui_pause "$pause"
		if [ -n "$GUI_QUITS" ] && ! gui_runs "$GUI_PID"; then
			GUI_SAID=/dev/null
			return
		fi
		gui_alive
		! gui_late "$since" || gui_fail "no answer to $2"
	done
	read -r -u "${talk#* }"
}

# gui_ask COMMAND: the probe's answer; its file's head lists the commands
gui_ask()
{
	local lines

	gui_hear probe "$1"
	mapfile lines <"$GUI_SAID"
	printf '%s' "${lines[@]}"
}

# gui_is COMMAND TEXT: the answer is this
gui_is()
{
	gui_hear probe "$1"
	[ "$(<"$GUI_SAID")" = "$2" ]
}

# gui_has COMMAND TEXT: the answer has this in it
gui_has()
{
	gui_hear probe "$1"
	[[ $(<"$GUI_SAID") == *"$2"* ]]
}

# gui_shows COMMAND CLASS TEXT: a line of the answer is of that class, and has this in it. No pipe: who ends it early,
# as "grep -q" and "head" do, has the one that still writes into it fail
gui_shows()
{
	local line

	gui_hear probe "$1"
	while IFS= read -r line; do
		[[ $line != "$2"$'\t'*"$3"* ]] || return 0
	done <"$GUI_SAID"
	return 1
}

gui_has_not()
{
	! gui_has "$@"
}

# gui_shot NAME: photograph the screen into the artefact gui-TEST-NAME.png, and GUI_SHOT
gui_shot()
{
	GUI_SHOT=$KSV_ARTIFACTS/gui-$GUI_NAME-$1.png
	gui_still
	gui_shoot
}

# gui_shoot: photograph the screen as it is now into GUI_SHOT
gui_shoot()
{
	gui_hear eye "shot $GUI_SHOT"
	[ -s "$GUI_SAID" ] || gui_fail "cannot write $GUI_SHOT"
}

# gui_rest: until KernelShark, the window manager and the X server have nothing left to do
gui_rest()
{
	gui_idle "rest $((5 * GUI_PATIENCE))"
}

# gui_still: until nothing moves on the screen: all rest, and for longer than what our plugins put off
# none has run, or without a visible change
gui_still()
{
	gui_idle "still $((5 * GUI_PATIENCE)) 100"
}

# gui_idle COMMAND: of eye.c
gui_idle()
{
	gui_alive
	# An answer comes from the event loop: it goes round.
	gui_hear probe count
	gui_hear eye "$1 ${KSV_DISPLAY_PIDS[*]} $GUI_SHARK"
	gui_same "at rest" yes "$(<"$GUI_SAID")"
}

gui_picture_sum()
{
	gui_hear eye sum
	cat "$GUI_SAID"
}

# gui_picture_changed SUM: the screen is not that any more (of gui_picture_sum)
gui_picture_changed()
{
	[ "$(gui_picture_sum)" != "$1" ]
}

# ---- starting and ending ----

# Compiled once, again when its source is newer; against the Qt that KernelShark has.
gui_build_probe()
{
	local source=$KSV_SOURCE_DIR/tests/gui/probe.cpp qt=Qt5Widgets

	GUI_PROBE=$KSV_BUILD_DIR/gui-probe.so
	[[ $(ldd "$(command -v kernelshark)") != *libQt6Widgets* ]] || qt=Qt6Widgets
	exec {lock}>"$GUI_PROBE.lock"
	flock "$lock"
	if [ ! "$GUI_PROBE" -nt "$source" ]; then
		# shellcheck disable=SC2046
		g++ -std=c++17 -O1 -fPIC -shared -Wall -Wextra $(pkg-config --cflags "$qt") \
			"$source" -o "$GUI_PROBE.new" $(pkg-config --libs "$qt")
		mv "$GUI_PROBE.new" "$GUI_PROBE"
	fi
	exec {lock}>&-
	ln -s "$GUI_PROBE" "$GUI_DIR/probe.so"
	GUI_PROBE=$GUI_DIR/probe.so
}

gui_init()
{
	local who ask answer

	mkdir -p "$KSV_ARTIFACTS"
	rm -f "$KSV_ARTIFACTS/gui-$GUI_NAME"-*.png
	: >"$GUI_LOG"
	gui_build_probe
	mkdir "$GUI_DIR/work"
	for who in probe eye; do
		mkfifo "$GUI_DIR/$who.ask" "$GUI_DIR/$who.answer"
		exec {ask}<>"$GUI_DIR/$who.ask" {answer}<>"$GUI_DIR/$who.answer"
		GUI_TALK[$who]="$ask $answer"
	done
	mkfifo "$GUI_DIR/nothing"
	exec {GUI_NOTHING}<>"$GUI_DIR/nothing"
	ksv_display_start "$GUI_SCREEN"
	KSV_PROBE=$GUI_DIR "$KSV_EYE" </dev/null &
	GUI_EYE_PID=$!
}

# gui_sanitizer: if the plugins have one, its library is loaded into KernelShark before all others. What
# KernelShark and Qt leave behind, or do between their own threads, is not ours to judge.
gui_sanitizer()
{
	local compiler

	GUI_PRELOAD=$(ldd "$KSV_PLUGIN_VIRT" |
		awk '/libtsan\.so/ && $3 ~ /^\// { printf "%s:", $3 }')
	# clang leaves it to the program
	if grep -q __asan_init "$KSV_PLUGIN_VIRT"; then
		compiler=$(sed -n 's/^CMAKE_C_COMPILER:[^=]*=//p' "$KSV_BUILD_DIR/CMakeCache.txt")
		GUI_PRELOAD=$("$compiler" -print-file-name="libclang_rt.asan-$(uname -m).so"):
	fi
	export ASAN_OPTIONS=detect_leaks=0:exitcode=99:handle_abort=1
	export TSAN_OPTIONS=exitcode=99:ignore_noninstrumented_modules=1
	export TSAN_OPTIONS+=:suppressions=$KSV_SOURCE_DIR/tests/crash/tsan.supp
	export UBSAN_OPTIONS=print_stacktrace=1
}

# gui_run ARGUMENT...: start KernelShark, by GUI_PROGRAM, and wait for its window. As there is no
# trace.dat where it is started, it opens nothing by itself.
gui_run()
{
	local who

	# what was asked when the last one ended is not for this one
	GUI_QUITS=
	for who in ${GUI_TALK[probe]}; do
		while read -r -t 0.05 -u "$who"; do
			:
		done
	done
	(
		cd "$GUI_DIR/work"
		KSV_PROBE=$GUI_DIR LD_PRELOAD=$GUI_PRELOAD$GUI_PROBE exec "${GUI_PROGRAM[@]}" "$@"
	) </dev/null >>"$GUI_LOG" 2>&1 &
	GUI_PID=$!
	gui_until gui_has windows "KsMainWindow"
	GUI_SHARK=$(gui_ask pid)
}

# gui_read FILE...: KernelShark began to load each of them, and has come back since
gui_read()
{
	local file

	for file; do
		grep -qF "Loading  \"$file\"" "$GUI_LOG" || return 1
	done
	[ "$(gui_ask windows | wc -l)" = 1 ] && [ "$(gui_ask count)" -gt 0 ]
}

# The main window alone, of full size.
gui_placed()
{
	local class width

	[ "$(gui_ask windows | wc -l)" = 1 ] || return 1
	IFS=$'\t' read -r class _ _ _ width _ < <(gui_ask windows)
	[ "$class" = KsMainWindow ] && [ "$width" = "${GUI_SIZE% *}" ]
}

# gui_fills: the same; it gets its size again if it has got another one since, as its parts came
gui_fills()
{
	gui_placed && return
	# shellcheck disable=SC2086
	xdotool windowsize "$GUI_MAIN" $GUI_SIZE
	return 1
}

# gui_resize WIDTH HEIGHT: the main window, until it is drawn like that
gui_resize()
{
	GUI_SIZE="$1 $2"
	xdotool windowsize "$GUI_MAIN" "$1" "$2"
	gui_until gui_placed
	gui_still
}

# gui_loaded FILE...: until the window shows these files, then let it fill the screen
gui_loaded()
{
	gui_until gui_read "$@"
	GUI_MAIN=$(xdotool search --onlyvisible --name '^Kernel ?Shark' | sed -n 1p)
	# shellcheck disable=SC2086
	xdotool windowmove "$GUI_MAIN" 0 0 windowsize "$GUI_MAIN" $GUI_SIZE windowraise "$GUI_MAIN" \
		windowfocus "$GUI_MAIN"
	gui_until gui_fills
	gui_still
	gui_until gui_fills
	gui_still
}

# gui_open FILE...: start with these xentrace or trace.dat files
gui_open()
{
	local file appended=()

	for file in "${@:2}"; do
		appended+=(-a "$file")
	done
	gui_run -p "$KSV_PLUGIN" "$1" "${appended[@]}"
	gui_loaded "$@"
}

# gui_quit: as the user does; KernelShark must end with status 0
gui_quit()
{
	local status=0 pid=$GUI_PID since=$SECONDS x y w h

	gui_alive
	gui_menu File
	gui_until gui_enabled actions QMenu Quit
	read -r x y w h _ < <(gui_find actions QMenu Quit)
	# the process has gone when the click has been seen
	xdotool mousemove $((x + w / 2)) $((y + h / 2)) click 1
	while gui_runs "$pid"; do
		! gui_late "$since" || gui_fail "KernelShark does not end"
		gui_pause 0.05
	done
	GUI_PID=
	wait "$pid" || status=$?
	gui_same "exit status of KernelShark" 0 "$status"
}

# ---- doing ----

# gui_find COMMAND CLASS TEXT: x y w h state of the first that fits; TEXT is a glob, so is CLASS
gui_find()
{
	local found

	gui_hear probe "find $1"$'\t'"$2"$'\t'"$3"
	read -r found <"$GUI_SAID" && echo "$found"
}

gui_enabled()
{
	local found

	gui_find "$@" >/dev/null && read -r found <"$GUI_SAID" && [[ $found == *\ on* ]]
}

# Release mouse buttons, and continue drags, only after KernelShark has seen the events before: the window
# manager delays a press, and delivers it where the mouse is by then.

# gui_mouse BUTTONS X Y: KernelShark has got this position of the mouse and these buttons
gui_mouse()
{
	gui_hear probe mouse
	[[ $(<"$GUI_SAID") == "$1"$'\t'"$2"$'\t'"$3"$'\t'* ]]
}

# gui_released N: N buttons have been released; or KernelShark has ended, as requested
gui_released()
{
	local n

	gui_hear probe mouse
	IFS=$'\t' read -r _ _ _ n _ <"$GUI_SAID" || return 0
	[ "$n" -ge "$1" ]
}

# gui_clicks X Y N [BUTTON]: click N times in a row, and wait until KernelShark has seen it; what a
# dialog keeps from it, it never sees
gui_clicks()
{
	local before end=$((SECONDS + 5))

	gui_hear probe mouse
	IFS=$'\t' read -r _ _ _ before _ <"$GUI_SAID" || return 0
	xdotool mousemove "$1" "$2" click --repeat "$3" --delay 20 "${4:-1}"
	until gui_released $((before + $3)); do
		[ "$SECONDS" -lt "$end" ] || return 0
		gui_pause 0.005
	done
}

# gui_click_at X Y [BUTTON]
gui_click_at()
{
	gui_clicks "$1" "$2" 1 "${3:-1}"
}

# gui_double_click_at X Y: two clicks that Qt takes for one; on a machine that stalls between them it
# does not, and they are tried again
gui_double_click_at()
{
	local before after end=$((SECONDS + GUI_PATIENCE))

	before=$(gui_ask mouse | cut -f5)
	while
		gui_clicks "$1" "$2" 2
		after=$(gui_ask mouse | cut -f5)
		[ -n "$after" ] && [ "$after" = "$before" ]
	do
		[ "$SECONDS" -lt "$end" ] || gui_fail "no double click at $1 $2"
	done
}

# gui_press_at X Y: a slow click: KernelShark's lists with check boxes mistake press and release for
# each other if they come at once.
gui_press_at()
{
	xdotool mousemove "$1" "$2" mousedown 1
	gui_until gui_mouse 1 "$1" "$2"
	xdotool mouseup 1
	gui_until gui_mouse 0 "$1" "$2"
}

# gui_place COMMAND CLASS TEXT: wait for it until it can be used and stays in its place: sets GUI_X and
# GUI_Y, its middle
gui_place()
{
	gui_until gui_enabled "$@"
	GUI_PLACE=
	gui_until gui_stays "$@"
}

# gui_stays COMMAND CLASS TEXT: where it was when asked before; KernelShark has drawn in between
gui_stays()
{
	local x y w h before=$GUI_PLACE

	read -r x y w h _ < <(gui_find "$@")
	GUI_X=$((x + w / 2)) GUI_Y=$((y + h / 2)) GUI_PLACE="$x $y $w $h"
	[ "$GUI_PLACE" = "$before" ]
}

# gui_click_found COMMAND CLASS TEXT: wait for it, and click on its middle
gui_click_found()
{
	gui_place "$@"
	gui_click_at "$GUI_X" "$GUI_Y"
}

# gui_click CLASS TEXT: a widget of the active window
gui_click()
{
	gui_click_found widgets "$1" "$2"
}

# gui_press CLASS TEXT: the same, held until KernelShark has seen it pressed
gui_press()
{
	gui_place widgets "$@"
	gui_press_at "$GUI_X" "$GUI_Y"
}

# gui_menu TEXT...: through the menus
gui_menu()
{
	local class=QMenuBar text

	for text; do
		gui_click_found actions "$class" "$text"
		class=QMenu
	done
}

# gui_choose TEXT: an item of the open context menu
gui_choose()
{
	gui_click_found actions '*Menu' "$1"
	gui_until gui_no_menu
}

gui_no_menu()
{
	! gui_find actions '*Menu' '*' >/dev/null
}

# gui_dialog CLASS-OR-TITLE: until that window is open and active
gui_dialog()
{
	gui_until gui_has windows "$1"
	gui_until gui_has widgets ''
	gui_until gui_laid_out
	gui_still
}

# gui_laid_out: On a busy machine KernelShark's dialogs may stay laid out for the size they had
# before they were shown, with buttons of one pixel, until they get another size: give them one.
gui_laid_out()
{
	local end=$((SECONDS + 2)) window width height

	gui_still
	gui_squeezed || return 0
	window=$(xdotool getactivewindow)
	read -r width height < <(xdotool getwindowgeometry --shell "$window" |
		sed -n 's/^WIDTH=//p; s/^HEIGHT=//p' | xargs)
	xdotool windowsize "$window" "$width" $((height + 8))
	while gui_squeezed; do
		[ "$SECONDS" -lt "$end" ] || return 1
		gui_pause 0.05
	done
}

gui_squeezed()
{
	gui_ask widgets | awk -F '\t' '$1 == "QPushButton" && $6 < 8 { found = 1 }
		END { exit !found }'
}

gui_main_active()
{
	[ "$(gui_ask windows | wc -l)" = 1 ]
}

# gui_row_menu ROW: the context menu of a row of the list that is on the screen
gui_row_menu()
{
	local x y w h row

	read -r row x y w h < <(gui_ask shown | grep -P "^$1\t") || gui_fail "row $1 is not shown"
	gui_click_at $((x + w / 2)) $((y + h / 2)) 3
	gui_until gui_find actions '*Menu' '*' >/dev/null
}

# gui_file NAME: type a file name into Qt's file dialog
gui_file()
{
	gui_until gui_has windows QFileDialog
	gui_until gui_enabled widgets QLineEdit '*'
	gui_until gui_took_file "$1"
}

# gui_took_file NAME: what is there already may still be dropped, and then nothing is opened: again
gui_took_file()
{
	local end=$((SECONDS + 5))

	# on a busy machine, it may have closed
	gui_has windows QFileDialog || return 0
	gui_typed_file "$1" || return 1
	xdotool key Return
	# or it asks, or complains, which is for the caller
	until gui_not gui_has windows QFileDialog || gui_has windows QMessageBox; do
		[ "$SECONDS" -lt "$end" ] || return 1
		gui_pause 0.05
	done
}

# gui_typed_file NAME: a dialog that is still reading its directory may drop what is typed: again
gui_typed_file()
{
	local end=$((SECONDS + 3)) place x y w h

	# the dialog may end just now, as what has been typed before is taken
	place=$(gui_find widgets QLineEdit '*' || :)
	[ -n "$place" ] && gui_has windows QFileDialog || return 1
	read -r x y w h _ <<<"$place"
	gui_click_at $((x + w / 2)) $((y + h / 2))
	xdotool key ctrl+a type --delay 1 "$1"
	until gui_find widgets QLineEdit "$1" >/dev/null; do
		[ "$SECONDS" -lt "$end" ] || return 1
		gui_pause 0.05
	done
}

# gui_drag X0 Y0 X1 Y1: with the left button
gui_drag()
{
	xdotool mousemove "$1" "$2" mousedown 1
	gui_until gui_mouse 1 "$1" "$2"
	xdotool mousemove $((($1 + $3) / 2)) $((($2 + $4) / 2)) mousemove "$3" "$4"
	gui_until gui_mouse 1 "$3" "$4"
	xdotool mouseup 1
	gui_until gui_mouse 0 "$3" "$4"
}

# gui_combo OLD TEXT: choose TEXT in the combo box that shows OLD
gui_combo()
{
	local down=() line

	[ "$1" != "$2" ] || return 0
	gui_click QComboBox "$1"
	gui_until gui_choice_line "$2" >/dev/null
	# With keys, as the box takes no click in its first moments.
	for ((line = $(gui_choice_line "$2"); line > 1; line--)); do
		down+=(Down)
	done
	xdotool key Home "${down[@]}" Return
	gui_until gui_find widgets QComboBox "$2" >/dev/null
}

# gui_combo_at N: what the Nth combo box from the top shows, counted from 1
gui_combo_at()
{
	gui_ask widgets | awk -F '\t' '$1 == "QComboBox"' | sort -t $'\t' -n -k 4,4 | sed -n "$1p" |
		cut -f2
}

# gui_choice_line TEXT: which line of the open combo box it is, counted from 1
gui_choice_line()
{
	gui_ask choices | cut -f1 | grep -nxF -- "$1" | cut -d: -f1 | grep .
}

# gui_checked TEXT: state of the check box of an item (of the table or tree in use)
gui_checked()
{
	[[ $(gui_find items '*' "$1") == *,checked* ]]
}

# gui_not COMMAND...
gui_not()
{
	! "$@"
}

# gui_toggle ITEM: click on its check box
gui_toggle()
{
	local test=(gui_checked "$1") x y w h

	gui_until gui_enabled items '*' "$1"
	! gui_checked "$1" || test=(gui_not "${test[@]}")
	read -r x y w h _ < <(gui_find items '*' "$1")
	gui_press_at $((x + w / 2)) $((y + h / 2))
	gui_until "${test[@]}"
}

# gui_close BUTTON: end the dialog by it
gui_close()
{
	gui_until gui_enabled widgets QPushButton "$1"
	gui_until gui_closed "$1"
}

# gui_closed BUTTON: a click that comes with another one is lost at times: again
gui_closed()
{
	local end=$((SECONDS + 5))

	! gui_main_active || return 0
	gui_click QPushButton "$1"
	until gui_main_active; do
		[ "$SECONDS" -lt "$end" ] || return 1
		gui_pause 0.05
	done
}

gui_apply()
{
	gui_close Apply
}

# ---- the graphs ----

# gui_split Y: give the graphs all down to this row of the screen, or as much as they need
gui_split()
{
	local x y w h

	read -r x y w h _ < <(gui_find widgets QSplitterHandle '*')
	gui_drag $((x + w / 2)) $((y + h / 2)) $((x + w / 2)) "$1"
	gui_until gui_split_moved "$y"
	gui_still
}

# gui_split_moved Y: the splitter is not there any more, or cannot be moved, as all graphs are seen
gui_split_moved()
{
	local h

	read -r _ _ _ h _ < <(gui_find widgets KsGLWidget '*')
	gui_moved QSplitterHandle "$1" || gui_is graphs "$h"
}

gui_moved()
{
	local y

	read -r _ y _ < <(gui_find widgets "$1" '*') && [ "$y" != "$2" ]
}

# gui_graphs_up: scroll them to the first one; nothing is pointed at
gui_graphs_up()
{
	# the dock may still be about to scroll to a graph that it has brought
	gui_still
	gui_until gui_scrolled_up
	xdotool mousemove 10 10
	gui_still
}

# gui_scrolled_up: by the bar, as the wheel of a mouse does not scroll the graphs of KernelShark 2.4
gui_scrolled_up()
{
	gui_is up 0
}

# gui_graphs: where they are on the screen; sets GUI_X0 and GUI_X1, the first and the last time's
# column, GUI_TOP, the widget's, and GUI_HEIGHT of one graph
gui_graphs()
{
	local x y w h axis

	read -r x y w h _ < <(gui_find widgets KsGLWidget '*')
	GUI_TOP=$y
	GUI_HEIGHT=$((2 * $(gui_ask font)))
	# The axis is a black line 31 pixels below the top, between the labels and the right margin.
	axis=$(gui_pixels "$x" $((y + 31)) "$w" 1 | sed -n '/^#000000$/=')
	[ -n "$axis" ] || gui_fail "there is no time axis in $GUI_SHOT"
	GUI_X0=$((x - 1 + $(head -n 1 <<<"$axis")))
	GUI_X1=$((x - 1 + $(tail -n 1 <<<"$axis")))
}

# gui_base N: the base line's row on the screen, of the Nth graph from the top, counted from 0
gui_base()
{
	echo $((GUI_TOP + 50 + GUI_HEIGHT + $1 * (GUI_HEIGHT + 20)))
}

# gui_pixels X Y W H: colours of the last photograph, #rrggbb, one a line
gui_pixels()
{
	gui_hear eye "pixels $*"
	cat "$GUI_SAID"
}

# gui_count_colour COLOUR X Y W H
gui_count_colour()
{
	gui_pixels "${@:2}" | grep -c "^$1\$" || :
}

# gui_check_graph N FILE cpu|task ID FROM_NS TO_NS [COLOURS]: the Nth graph shows a box wherever it
# must and none where it must not; COLOURS are "pid=#rrggbb ..."
gui_check_graph()
{
	local end=$((SECONDS + GUI_PATIENCE))

	# KernelShark may pause for a moment before it draws again
	until gui_graph_right "$@" >"$GUI_DIR/graph" 2>&1; do
		[ "$SECONDS" -lt "$end" ] || {
			cat "$GUI_DIR/graph"
			gui_fail "graph $1 ($3 $4 of $2) is wrong in $GUI_SHOT"
		}
		gui_still
		gui_shoot
	done
	cat "$GUI_DIR/graph"
}

gui_graph_right()
{
	local base

	base=$(gui_base "$1")
	gui_pixels "$GUI_X0" $((base - 2)) $((GUI_X1 - GUI_X0 + 1)) 1 >"$GUI_DIR/pixels"
	python3 "$KSV_SOURCE_DIR/tests/gui/lib.py" graph "$(gui_csv "$2")" "$3" "$4" "$5" "$6" \
		"$GUI_DIR/pixels" "${@:7}"
}

# ---- what must be there, by kshark-virt dump ----

# gui_csv FILE: name of a file with its rows as CSV
gui_csv()
{
	local csv

	csv=$GUI_DIR/$(basename "$1").csv
	[ -e "$csv" ] || "$KSV_BIN" dump --quiet --format csv "$1" >"$csv"
	echo "$csv"
}

# gui_rows FILE [CONDITION]: the rows of a list of FILE alone, in the form of gui_list; CONDITION is
# a Python expression of pcpu, pid, task, event, info, ns
gui_rows()
{
	python3 "$KSV_SOURCE_DIR/tests/gui/lib.py" rows "$(gui_csv "$1")" "${2:-True}"
}

# gui_list FROM N: rows as they are shown: CPU, time, task, pid, event without its class, info
gui_list()
{
	gui_hear probe "rows $1 $2"
	gui_strip <"$GUI_SAID"
}

# without the number, the latency and the event's class
gui_strip()
{
	LC_ALL=C awk -F '\t' -v OFS='\t' '{ sub(/^[a-z0-9_]*\//, "", $7)
		print $2, $3, $4, $5, $7, $8 }'
}

# gui_check_list FILE [CONDITION]: the list shows exactly these rows
gui_check_list()
{
	gui_rows "$@" >"$GUI_DIR/wanted"
	gui_until gui_is count "$(wc -l <"$GUI_DIR/wanted")"
	gui_list 0 "$(wc -l <"$GUI_DIR/wanted")" >"$GUI_DIR/shown"
	diff "$GUI_DIR/wanted" "$GUI_DIR/shown" | sed -n 1,10p >"$GUI_DIR/differences" || :
	[ ! -s "$GUI_DIR/differences" ] ||
		gui_fail "the list is not that of $*: $(cat "$GUI_DIR/differences")"
}

# gui_colours: "pid=#rrggbb ..." of all tasks, from the open dialog with them
gui_colours()
{
	gui_ask items | awk -F '\t' '{ split($1, cell, " "); printf "%s=%s ", cell[1], $NF }'
}
