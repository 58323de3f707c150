# SPDX-License-Identifier: LGPL-2.1-or-later
# Small files that ask for much: time and memory are in proportion to the file.
. "$(dirname "$0")/lib.sh"

# With the address sanitizer, each costs several times as much: it is only run.
if sanitized; then
	export KSV_SCALE=run
	check "all end" python3 "$GOLDEN/scale.py" "$KSV_BIN" "$WORK" 1000
else
	check "in proportion" python3 "$GOLDEN/scale.py" "$KSV_BIN" "$WORK" "${KSV_SCALE_N:-10000}"
fi

# too many offsets explain too many events: the search for the right one is given up
for part in "" 1; do
	python3 "$GOLDEN/scale_files.py" kvm_delivery 16000 "$WORK/dense$part" $part > "$WORK/n"
done
run align --source causality --write "$WORK/dense" "$WORK/dense1"
status 1
says "$OUT" "refused: trying all offsets takes more work than files of this size may cause"
check "nothing is said or kept" test "$(wc -l < "$OUT")" = 1 -a ! -e "$WORK/dense1.meta.json"

finish
