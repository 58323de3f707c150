# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Whatever is clicked, dragged, scrolled, typed, opened, restored and closed, in any order: no crash, no
# hang, nothing unexpected said. Steps at random, by a seed; steps.py does and judges them.
#
# KSV_STEPS_SEED, KSV_STEPS (how many): to see a failure again, or to go on for longer. Without a
# sanitizer there are fewer: it is there to see how long the window lets its user wait.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../gui/lib.sh"

STEPS_SEED=${KSV_STEPS_SEED:-2}

gui_init
cd "$GUI_DIR/work"
# Copies: sessions and alignments are stored beside them, and files are opened and saved by any name.
for name in kvm-host.dat kvm-guest.dat kvm-nosync.dat kvm-nosync-g1.dat dom0.xen dom0-ftrace.dat pinned.xen \
	lost-records.xen; do
	cp "$GUI_SAMPLES/$name" .
done
head -c 20000 "$GUI_SAMPLES/pinned.xen" >cut.xen
gui_sanitizer
# how much longer everything takes, and how many steps
case $GUI_PRELOAD in
*asan*) export STEPS_SLOWER=4.5; steps=500 ;;
*libtsan*) export STEPS_SLOWER=10; steps=500 ;;
*) export STEPS_SLOWER=1; steps=100 ;;
esac
export STEPS_PRELOAD=$GUI_PRELOAD$GUI_PROBE
export STEPS_PLUGINS=$KSV_PLUGIN,$KSV_PLUGIN_VIRT,$KSV_PLUGIN_COMBO
export STEPS_DISPLAY="${KSV_DISPLAY_PIDS[*]}"
export STEPS_LOG=$GUI_LOG STEPS_PICTURE=$KSV_ARTIFACTS/gui-$GUI_NAME-failed.png
status=0
KSV_PROBE=$GUI_DIR python3 "$KSV_SOURCE_DIR/tests/crash/steps.py" "$STEPS_SEED" "${KSV_STEPS:-$steps}" || status=$?
exit "$status"
