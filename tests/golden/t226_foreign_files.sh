# SPDX-License-Identifier: LGPL-2.1-or-later
# Files of other programs are called by their names, with what helps; a trace.dat that is compressed as a whole, or
# comes from a pipe, is read.
. "$(dirname "$0")/lib.sh"

CASES=$SAMPLES/cases

# everywhere FILE TEXT [no-split]: every command that opens a host's trace says the text, and ends with 3
everywhere()
{
	local file=$1 text=$2 command
	local commands=("report" "why --worst 1" "check --max steal.p99=1ms" "rollup --host h" "top --once"
			"compare $CASES/unaligned-apart.dat" "diff $CASES/unaligned-apart.dat" "plot -o $WORK/x.svg"
			"export -f csv-tables -o $WORK/x" "dump --hypertrace" "split -o $WORK/x")

	[ -n "${3:-}" ] && commands=("${commands[@]:0:10}")
	for command in "${commands[@]}"; do
		# shellcheck disable=SC2086
		run $command "$file"
		status 3
		says "$ERR" "$file: $text"
		check "$command writes nothing" test ! -s "$OUT"
	done
}

everywhere "$CASES/perf.data.guest" "a perf.data file without content"
printf '\xd4\xc3\xb2\xa1\2\0\4\0rest of it' > "$WORK/net.pcap"
everywhere "$WORK/net.pcap" "a pcap capture of a network"
printf 'PK\3\4rest' > "$WORK/a.zip"
everywhere "$WORK/a.zip" "a zip archive: unpack it first"
printf 'something' | xz > "$WORK/a.xz"
everywhere "$WORK/a.xz" "compressed with xz: unpack it first"
printf 'something' | bzip2 > "$WORK/a.bz2"
everywhere "$WORK/a.bz2" "compressed with bzip2: unpack it first"
mkdir "$WORK/lttng"
printf '\x75\xd1\x1d\x57' > "$WORK/lttng/metadata"
run report --full "$WORK/lttng"
status 3
says "$ERR" "$WORK/lttng: there is no stream of events in it"
run report --full "$WORK/lttng/metadata"
status 3
says "$ERR" "the metadata of a CTF trace (LTTng): give the folder that it is in"
# packed, too
gzip < "$CASES/perf.data.guest" > "$WORK/perf.gz"
run report --full "$WORK/perf.gz"
status 3
says "$ERR" "a perf.data file"

# Buffers of instances can be cut out of files of version 7 only.
run split --from 100 -o "$WORK/part.dat" "$CASES/instances.dat"
status 3
says "$ERR" "cannot be split. Make a copy with 'trace-cmd convert --file-version 7"
check "no part is written" test ! -e "$WORK/part.dat"

everywhere "$CASES/sched-only.dat" "has threads of vCPUs (CPU 0/KVM), but neither VM entries nor exits" no-split
everywhere "$CASES/counter-clock.dat" "its times are numbers of events (trace_clock counter)" no-split
run report --full "$CASES/unaligned-apart.dat" "$CASES/sched-only.dat"
status 3
says "$ERR" "Record kvm:kvm_entry and kvm:kvm_exit as well"

# A whole trace.dat that is compressed, or comes from a pipe.
gunzip < "$CASES/trace.dat.gz" > "$WORK/trace.dat"
zstd -q < "$WORK/trace.dat" > "$WORK/trace.dat.zst"
cp "$CASES/trace.dat.gz" "$WORK/trace.dat.gz"
cd "$WORK" || exit 1
for command in "report --format csv" "why --worst 3" "top --once --format csv"; do
	# shellcheck disable=SC2086
	run $command trace.dat
	status 0
	sed 's/trace\.dat/FILE/g' "$OUT" > right
	for file in trace.dat.gz trace.dat.zst; do
		# shellcheck disable=SC2086
		run $command "$file"
		status 0
		sed "s/$file/FILE/g" "$OUT" > got
		same right got
	done
done
run report --format csv trace.dat
sed '2,$s/^[^,]*,/FILE,/' "$OUT" > right
for packed in "cat trace.dat" "cat trace.dat.gz" "cat trace.dat.zst"; do
	$packed | "$KSV_BIN" report --format csv - | sed '2,$s/^[^,]*,/FILE,/' > got
	same right got
	"$KSV_BIN" report --format csv <($packed) | sed '2,$s/^[^,]*,/FILE,/' > got
	same right got
done
"$KSV_BIN" report --format csv - < trace.dat | sed '2,$s/^[^,]*,/FILE,/' > got
same right got
# cut off, it is said
head -c 800 trace.dat.gz > cut.dat.gz
run report --full cut.dat.gz
status 3
says "$ERR" "cut.dat.gz: corrupt compressed data, or cut short"
some_plugins
# KernelShark opens none of these itself: it gets a copy
run view --dry-run trace.dat.gz
status 0
says "$OUT" "/trace.dat.gz.dat"
says "$ERR" "trace.dat.gz: opened as "

finish
