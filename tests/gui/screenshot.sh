# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# What scripts/view photographs is the whole window, to the hint at its bottom that nothing is virtual; and it
# waits for all files, also for those of a folder, and of guests that have none.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

GUI_SCREEN=1600x1000
gui_init
GUI_PROGRAM=("$KSV_BIN" view)
gui_run "$GUI_SAMPLES/dom0-ftrace.dat"
ksv_wait_loaded "$GUI_PID" dom0-ftrace "$GUI_PATIENCE" "$GUI_LOG"
hint='No virtual machines in this trace: View > Virtual machines *'
gui_until gui_find widgets QLabel "$hint" >/dev/null
read -r x y w h _ < <(gui_find widgets QLabel "$hint")
gui_shot whole
gui_need [ "$x" -ge 0 ]
gui_need [ $((x + w)) -le 1600 ]
gui_need [ $((y + h)) -le 1000 ]
gui_quit

export XDG_CACHE_HOME=$GUI_DIR/cache
for sample in hypertrace-plain.dat recording-kvm; do
	ksv_view_files "$KSV_BIN" "$GUI_SAMPLES/$sample"
	: >"$GUI_LOG"
	gui_run "$GUI_SAMPLES/$sample"
	name=$(basename "${KSV_FILES[0]}" .dat)
	ksv_wait_loaded "$GUI_PID" "$name" "$GUI_PATIENCE" "$GUI_LOG" ${#KSV_FILES[@]}
	gui_shot "${sample%.dat}"
	gui_same "files of $sample" ${#KSV_FILES[@]} "$(grep -c '^Loading' "$GUI_LOG")"
	gui_need [ ${#KSV_FILES[@]} -ge 2 ]
	gui_quit
done
