# SPDX-License-Identifier: LGPL-2.1-or-later
# Mistakes: each is answered with what helps, with its exit status and without any output, as mistakes.table has it.
. "$(dirname "$0")/lib.sh"

cp "$SAMPLES/hvm-exits.xen" "$WORK/t.xen"
cp "$SAMPLES/kvm-host.dat" "$WORK/host.dat"
cp "$SAMPLES/kvm-guest.dat" "$WORK/guest.dat"
cd "$WORK" || exit 1
mkdir dir
: > empty.xen
echo "this is no trace, but some text that is long enough to be looked at" > text.txt
ls > before
rows=0
while IFS='|' read -r wanted arguments text; do
	[[ $wanted == [0-9] ]] || continue
	rows=$((rows + 1))
	# shellcheck disable=SC2086
	run $arguments
	check "$arguments: status $STATUS" test "$STATUS" = "$wanted"
	check "$arguments: '$text' instead of: $(head -1 "$ERR")" grep -qF -- "$text" "$ERR"
	check "$arguments: nothing is written" test ! -s "$OUT"
done < "$GOLDEN/mistakes.table"
check "there are rows" test "$rows" -ge 60
rm -f stdout stderr
ls > after
check "nothing is left behind: $(diff before after)" test -z "$(diff before after | grep '^>' | grep -v after)"
finish
