# SPDX-License-Identifier: LGPL-2.1-or-later
# Colours: on a terminal only, unless --color says otherwise; they change no other byte.
. "$(dirname "$0")/lib.sh"
cd "$SAMPLES" || exit 1
unset NO_COLOR
export TERM=xterm
escape=$'\033'

# plain FILE: no escape sequence
plain()
{
	! grep -q "$escape" "$1"
}

# shown ARGUMENT...: what a terminal receives, in $OUT
shown()
{
	python3 "$GOLDEN/on_terminal.py" 200 1000 "$KSV_BIN" "$@" > "$OUT" 2> "$ERR" < /dev/null
	STATUS=$?
}

# without ARGUMENT...: what --color always prints, without its colours, in $WORK/bare
without()
{
	"$KSV_BIN" "$@" --color=always 2> "$ERR" > "$WORK/colored"
	sed "s/$escape\[[0-9;]*m//g" "$WORK/colored" > "$WORK/bare"
}

texts=(
	"credit2-basic.xen"
	"report --full lost-records.xen"
	"report --waits kvm-host.dat"
	"why credit2-basic.xen"
	"top -f text lost-records.xen"
	"check --max wake.p99=200us credit2-basic.xen"
	"check --max wake.p99=1h credit2-basic.xen"
	"check --affinity d1v0=0-3 credit2-basic.xen"
	"diff credit2-basic.xen sched-credit.xen"
	"align kvm-host.dat kvm-guest.dat"
	"compare credit2-basic.xen sched-credit.xen"
	"dump --to 1ms credit2-basic.xen"
)
for text in "${texts[@]}"; do
	read -ra words <<< "$text"
	run "${words[@]}"
	expected=$STATUS
	check "$text: no colour in a file" plain "$OUT"
	cp "$OUT" "$WORK/file"
	without "${words[@]}"
	same "$WORK/bare" "$WORK/file"
	case $text in
	dump* | align*) ;;
	*) check "$text: there are colours" test -n "$(grep -m 1 "$escape" "$WORK/colored")" ;;
	esac
	shown "${words[@]}"
	status "$expected"
	grep -v ': ' "$WORK/colored" > "$WORK/lines"
	check "$text: the terminal has these colours" \
		test -z "$(grep -vxFf "$OUT" "$WORK/lines")"
	NO_COLOR=1 shown "${words[@]}"
	check "$text: NO_COLOR" plain "$OUT"
done

NO_COLOR='' shown credit2-basic.xen
check "an empty NO_COLOR is none" grep -q "$escape" "$OUT"
TERM=dumb shown credit2-basic.xen
check "TERM=dumb" plain "$OUT"
(unset TERM; python3 "$GOLDEN/on_terminal.py" 200 100 env -u TERM "$KSV_BIN" credit2-basic.xen) > "$OUT" < /dev/null
check "no TERM" plain "$OUT"
shown credit2-basic.xen --color never
check "--color never" plain "$OUT"
NO_COLOR=1 run report --color always credit2-basic.xen
check "--color always comes first" grep -q "$escape" "$OUT"
shown report credit2-basic.xen -o "$WORK/file"
check "no colour in a file" plain "$WORK/file"

# formats for programs have none
for format in json csv; do
	for text in "report" "why" "top" "check --max wake.p99=1s"; do
		[ "$format $text" != "csv why" ] || continue
		read -ra words <<< "$text"
		run "${words[@]}" -f $format --color always credit2-basic.xen
		check "$text -f $format" plain "$OUT"
		shown "${words[@]}" -f $format credit2-basic.xen
		check "$text -f $format on a terminal" plain "$OUT"
	done
done

# names cannot inject colours
cp credit2-basic.xen "$WORK/$escape[41mred.xen"
without "$WORK/$escape[41mred.xen"
check "escapes of names stay text" grep -qF '\x1b[41mred.xen' "$WORK/bare"
check "and no sequences" plain "$WORK/bare"

run report --color sometimes credit2-basic.xen
status 2
says "$ERR" "--color sometimes: not auto, always or never"
run export --color always credit2-basic.xen
status 2

finish
