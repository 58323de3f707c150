# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# KernelShark on an X server of its own: start, wait for what is seen, photograph. To be sourced.

KSV_DISPLAY_PIDS=()
KSV_DISPLAY_DIR=

# ksv_display_start [WIDTHxHEIGHT]: Xvfb and a window manager; sets DISPLAY and KSV_DISPLAY_DIR
ksv_display_start()
{
	local size=${1:-1600x1000} tool

	for tool in Xvfb openbox xdotool import; do
		command -v "$tool" >/dev/null || { echo "$tool is missing" >&2; return 1; }
	done
	KSV_DISPLAY_DIR=$(mktemp -d)
	mkdir -m 700 "$KSV_DISPLAY_DIR/run" "$KSV_DISPLAY_DIR/cache"
	# KernelShark warns root in a dialog, unless its settings say that this is known.
	printf '[General]\nnoRootWarn=true\n' >"$KSV_DISPLAY_DIR/cache/setting.ini"
	: >"$KSV_DISPLAY_DIR/display"
	exec {KSV_DISPLAY_FD}>>"$KSV_DISPLAY_DIR/display"
	# -noreset: or, when xdotool is gone before openbox has come, the server begins anew in between
	Xvfb -displayfd "$KSV_DISPLAY_FD" -screen 0 "${size}x24" -nolisten tcp -noreset \
		>"$KSV_DISPLAY_DIR/xvfb.log" 2>&1 &
	KSV_DISPLAY_PIDS=($!)
	ksv_wait 120 test -s "$KSV_DISPLAY_DIR/display" ||
		{ cat "$KSV_DISPLAY_DIR/xvfb.log" >&2; echo "Xvfb does not start" >&2; return 1; }
	exec {KSV_DISPLAY_FD}>&-
	DISPLAY=:$(cat "$KSV_DISPLAY_DIR/display")
	export DISPLAY QT_QPA_PLATFORM=xcb LIBGL_ALWAYS_SOFTWARE=1
	export XDG_RUNTIME_DIR=$KSV_DISPLAY_DIR/run KS_USER_CACHE_DIR=$KSV_DISPLAY_DIR/cache
	unset WAYLAND_DISPLAY
	ksv_wait 120 xdotool getdisplaygeometry >/dev/null ||
		{ cat "$KSV_DISPLAY_DIR/xvfb.log" >&2; echo "Xvfb does not answer" >&2; return 1; }
	openbox >"$KSV_DISPLAY_DIR/openbox.log" 2>&1 &
	KSV_DISPLAY_PIDS+=($!)
	ksv_wait 120 xdotool get_desktop >/dev/null ||
		{ cat "$KSV_DISPLAY_DIR/openbox.log" >&2; echo "openbox does not start" >&2; return 1; }
}

ksv_display_stop()
{
	local pid

	for pid in "${KSV_DISPLAY_PIDS[@]}"; do
		kill "$pid" 2>/dev/null || :
		wait "$pid" 2>/dev/null || :
	done
	KSV_DISPLAY_PIDS=()
	[ -z "$KSV_DISPLAY_DIR" ] || rm -rf "$KSV_DISPLAY_DIR"
	return 0
}

# ksv_wait SECONDS COMMAND...: until the command succeeds; fails when it never does
ksv_wait()
{
	local end=$((SECONDS + $1))
	shift

	until "$@" 2>/dev/null; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.2
	done
}

# ksv_window TITLE: id of the visible window with this title (a regular expression)
ksv_window()
{
	xdotool search --onlyvisible --name "$1" 2>/dev/null | grep -m1 .
}

ksv_picture_sum()
{
	import -silent -window root rgb:- | md5sum
}

# ksv_wait_still SECONDS: until the screen has not changed for about 1.5 s
ksv_wait_still()
{
	local end=$((SECONDS + $1)) same=0 last='' now

	while [ "$same" -lt 3 ]; do
		[ "$SECONDS" -lt "$end" ] || return 1
		now=$(ksv_picture_sum)
		[ "$now" = "$last" ] && same=$((same + 1)) || same=0
		last=$now
		sleep 0.5
	done
}

# ksv_view_files COMMAND ARG...: what KernelShark is given by "COMMAND view ARG...", in KSV_FILES: an
# argument can be a folder of several files, and a guest that has none has one made for it
ksv_view_files()
{
	local file line words i

	KSV_FILES=("${@:2}")
	for file in "${@:2}"; do
		# what comes through a pipe comes once
		[ -f "$file" ] || [ -d "$file" ] || return 0
	done
	line=$("$1" view --dry-run "${@:2}" 2>/dev/null) || return 0
	eval "words=($line)"
	KSV_FILES=()
	for ((i = 1; i < ${#words[@]}; i++)); do
		case ${words[i]} in
		-p) i=$((i + 1)) ;;
		-a) ;;
		*) KSV_FILES+=("${words[i]}") ;;
		esac
	done
}

# ksv_wait_loaded PID FILE SECONDS [LOG [N]]: KernelShark, started as process PID with its output in
# LOG, shows FILE, the first of N, in the window KSV_WINDOW, which then fills the screen
ksv_wait_loaded()
{
	local pid=$1 file=$2 end=$((SECONDS + $3)) log=${4:-/dev/null} n=${5:-1} title window

	# The title gets the file's name when the file has been loaded, and loses it as soon as
	# another one is appended.
	title="^Kernel Shark \(.*$(ksv_escape "${file##*/}").*\)"
	[ "$n" = 1 ] || title='^Kernel Shark$'
	until [ "$n" = 1 ] || [ "$(grep -c '^Loading' "$log")" -ge "$n" ]; do
		kill -0 "$pid" 2>/dev/null || { echo "KernelShark ended by itself" >&2; return 1; }
		[ "$SECONDS" -lt "$end" ] || { echo "KernelShark loads no more files" >&2; return 1; }
		sleep 0.2
	done
	until window=$(ksv_window "$title"); do
		kill -0 "$pid" 2>/dev/null || { echo "KernelShark ended by itself" >&2; return 1; }
		! grep -q '^ERROR:' "$log" || break
		[ "$SECONDS" -lt "$end" ] ||
			{ echo "KernelShark does not show $file" >&2; return 1; }
		sleep 0.2
	done
	if grep -q '^ERROR:' "$log"; then
		ksv_wait_still 10 || :
		echo "KernelShark cannot open $file" >&2
		return 1
	fi
	# shellcheck disable=SC2034
	KSV_WINDOW=$window
	xdotool windowmove "$window" 0 0 windowsize "$window" 100% 100%
	ksv_wait_still $((end - SECONDS > 5 ? end - SECONDS : 5)) ||
		{ echo "the screen does not come to rest" >&2; return 1; }
	# The window may have got another size since, as its parts came that need some room.
	xdotool windowsize "$window" 100% 100%
	# Its frame has been moved there; now it is the window itself, the bottom of which would be cut off.
	xdotool windowmove "$window" 0 0
	ksv_wait_still 20 || :
}

# ksv_escape TEXT: as a part of a regular expression
ksv_escape()
{
	# shellcheck disable=SC2016
	printf '%s' "$1" | sed 's/[][\.*^$()+?{}|]/\\&/g'
}

# ksv_screenshot OUT.png
ksv_screenshot()
{
	import -silent -window root "png:$1"
}
