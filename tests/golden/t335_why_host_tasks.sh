# SPDX-License-Identifier: LGPL-2.1-or-later
# why --task host:NAME: what tasks of the host did and waited for. Laws, and a recount of trace-cmd's text.
. "$(dirname "$0")/lib.sh"
. "$GOLDEN/why_lib.sh"

command -v trace-cmd >/dev/null || {
	echo "trace-cmd is missing (Debian: apt-get install trace-cmd)"
	exit 77
}

host=$SAMPLES/kvm-talk.dat
run report -q --tasks --format json "$host"
status 0
pids=$(python3 -c 'import json, sys
tasks = [task for machine in json.load(open(sys.argv[1]))["machines"] for task in machine["tasks"]]
print(*[task["pid"] for task in tasks if task["pid"] and task.get("kind") != "vCPU"][:12])' "$OUT")
for pid in $pids; do
	run why -q --format json --task "host:$pid" --from 0 "$host"
	status 0
	cp "$OUT" "$WORK/why-$pid.json"
done
trace-cmd report -t -l "$host" > "$WORK/text" 2> "$WORK/err"
check "recount" python3 "$GOLDEN/why_host_tasks.py" "$WORK/text" "$WORK"/why-*.json > "$WORK/n"
echo "stretches: $(cat "$WORK/n")"
check "there are many" test "$(cat "$WORK/n")" -ge 100

# Along the critical path, at a time, and the worst moments.
set -- --task host:qemu-system-x86-252
laws "$@" --from 0 "$host"
laws "$@" --path --from 10% --to 20% "$host"
laws "$@" --at 30% "$host"
laws "$@" --worst 5 --kind wake,steal,blocked "$host"

# Threads of vCPUs are vCPUs; names that are not there.
for name in host:264 host:none host:99999; do
	run why -q --task "$name" --from 0 "$host"
	status 2
done
finish
