# SPDX-License-Identifier: LGPL-2.1-or-later
# cpu: amd64
# record-intel: "kshark-virt record" of a host with CPUs of Intel; by scripts/lab-test
. /lab/host.sh
record_host 20
