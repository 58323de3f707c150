#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Measure KernelShark's window with our plugins and without them: CPU time of the start with a KVM host, and how
# long a step of the zoom keeps the window from its user. Print a line for each measure: name, value.
# usage: window.sh BUILD XENTRACE-FILE ROUNDS; it takes a screen of its own (Xvfb)
set -euo pipefail

KSV_SOURCE_DIR=$(readlink -f "$(dirname "$(readlink -f "$0")")/../..")
KSV_BUILD_DIR=$(readlink -f "$1")
large=$(readlink -f "$2")
rounds=$3
plugins=$KSV_BUILD_DIR/lib/kernelshark/plugins
KSV_BIN=$KSV_BUILD_DIR/bin/kshark-virt
KSV_EYE=$KSV_BUILD_DIR/bin/gui_eye
KSV_PLUGIN=$plugins/plugin-xentrace.so
KSV_PLUGIN_VIRT=$plugins/plugin-virt.so
KSV_ARTIFACTS=$KSV_BUILD_DIR/artifacts
export KSV_SOURCE_DIR KSV_BUILD_DIR KSV_BIN KSV_EYE KSV_PLUGIN KSV_PLUGIN_VIRT KSV_ARTIFACTS
for file in "$KSV_BIN" "$KSV_EYE" "$KSV_PLUGIN" "$KSV_PLUGIN_VIRT"; do
	[ -e "$file" ] || { echo "$file is missing: build the tests, too" >&2; exit 2; }
done
# shellcheck source-path=SCRIPTDIR source=../gui/lib.sh
. "$KSV_SOURCE_DIR/tests/gui/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../gui/lib_virt.sh
. "$KSV_SOURCE_DIR/tests/gui/lib_virt.sh"

# cpu: time of KernelShark, of our processes in its session, and of those that have ended, in 1/100 s
cpu()
{
	ps -o pid= --sid "$(ps -o sid= -p "$GUI_PID")" | while read -r pid; do
		[[ $(cat "/proc/$pid/comm" 2>/dev/null) != @(kernelshark|kshark-virt*|memfd*) ]] ||
			sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null
	done | awk '{ sum += $12 + $13 + $14 + $15 } END { print sum }'
}

# start NAME PROGRAM...
start()
{
	local name=$1 file=$KSV_SOURCE_DIR/samples/kvm-host.dat

	GUI_PROGRAM=("${@:2}")
	gui_run "$file"
	gui_loaded "$file"
	gui_rest
	echo "start-$name $(cpu)"
	gui_quit
}

# steps NAME: the longest way round in the event loop of any step of the wheel, into the trace and out again
steps()
{
	local wheel n ms longest=0

	gui_shot "$1"
	gui_graphs
	xdotool mousemove $(((GUI_X0 + GUI_X1) / 2)) $(($(gui_base 0) - 3))
	for wheel in 4 5; do
		for ((n = 0; n < 10; n++)); do
			gui_still
			gui_ask round >/dev/null
			xdotool keydown ctrl click "$wheel" keyup ctrl
			gui_still
			ms=$(gui_ask round)
			[ "$ms" -le "$longest" ] || longest=$ms
		done
	done
	echo "$1 $longest"
}

gui_init
for ((i = 0; i < rounds; i++)); do
	start stock kernelshark
	start ours "$KSV_BIN" view
done
GUI_PROGRAM=(kernelshark)
gui_open "$large"
steps zoom-reader
gui_quit
virt_open "$large"
steps zoom-ours
gui_quit

many=$GUI_DIR/many.xen
python3 "$KSV_SOURCE_DIR/tests/gui/virt_many.py" "$many" >/dev/null
virt_open "$many"
steps many-opened
gui_menu View Lanes
gui_click QPushButton 'Select all'
gui_click QPushButton 'Plot only'
gui_until gui_find widgets QLabel '240 graphs' >/dev/null
gui_still
steps many-plotted
gui_quit

python3 "$KSV_SOURCE_DIR/tests/gui/virt_many.py" "$many" 500 50 >/dev/null
virt_open "$many"
steps overview
gui_quit
