# SPDX-License-Identifier: LGPL-2.1-or-later
# What the tests of "record" share: a host of files, and programs that take the place of others.

export WORK
mkdir "$WORK/bin" "$WORK/records"
export PATH=$WORK/bin:$PATH
export FAKE_SAMPLE=$SAMPLES/kvm-nested-g1.dat FAKE_LOG=$WORK/fake.log
cd "$WORK/records" || exit 1

# tree FILE: make a host of it, as new
tree()
{
	export KSHARK_VIRT_ROOT=$WORK/root
	rm -rf "$KSHARK_VIRT_ROOT"
	while IFS=' ' read -r path text; do
		[[ $path == /* ]] || continue
		[ -d "$KSHARK_VIRT_ROOT${path%/*}" ] || mkdir -p "$KSHARK_VIRT_ROOT${path%/*}"
		printf -- "${text//^/\\0}" > "$KSHARK_VIRT_ROOT$path"
	done < "$GOLDEN/$1"
	TRACING=$KSHARK_VIRT_ROOT/sys/kernel/tracing
}

# kvm_host: a new one, with trace-cmd
kvm_host()
{
	tree record_host.tree
	cp "$GOLDEN/record_trace_cmd" "$WORK/bin/trace-cmd"
	: > "$FAKE_LOG"
}

# printed: the output of the last run, without the parts that differ from run to run
printed()
{
	cat "$OUT" "$ERR" | sed -e "s|$WORK/records/||g" -e 's/room for .*/room for ROOM/' \
		-e 's/only .* are free/only SIZE are free/; s/each of [0-9]* CPUs/each of N CPUs/' \
		-e 's/process [0-9]*/process PID/g; s/kill -INT [0-9]*/kill -INT PID/g; s/end it: kill [0-9][0-9]*/end it: kill PID/g' \
		-e 's/, [0-9.]* [kM]*B, in/, SIZE, in/'
}

# cycles FILE: a trace that counts cycles, and does not say how long they are
cycles()
{
	python3 "$GOLDEN/trace_dat_edit.py" "$SAMPLES/kvm-nosync.dat" "$1" '
old, new = b"[mono] mono_raw boot tai x86-tsc\n", b"mono mono_raw boot tai [x86-tsc]\n"
assert d.count(old) == 1
d[:] = d.replace(old, new)'
}
# scale_of FILE: how long they are
scale_of()
{
	python3 "$GOLDEN/trace_dat_edit.py" "$1" /dev/null 'print(*struct.unpack_from("<II", d, find(14)))'
}

# some tests leave next to nothing in PATH
TIMEOUT=$(command -v timeout)
# run ARGUMENT...: as elsewhere, but what does not end is a failure instead of a test without end
run()
{
	"$TIMEOUT" --foreground -s KILL 300 "$KSV_BIN" "$@" > "$OUT" 2> "$ERR" < /dev/null
	STATUS=$?
}

# attempt ARGUMENT...: run "record", and keep what it said
attempt()
{
	run record "$@"
	keep "$@"
}
keep()
{
	{
		echo "\$ kshark-virt record $*"
		printed
		echo "status $STATUS"
	} >> "$WORK/transcript"
}

# json FILE EXPRESSION: what a Python expression makes of a JSON file j
json()
{
	python3 -c 'import json, sys; j = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$@"
}

# is WHAT WANTED: they are equal
is()
{
	checks=$((checks + 1))
	[ "$1" = "$2" ] || fail "$1 instead of $2"
}

# state FOLDER: of its recording, or "none"
state()
{
	[ -e "$1/recording.json" ] || { echo none; return; }
	json "$1/recording.json" 'j["state"]'
}

# one_of WHAT WORD...
one_of()
{
	checks=$((checks + 1))
	case " ${*:2} " in
	*" $1 "*) ;;
	*) fail "${how:-}: $1 is none of: ${*:2}" ;;
	esac
}

# pause SECONDS: without starting a process
exec {NOTHING}<> <(:)
pause()
{
	read -r -t "$1" -u "$NOTHING" || :
}

# runs PID: the child has not ended
runs()
{
	local stat

	{ read -r stat < "/proc/$1/stat"; } 2> /dev/null || return
	stat=${stat##*) }
	[ "${stat%% *}" != Z ]
}

# wait_for COMMAND...: until it succeeds, for two minutes
wait_for()
{
	local i

	for ((i = 0; i < 2400; i++)); do
		"$@" 2> /dev/null && return
		pause 0.05
	done
	fail "in vain: $*"
}

# recorder_of_lock: sets $recorder to the process that records, which the lock names
recorder_of_lock()
{
	recorder=$(sed 's/.* recorder \([0-9]*\) .*/\1/' "$KSHARK_VIRT_ROOT/run/kshark-virt-record.lock")
}

# gone PID: no such process
gone()
{
	! kill -0 "$1"
}

# ends PID: what runs in the background ends; its status in $STATUS. What still runs after two minutes
# is a failure, and killed.
ends()
{
	local i

	for ((i = 0; i < 2400; i++)); do
		runs "$1" || break
		pause 0.05
	done
	if ((i == 2400)); then
		fail "process $1 does not end; it says:"
		cat "$ERR"
		kill -KILL "$1"
	fi
	wait "$1" 2> /dev/null
	STATUS=$?
}

# restored: nothing is left in tracefs of a recording
restored()
{
	check "the size of buffers is as it was" grep -q 1408 "$TRACING/buffer_size_kb"
	is "$(cat "$TRACING/tracing_on")" 1
	is "$(cat "$TRACING/set_event")" ''
	check "the clock is as it was" grep -qE '^(\[local\]|local$)' "$TRACING/trace_clock"
	check "the lock is empty" test ! -s "$KSHARK_VIRT_ROOT/run/kshark-virt-record.lock"
}

# none_runs PROGRAM: of those in $WORK/bin. pgrep exits with 1 if there is none, the shell with 127 if there is no pgrep
none_runs()
{
	pgrep -f "$WORK/bin/$1" > "$WORK/pids"
	[ $? = 1 ]
}

# a_broken_disk: the library $BROKEN for LD_PRELOAD, by which a use of the disk fails; skips with a sanitizer
a_broken_disk()
{
	if sanitized; then
		echo "a sanitizer wants to be the first library"
		exit 77
	fi
	BROKEN=$WORK/broken_disk.so
	cc -shared -fPIC -D_GNU_SOURCE -o "$BROKEN" "$KSV_SOURCE_DIR/tests/hostile/broken_disk.c" -ldl
}
