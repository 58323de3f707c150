# SPDX-License-Identifier: LGPL-2.1-or-later
# A trace in CTF 2, into which babeltrace2 2.1 or later converts one of LTTng, has the numbers of that one.
. "$(dirname "$0")/lib.sh"

cd "$WORK" || exit 1
tar -xJf "$SAMPLES/lttng-host.tar.xz" && tar -xJf "$SAMPLES/lttng-guest.tar.xz" || exit 1
run report -q lttng-host
if grep -qF "which this build does not read" "$ERR"; then
	echo "this build has no libbabeltrace2"
	exit 77
fi
if ! babeltrace2 --version 2> /dev/null | head -1 | grep -qE ' (2\.[1-9]|[3-9])'; then
	echo "babeltrace2 is not installed, or too old to write CTF 2"
	exit 77
fi
# numbers LINES TRACE...: all of a report, without the names of files
numbers()
{
	"$KSV_BIN" report -q --full -f csv "${@:2}" | sed 's/^[^,]*,//' > numbers
	check "$2 has numbers" test "$(wc -l < numbers)" -ge "$1"
	cat numbers
}

for name in host guest; do
	babeltrace2 "lttng-$name" --component=sink.ctf.fs --params="path=\"two-$name\",ctf-version=\"2\"" > converted 2>&1
	metadata=$(find "two-$name" -name metadata)
	check "$name: it is CTF 2: $(cat converted)" grep -q '"type":"preamble".*"version":2' "$metadata"
done
numbers 200 lttng-host > right
numbers 200 two-host > got
same right got
# as a guest
cp "$SAMPLES/waits-timer.dat" .
for kind in lttng two; do
	run align --write waits-timer.dat "$kind-guest"
	status 0
	sed "s/$kind-guest/guest/g" "$OUT" > "$kind.aligned"
	numbers 300 waits-timer.dat "$kind-guest" | sed "s/$kind-guest/guest/g" > "$kind.numbers"
done
same lttng.aligned two.aligned
same lttng.numbers two.numbers
finish
