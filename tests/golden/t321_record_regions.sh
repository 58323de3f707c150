# SPDX-License-Identifier: LGPL-2.1-or-later
# record asks QEMU's monitor where devices are; reports name addresses and ports by that.
. "$(dirname "$0")/lib.sh"
. "$GOLDEN/record_lib.sh"

# host HOW: web has a monitor that behaves so; db has none
host()
{
	kvm_host
	printf 'qemu-system-x86_64\0-name\0guest=web\0-chardev\0socket,id=other,path=/no\0-chardev\0socket,id=mon0,path=%s,server=on\0-mon\0chardev=mon0,mode=control\0' \
		/run/qmp.sock > "$KSHARK_VIRT_ROOT/proc/160/cmdline"
	# the monitor's own root
	ln -s "$KSHARK_VIRT_ROOT" "$KSHARK_VIRT_ROOT/proc/160/root"
	[ "$1" = none ] && return
	python3 "$GOLDEN/fake_qmp.py" "$KSHARK_VIRT_ROOT/run/qmp.sock" "$1" "$GOLDEN/mtree.txt" > "$WORK/sent" &
	MONITOR=$!
	wait_for test -S "$KSHARK_VIRT_ROOT/run/qmp.sock"
}

host right
run record -q -d 0.3 -o right
status 0
ends "$MONITOR"
cat "$WORK/sent" >> "$WORK/transcript"
# the devices of memory and of ports that the list has, in its order; memory and holes are none
python3 - "$GOLDEN/mtree.txt" > "$WORK/wanted" << 'END'
import re, sys
views = {view.split('AS "')[1].split('"')[0]: view for view in open(sys.argv[1]).read().split("FlatView #")[1:]}
for view in "I/O", "memory":
    for first, last, name in re.findall(r"^  ([0-9a-f]+)-([0-9a-f]+) \(prio \d+, i/o\): (\S+)", views[view], re.M):
        if name != "io":
            print(f"0x{int(first, 16):016x} 0x{int(last, 16):016x}", view == "I/O", name)
END
check "more than thirty" test "$(wc -l < "$WORK/wanted")" -gt 30
is "$(json right/host.dat.meta.json '"\n".join(" ".join((r.get("first", "0x0"), r["last"], str(r.get("port", False)), r["name"])) for r in j["guests"][0]["regions"])')" \
	"$(cat "$WORK/wanted")"
is "$(json right/host.dat.meta.json '["regions" in g for g in j["guests"]]')" '[True, False]'

# what goes wrong with a monitor costs no recording, and is said
for how in busy error end endless odd none; do
	host "$how"
	run record -d 0.3 -o "$how"
	status 0
	[ "$how" = none ] || ends "$MONITOR"
	{ echo "$how"; grep monitor "$ERR"; } >> "$WORK/transcript"
	is "$(json "$how/host.dat.meta.json" '["regions" in g for g in j["guests"]]')" '[False, False]'
done

# no monitor is asked, or its answer is in a file, as virsh prints it
host none
run record -q --regions none -d 0.3 -o unasked
status 0
check "nothing is said of it" test "$(grep -c monitor "$ERR")" = 0
run record -q --regions "web=$GOLDEN/mtree.txt" -d 0.3 -o file
status 0
is "$(json file/host.dat.meta.json 'j["guests"][0]["regions"]')" \
	"$(json right/host.dat.meta.json 'j["guests"][0]["regions"]')"
run record -q --regions "web=$SAMPLES/README.md" -d 0.3 -o no-list
status 0
says "$ERR" "no answer to 'info mtree -f -o'"
for wrong in web '=x' 'web='; do
	run record --regions "$wrong" -d 0.3 -o wrong
	status 2
done
run record --regions "mail=$GOLDEN/mtree.txt" -d 0.3 -o wrong
status 2
says "$ERR" "no machine is called mail"

# a real host whose guest, of this kind of machine, has its disk at 0xfeb02000 and above: beside
# the trace, the sidecar names it, and parts still add up
cp "$SAMPLES/kvm-host.dat" "$WORK/named.dat"
python3 - file/host.dat.meta.json "$WORK/named.dat.meta.json" << 'END'
import json, sys
regions = json.load(open(sys.argv[1]))["guests"][0]["regions"]
vcpus = [{"id": 0, "tid": 3414}, {"id": 1, "tid": 3415}]
json.dump({"guests": [{"name": "g1", "vcpus": vcpus, "regions": regions}]}, open(sys.argv[2], "w"))
END
for file in "$SAMPLES/kvm-host.dat" "$WORK/named.dat"; do
	run report -q --exits -f json "$file"
	status 0
	cp "$OUT" "$WORK/${file##*/}.json"
done
check "the same numbers, and names" python3 - "$WORK/kvm-host.dat.json" "$WORK/named.dat.json" << 'END'
import json, sys
plain, named = (open(path).read() for path in sys.argv[1:])
known = "page 0xfeb02000"
assert plain.count(f'"{known}"') == named.count(f'"{known} (virtio-mmio)"') == 3
plain, named = json.loads(plain), json.loads(named.replace(f"{known} (virtio-mmio)", known))
assert plain["vcpus"] == named["vcpus"]
END
run check --max 'exit[NPF:virtio-mmio].rate=1/s' "$WORK/named.dat"
status 1
says "$OUT" "83 VM exits"
run report -q --exits --vcpu g1v0 --from 1793.6 --to 1796 "$WORK/named.dat"
says "$OUT" "page 0xfeb02000 (virtio-mmio)"

# hostile sidecars: names, ranges and numbers that cannot be
python3 - "$WORK/named.dat.meta.json" << 'END'
import json, sys
sidecar = json.load(open(sys.argv[1]))
regions = [{"first": "0xfeb02000", "last": "0xfeb02fff", "name": "\x1b[31mdisk \u202e" + 300 * "x"},
           {"first": "0xfeb02800", "last": "0xfeb02fff", "name": "overlaps"}, {"first": 7, "last": 3, "name": "back"},
           {"first": "0x80b", "name": 4}, {"last": -1}, 5, None, {"first": "nothing", "last": "0x1", "name": ""}]
sidecar["guests"][0]["regions"] = regions + [{"first": n, "last": n, "name": "many"} for n in range(9000)]
json.dump(sidecar, open(sys.argv[1], "w"))
END
run report -q --exits "$WORK/named.dat"
status 0
says "$OUT" 'page 0xfeb02000 (\\x1b[31mdisk \\u202exxx'
check "nothing has an effect" test "$(tr -d '\n\t -~' < "$OUT" | wc -c)" = 0
golden t321_record_regions "$WORK/transcript"
finish
