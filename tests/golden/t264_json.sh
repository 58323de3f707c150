# SPDX-License-Identifier: LGPL-2.1-or-later
# JSON of every command: one document with a version, whatever the number of files; live JSON is JSON Lines.
. "$(dirname "$0")/lib.sh"

VERSION=$(sed -n 's/^#define JSON_VERSION\t*//p' "$KSV_SOURCE_DIR/tools/io/json_writer.h")
cd "$SAMPLES" || exit 1

# document MEMBERS ARGUMENT...: is one document, of the version, with these members
document()
{
	local members=$1
	shift
	run "$@" --format json
	check "$*: status $STATUS: $(cat "$ERR")" test "$STATUS" -le 1
	check "$*" python3 - "$OUT" "$VERSION" "$members" << 'END'
import json, sys
document = json.load(open(sys.argv[1]))
assert document["version"] == int(sys.argv[2]), document["version"]
assert next(iter(document)) == "version"
assert all(member in document for member in sys.argv[3].split()), list(document)
END
}

document file report -q credit2-basic.xen
for page in --culprits --delivery --devices --exits-by-function --functions --handlers --hypertrace --losses --migrations \
	--power --threads --tracing --unknown --waits "--worst 3"; do
	# pages that need another trace are no mistake of this test
	# shellcheck disable=SC2086
	"$KSV_BIN" report -q $page credit2-basic.xen > /dev/null 2>&1 || continue
	# shellcheck disable=SC2086
	document file report -q $page credit2-basic.xen
	pages=$((${pages:-0} + 1))
done
check "pages (${pages:-0})" test "${pages:-0}" -ge 5
document reports report -q credit2-basic.xen kvm-host.dat pinned.xen
document reports report -q --worst 3 credit2-basic.xen kvm-host.dat
check "one of each file" python3 -c '
import json, sys
assert [r["file"] for r in json.load(open(sys.argv[1]))["reports"]] == ["credit2-basic.xen", "kvm-host.dat"]' "$OUT"
document file report -q kvm-talk.dat kvm-talk-web.dat kvm-talk-db.dat
document answers why -q credit2-basic.xen
document limits check -q --max steal=1% credit2-basic.xen
document "before after" diff -q credit2-basic.xen credit2-4.20.xen
document metrics compare -q credit2-basic.xen credit2-4.20.xen
document intervals top -q pinned.xen
document offset align -q kvm-host.dat kvm-guest.dat
document alignments align -q recording-kvm

"$KSV_BIN" top -q -f json --interval 500ms - < pinned.xen > "$OUT" 2> "$ERR"
check "live JSON is JSON Lines" python3 - "$OUT" "$VERSION" << 'END'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
assert len(lines) > 2 and all(line["version"] == int(sys.argv[2]) for line in lines)
assert all(a["to_ns"] == b["from_ns"] for a, b in zip(lines, lines[1:]))
END

# each line of JSON Lines has the version, in the first place
for arguments in "dump -q credit2-basic.xen" "dump -q --hypertrace hypertrace-plain.dat" "dump --list-events"; do
	# shellcheck disable=SC2086
	run $arguments -f json
	status 0
	check "$arguments" python3 - "$OUT" "$VERSION" << 'END'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
assert len(lines) > 50, len(lines)
assert all(next(iter(line)) == "version" and line["version"] == int(sys.argv[2]) for line in lines)
END
done
finish
