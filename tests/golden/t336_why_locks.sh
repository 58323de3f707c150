# SPDX-License-Identifier: LGPL-2.1-or-later
# why: the locks that vCPUs and tasks wait for, and a vCPU that is preempted while its task has one that others wait for.
# What is shown of two locks of a guest's module is what that module wrote into the trace.
. "$(dirname "$0")/lib.sh"
. "$GOLDEN/why_lib.sh"

command -v trace-cmd >/dev/null || {
	echo "trace-cmd is missing (Debian: apt-get install trace-cmd)"
	exit 77
}
cp "$SAMPLES"/kvm-locks{,-web}.dat "$WORK"
cd "$WORK" || exit 1

# named SUBJECT...: into named.json
named()
{
	run why -q --format json "$@" --from 0 kvm-locks.dat kvm-locks-web.dat
	status 0
	cp "$OUT" "named-${*: -1}.json"
}
named --vcpu web
for task in 140 141 142 143; do
	named --task web:$task
done
trace-cmd report -t kvm-locks.dat > host 2> said
trace-cmd report -t kvm-locks-web.dat > guest 2> said
check "as the module wrote it" python3 "$GOLDEN/why_locks.py" host guest named-*.json > n
echo "preempted, executing, blocked; preempted with a lock, and how many of them are not named: $(cat n)"
read -r preempted executing blocked all missed < n
check "there are enough" test "$preempted" -ge 20 -a "$executing" -ge 50 -a "$blocked" -ge 4
check "none is missed" test "$all" = 4 -a "$missed" = 0

run why -q --task web:143 --worst 2 --kind blocked kvm-locks.dat kvm-locks-web.dat
status 0
cp "$OUT" text
run why -q --vcpu "web v0" --at 47.99 kvm-locks.dat kvm-locks-web.dat
status 0
cat "$OUT" >> text
run why -q --vcpu "web v1" --from 47.9920 --to 47.9980 kvm-locks.dat kvm-locks-web.dat
status 0
cat "$OUT" >> text
golden "$TEST" text

laws --vcpu web --from 0 kvm-locks.dat kvm-locks-web.dat
laws --task web:143 --from 0 kvm-locks.dat kvm-locks-web.dat
laws --task web:143 --path --from 0 kvm-locks.dat kvm-locks-web.dat

# without the guest's trace, none is known
run why -q --format json --vcpu g1v0 --from 0 kvm-locks.dat
status 0
check "no lock" test "$(grep -c '"lock"' "$OUT")" = 0
finish
