# SPDX-License-Identifier: LGPL-2.1-or-later
# bash completion for kshark-virt; works with and without the bash-completion package.

_kshark_virt_words()
{
	local IFS=$'\n'
	mapfile -t COMPREPLY < <(compgen -W "${1// /$'\n'}" -- "$2")
}

_kshark_virt_files()
{
	compopt -o filenames 2> /dev/null
	mapfile -t COMPREPLY < <(compgen -f -- "$1")
}

_kshark_virt()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local command=${COMP_WORDS[1]} options

	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		_kshark_virt_words "record view dump report why plot check align compare diff export top rollup split merge help --help --version" "$cur"
		# a trace alone is summarised
		[[ -z $cur || ${#COMPREPLY[@]} -gt 0 ]] || _kshark_virt_files "$cur"
		return
	fi
	case $command in
	record)
		options="--output --duration --events --guest --buffer --limit --reserve --hypervisor"
		options+=" --flight --trigger --trigger-limit --share --keep-command --quiet --help"
		;;
	view)
		options="--session --from --to --cpu-hz --max-input --absolute --correct-skew --hypertrace"
		options+=" --kallsyms --no-hypertrace --no-combos --dry-run --help"
		;;
	dump)
		options="--format --output --pcpu --vcpu --event --from --to --cpu-hz --absolute"
		options+=" --max-input --correct-skew --list-events --hypertrace --kallsyms --quiet --help"
		;;
	report)
		options="--format --output --vcpu --from --to --cpu-hz --absolute --correct-skew"
		options+=" --max-input --full --sort --worst --kind --above --waits --threads --handlers --power --migrations --topology --devices --monitor --tracing --record-cost --quiet --help"
		options+=" --hypertrace --boot --function --kallsyms"
		;;
	why)
		options="--format --output --vcpu --task --pcpu --path --at --from --to --worst --kind --monitor --cpu-hz"
		options+=" --max-input --absolute --correct-skew --quiet --help"
		;;
	check)
		options="--affinity --affinity-file --max --per --windows --around --vcpu"
		options+=" --core-isolation --topology --format --from --to --cpu-hz --absolute"
		options+=" --max-input --correct-skew --quiet --help"
		;;
	align)
		options="--format --source --machine --write --max-input --quiet --help"
		;;
	compare)
		options="--format --output --values --metric --baseline --runs --statistic"
		options+=" --percentiles --confidence --joint --resamples --seed --windows --boot --hypertrace --record-cost --plot --title"
		options+=" --vcpu --from --to --cpu-hz --max-input --quiet --help"
		;;
	diff)
		options="--format --output --at --above --most --vcpu --from --to --cpu-hz --max-input"
		options+=" --absolute --correct-skew --quiet --help"
		;;
	plot)
		options="--output --format --by --from --to --vcpu --pcpu --width --height --scale"
		options+=" --title --tasks --boot --hypertrace --kallsyms --cpu-hz --max-input --quiet --help"
		;;
	export)
		options="--format --output --vcpu --from --to --worst --cpu-hz --max-input --absolute"
		options+=" --correct-skew --quiet --help"
		;;
	top)
		options="--format --output --interval --once --follow --hold --limit --buffer --sidecar"
		options+=" --vcpu --from --to --cpu-hz --max-input --absolute --correct-skew --quiet --help"
		;;
	rollup)
		options="--host --format --output --interval --start-time --vcpu --from --to --cpu-hz"
		options+=" --max-input --absolute --correct-skew --quiet --help"
		;;
	split)
		options="--from --to --pcpu --output --cpu-hz --max-input --absolute --quiet --help"
		;;
	merge)
		options="--output --max-input --quiet --help"
		;;
	help)
		((COMP_CWORD == 2)) && _kshark_virt_words "record view dump report why plot check align compare diff export top rollup split merge" "$cur"
		return
		;;
	*)
		return
		;;
	esac
	case $prev in
	-f | --format)
		[[ $command == dump || $command == report || $command == diff || $command == compare || $command == check ]] &&
			_kshark_virt_words "text csv json" "$cur"
		[[ $command == align ]] && _kshark_virt_words "text json" "$cur"
		[[ $command == why ]] && _kshark_virt_words "text json svg png pdf" "$cur"
		[[ $command == export ]] && _kshark_virt_words "csv-tables sqlite perfetto" "$cur"
		[[ $command == top ]] && _kshark_virt_words "text csv json openmetrics" "$cur"
		[[ $command == rollup ]] && _kshark_virt_words "csv clickhouse" "$cur"
		[[ $command == plot ]] && _kshark_virt_words "svg png pdf csv" "$cur"
		;;
	--events)
		[[ $command == record ]] && _kshark_virt_words "minimal default full" "$cur"
		;;
	--hypervisor)
		_kshark_virt_words "auto xen kvm" "$cur"
		;;
	-e | --event)
		_kshark_virt_words "$("${COMP_WORDS[0]}" dump --list-events --format csv \
			2> /dev/null | sed -n '2,$s/^[^,]*,[^,]*,\([^,:]*\),.*/\1/p' |
			tr '\n' ' ')" "$cur"
		;;
	--source)
		_kshark_virt_words "auto trace-cmd kvm_write_tsc_offset sidecar tsc causality" "$cur"
		;;
	--trigger)
		_kshark_virt_words "exit> steal> wake> migration> lost> offline> tsc>" "$cur"
		;;
	--kind)
		[[ $command == why ]] && _kshark_virt_words "wake steal exit blocked offline" "$cur"
		[[ $command == report ]] &&
			_kshark_virt_words "exit steal wake migration irq lost offline tsc" "$cur"
		;;
	--sort)
		_kshark_virt_words "steal waiting guest hypervisor blocked exits migrations vcpu" "$cur"
		;;
	--percentiles)
		_kshark_virt_words "nearest linear" "$cur"
		;;
	--statistic)
		_kshark_virt_words "mean hmean stddev p50 p75 p90 p95 p99 p99.5 p99.9" "$cur"
		;;
	--by)
		_kshark_virt_words "vcpu pcpu" "$cur"
		;;
	--duration | --guest | --buffer | --limit | --reserve | --trigger-limit) ;;
	--affinity | --pcpu | --cpu | --vcpu | --at | --from | --to | --cpu-hz | --max-input | --width | --height | --scale | --title) ;;
	--machine | --metric | --baseline | --runs | --confidence | --worst | --above | --function | --record-cost | --resamples | --seed | --windows) ;;
	*)
		if [[ $cur == -* ]]; then
			_kshark_virt_words "$options" "$cur"
		else
			_kshark_virt_files "$cur"
		fi
		;;
	esac
}

complete -F _kshark_virt kshark-virt
