# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# What scripts/view photographs is the whole window, to the hint at its bottom that nothing is virtual.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

GUI_SCREEN=1600x1000
gui_init
GUI_PROGRAM=("$KSV_BIN" view)
gui_run "$GUI_SAMPLES/dom0-ftrace.dat"
ksv_wait_loaded "$GUI_PID" dom0-ftrace "$GUI_PATIENCE" "$GUI_LOG"
hint='Nothing virtual in this trace: Plots > Virtualization dock *'
gui_until gui_find widgets QLabel "$hint" >/dev/null
read -r x y w h _ < <(gui_find widgets QLabel "$hint")
gui_shot whole
gui_need [ "$x" -ge 0 ]
gui_need [ $((x + w)) -le 1600 ]
gui_need [ $((y + h)) -le 1000 ]
gui_quit
