# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# trace.dat files that zlib has compressed: the same rows and combos as without, under their own
# names, and in a session.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"
. "$(dirname "$0")/lib_combo.sh"

ROWS=2000

# look FOLDER: what the window shows of its files
look()
{
	gui_ask count
	gui_ask "rows 0 $ROWS"
}

if ! command -v trace-cmd >/dev/null; then
	echo "trace-cmd is missing"
	exit 77
fi
gui_init
mkdir "$GUI_DIR/plain" "$GUI_DIR/zlib"
for name in kvm-nested kvm-nested-g1; do
	trace-cmd convert --file-version 7 --compression none -i "$GUI_SAMPLES/$name.dat" \
		-o "$GUI_DIR/plain/$name.dat" >"$GUI_DIR/said" 2>&1
	python3 "$KSV_SOURCE_DIR/tests/golden/trace_dat_zlib.py" "$GUI_DIR/plain/$name.dat" \
		"$GUI_DIR/zlib/$name.dat"
done
for folder in plain zlib; do
	files=("$GUI_DIR/$folder/kvm-nested.dat" "$GUI_DIR/$folder/kvm-nested-g1.dat")
	combo_view "${files[@]}"
	gui_until combo_note ''
	look >"$GUI_DIR/$folder.rows"
	gui_shot "$folder"
	if [ $folder = zlib ]; then
		gui_menu File Sessions 'Export Session'
		gui_file "$GUI_DIR/session.json"
		gui_until test -s "$GUI_DIR/session.json"
		gui_until gui_main_active
	fi
	gui_quit
done
gui_need cmp "$GUI_DIR/plain.rows" "$GUI_DIR/zlib.rows"
gui_need [ "$(wc -l <"$GUI_DIR/plain.rows")" -gt "$ROWS" ]

# the session has the files' own names, and restores them
for file in "${files[@]}"; do
	gui_need grep -qF "$(basename "$file")" "$GUI_DIR/session.json"
done
gui_run --session "$GUI_DIR/session.json"
gui_loaded "${files[@]}"
gui_until gui_is count "$(head -n 1 "$GUI_DIR/zlib.rows")"
look >"$GUI_DIR/session.rows"
gui_need cmp "$GUI_DIR/zlib.rows" "$GUI_DIR/session.rows"
gui_quit
