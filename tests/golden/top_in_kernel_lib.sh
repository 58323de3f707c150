# SPDX-License-Identifier: LGPL-2.1-or-later
# What tests of top --in-kernel share, after lib.sh: this host's real scheduler, and machines of files whose vCPUs are
# real threads. Skips the test where that cannot be.
. "$GOLDEN/record_lib.sh"

if [ "$(id -u)" != 0 ] || [ ! -w /sys/kernel/tracing/instances ] || ! command -v bpftool > /dev/null; then
	echo "needs root, tracefs and bpftool"
	exit 77
fi
export KSHARK_VIRT_ROOT=$WORK/root
KVM=$KSHARK_VIRT_ROOT/sys/kernel/debug/kvm
LOAD='' TOP='' INSTANCE=/sys/kernel/tracing/instances/ksv-$$
leave()
{
	[ -z "$LOAD" ] || kill "$LOAD"
	[ -z "$TOP" ] || kill -9 "$TOP" 2> /dev/null
	[ ! -d "$INSTANCE" ] || { echo 0 > "$INSTANCE/tracing_on"; rmdir "$INSTANCE"; }
	rm -rf "$WORK"
}
trap leave EXIT

mkdir -p "$KVM" "$KSHARK_VIRT_ROOT"/{sys/class/misc/kvm,run}
ln -s /proc "$KSHARK_VIRT_ROOT/proc"
ln -s /sys/kernel/tracing "$KSHARK_VIRT_ROOT/sys/kernel/tracing"
lines() { test "$(wc -l < "$1")" -ge "$2"; }
# load N [idle]: threads, in $LOAD, as the vCPUs of a machine
load()
{
	local n=0 tid

	[ -e "$WORK/vcpu_load" ] || cc -O1 -pthread -o "$WORK/vcpu_load" "$GOLDEN/vcpu_load.c"
	rm -f "$WORK/tids"
	"$WORK/vcpu_load" "$1" "$WORK/tids" ${2:+"$2"} &
	LOAD=$!
	wait_for lines "$WORK/tids" "$1"
	while read -r tid; do
		mkdir -p "$KVM/$LOAD-8/vcpu$n"
		echo "$tid" > "$KVM/$LOAD-8/vcpu$n/pid"
		n=$((n + 1))
	done < "$WORK/tids"
}
# unload: they end, and so does the machine
unload()
{
	kill "$LOAD"
	wait "$LOAD" 2> /dev/null
	rm -r "$KVM/$LOAD-8"
	LOAD=''
}
# begin OPTION...: top --in-kernel, in the background
begin()
{
	: > "$OUT"
	"$KSV_BIN" top --in-kernel "$@" > "$OUT" 2> "$ERR" < /dev/null &
	TOP=$!
}
# over: SIGTERM ends it
over()
{
	kill -TERM "$TOP"
	ends "$TOP"
	status 0
	TOP=
}

run top --in-kernel --once -f csv --interval 10ms
if grep -q 'its kernel cannot count' "$ERR"; then
	sed 's/^/skipped: /' "$ERR"
	exit 77
fi
status 0
says "$ERR" 'no KVM machine runs'
