# SPDX-License-Identifier: LGPL-2.1-or-later
# As many vCPUs, domains, tasks and exit reasons as a trace can name, and one more.
. "$(dirname "$0")/lib.sh"

if sanitized; then
	echo "with the address sanitizer, it takes too much memory"
	exit 77
fi
check "very many" python3 "$GOLDEN/scale.py" "$KSV_BIN" "$WORK" 400000 many
python3 "$GOLDEN/scale_files.py" xen_vcpus 400001 "$WORK/beyond" > "$WORK/n"
run report --full "$WORK/beyond"
status 3
says "$ERR" "more than 200000 machines, 400000 vCPUs or 400000 exit reasons"

finish
