# SPDX-License-Identifier: LGPL-2.1-or-later
# hypertrace-pvh: the same of a PVH domain, for which each hypercall is a VM exit
# shellcheck disable=SC2034
XEN_OPTS="dom0_vcpus_pin" LIMIT=900
job() { hypertrace_job pvh; }
