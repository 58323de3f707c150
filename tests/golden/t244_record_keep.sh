# SPDX-License-Identifier: LGPL-2.1-or-later
# record --flight --keep: the oldest recordings are removed, and nothing else is; with it, the recorder goes on and on.
. "$(dirname "$0")/lib.sh"
. "$GOLDEN/record_lib.sh"

export FAKE_SAMPLE=$WORK/now.dat
ln -s "$SAMPLES/kvm-migration.dat" "$FAKE_SAMPLE"

# begin ARGUMENT...: in the background; its pid is $PID
begin()
{
	: > "$ERR"
	env --default-signal=INT "$KSV_BIN" record "$@" > "$OUT" 2> "$ERR" < /dev/null &
	PID=$!
	wait_for grep -q 'recording into' "$ERR"
}
# recorded N: the Nth recording has begun
recorded() { wait_for sh -c "test \$(grep -c 'recording into' '$ERR') -ge $1"; }
ended() { kill -INT "$PID"; ends "$PID"; }
memory() { awk '/^VmRSS/ { print $2 }' "/proc/$PID/status"; }

# What looks alike: a recording that is no flight recorder's, one that was renamed, one that is being written, a link,
# a name that is longer, and a folder without a recording.
kvm_host
run record -d 0.1 -o kshark-virt-plain
run record --flight=60 -d 0.2 -o precious
run record --flight=60 -d 0.2 -o kshark-virt-running
sed -i 's/"state": *"complete"/"state": "recording"/' kshark-virt-running/recording.json
run record --flight=60 -d 0.2 -o "$WORK/elsewhere"
ln -s "$WORK/elsewhere" kshark-virt-link
cp -r precious base-2x
mkdir base-7
echo mine > base-7/mine
bystanders='base-2x base-7 kshark-virt-link kshark-virt-plain kshark-virt-running precious'
run record --flight=60 -d 0.2 -o kshark-virt-20260101-000000

# On a signal, again and again: the oldest ones go, and so does one of an earlier recorder.
kvm_host
begin --flight=60 -o base --keep 2
for n in 2 3 4; do
	kill -USR1 "$PID"
	recorded $n
done
ended
status 0
is "$(ls -d base base-[0-9] kshark-virt-2* 2> /dev/null | tr '\n' ' ')" 'base-3 base-4 base-7 '
for name in $bystanders; do
	check "$name is there" test -e "$name"
done
same "$WORK/elsewhere/host.dat" "$FAKE_SAMPLE"
check "a folder without a recording has its file" test -s base-7/mine
check "what is removed is said" grep -q -- '--keep: ./base is removed' "$ERR"
is "$(json base-4/recording.json 'j["state"]')" complete
run report -q base-3
status 0

# By size: the newest stays, however large it is.
kvm_host
begin --flight=60 -o base-8 --keep 1k
kill -USR1 "$PID"
recorded 2
ended
is "$(ls -d base* | tr '\n' ' ')" 'base-2x base-3 base-4 base-7 base-8-2 '

# A condition that is met all the time: it goes on without --trigger-limit, and neither disk nor memory grow.
kvm_host
begin --flight=60 -o often --trigger 'wake>1us' --keep 2
most=0
for n in 2 3 4 5 6 7 8; do
	recorded $n
	# what is needed once is there by then
	[ $n != 6 ] || before=$(memory)
	there=$(ls -d often* | wc -l)
	[ "$there" -le "$most" ] || most=$there
done
check "it goes on" kill -0 "$PID"
# while it writes, it needs more; a sanitizer keeps what was freed
memory_is_back()
{
	test "$(memory)" -le $((before + 1024))
}
sanitized || wait_for memory_is_back
# two, one that is being written, and one that is just to be removed
check "at most $most folders" test "$most" -le 4
ended
is "$(ls -d often* | wc -l)" 2
last=$(ls -dt often* | head -n 1)
is "$(json "$last/recording.json" 'j["state"], j["flight"]["asked_ns"]')" "('complete', 60000000000)"
restored

for words in '--keep 3' '--flight --keep 0' '--flight --keep x' '--flight --keep -1' '--flight --keep 99999999999'; do
	# shellcheck disable=SC2086
	run record -d 0.1 -o none $words
	status 2
	check "$words: a message: $(head -n 1 "$ERR")" grep -q -- --keep "$ERR"
done
check "nothing was recorded" test ! -e none
finish
