# SPDX-License-Identifier: LGPL-2.1-or-later
# report --function of ftrace's tracers, function and function_graph: calls within each other, on several CPUs, while tasks
# sleep; without ends, without beginnings, where records are missing. Several patterns; windows; all formats.
. "$(dirname "$0")/lib.sh"

cd "$WORK" || exit 1
# story NAME: what it has is what the report shows
story()
{
	python3 "$GOLDEN/function_files.py" "$1" "$1.dat" || fail "no $1"
	set -- "$1" --kallsyms kallsyms
	[ "$1" != named ] || set -- "$1"
	run report -q --function '*' "${@:2}" --format json "$1.dat"
	status 0
	cp "$OUT" "$1.json"
	check "$1" python3 "$GOLDEN/function_files.py" compare "$1.json" "$1.dat.truth"
}
for name in calls named nested asleep unswitched before lossy; do
	story $name
done
python3 "$GOLDEN/function_files.py" strange strange.dat || fail "no story"

set -f
for what in '* calls.dat' 'vfs_* --function mutex_lock --function *lock nested.dat' '* asleep.dat' '* unswitched.dat' \
	'* before.dat' '* lossy.dat' '* strange.dat' '* --top 1 --from 1099.511627798 calls.dat' 'nothing calls.dat'; do
	run report -q --kallsyms kallsyms --function $what
	status 0
	cat "$OUT" >> text
done
run report -q --kallsyms kallsyms --function '*' --function '*lock' --format csv nested.dat
status 0
cat "$OUT" >> text
golden "$TEST" text

# Calls belong to the window in which they begin: the windows of a trace add up.
python3 - > cuts <<'END'
for us in (12, 13, 20, 31, 43, 50, 66):
    print("%.6f" % ((2 ** 40 + 1000 * us) / 1e9))
END
while read -r cut; do
	for file in nested asleep before lossy; do
		run report -q --function '*' --kallsyms kallsyms --format json --to "$cut" $file.dat
		[ "$STATUS" = 0 ] || continue
		cp "$OUT" left.json
		run report -q --function '*' --kallsyms kallsyms --format json --from "$cut" $file.dat
		[ "$STATUS" = 0 ] || continue
		check "$file at $cut" python3 "$GOLDEN/function_files.py" add $file.json left.json "$OUT"
	done
done < cuts

# Without the option there are none; with others, it is an addition; mistakes.
run report -q --top 3 calls.dat
status 2
run report -q --function '*' --top 0 calls.dat
status 2
run report -q --order total calls.dat
status 2
# first ORDER NAME: which function is the first one of before.dat?
first()
{
	run report -q --kallsyms kallsyms --function '*' --format csv --order "$1" before.dat
	check "first by $1" test "$(sed -n 's/^.*,function_calls,host,,\([^,]*\),.*/\1/p' "$OUT" | head -n 1)" = "$2"
}
first own vfs_read
first total mutex_lock
first calls mutex_lock
run report -q --function '*' --hypertrace --boot calls.dat
status 0
says "$OUT" 0xffffffff81000000
finish
