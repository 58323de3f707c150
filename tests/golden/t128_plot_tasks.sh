# SPDX-License-Identifier: LGPL-2.1-or-later
# plot --tasks: which tasks of guests had the pCPUs, as report has it; of KVM and of Xen.
. "$(dirname "$0")/lib.sh"

total=0
# compare ARGUMENT...: numbers and figure of that span of those traces
compare()
{
	run report -q --format json "$@"
	mv "$OUT" "$WORK/report.json"
	run plot -q --tasks --format csv "$@"
	status 0
	mv "$OUT" "$WORK/tasks.csv"
	run plot -q --tasks -o "$WORK/tasks.svg" "$@"
	status 0
	check "as report: ${*##*/}" python3 "$GOLDEN/plot_tasks.py" "$WORK/tasks.csv" "$WORK/report.json" \
		"$WORK/tasks.svg" > "$WORK/n"
	total=$((total + $(cat "$WORK/n")))
}

host=$SAMPLES/kvm-host.dat
guest=$SAMPLES/kvm-guest.dat
cp "$SAMPLES"/domU.xen.{gz,meta.json} "$SAMPLES"/domU-ftrace.dat "$WORK"
run align --write "$WORK/domU.xen.gz" "$WORK/domU-ftrace.dat"
compare "$WORK/domU.xen.gz" "$WORK/domU-ftrace.dat"
compare --from 1 --to 1.5 "$WORK/domU.xen.gz" "$WORK/domU-ftrace.dat"
compare "$SAMPLES/kvm-migration.dat" "$SAMPLES/kvm-migration-g1.dat"
compare --from 1794.2 --to 1795 "$host" "$guest"
# in any order
compare "$guest" "$host"
check "there was enough: $total" test "$total" -gt 5000

# A check that cannot fail would be none.
for change in '3s/^[0-9]*/7/' '3s/,[0-9]*,\([^,]*,[^,]*\)$/,1,\1/' '3d'; do
	sed "$change" "$WORK/tasks.csv" > "$WORK/wrong.csv"
	python3 "$GOLDEN/plot_tasks.py" "$WORK/wrong.csv" "$WORK/report.json" > "$OUT" 2>&1
	check "finds $change" test $? = 1
done

# what is shown can be chosen, in all formats
run plot -q --tasks --format csv --pcpu 1 --vcpu g1v1 "$host" "$guest"
status 0
check "one pCPU, one vCPU" test "$(cut -d, -f1,2 "$OUT" | sort -u | tr '\n' ' ')" = '1,g1v1 pcpu,vcpu '
for format in png pdf; do
	run plot -q --tasks --pcpu 1,2 --title tasks -o "$WORK/tasks.$format" "$host" "$guest"
	status 0
	check "$format" test -s "$WORK/tasks.$format"
done

# what does not go together
run plot --tasks "$host"
status 2
says "$ERR" 'give the aligned trace of a guest'
run plot --tasks --by vcpu "$host" "$guest"
status 2
says "$ERR" 'rows are pCPUs'
run plot --tasks --boot --format csv "$host" "$guest"
status 2
run plot "$host" "$guest"
status 2
says "$ERR" 'give one file'
run plot --tasks "$host" "$guest" "$SAMPLES/kvm-migration.dat"
status 2
says "$ERR" 'one host at a time'
run plot --tasks "$guest"
status 3
says "$ERR" "no other file is its host's trace"
run plot -q --tasks -o "$guest" "$host" "$guest"
status 2
finish
