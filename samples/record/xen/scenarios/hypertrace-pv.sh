# SPDX-License-Identifier: LGPL-2.1-or-later
# hypertrace-pv: a PV domain reports its switches, interrupts and system calls by hypercalls (hypertrace.ko,
# HVMOP_xentrace) while xentrace records; its own ftrace records the switches: guest.txt
# shellcheck disable=SC2034
XEN_OPTS="dom0_vcpus_pin" LIMIT=900
job() { hypertrace_job pv; }
