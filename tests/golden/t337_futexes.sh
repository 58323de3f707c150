# SPDX-License-Identifier: LGPL-2.1-or-later
# Waits for locks and futexes of a real host: report --locks, and why of a vCPU whose thread waits for the lock of a file,
# and of threads that take a mutex in turns. Laws, and recounts of trace-cmd's text.
. "$(dirname "$0")/lib.sh"
. "$GOLDEN/why_lib.sh"

command -v trace-cmd >/dev/null || {
	echo "trace-cmd is missing (Debian: apt-get install trace-cmd)"
	exit 77
}
cd "$WORK" || exit 1
gunzip -c "$SAMPLES/host-futexes.dat.gz" > host-futexes.dat
trace-cmd report -R -t host-futexes.dat > text 2> said

for format in csv json; do
	run report -q --locks --format $format host-futexes.dat
	status 0
	cp "$OUT" page.$format
done
check "laws" python3 "$GOLDEN/locks.py" laws page.json page.csv > n
check "recounted" python3 "$GOLDEN/locks.py" text page.json text > n
check "there were enough" test "$(cat n)" -gt 60

# named SUBJECT...
n=0
named()
{
	run why -q --format json "$@" --from 0 host-futexes.dat
	status 0
	n=$((n + 1))
	cp "$OUT" named-$n.json
}
named --vcpu g1
for task in $(sed -n 's/.*next_comm=\(futexes\|dd\) next_pid=\([0-9]*\).*/\2/p' text | sort -u); do
	named --task "host:$task"
done
tid=$(sed -n 's/.*next_comm=CPU 0\/KVM next_pid=\([0-9]*\).*/\1/p' text | head -n 1)
check "the locks of trace-cmd's text" python3 "$GOLDEN/why_host_locks.py" text "$tid" named-*.json > n
echo "blocked for a lock, for something else: $(cat n)"
read -r locks others < n
check "there are enough" test "$locks" -ge 15 -a "$others" -ge 10

run why -q --vcpu g1 --worst 4 --kind blocked host-futexes.dat
golden "$TEST" "$OUT"
laws --vcpu g1 --from 0 host-futexes.dat
laws --task host:dd-8621 --from 0 host-futexes.dat
finish
