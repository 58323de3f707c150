# SPDX-License-Identifier: LGPL-2.1-or-later
# kshark-virt-xen-meta: Xen's answers become a sidecar, at begin and end and between; what it refuses,
# a sentence. Xen is one that answers out of a file (tests/fake/fake_xen.c).
. "$(dirname "$0")/lib.sh"

if [ -z "${KSV_XEN_META_FAKE:-}" ]; then
	echo "skipped: built without libxenctrl (Debian: libxen-dev)"
	exit 77
fi
export FAKE_XEN=$WORK/xen.json
META=$WORK/trace.xen.meta.json

# change EXPRESSION: the Xen of the file, after a statement in Python about "xen"
change()
{
	python3 - "$FAKE_XEN" "$1" <<-'END'
		import json, os, sys
		path = sys.argv[1]
		xen = json.load(open(path))
		exec(sys.argv[2])
		json.dump(xen, open(path + ".new", "w"))
		os.replace(path + ".new", path)
	END
}

begin_anew()
{
	cp "$GOLDEN/t125_xen.json" "$FAKE_XEN"
}

# meta ARGUMENT...: run it; output in $OUT and $ERR, status in $STATUS
meta()
{
	"$KSV_XEN_META_FAKE" "$@" > "$OUT" 2> "$ERR" < /dev/null
	STATUS=$?
}

# holds FILE EXPRESSION: is it true of a sidecar, "meta", and of the Xen that it is of, "xen"?
holds()
{
	checks=$((checks + 1))
	python3 - "$1" "$FAKE_XEN" "$2" <<-'END' || { fail "$2"; cat "$1"; }
		import json, sys
		meta, xen = (json.load(open(path)) for path in sys.argv[1:3])

		def domain(domid):
		    return next(d for d in meta["domains"] if d["id"] == domid)

		def same(found, known):
		    """All values in it are known, and the other way round, except clocks and fakes."""
		    if isinstance(known, list):
		        return len(found) == len(known) and all(map(same, found, known))
		    if not isinstance(known, dict):
		        return found == known
		    return all(same(found[k], v) for k, v in known.items() if "fake" not in k)

		sys.exit(not eval(sys.argv[3]))
	END
}

# until_holds EXPRESSION: wait for what the program that runs writes next
until_holds()
{
	local i

	for i in $(seq 600); do
		python3 -c '
import json, sys
meta = json.load(open(sys.argv[1]))
sys.exit(not eval(sys.argv[2]))' "$META" "$1" 2>/dev/null && return
		kill -0 "$PID" 2>/dev/null || break
		sleep 0.1
	done
	fail "waited in vain for $1"
	cat "$META"
}

# ---- once ----

begin_anew
change '[vcpu.pop("end", 0) for d in xen["domains"] for vcpu in d["vcpus"]]'
meta
status 0
same "$ERR" /dev/null
holds "$OUT" 'same({k: v for k, v in meta.items() if k != "begin"}, xen)'
holds "$OUT" 'set(meta["begin"]) == {"realtime_ns", "tsc", "tsc_within"}'
holds "$OUT" '0 < meta["begin"]["tsc_within"] < 10 ** 9 < meta["begin"]["tsc"]'
# a PV domain with the native TSC has that of the host; the others were not queried
holds "$OUT" 'domain(0)["tsc_offset"] == "0x" + "0" * 16 and "tsc_offset" not in domain(7)'

# the offsets of those that have one, as exactly as it says; a TSC of another speed has none
meta --guest-tsc
status 0
holds "$OUT" 'abs(int(domain(7)["tsc_offset"], 16) - 2 ** 64 + 10 ** 12) <= domain(7)["tsc_within"]'
holds "$OUT" '"tsc_offset" not in domain(9)'
change 'xen["domains"][1]["fake_cut"] = True'
meta --guest-tsc
status 0
holds "$OUT" '"tsc_offset" not in domain(7)'

# the sidecar is one for the reader: name, frequency
cp "$SAMPLES/pinned.xen" "$WORK/trace.xen"
change 'xen["domains"][1].update(id=1, name="web")'
meta -o "$META"
status 0
run report --full "$WORK/trace.xen"
status 0
says "$OUT" 'web'
says "$OUT" 'sidecar'

# the size of the trace buffers, which are not there before the first trace
begin_anew
meta --buffers
status 0
same "$OUT" - <<< '{ "trace_buffer_pages": 0, "max_pcpus": 6 }'
change 'xen["trace_buffer_pages"] = 128'
meta -b
status 0
same "$OUT" - <<< '{ "trace_buffer_pages": 128, "max_pcpus": 6 }'
change 'xen["errors"] = {"xc_interface_open": 2}'
meta --buffers
status 3
says "$ERR" 'cannot talk to Xen'

# ---- while it goes on ----

begin_anew
"$KSV_XEN_META_FAKE" --watch --output "$META" 2> "$ERR" &
PID=$!
until_holds 'len(meta["domains"]) == 3'
holds "$META" '"end" not in meta and "end" not in domain(0)["vcpus"][0]'
change 'xen["domains"][0]["name"] = "dom0"
del xen["domains"][2]
xen["domains"].append(dict(xen["domains"][1], id=12, name="new"))'
until_holds '[d["id"] for d in meta["domains"]] == [0, 7, 9, 12] and "went_realtime_ns" in str(meta)'
holds "$META" 'domain(0)["name"] == "dom0" and domain(0)["names_before"][0]["name"] == "Domain-0"'
holds "$META" 'meta["begin"]["realtime_ns"] < domain(9)["went_realtime_ns"]'
holds "$META" 'domain(12)["came_realtime_ns"] > 0 and "came_realtime_ns" not in domain(7)'
change 'xen["ended"] = True'
kill -TERM "$PID"
wait "$PID"
STATUS=$?
status 0
same "$ERR" /dev/null
holds "$META" 'meta["end"]["tsc"] > meta["begin"]["tsc"]'
holds "$META" 'same(domain(0)["vcpus"], xen["domains"][0]["vcpus"])'
holds "$META" '"end" in domain(12)["vcpus"][0] and "end" not in str(domain(9))'

# a number that is used again is another domain
begin_anew
"$KSV_XEN_META_FAKE" -w -o "$META" 2> "$ERR" &
PID=$!
until_holds '"end" not in meta and len(meta["domains"]) == 3'
change 'xen["gone"] = xen["domains"].pop(1)'
until_holds '"went_realtime_ns" in meta["domains"][1]'
change 'xen["domains"].append(dict(xen["gone"], name="other"))'
until_holds 'len(meta["domains"]) == 4'
kill -INT "$PID"
wait "$PID"
STATUS=$?
status 0
holds "$META" '[d["id"] for d in meta["domains"]] == [0, 7, 9, 7]'

# it is killed: what was known at the begin is there; nothing else is left behind
begin_anew
rm -f "$META"
"$KSV_XEN_META_FAKE" -w -o "$META" 2> "$ERR" &
PID=$!
until_holds 'len(meta["domains"]) == 3'
kill -KILL "$PID"
wait "$PID" 2>/dev/null
holds "$META" 'len(meta["domains"]) == 3 and "end" not in meta'

# ---- what goes wrong ----

# refused FUNCTION ERROR TEXT: when it fails so, this is said, and an old sidecar stays
refused()
{
	begin_anew
	change "xen['errors'] = {'$1': $2}"
	echo old > "$META"
	meta -o "$META"
	status 3
	says "$ERR" "kshark-virt-xen-meta: $3"
	checks=$((checks + 1))
	[ "$(cat "$META")" = old ] || fail "$1: the old sidecar is gone"
}
refused xc_interface_open 2 'cannot talk to Xen: No such file or directory; run this in'
refused xc_physinfo 13 'Xen 4.17.7 does not accept a program that was built for Xen'
refused xc_physinfo 1 'Xen 4.17.7 does not describe the host: Operation not permitted; is'
refused xc_domain_getinfolist 5 'Xen does not list its domains: Input/output error'

# without these, less is known
begin_anew
change "xen['errors'] = {k: 38 for k in ('xc_sched_id', 'xc_cputopoinfo', 'xc_numainfo', 'xs_open')}"
meta
status 0
says "$ERR" 'there is no xenstore: domains will have no names'
holds "$OUT" '"scheduler" not in meta and meta["pcpus"] == [] and meta["nodes"] == []'
holds "$OUT" 'len(meta["domains"]) == 3 and "name" not in domain(0)'

# a name that is no UTF-8 is JSON all the same
begin_anew
sed -i 's/"Domain-0"/"Dom\xff"/' "$FAKE_XEN"
meta
status 0
check "UTF-8" iconv -f UTF-8 -t UTF-8 "$OUT" -o /dev/null

begin_anew
meta -o "$WORK/no/such/folder.json"
status 3
says "$ERR" 'no/such/folder.json: cannot write: No such file or directory'
meta --watch
status 2
says "$ERR" '--watch needs --output'
meta --nonsense
status 2

# the real one, where there is no Xen
if [ ! -e /proc/xen/capabilities ]; then
	"$KSV_XEN_META" > "$OUT" 2> "$ERR"
	STATUS=$?
	status 3
	says "$ERR" 'kshark-virt-xen-meta: cannot talk to Xen'
fi
finish
