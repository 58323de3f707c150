# SPDX-License-Identifier: LGPL-2.1-or-later
# Windows that lie side by side add up to the whole, in every page of report, in top and in export; and no
# share is above 100 %. KSV_SEED, KSV_ROUNDS, KSV_PAGES and KSV_TRACES make it longer.
. "$(dirname "$0")/lib.sh"
cd "$SAMPLES" || exit 1

# a trace of each kind that is small; with their guests, of which one changes its cgroup
traces=${KSV_TRACES:-kvm-cgroups.dat,kvm-cgroups-web.dat recording-kvm recording-qemu
	recording-qemu/host.dat,--monitor,recording-qemu/db.log kvm-restored.dat waits-ipi.dat
	hypertrace-aggregated.dat hypertrace-nested.dat kvm-paused.dat cases/fastpath.dat
	dom0-culprits.xen,dom0-culprits-ftrace.dat saved.xen sched-null.xen}
sanitized && traces='kvm-cgroups.dat,kvm-cgroups-web.dat sched-null.xen'
# shellcheck disable=SC2086
check "windows add up" env KSV_BIN="$KSV_BIN" python3 "$GOLDEN/additive.py" "${KSV_SEED:-35}" \
	"${KSV_ROUNDS:-1}" "${KSV_PAGES:-3}" $traces > "$WORK/said"
cat "$WORK/said"
read -r n _ < <(tail -n 1 "$WORK/said")
check "there are numbers ($n)" test "$n" -ge "$(sanitized && echo 100 || echo 1000)"
finish
