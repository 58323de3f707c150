# SPDX-License-Identifier: LGPL-2.1-or-later
# report: names in JSON and CSV follow docs/output.md, and its columns are those of each page.
. "$(dirname "$0")/lib.sh"
cp -r "$SAMPLES/recording-qemu" "$WORK/folder"
cd "$WORK" || exit 1

names() { python3 "$GOLDEN/output_names.py" "$KSV_SOURCE_DIR/docs/output.md" "$@"; }

# page NAME OPTION...: as docs/output.md calls it
page()
{
	local name=$1 file=${1#--} format

	shift
	for format in csv json; do
		run report --quiet --format $format "$@"
		status 0
		cp "$OUT" "$file.$format"
	done
	check "the columns of $name" count_names columns "$name" "$file.csv"
	columns=$((columns + $(cat n)))
	pages=$((pages + 1))
}

# count_names ARGUMENT...: how many, in the file n
count_names() { names "$@" > n || { echo 0 > n && return 1; }; }

columns=0 pages=0
page "all sections" "$SAMPLES/kvm-host.dat" "$SAMPLES/kvm-guest.dat"
for option in exits waits threads tasks events disks files locks over-time handlers migrations tracing; do
	page "--$option" --$option "$SAMPLES/kvm-host.dat"
done
page --worst --worst 100 "$SAMPLES/hvm-exits.xen"
page --power --power "$SAMPLES/hvm-exits.xen"
page --counters --counters "$SAMPLES/host-counters.data.gz"
page --devices --devices --monitor folder/web.log folder/host.dat
check "each page of docs/output.md: $pages" test "$pages" = \
	"$(grep -c '^| \(all sections\|`--[a-z-]*`\) |' "$KSV_SOURCE_DIR/docs/output.md")"
check "there were many columns: $columns" test "$columns" -gt 150
run report --quiet --format json "$SAMPLES/hvm-exits.xen"
cp "$OUT" xen.json
run report --quiet --format json --boot --function '*' "$SAMPLES/hypertrace-aggregated.dat"
status 0
cp "$OUT" guests.json
check "the names of all pages" count_names names ./*.json
read -r seen distributions < n
check "there were many names: $seen" test "$seen" -gt 5000
check "there were many distributions: $distributions" test "$distributions" -gt 50

# a wrong name is found
sed '0,/"total_ns"/s//"ns"/' xen.json > wrong.json
check "ns is found" test "$(names names wrong.json 2>&1 | grep -c AssertionError)" = 1
sed '0,/"min_ns": \([0-9]*\), "p5_ns": \([0-9]*\)/s//"p5_ns": \2, "min_ns": \1/' xen.json > wrong.json
check "another order is found" test "$(names names wrong.json 2>&1 | grep -c AssertionError)" = 1
sed '1s/machine,vcpu/vcpu,machine/' waits.csv > wrong.csv
check "a column in another place is found" \
	test "$(names columns --waits wrong.csv 2>&1 | grep -c AssertionError)" = 1
finish
