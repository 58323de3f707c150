# SPDX-License-Identifier: LGPL-2.1-or-later
# The screen of top, on a terminal that tmux makes: what keys do, what it shows of a pipe, any size.
. "$(dirname "$0")/lib.sh"

command -v tmux > /dev/null || { echo "tmux is missing (Debian: apt-get install tmux)"; exit 77; }
unset TMUX
# sockets have short names only
export TMUX_TMPDIR=$WORK
PANE=$WORK/pane

in_tmux()
{
	tmux -f /dev/null -L top "$@"
}
trap 'in_tmux kill-server 2> /dev/null; rm -rf "$WORK"' EXIT

# a server that does not end with the last terminal
in_tmux -u new-session -d -s keep -x 80 -y 24 "sleep 1000"

# screen COMMAND: in a terminal of 120 x 30; its exit status is in $WORK/status then
screen()
{
	rm -f "$WORK/status"
	in_tmux new-session -d -s top -x 120 -y 30 \
		"LC_ALL=${LOCALE:-C.UTF-8} bash -c '$1'; echo \$? > '$WORK/status'; sleep 1000"
}

keys()
{
	in_tmux send-keys -t top "$@"
}

# shows TEXT: that it is on the screen, soon
shows()
{
	checks=$((checks + 1))
	for ((i = 0; i < 200; i++)); do
		in_tmux capture-pane -t top -p > "$PANE"
		grep -qF -- "$1" "$PANE" && return
		sleep 0.1
	done
	fail "not on the screen: $1; this is:"
	cat "$PANE"
}

# ends STATUS: that the command does, soon
ends()
{
	for ((i = 0; i < 200; i++)); do
		[ -s "$WORK/status" ] && break
		sleep 0.1
	done
	is "$(cat "$WORK/status" 2> /dev/null)" "$1"
	in_tmux kill-session -t top
}

# line TEXT: the line of the screen that has it
line()
{
	grep -F -- "$1" "$PANE" | head -1
}

# A file: the first interval, and what keys lead to.
screen "'$KSV_BIN' top -q --interval 500ms '$SAMPLES/hvm-exits.xen'"
shows '0.000 .. 0.500 s  (1 of 8)'
shows 'file, stopped'
shows '*machine, vCPU'
run top -q -f csv --interval 500ms "$SAMPLES/hvm-exits.xen"
cp "$OUT" "$WORK/csv"
# the screen has the numbers of the interval: shares, and exits per second
grep '^0,500000000,d1,d1v0,' "$WORK/csv" > "$WORK/d1v0"
share=$(awk -F, '$5 == "state" { t[$6] = $8; if ($6 != "unknown") all += $8 }
	END { printf "%.1f", 100 * t["guest"] / all }' "$WORK/d1v0")
exits=$(awk -F, '$5 == "exits" { n += $7 } END { print 2 * n }' "$WORK/d1v0")
shows '+ d1v0'
check "the share of d1v0 is $share" grep -qF " $share " <<< "$(line '+ d1v0')"
check "d1v0 has $exits exits a second" grep -qF " $exits " <<< "$(line '+ d1v0')"
keys Right
shows '0.500 .. 1.000 s  (2 of 8)'
keys '}'
shows '(8 of 8)'
keys Home
shows '(1 of 8)'
keys Left
shows '(1 of 8)'
keys End
shows '(8 of 8)'
keys '['
shows '(7 of 8)'
keys s
shows '*steal'
keys s
shows '*exits/s'
shows 'sort: exits'
keys S
shows 'sort: steal'
keys r
shows '(r)'
keys S r
shows 'sort: name  '
# d0 is closed, and open again; its first vCPU has all its facts
keys Enter
shows '+ d0 '
check "its vCPUs are gone" test -z "$(line d0v0)"
keys Enter
shows '+ d0v0'
keys Down Enter
shows '- d0v0'
shows '      guest  '
keys Enter
shows '+ d0v0'
keys a
shows '+ d1 '
check "all are closed" test -z "$(line d1v0)"
keys a
shows '+ d1v0'
keys h
shows 'Enter        open or close'
keys x
shows '(7 of 8)'
# time goes on by itself, up to the end
keys Home Space
shows '(8 of 8)'
shows 'file, stopped'
# any size
for size in '1 1' '2 2' '3 1' '12 2' '20 3' '30 4' '40 5' '50 6' '69 8' '70 8' '300 90'; do
	read -r x y <<< "$size"
	in_tmux resize-window -t top -x "$x" -y "$y"
	keys s Down Right Enter
	[ "$x" -lt 12 ] || [ "$y" -lt 2 ] || shows 'file, stop'
done
keys q
ends 0

# A pipe: nothing comes, it is live, frozen, and has ended; what was last stays.
zcat "$SAMPLES/domU.xen.gz" > "$WORK/trace.xen"
mkfifo "$WORK/pipe"
screen "'$KSV_BIN' top --cpu-hz 2300M --hold 100ms --interval 200ms '$WORK/pipe'"
shows 'waiting for records'
exec 5> "$WORK/pipe"
head -c 1000000 "$WORK/trace.xen" >&5
shows 'live  '
shows 'no data for '
shows '+ d1v0'
keys Left
shows ', frozen  '
was=$(grep -o '([0-9]* of [0-9]*)' "$PANE")
tail -c +1000001 "$WORK/trace.xen" >&5
exec 5>&-
shows 'has ended, frozen  '
is=$(grep -o '([0-9]* of [0-9]*)' "$PANE")
check "it stays frozen ($was, $is)" test "${was% of*}" = "${is% of*}"
check "while others come" test "$was" != "$is"
keys End
shows 'has ended  '
run top -q -f csv --cpu-hz 2300M --interval 200ms "$WORK/trace.xen"
n=$(tail -n +2 "$OUT" | cut -d, -f1 | uniq | wc -l)
check "all $n intervals are there" grep -qF "($n of $n)" "$PANE"
keys q
ends 0

# What it is fed with is no trace; Ctrl-C.
screen "head -c 3000000 /dev/zero | '$KSV_BIN' top -"
shows 'cannot be followed any more'
keys q
ends 3
screen "'$KSV_BIN' top '$WORK/pipe'"
shows 'waiting for records'
keys C-c
ends 0
screen "'$KSV_BIN' top -q '$SAMPLES/pinned.xen'"
shows 'file, stopped'
keys C-c
ends 0

# The host, if it is asked for: as the text of the interval has it.
run top -q --once --host "$SAMPLES/host-samples.dat.gz"
user=$(sed -nE 's/^host .* user ([0-9.]+) %.* system ([0-9.]+) %.*/\1 \2/p' "$OUT" |
	awk '{ printf "host: user %.1f, system %.1f\n", $1, $2 }')
check "there are shares: $user" test -n "$user"
screen "'$KSV_BIN' top -q --host '$SAMPLES/host-samples.dat.gz'"
shows 'nothing lost; host: user '
keys Home
shows "; $user"
keys q
ends 0

# Names of others.
cp "$SAMPLES/saved.xen" "$WORK/odd.xen"
python3 - "$SAMPLES/saved.xen.meta.json" "$WORK/odd.xen.meta.json" << 'END'
import json, sys
meta = json.load(open(sys.argv[1]))
for i, domain in enumerate(meta["domains"]):
    domain["name"] = ("\x1b[2J\x1b[31mred\x07", "\u5b57" * 9, "\u202eevil\n")[i % 3]
json.dump(meta, open(sys.argv[2], "w"))
END
for LOCALE in C.UTF-8 C; do
	screen "'$KSV_BIN' top -q '$WORK/odd.xen'"
	shows '- d0:\x1b[2J\x1b  '
	shows '+ d0v0'
	keys q
	ends 0
done
LOCALE=

# Without a terminal for it, or if something else is asked for, it is written.
screen "'$KSV_BIN' top -q --once '$SAMPLES/pinned.xen'"
shows '0.000000000 .. 1.000000000'
ends 0
screen "TERM=dumb '$KSV_BIN' top -q '$SAMPLES/pinned.xen'"
shows '4.000000000 .. '
ends 0

# A terminal that takes nothing does not stop the reader.
check "a slow terminal" python3 "$GOLDEN/slow_terminal.py" "$KSV_BIN" "$SAMPLES/credit2-basic.xen"

# On 80 columns there are fewer columns, and each of them is whole.
cp "$SAMPLES/hvm-exits.xen" "$WORK/wide.xen"
wide()
{
	in_tmux new-session -d -s top -x "$1" -y 30 \
		"LC_ALL=C.UTF-8 '$KSV_BIN' top --interval 10s '$WORK/wide.xen'; echo \$? > '$WORK/status'; sleep 1000"
	shows d1
	sed -n 3,12p "$PANE" > "$WORK/at$1"
	keys q
	ends 0
}
wide 80
wide 120
check "columns are whole" python3 - "$WORK/at80" "$WORK/at120" << 'END'
import sys
narrow, broad = (open(path).read().split("\n") for path in sys.argv[1:])
rows = [(a.rstrip(), b) for a, b in zip(narrow, broad) if a.strip()]
assert len(rows) >= 3, rows
for a, b in rows:
    assert b.startswith(a) and not b[len(a):len(a) + 1].strip(), (a, b)
END
finish
