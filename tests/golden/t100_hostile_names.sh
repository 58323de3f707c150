# SPDX-License-Identifier: LGPL-2.1-or-later
# Names of domains, tasks, files and runs that control terminals, break formats or calculate.
. "$(dirname "$0")/lib.sh"

HOSTILE=$KSV_SOURCE_DIR/tests/golden/hostile.py
# hostile KIND FILE [NAME...]
hostile()
{
	check "$*" python3 "$HOSTILE" check "$@"
}

# Xen: the names of domain and file; what is shown twice is escaped once.
name=$'a\e]0;b\a\n\r\xff\xc2\x9b=\\<"&,.xen'
trace=$WORK/$name
head -c 700001 "$SAMPLES/hvm-exits.xen" > "$trace"
python3 "$HOSTILE" sidecar "$trace.meta.json"
for format in text csv json; do
	run report --full --format $format "$trace"
	status 0
	hostile $format "$OUT" domain "$name"
	hostile text "$ERR" "$name"
	says "$ERR" "damaged"
	run report --worst 40 --format $format "$trace"
	status 0
	hostile $format "$OUT" "$name"
	run report --tracing --format $format "$trace"
	status 0
	hostile $format "$OUT" "$name"
	run dump --format $format --vcpu d1 "$trace"
	status 0
	hostile "${format/%json/jsonl}" "$OUT"
	hostile text "$ERR" "$name"
done
run dump --vcpu d1v0 "$trace"
hostile text "$OUT" domain
for by in vcpu pcpu; do
	run plot --by $by --title $'=\e[5m\xe2\x82\xe2\x80\xae<&>\xef\xbf\xbe"' -f svg "$trace"
	status 0
	hostile svg "$OUT" $'=\e[5m\xe2\x82\xe2\x80\xae<&>\xef\xbf\xbe"'
done
for format in png pdf; do
	run plot -f $format --title $'\xff\e\xef\xbf\xbe' -o "$WORK/figure.$format" "$trace"
	status 0
	check "$format is drawn" test -s "$WORK/figure.$format"
done
run plot --format csv "$trace"
status 0
hostile csv "$OUT"
run check --affinity d1=77 --format csv "$trace"
status 1
hostile csv "$OUT"
hostile text "$ERR" "$name"

# The runs of a comparison are files, and what tables call them.
printf 'run,metric,value\n%s,%s,1\n%s,%s,2\n' $'=\xe2\x80\xaecmd|x' $'@\xc2\x85"<m>' b $'@\xc2\x85"<m>' |
	sed 's/"/""/; s/,@\(.*>\)/,"@\1"/' > "$WORK/values.csv"
for format in text csv json; do
	run compare --format $format --plot "$WORK/runs.svg" --values "$WORK/values.csv"
	# one value each is too few to decide
	status 4
	hostile $format "$OUT" $'=\xe2\x80\xaecmd|x' $'@\xc2\x85"<m>'
	hostile svg "$WORK/runs.svg" $'=\xe2\x80\xaecmd|x'
	run compare --format $format "$trace" "$SAMPLES/pinned.xen"
	hostile $format "$OUT" "$name"
done

# Messages about files, options and what is in files.
for wrong in "report $WORK/no"$'\e\n\xff\xe2\x80\xae' "dump --event"$'\e\n\xff\xe2\x80\xae x' \
	     "plot --by "$'\e\n\xff\xe2\x80\xae'" $trace" "no"$'\e\n\xff\xe2\x80\xae' \
	     "check --affinity "$'\e\n\xff\xe2\x80\xae'" $trace"; do
	IFS=' ' read -r -d '' -a words <<< "$wrong"
	words[-1]=${words[-1]%$'\n'}
	run "${words[@]}"
	check "refused: $STATUS" test "$STATUS" -ge 2
	hostile text "$ERR" $'\e\n\xff\xe2\x80\xae'
	check "a line, and a hint" test "$(wc -l < "$ERR")" -le 2
done
printf 'run,metric,value\na,b,1\e[2Jx\n' > "$WORK/bad.csv"
run compare --values "$WORK/bad.csv"
status 3
hostile text "$ERR"

# view prints for the shell what it would start.
: > "$WORK/plugin-xentrace.so"
: > "$WORK/plugin-virt.so"
: > "$WORK/plugin-kvm_combo.so"
export KSHARK_VIRT_PLUGIN_DIR=$WORK
run view --dry-run "$trace"
status 0
hostile text "$OUT"
eval "set -- $(cat "$OUT")"
check "the shell reads it back" test "${*: -1}" = "$trace"

# A name as long as names can be, which needs another one.
mkdir "$WORK/long" "$WORK/tmp"
long=$WORK/long/$(printf 'x%.0s' {1..245})$'\xc3\xa9'.dat
cp "$SAMPLES/hvm-exits.xen" "$long"
TMPDIR=$WORK/tmp run view --dry-run "$long"
status 0
hostile text "$OUT"
says "$OUT" "xxx.xen"

# KVM: the names of tasks.
if ! command -v trace-cmd > /dev/null; then
	finish
fi
trace-cmd convert --compression none -i "$SAMPLES/kvm-nested-shift.dat" -o "$WORK/raw.dat" \
	> "$OUT" 2>&1
python3 "$HOSTILE" trace "$WORK/raw.dat" "$WORK/tasks.dat"
for format in text csv json; do
	run report --full --format $format "$WORK/tasks.dat"
	status 0
	hostile $format "$OUT" qemu softirq worker rcu
	run report --worst 1000 --kind steal --format $format "$WORK/tasks.dat"
	status 0
	hostile $format "$OUT" worker
	run report --threads --format $format "$WORK/tasks.dat"
	status 0
	hostile $format "$OUT" qemu
done
run plot -f svg "$WORK/tasks.dat"
status 0
hostile svg "$OUT"
finish
