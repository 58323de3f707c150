# SPDX-License-Identifier: LGPL-2.1-or-later
# Wrong usage: what is said, and the exit status.
. "$(dirname "$0")/lib.sh"

# case STATUS ARGUMENT...: adds to the transcript
transcript=$WORK/transcript
attempt()
{
	local expected=$1

	shift
	run "$@"
	status "$expected"
	{
		echo "\$ kshark-virt $*"
		sed 's/^/> /' "$OUT"
		cat "$ERR"
		echo "[$STATUS]"
	} >> "$transcript"
}

sample=$SAMPLES/pinned.xen
mkdir "$WORK/directory"
: > "$WORK/empty.xen"
echo "this is no trace, but some text that is long enough to be looked at" > "$WORK/text.xen"

attempt 2
attempt 2 vew
attempt 2 something-else
attempt 2 --frobnicate
attempt 2 help nothing
attempt 2 help dump view
attempt 2 dump
attempt 2 dump --formt csv "$sample"
attempt 2 dump --frobnicate "$sample"
attempt 2 dump -x "$sample"
attempt 2 dump --format
attempt 2 dump --quiet=3 "$sample"
attempt 2 dump --format xml "$sample"
attempt 2 dump --pcpu 1-0 "$sample"
attempt 2 dump --pcpu 0,,1 "$sample"
attempt 2 dump --pcpu 70000 "$sample"
attempt 2 dump --vcpu v0d1 "$sample"
attempt 2 dump --vcpu d1v0, "$sample"
attempt 2 dump --vcpu idled "$sample"
attempt 2 dump --event no_such_event "$sample"
attempt 2 dump --event 0xzz "$sample"
attempt 2 dump --event 0x10000000 "$sample"
attempt 2 dump --from soon "$sample"
attempt 2 dump --from 1.5parsec "$sample"
attempt 2 dump --from 1. "$sample"
attempt 2 dump --to 1.0000000001 "$sample"
attempt 2 dump --to 0.5ns "$sample"
attempt 2 dump --to 99999999999999 "$sample"
attempt 2 dump --from tsc: "$sample"
attempt 2 dump --from tsc:12x "$sample"
attempt 2 dump --cpu-hz fast "$sample"
attempt 2 dump --cpu-hz 1 "$sample"
attempt 2 dump "$sample" "$sample"
attempt 2 dump --list-events "$sample"
attempt 3 dump "$WORK/missing.xen"
attempt 3 dump "$WORK/directory"
attempt 3 dump "$WORK/empty.xen"
attempt 3 dump "$WORK/text.xen"
attempt 3 dump -o "$WORK/missing/out" "$sample"
attempt 2 view --sesion "$sample"
attempt 2 view --cpu-hz fast "$sample"
attempt 2 view -s "$WORK/session.json" "$sample"
attempt 2 view - -
attempt 2 view --show 2..1 "$sample"
attempt 2 view --show 1 "$sample"
attempt 2 view --show 10%..20% "$sample"
attempt 2 view --mark .. "$sample"
attempt 2 view --a-to-b --mark 1 "$sample"
attempt 2 view --page graphs "$sample"
attempt 2 view --select 2: "$sample"
attempt 2 view --graphs cpu3-1 "$sample"
attempt 2 view --graphs cpu0,,cpu1 "$sample"
attempt 2 view --graphs cpu0-99999999 "$sample"
attempt 2 view --scroll -1 "$sample"
attempt 2 view --page worst
attempt 2 view -s "$WORK/session.json" --page worst
attempt 2 report --worst 0 "$sample"
attempt 2 report --worst 5x "$sample"
attempt 2 report --worst 5 --kind exits "$sample"
attempt 2 report --worst 5 --kind exit, "$sample"
attempt 2 report --worst 5 --above tsc:5 "$sample"
attempt 2 report --kind exit "$sample"
attempt 2 report --worst 5 --tracing "$sample"
attempt 2 report --record-cost 100 "$sample"
attempt 2 report --tracing --record-cost 0 "$sample"
attempt 2 compare
attempt 2 compare "$sample"
attempt 2 compare --format xml "$sample" "$sample"
attempt 2 compare --statistic median "$sample" "$sample"
attempt 2 compare --percentiles best "$sample" "$sample"
attempt 2 compare --confidence 100 "$sample" "$sample"
attempt 2 compare --resamples 10 "$sample" "$sample"
attempt 2 compare --seed -1 "$sample" "$sample"
attempt 2 compare --windows many "$sample" "$sample"
attempt 2 compare --metric , "$sample" "$sample"
attempt 2 compare --plot plot "$sample" "$sample"
attempt 3 compare "$WORK/text.xen" "$sample"
export KSHARK_VIRT_PLUGIN_DIR=$WORK
attempt 2 view --dry-run "$sample"
: > "$WORK/plugin-xentrace.so"
: > "$WORK/plugin-virt.so"
: > "$WORK/plugin-kvm_combo.so"
attempt 3 view --dry-run "$WORK/missing.xen"
attempt 3 view --dry-run "$sample" "$WORK/directory"
attempt 3 view --dry-run -s "$WORK/session.json"
unset DISPLAY WAYLAND_DISPLAY QT_QPA_PLATFORM
attempt 2 view "$sample"
DISPLAY=:4711 attempt 2 view "$sample"
WAYLAND_DISPLAY=wayland-0 attempt 2 view "$sample"
export XEN_CPUHZ=fast
attempt 2 dump "$sample"

golden t001_usage "$transcript"
finish
