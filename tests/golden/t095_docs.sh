# SPDX-License-Identifier: LGPL-2.1-or-later
# The commands in docs/what-costs-what.md print what stands there.
. "$(dirname "$0")/lib.sh"
cd "$SAMPLES" || exit 1

kshark-virt()
{
	"$KSV_BIN" "$@"
}

commands=0
page=$KSV_SOURCE_DIR/docs/what-costs-what.md
# A block is indented; it begins with a command and goes on, blank lines included, up to other text.
while IFS= read -r line || [ -n "$line" ]; do
	case $line in
	'    $ '*)
		commands=$((commands + 1))
		echo "${line#    \$ }" > "$WORK/command$commands"
		: > "$WORK/wanted$commands"
		block=1
		;;
	'    '* | '')
		[ -n "${block:-}" ] && echo "${line#    }" >> "$WORK/wanted$commands"
		;;
	*)
		block=
		;;
	esac
done < "$page"
check "there are commands" test "$commands" -ge 7

for ((i = 1; i <= commands; i++)); do
	. "$WORK/command$i" > "$OUT" 2> "$ERR"
	# blank lines at the end of a block belong to the page
	sed -i -e :a -e '/^\n*$/{$d;N;ba' -e '}' "$WORK/wanted$i"
	same "$WORK/wanted$i" "$OUT"
	check "nothing on stderr" test ! -s "$ERR"
done

for picture in $(grep -o 'images/[a-z-]*\.svg' "$page"); do
	check "$picture is there" test -s "$KSV_SOURCE_DIR/docs/$picture"
	says "$KSV_SOURCE_DIR/scripts/make-screenshots" "$(basename "$picture" .svg)"
done

finish
