# SPDX-License-Identifier: LGPL-2.1-or-later
# --help, --version, and that manual pages, completion and --help know the same options.
. "$(dirname "$0")/lib.sh"

run --help
status 0
golden t002_help "$OUT"
cp "$OUT" "$WORK/help"
run help
status 0
same "$OUT" "$WORK/help"
run -h
same "$OUT" "$WORK/help"

# Completion, as bash calls it.
complete_words()
{
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	_kshark_virt
	printf '%s\n' "${COMPREPLY[@]}" > "$WORK/completion"
}
run help --completion=bash
status 0
. "$OUT"

commands=$(sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p' "$WORK/help")
complete_words kshark-virt ''
check "completes the commands and no others" \
	test "$(grep -v '^-' "$WORK/completion" | sort)" = "$(sort <<< "$commands")"
for command in $commands; do
	[ "$command" = help ] && continue
	says "$KSV_BUILD_DIR/man/man1/kshark-virt.1" ".It Cm $command"
	run "$command" --help
	status 0
	golden "t002_help_$command" "$OUT"
	cp "$OUT" "$WORK/help-$command"
	run help "$command"
	status 0
	same "$OUT" "$WORK/help-$command"
	check "stderr is empty" test ! -s "$ERR"

	options=$(grep -oE -- '^  (-., )?--[a-z-]+' "$WORK/help-$command" | grep -oE -- '--[a-z-]+')
	check "there are options" test "$(echo "$options" | wc -l)" -ge 4
	for option in $options; do
		says "$KSV_BUILD_DIR/man/man1/kshark-virt-$command.1" "Fl -${option#--}"
	done
	# and none that is not there
	complete_words kshark-virt "$command" --
	check "completes the options and no others" \
		test "$(sort "$WORK/completion")" = "$(sort <<< "$options")"
	for option in $(grep -E '^\.It Fl ' "$KSV_BUILD_DIR/man/man1/kshark-virt-$command.1" |
			grep -oE 'Fl -[a-z-]+' | sed 's/Fl -/--/'); do
		check "$option of the manual" grep -qx -- "$option" <<< "$options"
	done
done

run --version
status 0
check "--version" grep -qE '^kshark-virt [0-9]+(\.[0-9]+)+$' "$OUT"

complete_words kshark-virt d
check "completes dump" grep -qx dump "$WORK/completion"
complete_words kshark-virt dump --fo
check "completes --format" grep -qx -- --format "$WORK/completion"
complete_words kshark-virt dump --format c
check "completes csv" grep -qx csv "$WORK/completion"
complete_words kshark-virt report --format j
check "completes json" grep -qx json "$WORK/completion"
complete_words kshark-virt check --affinity-
check "completes --affinity-file" grep -qx -- --affinity-file "$WORK/completion"
complete_words kshark-virt compare --percentiles l
check "completes linear" grep -qx linear "$WORK/completion"
complete_words kshark-virt report --kind mig
check "completes migration" grep -qx migration "$WORK/completion"
complete_words kshark-virt why --kind bl
check "completes blocked" grep -qx blocked "$WORK/completion"
complete_words kshark-virt plot --by p
check "completes pcpu" grep -qx pcpu "$WORK/completion"
complete_words kshark-virt plot -f s
check "completes svg" grep -qx svg "$WORK/completion"
complete_words "$KSV_BIN" dump --event running_to_b
check "completes an event" grep -qx running_to_blocked "$WORK/completion"
cd "$SAMPLES" || exit 1
complete_words kshark-virt view pinn
check "completes a file" grep -qx pinned.xen "$WORK/completion"

# What other shells say is checked with these.
run help --completion=csh
status 2
says "$ERR" "unknown shell 'csh'"

finish
