# SPDX-License-Identifier: LGPL-2.1-or-later
# plot --over-time: the numbers of report --over-time, and a figure whose curves are as high as they are.
. "$(dirname "$0")/lib.sh"

# over_time N TRACE LEAST
over_time()
{
	for format in svg csv; do
		run plot -q --over-time="$1" -o "$WORK/plot.$format" "$2"
		status 0
	done
	run report -q --over-time="$1" --format csv "$2"
	status 0
	check "numbers: $2" python3 "$GOLDEN/plot_over_time.py" "$WORK/plot.csv" "$OUT" "$WORK/plot.svg" > "$WORK/n"
	check "there were enough: $2" test "$(cat "$WORK/n")" -gt "$3"
}

over_time 7 "$SAMPLES/waits-disk.dat" 80
over_time 5 "$SAMPLES/host-samples.dat.gz" 150
cp "$WORK/plot.svg" "$WORK/samples.svg"
cp "$WORK/plot.csv" "$WORK/samples.csv"

# the check can fail
sed '2s/[0-9.]*$/99.5/' "$WORK/samples.csv" > "$WORK/wrong.csv"
python3 "$GOLDEN/plot_over_time.py" "$WORK/wrong.csv" "$OUT" "$WORK/samples.svg" > "$WORK/n" 2>&1
check "the check sees another number" test $? = 1

# between two samples a state is that of the earlier one, but not after the last, nor across a gap of some seconds
cp "$SAMPLES/kvm-host.dat" "$WORK/gap.dat"
cat > "$WORK/gap.dat.samples.csv" << 'END'
time_ns,runnable
1793100000000,2
1794000000000,4
1799900000000,6
END
run plot -q --over-time=4 --from 1793.2 --to 1795.2 --format csv "$WORK/gap.dat"
status 0
check "states between samples" test "$(sed -n 's/^Tasks,runnable,.*,//p' "$OUT" | tr '\n' ' ')" = "2.000 4.000   "

# what is not known is hatched; each format has the same size each time
cp "$SAMPLES/host-samples.dat.gz" "$WORK/late.dat.gz"
sed 2d "$SAMPLES/host-samples.dat.gz.samples.csv" > "$WORK/late.dat.gz.samples.csv"
run plot -q --over-time=10 --title "a < b" "$WORK/late.dat.gz"
status 0
says "$OUT" 'class="unknown" fill="url(#hatch'
says "$OUT" 'a &lt; b'
# names have more lines if they do not fit into one
run plot -q --over-time=3 --width 250 "$SAMPLES/host-samples.dat.gz"
status 0
check "names inside" test "$(grep 'class="entry"' "$OUT" | sed 's/.* x="\([0-9]*\).*/\1/' | sort -n | tail -n 1)" -lt 232
check "all names" test "$(grep -c 'class="entry"' "$OUT")" = 22
for i in 1 2; do
	run plot -q --over-time -o "$WORK/$i.png" --height 700 "$SAMPLES/kvm-host.dat"
	status 0
done
same "$WORK/1.png" "$WORK/2.png"
check "pixels" python3 "$GOLDEN/plot_png.py" "$WORK/1.png" 900 700 56b4e9

run plot --over-time "$SAMPLES/credit2-basic.xen"
status 3
says "$ERR" "nothing to draw over time"
run plot --over-time --by vcpu "$SAMPLES/kvm-host.dat"
status 2
run plot --over-time --height 100 "$SAMPLES/kvm-host.dat"
status 2
says "$ERR" "too small for 3 panels"
finish
