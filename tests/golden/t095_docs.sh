# SPDX-License-Identifier: LGPL-2.1-or-later
# The commands in docs print what stands there.
. "$(dirname "$0")/lib.sh"
cd "$SAMPLES" || exit 1

kshark-virt()
{
	"$KSV_BIN" "$@"
}

# A block is indented; it begins with a command and goes on, blank lines included, up to other text.
read_blocks() # PAGE
{
	local line block=

	commands=0
	while IFS= read -r line || [ -n "$line" ]; do
		case $line in
		'    $ '*)
			commands=$((commands + 1))
			echo "${line#    \$ }" > "$WORK/command$commands"
			: > "$WORK/wanted$commands"
			block=1
			;;
		'    '* | '')
			[ -n "$block" ] && echo "${line#    }" >> "$WORK/wanted$commands"
			;;
		*)
			block=
			;;
		esac
	done < "$1"
}

# run_page NAME COMMANDS: which has at least COMMANDS commands
run_page()
{
	local page=$KSV_SOURCE_DIR/docs/$1 i picture

	read_blocks "$page"
	check "$1: there are commands" test "$commands" -ge "$2"
	for ((i = 1; i <= commands; i++)); do
		. "$WORK/command$i" > "$OUT" 2> "$ERR"
		# blank lines at the end of a block belong to the page
		sed -i -e :a -e '/^\n*$/{$d;N;ba' -e '}' "$WORK/wanted$i"
		same "$WORK/wanted$i" "$OUT"
		check "$1: nothing on stderr" test ! -s "$ERR"
	done
	for picture in $(grep -o 'images/[a-z-]*\.svg' "$page"); do
		check "$picture is there" test -s "$KSV_SOURCE_DIR/docs/$picture"
		# tests/bench/hypertrace draws these
		[[ $picture = images/hypertrace-cost-* ]] && continue
		says "$KSV_SOURCE_DIR/scripts/make-screenshots" "$(basename "$picture" .svg)"
	done
}

run_page what-costs-what.md 7
run_page recording-guide.md 7
run_page why.md 9
run_page hypertrace-cost.md 2
cd recording-qemu || exit 1
run_page monitor.md 2
finish
