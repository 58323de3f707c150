# SPDX-License-Identifier: LGPL-2.1-or-later
# The pager: for text that does not fit on the terminal, never otherwise; it changes neither text nor status.
. "$(dirname "$0")/lib.sh"
cd "$SAMPLES" || exit 1
unset KSHARK_VIRT_PAGER PAGER LESS LV
export TERM=xterm NO_COLOR=1

# shown LINES ARGUMENT...: what a terminal receives, in $OUT
shown()
{
	rm -f "$WORK/paged"
	python3 "$GOLDEN/on_terminal.py" 200 "$1" "$KSV_BIN" "${@:2}" > "$OUT" 2> "$ERR" < /dev/null
	STATUS=$?
}

# paged, not_paged: whether the pager had the text of $WORK/text
paged()
{
	check "$1: the pager has the text" cmp -s "$WORK/paged" "$WORK/text"
	check "$1: the terminal has it from the pager only" test ! -s "$OUT"
}

not_paged()
{
	check "$1: no pager" test ! -e "$WORK/paged"
	same "$OUT" "$WORK/text"
}

export SAVE="cat > '$WORK/paged'"
run report --full credit2-basic.xen
cp "$OUT" "$WORK/text"
lines=$(wc -l < "$WORK/text")

KSHARK_VIRT_PAGER=$SAVE shown 24 report --full credit2-basic.xen
status 0
paged KSHARK_VIRT_PAGER
PAGER=$SAVE shown 24 report --full credit2-basic.xen
paged PAGER
PAGER='exit 3' KSHARK_VIRT_PAGER=$SAVE shown 24 report --full credit2-basic.xen
paged "KSHARK_VIRT_PAGER comes first"
mkdir "$WORK/bin"
printf '#!/bin/sh\nprintf "%%s %%s\\n" "$LESS" "$LV"\ncat > "%s"\n' "$WORK/paged" > "$WORK/bin/less"
chmod +x "$WORK/bin/less"
PATH=$WORK/bin:$PATH shown 24 report --full credit2-basic.xen
check "less with its options" test "$(cat "$OUT")" = "FRX -c"
check "less has the text" cmp -s "$WORK/paged" "$WORK/text"
LESS=S LV=x PATH=$WORK/bin:$PATH shown 24 report --full credit2-basic.xen
check "the user's own options" test "$(cat "$OUT")" = "S x"

# no pager
export PAGER=$SAVE
shown $((lines + 1)) report --full credit2-basic.xen
not_paged "it fits"
shown "$lines" report --full credit2-basic.xen
paged "one line more than fits beside the prompt"
shown 24 report --full --no-pager credit2-basic.xen
not_paged --no-pager
KSHARK_VIRT_PAGER='' shown 24 report --full credit2-basic.xen
not_paged "an empty name"
KSHARK_VIRT_PAGER=cat shown 24 report --full credit2-basic.xen
not_paged cat
TERM=dumb shown 24 report --full credit2-basic.xen
not_paged "a dumb terminal"
KSHARK_VIRT_PAGER='/nonexistent/less -R' shown 24 report --full credit2-basic.xen
status 0
not_paged "a pager that is missing"
shown 24 report --full credit2-basic.xen -o "$WORK/file"
check "not with --output" test ! -e "$WORK/paged" -a ! -s "$OUT"
same "$WORK/file" "$WORK/text"
rm -f "$WORK/paged"
run report --full credit2-basic.xen
not_paged "no terminal"
run report -f json credit2-basic.xen
cp "$OUT" "$WORK/text"
shown 24 report -f json credit2-basic.xen
not_paged "JSON"
run credit2-basic.xen
cp "$OUT" "$WORK/text"
COLUMNS='' shown 24 credit2-basic.xen
not_paged "a summary"

# long lines take several lines of the terminal
run check --max wake.p99=200us --per vcpu credit2-basic.xen
cp "$OUT" "$WORK/text"
lines=$(wc -l < "$WORK/text")
KSHARK_VIRT_PAGER=$SAVE python3 "$GOLDEN/on_terminal.py" 40 $((lines + 1)) "$KSV_BIN" check --max wake.p99=200us \
	--per vcpu credit2-basic.xen > "$OUT" < /dev/null
STATUS=$?
status 1
paged "long lines"

# the status of the command, whatever the pager does
shown 5 diff credit2-basic.xen sched-credit.xen
status 1
for pager in true 'exit 3' 'head -1' 'kill -KILL $$'; do
	KSHARK_VIRT_PAGER=$pager shown 5 dump credit2-basic.xen
	status 0
	check "$pager: no message" test "$(wc -l < "$OUT")" -le 1
done
run report nonexistent.xen
cp "$ERR" "$WORK/text"
shown 5 report nonexistent.xen
status 3
not_paged "a message"

# messages of a command come when the pager has ended
files=(credit2-basic.xen credit2-4.20.xen dom0.xen pinned.xen lost-records.xen)
run report --full "${files[@]}"
check "there is more than a buffer" test "$(wc -c < "$OUT")" -gt 65536
cat "$OUT" > "$WORK/text"
echo end >> "$WORK/text"
cat "$ERR" >> "$WORK/text"
check "there are messages" test -s "$ERR"
KSHARK_VIRT_PAGER='cat; sleep 1; echo end' shown 5 report --full "${files[@]}"
same "$OUT" "$WORK/text"

# Ctrl-C does not end the command before the pager
cat > "$WORK/stubborn" << END
trap "" INT
touch "$WORK/reading"
cat > /dev/null
until [ -e "$WORK/typed" ]; do sleep 0.1; done
sleep 1
echo the pager ends
END
{
	until [ -e "$WORK/reading" ]; do sleep 0.1; done
	printf '\003'
	touch "$WORK/typed"
} | KSHARK_VIRT_PAGER="sh '$WORK/stubborn'" python3 "$GOLDEN/on_terminal.py" 80 24 \
	"$KSV_BIN" report --full credit2-basic.xen > "$OUT"
says "$OUT" "the pager ends"

finish
