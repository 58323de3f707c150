# SPDX-License-Identifier: LGPL-2.1-or-later
# The boot of a guest as a figure: lanes above the rows, from the numbers of "report --boot".
. "$(dirname "$0")/lib.sh"

for name in boot ours first crowd; do
	python3 "$GOLDEN/hyper_files.py" $name "$WORK/$name.dat" || fail "no story $name"
done
cd "$WORK" || exit 1
run report --quiet --format json --boot boot.dat
mv "$OUT" boot.json
run plot --quiet --boot -o boot.svg boot.dat
status 0
run plot --quiet --boot -o boot.csv boot.dat
status 0
check "lanes and numbers are the report's stages" python3 "$GOLDEN/plot_boot.py" boot.svg boot.csv boot.json
golden t116_plot_boot boot.csv

# A check that cannot fail would be none: another name, another place, another end.
for change in 's/>late</>fs</' 's/data-name="g1 levels"/data-name="g2 levels"/' 's/class="no-end"/class="fill"/'; do
	sed "$change" boot.svg > wrong.svg
	python3 "$GOLDEN/plot_boot.py" wrong.svg boot.csv boot.json > "$OUT" 2>&1
	check "finds $change" test $? = 1
done

# Zoomed in, lanes and rows are cut alike; in all formats, with rows of pCPUs, and as high as asked.
run report --quiet --format json --boot --from 1099511900us --to 1099512400us boot.dat
mv "$OUT" part.json
for by in vcpu pcpu; do
	run plot --quiet --boot --by $by --width 500 --height 400 --title "a boot" --from 1099511900us \
		--to 1099512400us -o part.svg boot.dat
	status 0
	run plot --quiet --boot --from 1099511900us --to 1099512400us -o part.csv boot.dat
	check "a part, by $by" python3 "$GOLDEN/plot_boot.py" part.svg part.csv part.json
done
for format in png pdf; do
	run plot --quiet --boot -o boot.$format boot.dat
	status 0
	check "$format" test -s boot.$format
done

# Without --boot, the figure is what it was.
run plot --quiet -o plain.svg boot.dat
check "no lanes" test "$(grep -c 'class="lane"' plain.svg)" = 0

# A guest without a boot, options that exclude each other.
run plot --quiet --boot -o none.svg first.dat
status 2
says "$ERR" 'has phases or levels of its boot in this window, neither in hypercalls'
check "no figure" test ! -e none.svg
run plot --quiet --boot --vcpu g2 -o none.svg boot.dat
status 2
run plot --quiet --boot -o none.csv first.dat
status 0
check "no stages" test "$(wc -l < none.csv)" = 1
run plot --quiet --kallsyms none -o none.svg boot.dat
status 2
says "$ERR" 'require --boot'
run plot --quiet --boot --hypertrace klingon -o none.svg boot.dat
status 2
run plot --quiet --boot --kallsyms nowhere -o none.svg boot.dat
status 3
run plot --quiet --boot --hypertrace hypertracing -o other.svg boot.dat
status 0
printf 'ffffffff81200000 T vfs_read\n' > kallsyms
run plot --quiet --boot --kallsyms kallsyms -o other.svg boot.dat
status 0
finish
