# SPDX-License-Identifier: LGPL-2.1-or-later
# report --function of other formats: the text of trace-cmd and of the kernel itself, perf.data. Calls and durations are those
# of the trace.dat. Names come from the file, from --kallsyms, or there are none.
. "$(dirname "$0")/lib.sh"

command -v trace-cmd > /dev/null || {
	echo "trace-cmd is missing (Debian: apt-get install trace-cmd)"
	exit 77
}
cd "$WORK" || exit 1
set -f

# functions FILE ARGUMENT...: into FILE.json
functions()
{
	run report -q --function '*' --format json "${@:2}" "$1"
	status 0
	cp "$OUT" "$1.json"
}
for name in boot g1; do
	trace-cmd convert -i "$SAMPLES/kvm-functions-$name.dat" -o $name.dat --file-version 6 --compression none > said 2>&1 ||
		fail "trace-cmd convert: $(cat said)"
	functions $name.dat
	python3 "$GOLDEN/perf_data.py" $name.dat $name.data > said || fail "no perf.data"
	functions $name.data
	check "$name.data" python3 "$GOLDEN/function_files.py" same address $name.dat.json $name.data.json
done

trace-cmd report -R boot.dat 2> said > raw
trace-cmd report boot.dat 2> said > text
functions text
check "trace-cmd's text" python3 "$GOLDEN/function_files.py" same name boot.dat.json text.json
{
	echo "# tracer: function"
	# later versions of trace-cmd add flags and addresses
	sed -nE 's/^( *.*\])(-0x[0-9a-f]+)? *([0-9.]*:) function: *ip=([^ ]*)( \(0x[0-9a-f]*\))? parent_ip=([^ ]*).*/\1 .... \3 \4 <-\6/p' raw
} > kernel.txt
functions kernel.txt
check "the kernel's text" python3 "$GOLDEN/function_files.py" same name boot.dat.json kernel.txt.json

# Names of a perf.data come from --kallsyms; a name of the file itself comes first.
python3 -c 'import json, sys
for function in json.load(open(sys.argv[1]))["functions"][0]["functions"]:
    print("%x t called_%s" % (function["address"], function["name"]))' boot.dat.json | sort > kallsyms
functions boot.data --kallsyms kallsyms
sed -i 's/"called_/"/' boot.data.json
check "names of kallsyms" python3 "$GOLDEN/function_files.py" same name boot.dat.json boot.data.json
functions boot.dat --kallsyms kallsyms
check "names of the file" test "$(grep -c called_ boot.dat.json)" = 0
finish
