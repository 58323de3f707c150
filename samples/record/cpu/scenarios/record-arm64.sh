# SPDX-License-Identifier: LGPL-2.1-or-later
# cpu: arm64
# record-arm64: "kshark-virt record" of a host with CPUs of arm64; by scripts/lab-test
. /lab/host.sh
record_host 50
