# SPDX-License-Identifier: LGPL-2.1-or-later
# For tests of top, after lib.sh: what limits the numbers of an output.

# without_notes FORMAT FILE: an output without notes, and without the name of the trace
without_notes()
{
	case $1 in
	csv) grep -v '^[0-9]*,[0-9]*,,,warning,' "$2";;
	json) python3 "$GOLDEN/json_intervals.py" "$2";;
	openmetrics | prometheus) grep -v '^kshark_virt_warning_info{' "$2";;
	*) cat "$2";;
	esac
}

# notes_of FORMAT FILE: the notes, sorted, each once and without the name of the trace
notes_of()
{
	case $1 in
	csv) sed -n 's/^[0-9]*,[0-9]*,,,warning,[^:]*: //p' "$2";;
	json) python3 "$GOLDEN/json_intervals.py" --notes "$2";;
	openmetrics | prometheus) sed -n 's/^kshark_virt_warning_info{kind="[a-z]*",text="[^:]*: //p' "$2";;
	esac | sort -u
}
