# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# The window's names, shares and length are those of "report --format json", and the command that it copies
# prints them, sample by sample: cycles of the TSC with
# and without a sidecar, nested hosts, two hosts, a frequency that is assumed, a packed perf.data. A few of them;
# with KSV_ALL_SAMPLES=1 all, which takes a quarter of an hour.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"

few=(
	'kvm-restored.dat kvm-restored-web.dat'
	'kvm-nested-linux.dat kvm-nested-linux-n1.dat kvm-nested-linux-g1.dat'
	'hypertrace-nested.dat hypertrace-nested-n1.dat hypertrace-nested-g1.dat'
	'hvm-io.xen pinned.xen'
	'kvm-three-perf.data.gz'
)
all=(
	credit2-4.20.xen credit2-basic.xen 'dom0-culprits.xen dom0-culprits-ftrace.dat' 'dom0.xen dom0-ftrace.dat'
	'domU.xen.gz domU-ftrace.dat' host-disks.dat host-locks.dat host-samples.dat.gz hvm-exits.xen hvm-io.xen
	'hypertrace-aggregated.dat hypertrace-aggregated-g1.dat'
	'hypertrace-packed.dat hypertrace-packed-g1.dat' 'hypertrace-plain.dat hypertrace-plain-g1.dat'
	hypertrace-pvh.xen.gz 'kvm-boot-loud.dat kvm-boot-loud-g1.dat' 'kvm-boot.dat kvm-boot-g1.dat'
	'kvm-cgroups.dat kvm-cgroups-web.dat' 'kvm-host.dat kvm-guest.dat' kvm-hypercall.dat kvm-memory.dat
	'kvm-migration.dat kvm-migration-g1.dat' 'kvm-nested.dat kvm-nested-g1.dat'
	'kvm-nested-shift.dat kvm-nested-shift-g1.dat' 'kvm-nosync.dat kvm-nosync-g1.dat' kvm-paused.dat kvm-perf.data
	'kvm-ptp.dat kvm-ptp-g1.dat' kvm-shared.dat 'kvm-talk.dat kvm-talk-web.dat kvm-talk-db.dat' kvm-three.dat
	lost-records.xen migration.xen pinned.xen saved.xen sched-credit.xen sched-null.xen
	'waits-disk.dat waits-disk-web.dat' 'waits-ipi.dat waits-ipi-web.dat' 'waits-packet.dat waits-packet-web.dat'
	'waits-timer.dat waits-timer-web.dat'
)
[ -z "${KSV_ALL_SAMPLES:-}" ] || few+=("${all[@]}")

# what the window must not say, if this is set
unsaid=

# compare NAME...: of samples, or paths: print what differs; return 1 if anything does
compare()
{
	local name files=() whole=() reports=() file line

	: >"$GUI_DIR/refused"
	for name; do
		file=$GUI_SAMPLES/$name
		[[ $name != /* ]] || file=$name
		name=$(basename "$name")
		files+=("$file")
		# one without machines is a guest
		if "$KSV_BIN" report --quiet --format json "$file" >"$GUI_DIR/$name.json" 2>/dev/null; then
			whole+=("$GUI_DIR/$name.json")
		fi
	done
	gui_run "${files[@]}"
	gui_loaded
	gui_until virt_window
	gui_still
	virt_window
	[ -z "$unsaid" ] || ! gui_has widgets "$unsaid" || echo "DIFFERS: says $unsaid" | tee -a "$GUI_DIR/refused"
	# of this window, as where it begins and ends within a column changes the shares of short states
	virt_copy 'Report command'
	while IFS= read -r line; do
		name=$GUI_DIR/report-${#reports[@]}.json
		if ! PATH=$(dirname "$KSV_BIN"):$PATH bash -c "${line/ report / report --quiet --format json }" >"$name"; then
			echo "DIFFERS: refused: $line" | tee -a "$GUI_DIR/refused"
		fi
		reports+=("$name")
	done <"$GUI_DIR/copied"
	virt_copy 'vCPUs as text'
	echo "$*: $(python3 "$KSV_SOURCE_DIR/tests/gui/samples.py" "$GUI_DIR/copied" $((VIRT_TO - VIRT_FROM)) \
		"${whole[@]}" -- "${reports[@]}" || echo DIFFERS)" | tee "$GUI_DIR/compared"
	gui_quit
	! grep -q DIFFERS "$GUI_DIR/compared" "$GUI_DIR/refused"
}

gui_init
GUI_PROGRAM=("$KSV_BIN" view)
differ=0
for names in "${few[@]}"; do
	# shellcheck disable=SC2086
	compare $names || differ=$((differ + 1))
done
# a nested host whose own offsets jump, without them as soon as it is aligned, in the window and in reports
cp "$GUI_SAMPLES"/kvm-nested-shift{,-g1}.dat "$GUI_DIR"
aligned=("$GUI_DIR"/kvm-nested-shift{,-g1}.dat)
"$KSV_BIN" align --quiet --write "${aligned[@]}" >/dev/null 2>&1
unsaid='offsets of this guest jump'
compare "${aligned[@]}" || differ=$((differ + 1))
gui_same 'samples that differ' 0 "$differ"
