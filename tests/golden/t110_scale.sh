# SPDX-License-Identifier: LGPL-2.1-or-later
# Small files that ask for much: time and memory are in proportion to the file.
. "$(dirname "$0")/lib.sh"

# With the address sanitizer, each costs several times as much: it is only run.
if ldd "$KSV_BIN" | grep -q libasan; then
	export KSV_SCALE=run
	check "all end" python3 "$GOLDEN/scale.py" "$KSV_BIN" "$WORK" 1000
else
	check "in proportion" python3 "$GOLDEN/scale.py" "$KSV_BIN" "$WORK" "${KSV_SCALE_N:-10000}"
fi

finish
