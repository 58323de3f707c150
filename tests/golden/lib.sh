# SPDX-License-Identifier: LGPL-2.1-or-later
# What the golden tests share. A test sources it, calls the functions below and then "finish".
#
# Environment: KSV_BIN the command, KSV_SOURCE_DIR, KSV_BUILD_DIR; KSV_UPDATE=1 writes expected files
# instead of comparing (see the script "update").

set -u
: "${KSV_BIN:?path of kshark-virt}" "${KSV_SOURCE_DIR:?}" "${KSV_BUILD_DIR:?}"
export LC_ALL=C TZ=UTC ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0
unset XEN_CPUHZ XEN_ABSTS XEN_TSC_SKEW KERNELSHARK KSHARK_VIRT_PLUGIN_DIR

GOLDEN=$KSV_SOURCE_DIR/tests/golden
SAMPLES=$KSV_SOURCE_DIR/samples
TEST=$(basename "$0" .sh)
WORK=$(mktemp -d "${TMPDIR:-/tmp}/ksv-$TEST-XXXXXX")
trap 'rm -rf "$WORK"' EXIT
OUT=$WORK/stdout
ERR=$WORK/stderr
STATUS=
checks=0
failures=0

fail()
{
	echo "$TEST: FAILED: $*"
	failures=$((failures + 1))
}

# check TEXT COMMAND...: the command must succeed
check()
{
	local what=$1

	shift
	checks=$((checks + 1))
	"$@" || fail "$what"
}

# With sanitizers, looking for leaks takes longer than most commands do. run() looks for those of the first
# process of each subcommand; unit tests and attacks always look.
looked=
# run ARGUMENT...: kshark-virt with these arguments; output in $OUT and $ERR, status in $STATUS
run()
{
	local leaks=0

	[[ "$looked " = *" ${1:-} "* ]] || leaks=1
	looked+=" ${1:-}"
	ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=$leaks "$KSV_BIN" "$@" > "$OUT" 2> "$ERR" < /dev/null
	STATUS=$?
}

# xenalyze_says TRACE OPTION...: what Xen's own xenalyze prints of a trace. Up to Xen 4.18, exits of AMD's
# processors have the event of Intel's, and its xenalyze an option for that; later ones have events of
# their own, which its xenalyze goes by. Each gets the trace with those that it knows.
xenalyze_says()
{
	local trace=$1 event='event + (event & ~0x500 == 0x81002)' mode=()
	shift

	if xenalyze --help | grep -q -e --svm-mode; then
		event='event - (event & ~0x500 == 0x81003)'
		mode=(--svm-mode)
		# that is how nearly all are
		"$KSV_BIN" dump --quiet --format csv --event '*svm_vmexit*' "$trace" |
			grep svm_vmexit >/dev/null || event=
	fi
	if [ -n "$event" ]; then
		python3 "$GOLDEN/xen_less.py" "$trace" "$WORK/svm.xen" "$event" || return
		trace=$WORK/svm.xen
	fi
	xenalyze "${mode[@]}" "$@" "$trace" 2>/dev/null
}

# known_hz TRACE: the frequency of the TSC that a xentrace file or its sidecar knows, in whole MHz
known_hz()
{
	"$KSV_BIN" report -q -f json "$1" | sed -n 's/.*"cpu_hz": \([0-9]*\).*/\1/p' |
		awk '{ printf "%.0f000000\n", $1 / 1e6 }'
}

# status N: what the last run must have ended with
status()
{
	checks=$((checks + 1))
	[ "$STATUS" = "$1" ] && return
	fail "exit status $STATUS instead of $1; stderr:"
	cat "$ERR"
}

# says FILE TEXT: a file must contain a fixed text
says()
{
	checks=$((checks + 1))
	grep -qF -- "$2" "$1" && return
	fail "not found: $2; this is there instead:"
	cat "$1"
}

# same FILE FILE: must be equal
same()
{
	checks=$((checks + 1))
	cmp -s "$1" "$2" && return
	fail "$1 and $2 differ:"
	diff "$1" "$2" | head -20
}

# some_plugins: in $WORK/plugins, for "view", which looks only whether they are there
some_plugins()
{
	mkdir "$WORK/plugins"
	: > "$WORK/plugins/plugin-xentrace.so"
	: > "$WORK/plugins/plugin-virt.so"
	: > "$WORK/plugins/plugin-kvm_combo.so"
	export KSHARK_VIRT_PLUGIN_DIR=$WORK/plugins
}

# normalize: paths and names that differ from run to run
normalize()
{
	sed -e "s|$WORK|WORK|g" -e "s|$KSV_SOURCE_DIR|SOURCE|g" -e "s|$KSV_BUILD_DIR|BUILD|g" \
	    -e 's|kshark-virt-[[:alnum:]]\{6\}|kshark-virt-XXXXXX|g' \
	    -e 's|\(kshark-virt\) [0-9][0-9.]*[0-9]|\1 VERSION|'
}

# golden NAME FILE: compare a file with tests/golden/NAME.expected
golden()
{
	local expected=$GOLDEN/$1.expected

	checks=$((checks + 1))
	normalize < "$2" > "$WORK/normalized"
	if [ -n "${KSV_UPDATE:-}" ]; then
		cmp -s "$WORK/normalized" "$expected" && return
		cp "$WORK/normalized" "$expected"
		echo "$TEST: wrote $expected"
		return
	fi
	diff -u "$expected" "$WORK/normalized" > "$WORK/diff" && return
	fail "differs from $1.expected (if that is right: tests/golden/update $TEST)"
	head -40 "$WORK/diff"
}

# refuse STATUS WORD...: that the command ends so; it and what it says is added to refused, in this folder
refuse()
{
	local wanted=$1
	shift
	{
		printf '$ kshark-virt %s\n' "$*"
		"$KSV_BIN" "$@" < /dev/null
		STATUS=$?
		printf '[%d]\n' "$STATUS"
	} >> refused 2>&1
	status "$wanted"
}

# sanitized: the command is built with the address sanitizer. That watches how it works, several times
# as slowly; what it prints is the same as without, so nothing has to be judged twice by an oracle or
# to be run with other numbers alone.
sanitized()
{
	grep -q __asan_init "$KSV_BIN"
}

# chosen FILE...: all of them, a line each; every sixth one with the address sanitizer
chosen()
{
	local every=1

	! sanitized || every=6
	printf '%s\n' "$@" | awk -v every="$every" 'NR % every == 1 || every == 1'
}

# least N: how many a test must find that goes through chosen files
least()
{
	! sanitized && echo "$1" || echo $(($1 / 12 + 1))
}

# endures_no_memory: memory can be withheld; the sanitizers and gcov would not endure it themselves
endures_no_memory()
{
	! sanitized && ! grep -q '\.gcda' "$KSV_BIN"
}

finish()
{
	if [ "$checks" = 0 ]; then
		echo "$TEST: nothing was checked"
		exit 1
	fi
	echo "$TEST: $checks checks, $failures failed"
	exit $((failures > 0))
}
