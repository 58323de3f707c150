# SPDX-License-Identifier: LGPL-2.1-or-later
# migration: what is known of the blackout without clocks, with wrong ones, and by options; machines of several names;
# what it refuses
. "$(dirname "$0")/lib.sh"

for side in source target; do
	cp "$SAMPLES/kvm-moved-$side.dat.gz" "$WORK/$side.dat.gz"
	cp "$SAMPLES/kvm-moved-$side.dat.gz.meta.json" "$WORK/"
done
cd "$WORK" || exit 1
mv kvm-moved-source.dat.gz.meta.json source.dat.gz.meta.json
mv kvm-moved-target.dat.gz.meta.json target.dat.gz.meta.json
# blackout: the row of all vCPUs
blackout() { grep '^[^,]*,blackout,[^,]*,[^,]*,[^,]*,[^,]*,[^,]*,[^,]*,,' "$OUT" | cut -d, -f5-7; }
offset=21.324602677

run migration -q -f csv --offset "$offset" --within 1ms source.dat.gz target.dat.gz
status 0
exact=$(blackout | cut -d, -f1)
check "the limits are those of --within" \
	test "$(blackout)" = "$exact,$((exact - 1000000)),$((exact + 1000000))"
# an error of both wall clocks
run migration -q -f csv --within 2ms source.dat.gz target.dat.gz
status 0
check "--within of the wall clocks" test "$(blackout)" = "$exact,$((exact - 2000000)),$((exact + 2000000))"
# no error is known: no upper limit
run migration -q -f csv --offset "$offset" source.dat.gz target.dat.gz
status 0
check "no upper limit" test "$(blackout)" = "$exact,0,"
# it cannot run on both hosts: a second before
run migration --offset 18 --within 1ms source.dat.gz target.dat.gz
status 0
says "$OUT" "By the clocks, the machine runs on both hosts at once"
says "$OUT" "blackout: unknown"
# -: not before the source has stopped
run migration -q -f json --offset -5s source.dat.gz target.dat.gz
status 0
says "$OUT" '"contradiction"'

# a sidecar without an error of the clock, and none
sed -i '/within_ns/d; s/\("trace_ns": [0-9]*\),/\1/' target.dat.gz.meta.json
run migration -q -f csv source.dat.gz target.dat.gz
status 0
check "an unknown error" test "$(blackout)" = "$exact,0,"
rm target.dat.gz.meta.json
run migration -q source.dat.gz target.dat.gz
status 0
says "$OUT" "blackout: unknown"
says "$OUT" "The difference of the hosts' clocks is unknown"
says "$OUT" "where it is g1"

# the machine: by another name, and refused
cp "$SAMPLES/kvm-moved-target.dat.gz.meta.json" target.dat.gz.meta.json
sed -i 's/"web"/"moved"/' target.dat.gz.meta.json
run migration -q -f csv --machine web=moved source.dat.gz target.dat.gz
status 0
check "another name" test "$(blackout | cut -d, -f1)" = "$exact"
refuse 2 migration source.dat.gz target.dat.gz
refuse 2 migration --machine db source.dat.gz target.dat.gz
refuse 2 migration source.dat.gz
refuse 2 migration source.dat.gz source.dat.gz
refuse 2 migration source.dat.gz target.dat.gz other.dat
refuse 2 migration --within -1ms source.dat.gz target.dat.gz
refuse 2 migration --offset 10% source.dat.gz target.dat.gz
refuse 3 migration source.dat.gz none.dat
golden t361_migration_clocks refused

# UUIDs count more than names
for side in source target; do
	sed -i 's/"name": "[a-z]*",/&\n"uuid": "4c4c4544-0042-4a10-8039-b1c04f4a4c31",/' "$side.dat.gz.meta.json"
done
run migration -q -f json source.dat.gz target.dat.gz
status 0
says "$OUT" '"recognised_by": "uuid"'

finish
