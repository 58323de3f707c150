// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	cmd_check.c
 * @brief	kshark-virt check: did every vCPU stay on the pCPUs that it was pinned to?
 */
#include <errno.h>
#include <stdlib.h>

#include "affinity.h"
#include "model_load.h"
#include "output.h"
#include "trace_args.h"

enum format { FORMAT_TEXT, FORMAT_CSV };

static const char *const format_names[] = {
	[FORMAT_TEXT] = "text",
	[FORMAT_CSV] = "csv",
	NULL
};

struct check_options {
	const struct ksv_command *command;
	struct affinity_list	affinities;
	int			format;		/* enum format */
	bool			quiet;
	struct ksv_time		from, to;
	struct host_options trace;
};

/* --- the command line ------------------------------------------------------------------------ */

static int take_affinity(const struct ksv_command *command, const struct ksv_option *option,
			 const char *text, void *target)
{
	int ret = affinity_add(target, text);

	(void)option;
	if (ret == -EINVAL)
		return ksv_usage_error(command, "--affinity %s: write vCPUs=pCPUs, such "
				       "as d1v0=2,3 or d2=0-3", text);
	if (ret)
		ksv_error("not enough memory");
	return ret ? KSV_EXIT_FILE : 0;
}

static int take_affinity_file(const struct ksv_command *command, const struct ksv_option *option,
			      const char *path, void *target)
{
	FILE *file = fopen(path, "re");
	unsigned int line;
	int status = 0, ret;

	(void)option;
	if (!file) {
		ksv_error("%s: %s", path, strerror(errno));
		return KSV_EXIT_FILE;
	}
	ret = affinity_read(target, file, &line);
	if (ret == -EINVAL) {
		status = ksv_usage_error(command, "%s, line %u: write vCPUs=pCPUs, such "
					 "as d1v0=2,3 or d2=0-3", path, line);
	} else if (ret) {
		ksv_error("%s: %s", path, ret == -ENOMEM ? "not enough memory" : ret == -EIO ?
			  "cannot read" : "longer lines, or more of them, than a list of "
			  "affinities has");
		status = KSV_EXIT_FILE;
	}
	fclose(file);
	return status;
}

#define OPTIONS	struct check_options

static const struct ksv_option check_option_table[] = {
	{ 0, "affinity", "LIST=CPUS", "these vCPUs may run on these physical CPUs,\n"
	  "e.g. d1v0=2,3 or d2=0-3; may be repeated, the last one counts",
	  take_affinity, offsetof(OPTIONS, affinities), NULL },
	{ 0, "affinity-file", "FILE", "the same from a file, one per line",
	  take_affinity_file, offsetof(OPTIONS, affinities), NULL },
	KSV_OPTION_FORMAT(OPTIONS, format, format_names, "text (default) or csv"),
	KSV_OPTION_FROM(OPTIONS, from, KSV_FROM_HELP),
	KSV_OPTION_TO(OPTIONS, to, "up to this time, which is not included"),
	KSV_OPTION_CPU_HZ(OPTIONS, trace.cpu_hz),
	KSV_OPTION_MAX_INPUT(OPTIONS, trace.max_input),
	KSV_OPTION_ABSOLUTE(OPTIONS, trace.absolute_time),
	KSV_OPTION_SKEW(OPTIONS, trace.correct_skew),
	KSV_OPTION_QUIET(OPTIONS, quiet, "no progress, no notes about damage, clock and skew"),
};

/* --- runs ------------------------------------------------------------------------------------ */

struct check {
	const struct check_options *options;
	const struct model_load	*load;
	struct output		*out;
	int64_t			from_ns, to_ns;
	uint64_t		runs, outside;
	int64_t			outside_ns;
};

static bool on_pcpu(const struct virt_interval *interval)
{
	return interval->state == VIRT_GUEST || interval->state == VIRT_HYPERVISOR ||
	       interval->state == VIRT_VMM;
}

/** A run outside of what is allowed. */
static void report_run(const struct check *check, const struct virt_vcpu *vcpu,
		       const struct affinity *affinity, int64_t from, int64_t to, int pcpu)
{
	struct output *out = check->out;
	bool csv = check->options->format == FORMAT_CSV;
	const char *allowed = strchr(affinity->text, '=') + 1;

	if (csv) {
		out_csv(out, vcpu->name, strlen(vcpu->name));
		out_char(out, ',');
		out_i64(out, from);
		out_char(out, ',');
		out_i64(out, pcpu);
		out_char(out, ',');
		out_i64(out, to - from);
		out_char(out, ',');
		out_csv(out, allowed, strlen(allowed));
	} else {
		out_text_right(out, vcpu->name, 12);
		out_str(out, " [");
		out_u64_zeros(out, (uint64_t)pcpu, 3);
		out_str(out, "] ");
		out_ns(out, from, 16);
		out_str(out, ": ran for ");
		out_ns(out, to - from, 0);
		out_str(out, " s, allowed: ");
		out_text(out, allowed);
	}
	out_char(out, '\n');
}

/** All runs of a vCPU. */
static void check_vcpu(struct check *check, int32_t index, const struct affinity *affinity)
{
	const struct virt_model *model = check->load->model;
	const struct virt_vcpu *vcpu = virt_model_vcpu(model, index);
	struct virt_interval_range range = virt_vcpu_intervals(model, index, check->from_ns,
							       check->to_ns);

	for (size_t i = 0; i < range.n; ) {
		const struct virt_interval *first = &range.first[i];
		int64_t from = first->start_ns, to;

		if (!on_pcpu(first)) {
			i++;
			continue;
		}
		while (++i < range.n && on_pcpu(&range.first[i]) &&
		       range.first[i].pcpu == first->pcpu)
			;
		to = i < range.n ? range.first[i].start_ns : range.end_ns;
		if (from < check->from_ns)
			from = check->from_ns;
		if (to > check->to_ns)
			to = check->to_ns;
		check->runs++;
		if (first->pcpu < 0 || affinity_allows(affinity, first->pcpu))
			continue;
		check->outside++;
		check->outside_ns += to - from;
		report_run(check, vcpu, affinity, from, to, first->pcpu);
	}
}

/** Go through all vCPUs that have an affinity; @check NULL: only ask for it. */
static void check_model(struct affinity_list *list, const struct virt_model *model,
			struct check *check)
{
	for (int32_t i = 0; i < virt_model_n_machines(model); i++) {
		const struct virt_machine *machine = virt_model_machine(model, i);

		for (int32_t j = 0; j < machine->n_vcpus; j++) {
			int32_t index = machine->vcpus[j];
			int32_t id = virt_model_vcpu(model, index)->id;
			const struct affinity *affinity = affinity_of(list, machine->id, id);

			if (affinity && check)
				check_vcpu(check, index, affinity);
		}
	}
}

/** An affinity that fits no vCPU has a typing error in it, and would check nothing. */
static int check_used(struct check_options *options, const struct virt_model *model)
{
	const struct affinity *unused;

	if (affinity_sort(&options->affinities)) {
		ksv_error("not enough memory");
		return KSV_EXIT_FILE;
	}
	check_model(&options->affinities, model, NULL);
	unused = affinity_unused(&options->affinities);
	return unused ? ksv_usage_error(options->command, "%s: the trace has no such vCPU",
					unused->text) : 0;
}

static void print_sum(const struct check *check)
{
	struct output *out = check->out;

	if (check->options->format != FORMAT_TEXT)
		return;
	out_u64(out, check->outside);
	out_str(out, " of ");
	out_u64(out, check->runs);
	out_str(out, check->outside ? " runs outside, for " : " runs outside\n");
	if (!check->outside)
		return;
	out_ns(out, check->outside_ns, 0);
	out_str(out, " s in total\n");
}

static int check_file(struct check_options *options, const char *path, struct output *out)
{
	struct model_load load = {
		.path = path,
		.options = options->trace,
		.quiet = options->quiet,
	};
	struct check check = { .options = options, .load = &load, .out = out };
	int status = model_load(&load);

	if (status)
		goto end;
	check.from_ns = model_time(&load, &options->from, virt_model_begin(load.model));
	check.to_ns = model_time(&load, &options->to, virt_model_end(load.model));
	if (check.from_ns >= check.to_ns && virt_model_begin(load.model) <
					    virt_model_end(load.model)) {
		status = ksv_usage_error(options->command,
					 "--from is not before --to: nothing lies between");
		goto end;
	}
	status = check_used(options, load.model);
	if (status)
		goto changed;
	out_open(out, NULL);
	if (options->format == FORMAT_CSV)
		out_str(out, "vcpu,time_ns,pcpu,length_ns,allowed\n");
	check_model(&options->affinities, load.model, &check);
	print_sum(&check);
	status = out_close(out, check.outside ? KSV_EXIT_FINDINGS : KSV_EXIT_OK);
	if (!options->quiet)
		model_notes(&load);
changed:
	status = model_changed(&load, status);
end:
	model_unload(&load);
	return status;
}

static int check_arg(struct check_options *options, const char *arg, struct output *out)
{
	struct trace_args args = { .host_only = true, .quiet = options->quiet };
	int status = trace_args_add(&args, arg);

	if (!status)
		status = check_file(options, args.items[0].path, out);
	trace_args_free(&args);
	return status;
}

static int run_check(const struct ksv_command *command, int argc, char **argv)
{
	static struct output out;
	struct check_options options = { .command = command };
	char error[512] = "";
	int first, status;

	if (host_options_from_env(&options.trace, error, sizeof(error)))
		return ksv_usage_error(command, "%s", error);
	status = ksv_parse(command, argc, argv, &options, &first);
	if (status >= 0)
		goto end;
	if (first == argc)
		status = ksv_usage_error(command, "which file?");
	else if (first + 1 < argc)
		status = ksv_usage_error(command, "one file at a time; '%s' is too much",
					 argv[first + 1]);
	else if (!options.affinities.n)
		status = ksv_usage_error(command, "nothing to check: give --affinity or "
					 "--affinity-file");
	else
		status = check_arg(&options, argv[first], &out);
end:
	affinity_free(&options.affinities);
	return status;
}

const struct ksv_command cmd_check = {
	.name = "check",
	.args = "[OPTION...] FILE",
	.summary = "Check that vCPUs ran only on the physical CPUs they were pinned to",
	.notes = KSV_NOTE_HOST
		 "Exit status 1: some vCPU ran elsewhere.\n",
	.options = check_option_table,
	.n_options = ARRAY_SIZE(check_option_table),
	.run = run_check,
};
