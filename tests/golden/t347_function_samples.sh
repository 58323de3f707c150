# SPDX-License-Identifier: LGPL-2.1-or-later
# report --function of real recordings: a guest that boots with ftrace=function, a host's tasks that sleep by
# function_graph, and a host and its guest at once. Recounted from trace-cmd's text; time on CPUs, and what of it the vCPUs
# executed, by brute force from the switches of the guest and the entries and exits of the host.
. "$(dirname "$0")/lib.sh"

cp "$SAMPLES"/kvm-functions*.dat "$WORK"
cd "$WORK" || exit 1
boot=kvm-functions-boot.dat
set -f

run report -q --top 17 --function 'sysfs_*' --function 'acpi_*' --function 'pci_*' --function '*create*' $boot
status 0
cat "$OUT" > text
for way in sleep no-sleep; do
	run report -q --function '*nanosleep' --function 'vfs_*' kvm-functions-$way.dat
	status 0
	cat "$OUT" >> text
done
run report -q --top 10 --function '*' --function 'vfs_*' --function 'hrtimer_*' --function 'kvm_vcpu_*' \
	kvm-functions.dat kvm-functions-g1.dat
status 0
cat "$OUT" >> text
golden "$TEST" text

# What another kernel has recorded alone is of use for functions, and for nothing else.
run report -q --full $boot
status 3
run report -q --function '*' --boot $boot
status 3
run report -q --function 'sysfs_*' --vcpu g1 kvm-functions.dat kvm-functions-g1.dat
status 0

command -v trace-cmd > /dev/null || finish

# recount FILE...: all of it, and a window
recount()
{
	local from to

	trace-cmd report -R -t "$1" > "$1.text" 2> said
	run report -q --function '*' --function 'vfs_*' --format json "$1"
	status 0
	check "$1 as trace-cmd shows it" python3 "$GOLDEN/function_calls.py" "$OUT" "$1.text"
	read -r from to < <(python3 -c 'import json, sys
from_ns, to_ns = json.load(open(sys.argv[1]))["window_ns"]
print(*["%.9f" % ((from_ns + part * (to_ns - from_ns) // 5) / 1e9) for part in (2, 4)])' "$OUT")
	run report -q --function '*' --format json --from "$from" --to "$to" "$1"
	status 0
	check "the window of $1" python3 "$GOLDEN/function_calls.py" "$OUT" "$1.text" "$from" "$to"
}
for name in boot sleep no-sleep; do
	recount kvm-functions-$name.dat
done
recount kvm-functions.dat
trace-cmd report -R -t -i kvm-functions.dat -i kvm-functions-g1.dat > both 2> said
sed -n 's/^ *kvm-functions.dat: //p' both > host
sed -n 's/^ *kvm-functions-g1.dat: //p' both > guest
run report -q --function '*' --format json kvm-functions.dat kvm-functions-g1.dat
status 0
check "time on CPUs" python3 "$GOLDEN/function_pair.py" "$OUT" host guest
finish
