# SPDX-License-Identifier: LGPL-2.1-or-later
# report --threads: each kind of threads that a machine of KVM has, in a real trace, and how it is known whose it is.
. "$(dirname "$0")/lib.sh"
cd "$SAMPLES/recording-qemu" || exit 1

for format in json csv text; do
	run report --quiet --threads --format "$format" host.dat
	status 0
	cp "$OUT" "$WORK/threads.$format"
done
run report --quiet --format json host.dat
status 0
check "all say the same" python3 "$GOLDEN/report_threads.py" "$WORK/threads.json" "$WORK/threads.csv" \
	"$WORK/threads.text" "$OUT"

# thread NAME IS KNOWN_BY: as ps printed in the host, where web is 181, db 286 and bios 356
thread()
{
	check "$1" grep -qE "^  $1 +$2 +$3 +[0-9]" "$WORK/threads.text"
}

thread "web's main loop-181" qemu-system-x86-181 sidecar
thread "web's iothread-192" "IO disks-192" sidecar
thread "web's worker-406" worker-406 sidecar
thread "web's vhost-198" vhost-181-198 name
thread "web's vhost-203" vhost-181-203 name
thread "db's main loop-286" qemu-system-x86-286 sidecar
thread "bios's pit-368" kvm-pit/356-368 name

# without the sidecar, what names and numbers show, and no more: a worker may be anybody's
cp host.dat "$WORK/alone.dat"
run report --quiet --threads "$WORK/alone.dat"
status 0
cp "$OUT" "$WORK/threads.text"
thread "g1's main loop-181" qemu-system-x86-181 name
thread "g1's iothread-192" "IO disks-192" row
thread "g1's vhost-198" vhost-181-198 name
thread "g3's pit-368" kvm-pit/356-368 name
check "the worker has no machine" test "$(grep -c worker "$WORK/threads.text")" = 0

# as culprits and wakers they have the same names
run report --quiet --waits --vcpu g1 host.dat
status 0
says "$OUT" "web's main loop-181"
finish
