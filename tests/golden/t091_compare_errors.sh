# SPDX-License-Identifier: LGPL-2.1-or-later
# compare: tables that are not as they should be, and wrong usage.
. "$(dirname "$0")/lib.sh"

transcript=$WORK/transcript
number=0

# table STATUS TEXT [ARGUMENT...]: compare a table with these bytes (as printf writes them)
table()
{
	local expected=$1 text=$2

	shift 2
	number=$((number + 1))
	printf "$text" > "$WORK/table$number.csv"
	run compare --values "$WORK/table$number.csv" --statistic mean "$@"
	status "$expected"
	{
		printf '\$ %s\n' "${text:0:60}"
		sed 's/^/> /' "$OUT"
		cat "$ERR"
		echo "[$STATUS]"
	} >> "$transcript"
}

good='run,metric,value\na,x,1\na,x,2\nb,x,1\nb,x,2\n'
table 0 "$good"
# one value alone shows nothing
table 4 'value,unit,run,METRIC\r\n1,s,"a, b",x\r\n2,s,"a, b",x\r\n"1.5",s,"say ""b""",x\r\n'
table 4 '\357\273\277run,x,round,y\na,1,1,\nb,2e0,1,+3\n\n'
table 3 ''
table 3 '\n\n'
table 3 'run,metric,value\n'
table 3 'a,x,1\nb,x,2\n'
table 3 'run;metric;value\na;x;1\n'
table 3 'run,round\na,1\n'
table 3 'run,x,\na,1,2\n'
table 3 'run,x,x\na,1,2\n'
table 3 'run,metric,value\na,x,1,5\n'
table 3 'run,metric,value\na,x,"1,5"\n'
table 3 'run,metric,value\na,x,12ms\n'
table 3 'run,metric,value\na,x,nan\n'
table 3 'run,metric,value\na,x,0x10\n'
table 3 'run,metric,value\na,x,1e999\n'
table 3 'run,metric,value\na,x,\n'
table 3 'run,metric,value\na,x,-\n'
table 3 'run,metric,value\n,x,1\n'
table 3 'run,metric,value\na,,1\n'
table 3 'run,metric,value\n"a,x,1\n'
table 3 'run,metric,value\n"a"b,x,1\n'
table 3 'run,metric,value\na\000,x,1\n'
table 3 'run,metric,value\nb\351ta,x,1\n'
table 3 'run,metric,value\n\033[31ma,x,1\n'
table 3 "run,metric,value\n$(printf '%070000d' 0),x,1\n"
table 3 "run$(printf ',m%d' $(seq 300))\n"
table 3 "run,metric,value\n$(printf 'r%d,x,1\\n' $(seq 70))"
table 3 "run,metric,value\n$(printf 'a,m%d,1\\n' $(seq 1001))"
table 2 'run,metric,value\na,x,1\n'
table 2 "$good" --metric y
table 2 "$good" --baseline c
table 2 "$good" --runs a,,b
table 2 "$good" --runs a,bb
# nothing but zeros, or a baseline of 0
table 3 'run,metric,value\na,x,0\nb,x,0\n'
table 0 'run,metric,value\na,x,0\na,x,0\nb,x,1\nb,x,2\n'
# a difference that is no noise: every value is the same
table 1 'run,metric,value\na,x,1\na,x,1\nb,x,2\nb,x,2\n'
table 1 'run,metric,value\na,x,-4\na,x,-4\nb,x,-2\nb,x,-2\n'
golden t091_compare_errors "$transcript"

# usage: what is said is in t001
run compare --values "$WORK/missing.csv"
status 3
says "$ERR" "missing.csv: cannot read"
run compare --values "$WORK"
status 3
run compare "$WORK/missing.xen" "$SAMPLES/pinned.xen"
status 3
run compare "$SAMPLES/pinned.xen"
status 2
cp "$WORK/table1.csv" "$WORK/kept.csv"
run compare --values "$WORK/kept.csv" -o "$WORK/kept.csv"
status 2
same "$WORK/kept.csv" "$WORK/table1.csv"
run compare --values "$WORK/kept.csv" --plot "$WORK/missing/plot.svg"
status 3
says "$ERR" "missing/plot.svg: cannot write"

finish
