# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# KernelShark shows the good parts of a damaged file, and says where it is damaged; it refuses a file that is no
# trace. Marks with a text on the time axis show where records are missing, and nowhere else. A damaged sidecar has
# a text beside the graphs, too. The dock has a message if libtracecmd crashes on a file.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"
. "$(dirname "$0")/lib_combo.sh"

RED='#d00000'

# red_where_lost FILE: the axis is marked exactly in the columns in which records are missing; a mark has
# at least three. Prints how many of them, and the middle of the widest, as a column of the screen.
red_where_lost()
{
	gui_pixels "$GUI_X0" $((GUI_TOP + 34)) $((GUI_X1 - GUI_X0 + 1)) 1 >"$GUI_DIR/axis"
	"$KSV_BIN" report --quiet --worst 100000 --kind lost --format json "$1" | python3 -c 'import json, sys
name, red, start, end, x0 = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
seen = [line.strip() == red for line in open(name)]
scale = (len(seen) - 1) / (end - start)
lost = [((m["start_ns"] - start) * scale, (m["end_ns"] - start) * scale)
        for m in json.load(sys.stdin)["worst"]]
lost = [(a, b) for a, b in lost if b > 0 and a < len(seen) - 1]
for x, is_red in enumerate(seen):
    # the last column is that of the end of the axis, which is black
    inside = x < len(seen) - 1 and any(a + 3 < x < b - 3 for a, b in lost)
    beside = any(a - 4 < x < max(b, a + 2) + 3 for a, b in lost)
    assert beside if is_red else not inside, (x, is_red, lost)
for a, b in lost:
    middle = int(min(max((a + b) / 2, 0), len(seen) - 1))
    assert any(seen[max(middle - 3, 0):middle + 4]), (a, b)
runs, x = [], 0
while x < len(seen):
    n = 0
    while x + n < len(seen) and seen[x + n]:
        n += 1
    runs += [(n, x0 + x + n // 2)] if n else []
    x += max(n, 1)
assert all(n >= 3 or x + n > x0 + len(seen) - 3 for n, x in runs), runs
assert bool(runs) == bool(lost), (runs, lost)
print(sum(n for n, _ in runs), max(runs, key=lambda run: run[0])[1] if runs else 0)' \
		"$GUI_DIR/axis" "$RED" "$VIRT_FROM" "$VIRT_TO" "$GUI_X0" ||
		gui_fail "the axis of $1 is marked wrongly in $GUI_SHOT"
}

# axis FILE SHOT: as it is seen; sets MARKED and MARK
axis()
{
	gui_shot "$2"
	gui_graphs
	virt_window
	red_where_lost "$1" >"$GUI_DIR/red"
	read -r MARKED MARK <"$GUI_DIR/red"
}

# marked FILE NAME: whole, with its text, and seen larger
marked()
{
	virt_open "$1"
	axis "$1" "$2-axis"
	gui_need [ "$MARKED" -ge 3 ]
	xdotool mousemove 10 10
	gui_until gui_not gui_has windows QTipLabel
	xdotool mousemove "$MARK" $((GUI_TOP + 34))
	gui_until gui_has windows ' records lost over '
	gui_double_click_at "$MARK" $((GUI_TOP + 34))
	gui_until gui_find widgets QLabel '*CPU * records lost over *' >/dev/null
	gui_need [ "$(virt_markers | grep -c '[0-9]')" = 2 ]
	virt_zoom $((MARK - 60 < GUI_X0 ? GUI_X0 : MARK - 60)) \
		$((MARK + 60 > GUI_X1 ? GUI_X1 : MARK + 60))
	axis "$1" "$2-axis-near"
	gui_need [ "$MARKED" -ge 3 ]
	gui_quit
}

# pale_where_lost FILE: KernelShark's own bars fade where the records of a pCPU are missing, and are as ever
# before that
pale_where_lost()
{
	local pcpu from to start end

	virt_open "$1"
	gui_shot pale
	gui_graphs
	virt_window
	"$KSV_BIN" report --quiet --worst 8 --kind lost --format json "$1" | python3 -c 'import json, sys
start, end, x0, x1 = map(int, sys.argv[1:])
for moment in json.load(sys.stdin)["worst"]:
    a, b = (x0 + (moment[at] - start) * (x1 - x0) / (end - start) for at in ("start_ns", "end_ns"))
    print(moment["pcpu"], int(a) - 3, int((a + b) / 2))' \
		"$VIRT_FROM" "$VIRT_TO" "$GUI_X0" "$GUI_X1" >"$GUI_DIR/losses"
	while read -r pcpu from to; do
		start=$(darkest "$pcpu" "$from") end=$(darkest "$pcpu" "$to")
		[ "$start" -ge 100 ] || bright=$((bright + 1))
		[ "$end" -ge 150 ] || gui_fail "CPU $pcpu is bright at column $to of $GUI_SHOT"
	done <"$GUI_DIR/losses"
	# else nothing has been looked at
	gui_need [ "$bright" -ge 5 ]
	gui_quit
}
bright=0

# darkest GRAPH COLUMN: the least of the three parts of the colour of its bar
darkest()
{
	local colour

	colour=$(gui_pixels "$2" $(($(gui_base "$1") - 6)) 1 1)
	printf '%d\n' "0x${colour:1:2}" "0x${colour:3:2}" "0x${colour:5:2}" | sort -n | sed -n 1p
}

# refused FILE: an error is shown, and KernelShark goes on
refused()
{
	gui_run -p "$KSV_PLUGIN" "$1"
	gui_until gui_has windows QErrorMessage
	gui_need grep -qF "contains no data" "$GUI_LOG"
	gui_shot "refused-$(basename "$1")"
	gui_until gui_enabled widgets QPushButton '&OK'
	gui_close '&OK'
	gui_menu File 'Open Trace File'
	gui_file "$GUI_SAMPLES/hvm-exits.xen"
	gui_loaded "$GUI_SAMPLES/hvm-exits.xen"
	gui_check_list "$GUI_SAMPLES/hvm-exits.xen"
	gui_quit
}

gui_init
for name in hvm-exits pinned; do
	file=$GUI_DIR/$name-damaged.xen
	cp "$GUI_SAMPLES/$name.xen" "$file"
	# 3,000 bytes overwritten somewhere in the middle, and the end cut off inside a record
	printf '%3000s' 'not a trace' | dd of="$file" bs=1 seek=300001 conv=notrunc status=none
	truncate -s -7 "$file"
	gui_open "$file"
	problems=$(gui_list 0 "$(gui_ask count)" | grep -c $'\tdamaged_data\t')
	gui_need [ "$problems" -ge 1 ]
	gui_same rows $(($(gui_rows "$file" | wc -l) + problems)) "$(gui_ask count)"
	gui_list 0 "$(gui_ask count)" | grep -v $'\tdamaged_data\t' | cut -f 1,2,5- >"$GUI_DIR/shown"
	gui_rows "$file" | cut -f 1,2,5- >"$GUI_DIR/wanted"
	gui_need cmp "$GUI_DIR/wanted" "$GUI_DIR/shown"
	gui_list 0 "$(gui_ask count)" | cut -f2 | sort -c -n
	gui_need grep -qi damage "$GUI_LOG"

	# to the place
	gui_combo '#' Event
	gui_click QLineEdit '*'
	xdotool type --delay 1 damaged_data
	gui_until gui_find widgets QLineEdit damaged_data >/dev/null
	xdotool key Return
	gui_until gui_has selected xentrace/damaged_data
	gui_need gui_has selected offset
	gui_shot "$name"
	gui_quit
	marked "$file" "$name"
done
marked "$GUI_SAMPLES/lost-records.xen" lost-records
pale_where_lost "$GUI_SAMPLES/lost-records.xen"
virt_open "$GUI_SAMPLES/pinned.xen"
axis "$GUI_SAMPLES/pinned.xen" good-axis
gui_same 'marks on the axis of a good file' 0 "$MARKED"
gui_quit

# A sidecar that cannot be used: of either kind of host
# noted NAME: in a line of its own, without the folder
noted()
{
	gui_ask widgets | awk -F '\t' '$1 == "QLabel" { print $2 }' | sed 's/\\n/\n/g' |
		grep -q "^$1\.meta\.json: offset .*; remove or correct it$"
}
# listed: the dock's table has a vCPU
listed()
{
	gui_ask items | grep -q '^ *g1v0 '
}
cp "$GUI_SAMPLES/kvm-host.dat" "$GUI_SAMPLES/pinned.xen" "$GUI_DIR"
for name in kvm-host.dat pinned.xen; do
	echo '{ "guests": [' >"$GUI_DIR/$name.meta.json"
done
gui_run -p "$KSV_PLUGIN,$KSV_PLUGIN_VIRT,$KSV_PLUGIN_COMBO" "$GUI_DIR/kvm-host.dat" -a "$GUI_DIR/pinned.xen"
gui_loaded "$GUI_DIR/kvm-host.dat" "$GUI_DIR/pinned.xen"
for name in kvm-host.dat pinned.xen; do
	gui_until noted "$name"
	gui_need test "$(grep -cF "$name.meta.json: offset " "$GUI_LOG")" = 1
done
gui_shot sidecar
# it is put right
rm "$GUI_DIR/kvm-host.dat.meta.json"
gui_menu File 'Open Trace File'
gui_file "$GUI_DIR/kvm-host.dat"
gui_loaded "$GUI_DIR/kvm-host.dat"
gui_until gui_not gui_find widgets QLabel '*.meta.json: *' >/dev/null
# the dock has no numbers of a file when another one cannot be read
head -c 5000 /dev/zero >"$GUI_DIR/zero.xen"
gui_until listed
gui_menu File 'Open Trace File'
gui_file "$GUI_DIR/zero.xen"
gui_until gui_has windows QErrorMessage
gui_until gui_enabled widgets QPushButton '&OK'
gui_close '&OK'
gui_until gui_not listed
gui_quit

refused "$GUI_DIR/zero.xen"

# The dock has trace.dat files read by a program, which crashes. The window goes on, and so does the dock.
touch "$GUI_DIR/crash"
combo_view "$GUI_SAMPLES/kvm-nosync.dat" "$GUI_SAMPLES/kvm-nosync-g1.dat"
gui_click_found items '*' 'g1v0 | *'
gui_click QPushButton Align
gui_until gui_find widgets QLabel '*Not aligned: *.dat: damaged: libtracecmd crashes on it. *' >/dev/null
gui_shot crashed
rm "$GUI_DIR/crash"
gui_click QPushButton Align
gui_until gui_find widgets QLabel 'Aligned with *' >/dev/null
gui_quit
