# SPDX-License-Identifier: LGPL-2.1-or-later
# plot --format csv against dump's runstate changes, and against xenalyze --scatterplot-pcpu.
. "$(dirname "$0")/lib.sh"

# The samples have 2.3 GHz; this is a frequency nearby that xenalyze can divide by without an error.
for name in credit2-basic pinned hvm-exits; do
	sample=$SAMPLES/$name.xen
	run plot --quiet --cpu-hz 2300781250 --format csv "$sample"
	status 0
	check "$name: header" test "$(head -n 1 "$OUT")" = vcpu,time_ns,pcpu
	mv "$OUT" "$WORK/$name.csv"

	run dump --quiet --cpu-hz 2300781250 --format csv --event '*_to_running' "$sample"
	status 0
	# the old pCPU first, after a migration
	awk -F, 'match($8, /^vcpu=d[0-9]+v[0-9]+/) {
			vcpu = substr($8, 6, RLENGTH - 5)
			if (vcpu in last && last[vcpu] != $3)
				print vcpu "," $2 "," last[vcpu]
			print vcpu "," $2 "," $3
			last[vcpu] = $3
		}' "$OUT" > "$WORK/wanted"
	check "$name: as dump" python3 "$GOLDEN/plot_csv.py" "$WORK/$name.csv" "$WORK/wanted" 0

	command -v xenalyze > /dev/null || {
		echo "xenalyze is missing: $name not compared (Debian: apt-get install xen-utils-common)"
		continue
	}
	# it prints each line twice, unless the vCPU has migrated
	xenalyze_says "$sample" --cpu-hz 2300781250 --scatterplot-pcpu |
		awk '{
			time = $2
			sub(/\./, "", time)
			sub(/^0+/, "", time)
			line = "d" $1 "," (time == "" ? 0 : time) "," $3
			if (line != last)
				print line
			last = line
		}' > "$WORK/theirs"
	check "$name: as xenalyze" python3 "$GOLDEN/plot_csv.py" "$WORK/$name.csv" \
		"$WORK/theirs" 0
done
sed 's/,2$/,1/' "$WORK/wanted" > "$WORK/wrong"
python3 "$GOLDEN/plot_csv.py" "$WORK/hvm-exits.csv" "$WORK/wrong" 0 > "$OUT"
check "the test sees other pCPUs" test $? = 1

# Filters, and a span: at its beginning it is said who runs.
sample=$SAMPLES/credit2-basic.xen
run plot --quiet --cpu-hz 2300781250 --format csv --vcpu d1v0,d2 "$sample"
status 0
grep -E '^(vcpu|d1v0|d2v.),' "$WORK/credit2-basic.csv" > "$WORK/wanted"
same "$OUT" "$WORK/wanted"
run plot --quiet --cpu-hz 2300781250 --format csv --pcpu 1 "$sample"
check "pCPU 1 only" awk -F, 'NR > 1 && $3 != 1 { exit 1 } END { exit NR < 100 }' "$OUT"
run plot --quiet --cpu-hz 2300781250 --format csv --from 1 --to 1.2 "$sample"
awk -F, '$2 > 1000000000 && $2 < 1200000000' "$WORK/credit2-basic.csv" > "$WORK/wanted"
check "the beginning" test "$(grep -c ',1000000000,' "$OUT")" -ge 1
grep -v ',1000000000,\|vcpu' "$OUT" | sort -u > "$WORK/inside"
check "inside" test -z "$(comm -23 "$WORK/inside" <(sort -u "$WORK/wanted"))"
check "many lines inside" test "$(wc -l < "$WORK/inside")" -gt 50

# The format follows from the name; what would do harm is refused.
run plot --quiet --cpu-hz 2300781250 -o "$WORK/out.CSV" "$sample"
status 0
same "$WORK/out.CSV" "$WORK/credit2-basic.csv"
cp "$sample" "$WORK/trace.svg"
run plot -o "$WORK/trace.svg" "$WORK/trace.svg"
status 2
same "$WORK/trace.svg" "$sample"
transcript=$WORK/transcript
attempt()
{
	local expected=$1

	shift
	run plot --quiet "$@"
	status "$expected"
	{
		echo "\$ plot $*"
		cat "$ERR"
		echo "[$STATUS]"
	} >> "$transcript"
}
attempt 2
attempt 2 "$sample" "$sample"
attempt 2 -o "$WORK/out.gif" "$sample"
attempt 2 -f gif "$sample"
attempt 2 --by domain "$sample"
attempt 2 --width none "$sample"
attempt 2 --width 0 "$sample"
attempt 2 --height -5 "$sample"
attempt 2 --scale 17 "$sample"
attempt 2 --from 2 --to 1 "$sample"
attempt 2 --from 50 "$sample"
attempt 2 --from soon "$sample"
attempt 2 --vcpu v0 "$sample"
attempt 2 --vcpu d7 "$sample"
attempt 2 --pcpu 1-0 "$sample"
attempt 2 --by pcpu --pcpu 9 "$sample"
attempt 2 -o "$WORK/out.png" --width 20000 --scale 2 "$sample"
attempt 3 -o "$WORK/missing/out.svg" "$sample"
attempt 3 "$WORK/missing.xen"
check "nothing was written" test ! -e "$WORK/out.png"
golden t056_plot_csv "$transcript"

if [ -e /dev/full ]; then
	for format in svg png pdf csv; do
		"$KSV_BIN" plot --quiet -f $format "$sample" > /dev/full 2> "$ERR"
		STATUS=$?
		status 3
		says "$ERR" "No space left on device"
	done
fi

finish
