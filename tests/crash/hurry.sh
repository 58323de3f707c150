# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Load, align, count and close in a hurry: threads of ours are at work when the user has already gone on.
# For builds with a sanitizer: that of threads sees what two of them do at once.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../gui/lib.sh"
. "$(dirname "$0")/../gui/lib_virt.sh"

# closed: the window goes as the window manager asks it to, with whatever still runs
closed()
{
	local status=0

	GUI_QUITS=yes
	gui_menu File Quit
	wait "$GUI_PID" || status=$?
	GUI_PID=
	gui_same "exit status of KernelShark" 0 "$status"
}

# press BUTTON...: one after the other, as soon as each can be pressed
press()
{
	local button

	for button; do
		gui_click QPushButton "$button"
	done
}

gui_init
gui_sanitizer
for name in kvm-nosync kvm-nosync-g1 dom0-ftrace; do
	cp "$GUI_SAMPLES/$name.dat" "$GUI_DIR"
done
cp "$GUI_SAMPLES/dom0.xen" "$GUI_DIR"
# open, though there is little room
printf '%s\n' '[details]' visible=true '[sections]' clocks=true >"$KS_USER_CACHE_DIR/kshark-virt.ini"
for buttons in '' Align 'Align Undo Align'; do
	for files in 'kvm-nosync.dat kvm-nosync-g1.dat' 'dom0-ftrace.dat dom0.xen'; do
		read -r first second <<<"$files"
		gui_run -p "$KSV_PLUGIN,$KSV_PLUGIN_VIRT,$KSV_PLUGIN_COMBO" "$GUI_DIR/$first" \
			-a "$GUI_DIR/$second"
		gui_until gui_read "$GUI_DIR/$first" "$GUI_DIR/$second"
		# shellcheck disable=SC2086
		press $buttons
		closed
	done
done
gui_need gui_not grep -E 'Sanitizer|runtime error' "$GUI_LOG"
