# SPDX-License-Identifier: LGPL-2.1-or-later
# Completion in zsh and fish: these shells read it, and know the options and values that --help names.
# That of bash is in t002_help.
. "$(dirname "$0")/lib.sh"

found=
commands="record view dump report why plot check align compare diff migration export query top rollup split merge study"

# options COMMAND: those that --help names
options()
{
	"$KSV_BIN" "$1" --help | grep -oE -- '^  (-., )?--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort
}

if command -v fish > /dev/null; then
	found=1
	run help --completion=fish
	status 0
	cp "$OUT" "$WORK/kshark-virt.fish"
	# fish_complete LINE: what fish offers for it, without descriptions
	fish_complete()
	{
		HOME=$WORK fish --no-config -c "source $WORK/kshark-virt.fish; complete -C '$1'" |
			cut -f 1 | sort
	}
	for command in $commands; do
		check "fish: options of $command" test "$(fish_complete "kshark-virt $command --" |
			sed 's/=$//' | sort -u)" = "$(options "$command")"
	done
	check "fish: values" test "$(fish_complete 'kshark-virt why --kind b')" = blocked
	check "fish: values with a special character" \
		test "$(fish_complete 'kshark-virt record --trigger wa')" = 'wake>'
	check "fish: values of a short option" test "$(fish_complete 'kshark-virt dump -f c')" = csv
fi
if command -v zsh > /dev/null; then
	found=1
	run help --completion=zsh
	status 0
	cp "$OUT" "$WORK/_kshark-virt"
	# its functions as they are called, with words instead of zsh's own system around them
	cat > "$WORK/driver" <<- 'EOF'
		_arguments()
		{
			local spec
			for spec; do
				print -r -- "$spec"
				# as zsh's own one does
				[[ $spec != *:\(*\) ]] || eval "values=( ${${spec##*:\(}%\)} )"
				[[ $spec != *:\(*\) ]] || print -r -- "values: $values"
			done
		}
		_describe() { print -rl -- "${(@P)2}"; }
		_files() { print files; }
		words=("${(@)argv[2,-1]}")
		CURRENT=$#words
		. "$1"
	EOF
	for command in $commands; do
		zsh -f "$WORK/driver" "$WORK/_kshark-virt" kshark-virt "$command" -- > "$OUT"
		check "zsh: options of $command" test "$(grep -oE '^\*--[a-z-]+' "$OUT" |
			tr -d '*' | sort)" = "$(options "$command")"
	done
	check "zsh: values" grep -qx 'values: wake steal exit blocked offline' \
		<(zsh -f "$WORK/driver" "$WORK/_kshark-virt" kshark-virt why --)
	check "zsh: values with a special character" grep -q '^values: exit> steal> wake> ' \
		<(zsh -f "$WORK/driver" "$WORK/_kshark-virt" kshark-virt record --)
	zsh -f "$WORK/driver" "$WORK/_kshark-virt" kshark-virt '' > "$OUT"
	check "zsh: commands" test "$(sed -n 's/^\([a-z]*\):.*/\1/p' "$OUT" | tr '\n' ' ')" = \
		"$commands help "
fi
if [ -z "$found" ]; then
	echo "zsh and fish are missing (Debian: apt-get install zsh fish)"
	exit 77
fi

finish
