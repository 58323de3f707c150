# SPDX-License-Identifier: LGPL-2.1-or-later
# record: what is missing is said before anything begins, with the remedy; nothing is left behind.
. "$(dirname "$0")/lib.sh"
. "$GOLDEN/record_lib.sh"

kvm_host

# wrong usage
attempt -d 0
attempt -d tsc:3
attempt -d soon
attempt --buffer much
attempt --guest =none
attempt --hypervisor vmware
attempt sleep 1
attempt --
attempt -d 1 --events kvm,nonsense
attempt -d 1 --guest web=telepathy
attempt -d 1 --guest web=ssh:
attempt -d 1 --guest web=ssh:-oProxyCommand=x
attempt -d 1 --guest web=none --guest 160=none

# what is missing
rm -r "$KSHARK_VIRT_ROOT/sys/class"
attempt -d 1
attempt -d 1 --hypervisor kvm -o there
check "nothing is estimated" test -z "$(grep expected "$OUT" "$ERR")"
check "no folder" test ! -e there
kvm_host
rm -r "$TRACING"
if [ "$(id -u)" = 0 ]; then
	attempt -d 1
fi
kvm_host
rm -rf "$KSHARK_VIRT_ROOT/run"
run record -d 1
says "$ERR" "kshark-virt-record.lock: No such file or directory; mount -t tmpfs tmpfs /run"
kvm_host
rm -r "$TRACING/events/kvm" "$KSHARK_VIRT_ROOT/sys/kernel/debug/kvm"
echo function > "$TRACING/current_tracer"
FAKE_VERSION=2.6.1 attempt -d 1
kvm_host
mkdir -p "$KSHARK_VIRT_ROOT/sys/kernel/debug/tracing"
rm -r "$KSHARK_VIRT_ROOT/sys/kernel/debug/kvm"
attempt -d 1
kvm_host
printf 'sched:sched_switch\nkvm:kvm_exit\n' > "$TRACING/set_event"
attempt -d 1
kvm_host
printf '#!/bin/sh\nexit 1\n' > "$WORK/bin/trace-cmd"
attempt -d 1
ln -sf /nowhere/trace-cmd "$WORK/bin/trace-cmd"
PATH=$WORK/bin run record -d 1
keep -d 1
rm "$WORK/bin/trace-cmd"
kvm_host
attempt -d 1 --guest mail
attempt -d 1 --guest web=agent
rm -r "$KSHARK_VIRT_ROOT"/sys/kernel/debug/kvm/*-8
attempt -d 1 --guest web
kvm_host
mkdir -m 777 open
chmod 777 open
attempt -d 1 -o open
# who may write above it could put another folder in its place
mkdir -m 777 above
chmod 777 above
run record -d 1 -o above/below
status 3
says "$ERR" "others can write to $WORK/records/above (user "
check "nothing is left in it" test -z "$(ls -A above)"
mkdir full
: > full/file
attempt -d 1 -o full
: > file
attempt -d 1 -o file
attempt -d 1 -o no/such/folder
attempt -d 1 -o huge --reserve 1000000G
attempt -d 1 -o much --buffer 1000G
check "no folder is left" test ! -e huge -a ! -e much
FAKE_DIE=1 attempt -d 1 -o dies
check "no folder is left" test ! -e dies
restored
# one that was there stays, empty as it was; what a user has put into it, too
mkdir -m 700 before
FAKE_DIE=1 run record -d 1 -o before
status 3
check "the folder is there, and empty" test -d before -a -z "$(ls -A before)"
sed -i '/^record)/a \	[ -z "${FAKE_WROTE:-}" ] || echo notes > "$(dirname "$3")/notes"' "$WORK/bin/trace-cmd"
FAKE_WROTE=1 FAKE_DIE=1 run record -d 1 -o wrote
status 3
is "$(cat wrote/notes)" notes
is "$(json wrote/recording.json 'j["state"]')" failed
printf '#!/bin/sh\nprintf "no route to host\\r\\n" >&2; exit 255\n' > "$WORK/bin/ssh"
chmod +x "$WORK/bin/ssh"
attempt -d 1 --guest web=ssh:root@web
printf '#!/bin/sh\necho uid=1000.; echo "trace-cmd version 3.1"\n' > "$WORK/bin/ssh"
attempt -d 1 --guest web=ssh:joe@web
printf '#!/bin/sh\necho uid=0.\n' > "$WORK/bin/ssh"
attempt -d 1 --guest web=ssh:root@web
printf '#!/bin/sh\necho uid=0.; echo "trace-cmd version 2.9.7"; echo x86-tsc\n' > "$WORK/bin/ssh"
attempt -d 1 --guest web=ssh:root@web
printf '#!/bin/sh\necho uid=0.; echo "trace-cmd version 3.1"; echo local\n' > "$WORK/bin/ssh"
attempt -d 1 --guest web=ssh:root@web
check "trace-cmd has recorded nothing else" test "$(wc -l < "$FAKE_LOG")" = 3
golden t090_record_checks "$WORK/transcript"

# another user's, and that of the user who calls sudo
if [ "$(id -u)" = 0 ]; then
	mkdir theirs
	chown 12345:12345 theirs
	run record -d 0.1 -o theirs/recording
	status 3
	says "$ERR" "others can write to $WORK/records/theirs (user 12345, mode 0755)"
	check "nothing is left in it" test -z "$(ls -A theirs)"
	SUDO_UID=12345 SUDO_GID=12345 run record -d 0.1 -o theirs/recording
	status 0
fi

# not root
if [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null; then
	chmod 755 "$WORK" "$WORK/root"
	chmod 644 "$TRACING/tracing_on"
	# that user may not have access to the folder of the build
	mkdir -p "$WORK/user"/{bin,lib}
	cp "$KSV_BIN" "$WORK/user/bin/kshark-virt"
	library=$(dirname "$KSV_BIN")/../lib/libkshark-virt.so.0
	[ ! -e "$library" ] || cp -L "$library" "$WORK/user/lib"
	chmod -R a+rX "$WORK/user"
	setpriv --reuid=65534 --regid=65534 --clear-groups "$WORK/user/bin/kshark-virt" record -d 1 > "$OUT" 2> "$ERR"
	STATUS=$?
	status 3
	says "$ERR" "recording needs root"
fi
finish
