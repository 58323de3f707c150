# SPDX-License-Identifier: LGPL-2.1-or-later
# why across guests: each that is named was there, and the critical path goes through guests and host.
. "$(dirname "$0")/lib.sh"
. "$GOLDEN/why_lib.sh"

command -v trace-cmd >/dev/null || {
	echo "trace-cmd is missing (Debian: apt-get install trace-cmd)"
	exit 77
}
cd "$SAMPLES" || exit 1
talk=(kvm-talk.dat kvm-talk-web.dat kvm-talk-db.dat)
for file in kvm-host kvm-guest kvm-talk kvm-talk-web kvm-talk-db; do
	trace-cmd report -t $file.dat > "$WORK/$file" 2>/dev/null
done

# chain LEAST TEXTS ARGUMENT...: the records have each part of the answer, too; at least LEAST of them
chain()
{
	local least=$1 texts=$2
	shift 2

	run why -q --format json "$@"
	status 0
	cp "$OUT" "$WORK/why.json"
	# shellcheck disable=SC2086
	check "who was there: ${*##*/}" python3 "$GOLDEN/why_chain.py" "$WORK/why.json" $texts > "$WORK/n"
	cat "$WORK/n"
	check "there was enough" test "$(grep -o '[0-9]*' "$WORK/n" | awk '{ n += $1 } END { print n }')" -ge "$least"
}

kvm="$WORK/kvm-host g1=$WORK/kvm-guest"
all="$WORK/kvm-talk web=$WORK/kvm-talk-web db=$WORK/kvm-talk-db"
chain 1000 "$all" --task web:131 --from 306 --to 308.6 "${talk[@]}"
sanitized || chain 500 "$all" --task db:socat-133 --from 306 --to 308.6 "${talk[@]}"
chain 100 "$all" --path --task web:131 --from 306 --to 308.6 "${talk[@]}"
chain 30 "$all" --worst 20 --kind blocked "${talk[@]}"
sanitized || chain 500 "$kvm" --vcpu g1v0 --from 1794.2 --to 1795 kvm-host.dat kvm-guest.dat
chain 100 "$kvm" --task g1:613 --from 1794 --to 1795.2 kvm-host.dat kvm-guest.dat
# A check that cannot fail would be none.
for change in 's/"who_task":"[^"]*"/"who_task":"web:x-1"/g' 's/"who":"web:[^"]*"/"who":"web:x-1"/g' \
		's/"task":"[^"]*"/"task":"web:x-1"/g' 's/\("kind":"task","cause":"runs","subject":"\)[^"]*/\1x-1/g'; do
	run why -q --format json --task web:131 --from 306 --to 308.6 "${talk[@]}"
	tr -d '\n' < "$OUT" | sed 's/": /":/g; s/, "/,"/g' | sed "$change" > "$WORK/wrong.json"
	# shellcheck disable=SC2086
	python3 "$GOLDEN/why_chain.py" "$WORK/wrong.json" $all > "$OUT" 2>&1
	check "finds $change" test $? = 1
done

# The device whose interrupt ended a wait is the one that the report names, vCPU by vCPU.
run report -q --waits --format json "${talk[@]}"
status 0
cp "$OUT" "$WORK/waits.json"
run why -q --worst 400 --kind blocked --format json "${talk[@]}"
status 0
check "devices have the same names" python3 - "$WORK/waits.json" "$OUT" << 'END'
import json, sys
waits = json.load(open(sys.argv[1]))
names = {(waker["vcpu"], waker["vector"]): waker.get("name") for machine in waits["machines"]
         for waker in machine["wakers"] if "vector" in waker}
devices = set()
def look(segments):
    for segment in segments:
        key = segment.get("subject"), segment.get("vector")
        if key in names:
            assert segment.get("vector_name") == names[key], (segment, names[key])
            devices.add(segment.get("vector_name"))
        look(segment["segments"])
for answer in json.load(open(sys.argv[2]))["answers"]:
    look(answer["segments"])
assert len([name for name in devices if name and name.startswith("virtio")]) >= 1, devices
END

sanitized || laws --path --task web:131 --from 306 --to 308.6 "${talk[@]}"
laws --path --task web:131 --worst 10 --kind blocked,wake "${talk[@]}"
laws --path --vcpu "web v1" --worst 10 --kind blocked "${talk[@]}"
laws --path --worst 10 --kind blocked kvm-migration.dat
laws --path --worst 10 --kind blocked,wake credit2-basic.xen

# From the question of one guest's task to the answer of the other's: through both guests, the devices' threads,
# and the relay on the host.
run why -q --path --task web:131 --from 308.123419185 --to 308.154148229 "${talk[@]}"
status 0
golden t171_path "$OUT"
last=0
for who in "web v1: guest code" "db:kworker/1:2-127: waking" "db v0: guest code of socat-133" "db's vhost-266 has pCPU 1" \
		"socat-591 has pCPU 3" "web's vhost-181 has pCPU 3" "web's main loop-162 has pCPU 2" \
		"web v1: guest code of kworker/1:1-35" "web v0: guest code of socat-130" "waking, waits for web v1"; do
	line=$(tail -n +$((last + 1)) "$OUT" | grep -n -m 1 " [mu]s  $who" | cut -d: -f1)
	check "then: $who" test -n "$line"
	last=$((last + ${line:-0}))
done
run why -q --path --pcpu 1 --at 307 "${talk[@]}"
status 2
says "$ERR" "--path requires a vCPU or task"
finish
