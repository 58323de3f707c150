# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# A guest whose own trace has initcall events: the levels of its boot are lanes over its CPUs, and marks at the axis
# where they begin, where "report --boot" says; a double click names one.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"
. "$(dirname "$0")/lib_combo.sh"

# all graphs at once
GUI_SCREEN=2040x1760 GUI_SIZE="2000 1700"
LEVEL='#ddcc77'
HOST_CPUS=4
traces=("$GUI_SAMPLES/kvm-boot.dat" "$GUI_SAMPLES/kvm-boot-g1.dat")

# levels: in order of time, "BEGIN END NAME" of each
levels()
{
	"$KSV_BIN" report --quiet --boot --format csv "${traces[@]}" | awk -F, '$5 ~ /^initcall / { next }
		$2 == "boot_begin" { begin = $7 }
		$2 == "boot" { printf "%.0f %.0f %s\n", begin, begin + $7, $5 }'
}

# column NS: that is drawn there
column()
{
	echo $((GUI_X0 + ($1 - VIRT_FROM) * (GUI_X1 - GUI_X0) / (VIRT_TO - VIRT_FROM)))
}

# lane CPU X: 1 if there is a level over the guest's CPU, else 0
lane()
{
	gui_pixels "$2" $(($(gui_base $((HOST_CPUS + $1))) - GUI_HEIGHT - 8)) 1 8 |
		awk -v level="$LEVEL" '$1 == level { found = 1 } END { print found + 0 }'
}

# mark X: 1 if a level begins there by a mark below the axis, else 0
mark()
{
	gui_pixels $(($1 - 1)) $((GUI_TOP + 31)) 3 8 |
		awk -v level="$LEVEL" '$1 == level { found = 1 } END { print found + 0 }'
}

# the longest; when the last one ended is not known
read -r begin end name < <(levels | head -n -1 | awk '{ printf "%.0f %s\n", $2 - $1, $0 }' | sort -rn |
	head -n 1 | cut -d' ' -f2-)
gui_need [ -n "$name" ]
gui_init
printf '%s\n' "${GUI_STRIPS_ONLY[@]}" '[markers]' shown=false >"$KS_USER_CACHE_DIR/kshark-virt.ini"
COMBO_PLAIN=6
combo_view "${traces[@]}"
gui_until combo_note ''
gui_split 1500
gui_until virt_window
gui_shot lanes
gui_graphs
x=$(column $(((begin + end) / 2)))
# the whole machine's are over each of its CPUs, and nothing is before the first one
first=$(levels | sed -n '1s/ .*//p')
for cpu in 0 1; do
	gui_same "level over CPU $cpu at $x" 1 "$(lane "$cpu" "$x")"
	gui_same "level over CPU $cpu before the first" 0 "$(lane "$cpu" $(($(column "$first") - 3)))"
done
marks=0
while read -r from _; do
	gui_same "mark of the level from $from" 1 "$(mark "$(column "$from")")"
	marks=$((marks + 1))
done < <(levels)
gui_need [ "$marks" -ge 8 ]
gui_same "mark within the longest" 0 "$(mark "$x")"
gui_same "mark before the first" 0 "$(mark $(($(column "$first") - 9)))"
gui_double_click_at "$x" $(($(gui_base $HOST_CPUS) - GUI_HEIGHT - 5))
took=$(awk -v ns=$((end - begin)) 'BEGIN { printf "%.3f s", ns / 1e9 }')
gui_until gui_find widgets QLabel "*level $name for $took*" >/dev/null
gui_need gui_not gui_find widgets QLabel "<b>kvm-boot-g1.dat: level*"
gui_click QToolButton "×"
gui_double_click_at "$(column "$begin")" $((GUI_TOP + 35))
gui_until gui_find widgets QLabel "<b>kvm-boot-g1.dat: level $name for $took*" >/dev/null
virt_at_marker "begin of the level" "$begin" 0
gui_quit
