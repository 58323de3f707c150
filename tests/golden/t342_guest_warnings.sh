# SPDX-License-Identifier: LGPL-2.1-or-later
# why --guest-log of guests that were stopped, spun with interrupts off, or were out of quota: each warning of their kernels has the right verdict, recounted from trace-cmd's text.
. "$(dirname "$0")/lib.sh"
cd "$WORK" || exit 1
for cause in stopped spins quota; do
	log=$SAMPLES/kvm-$cause.dmesg
	for name in kvm-$cause kvm-$cause-web; do
		gunzip -c "$SAMPLES/$name.dat.gz" > $name.dat
	done
	cp "$SAMPLES/kvm-$cause.dat.gz.meta.json" kvm-$cause.dat.meta.json
	# the place of the log on the axis, found anew, is the one that is stored with the sample
	run align --quiet --write kvm-$cause.dat kvm-$cause-web.dat
	status 0
	run why --quiet --format json --guest-log "web:$log" kvm-$cause.dat kvm-$cause-web.dat
	status 0
	cp "$OUT" why.json
	run why --quiet --format json --guest-log "web:$log" "$SAMPLES/kvm-$cause.dat.gz" \
		"$SAMPLES/kvm-$cause-web.dat.gz"
	status 0
	check "$cause: the same of compressed traces" python3 -c '
import json, sys
a, b = (json.load(open(name))["answers"] for name in sys.argv[1:])
assert a == b and a, (a, b)' "$OUT" why.json
	if command -v trace-cmd > /dev/null; then
		for name in kvm-$cause kvm-$cause-web; do
			trace-cmd report -t $name.dat > $name.txt 2> said
		done
		check "$cause: verdicts" python3 "$GOLDEN/warnings_oracle.py" $cause why.json \
			kvm-$cause.txt kvm-$cause-web.txt kvm-$cause.dat.meta.json "$log"
	fi
	run why --quiet --guest-log "web:$log" kvm-$cause.dat kvm-$cause-web.dat
	status 0
	grep -e verdict: -e ' s$' -e '\.dmesg:' "$OUT" | sed "s,$SAMPLES/,," >> verdicts
done
golden t342_guest_warnings verdicts
finish
