# SPDX-License-Identifier: LGPL-2.1-or-later
# split of a host and its guest, killed at each rename over parts of another window: the old pair, the new one, or a
# message that it is neither.
. "$(dirname "$0")/lib.sh"

if sanitized; then
	echo "a sanitizer wants to be the first library"
	exit 77
fi
cd "$WORK" || exit 1
cc -shared -fPIC -D_GNU_SOURCE -o broken.so "$KSV_SOURCE_DIR/tests/hostile/broken_disk.c" -ldl
cp "$SAMPLES/kvm-host.dat" h.dat
cp "$SAMPLES/kvm-guest.dat" g.dat
"$KSV_BIN" split -q --from 10% --to 60% -o old h.dat g.dat
"$KSV_BIN" split -q --from 50% -o new h.dat g.dat
for pair in old new; do
	run report -qfjson $pair/h.dat $pair/g.dat
	status 0
	sed "s|$pair/|P/|" "$OUT" > $pair.json
done
check "two windows" test "$(cmp old.json new.json | wc -l)" = 1

mixes=0
for at in 1 2 3 4 5 6 7; do
	rm -rf out done
	cp -r old out
	LD_PRELOAD=./broken.so BROKEN_CALL=rename BROKEN_AT=$at BROKEN_HOW=kill BROKEN_DONE=done \
		"$KSV_BIN" split -q --from 50% -o out h.dat g.dat > said 2>&1
	if [ ! -e done ]; then
		break
	fi
	run report -qfjson out/h.dat out/g.dat
	sed "s|out/|P/|" "$OUT" > found.json
	if [ "$STATUS" = 0 ]; then
		check "rename $at: the old pair or the new one" \
			eval 'cmp -s old.json found.json || cmp -s new.json found.json'
		continue
	fi
	mixes=$((mixes + 1))
	status 3
	says "$ERR" "out/g.dat: a part from "
	says "$ERR" "but that of its host, out/h.dat, is from "
	# in a recording, the host is read alone
	printf '{ "recording_version": 1, "hypervisor": "kvm", "state": "complete", "guests": [], "files": [\n%s\n%s ] }\n' \
	       '{ "name": "h.dat", "role": "host" },' '{ "name": "g.dat", "role": "guest", "guest": "web" }' \
	       > out/recording.json
	run report -qfjson out
	status 0
	says "$OUT" '"text": "out/g.dat: the trace of guest web is skipped: a part from '
	# once more, it is whole
	"$KSV_BIN" split -q --from 50% -o out h.dat g.dat
	run report -qfjson out/h.dat out/g.dat
	sed "s|out/|P/|" "$OUT" > found.json
	same new.json found.json
done
check "each rename was reached" test "$at" -gt 6
check "some states are mixed" test "$mixes" -gt 0
# parts that were joined again are of one window
"$KSV_BIN" split -q --to 50% -o first h.dat g.dat
mkdir all
for name in h.dat g.dat; do
	"$KSV_BIN" merge -q -o all/$name first/$name new/$name
done
run report -qfjson all/h.dat all/g.dat
status 0
finish
