// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	cmd_check.c
 * @brief	kshark-virt check: check that every vCPU stays on its pCPUs, and that limits are
 *		kept.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "affinity.h"
#include "check_budgets.h"
#include "check_cores.h"
#include "check_irqs.h"
#include "model_files.h"
#include "model_irqs.h"
#include "model_load.h"
#include "model_tasks.h"
#include "model_vcpus.h"
#include "output.h"
#include "terminal.h"
#include "trace_args.h"

static const char *const format_names[] = {
	[CHECK_TEXT] = "text",
	[CHECK_CSV] = "csv",
	[CHECK_JSON] = "json",
	[CHECK_JUNIT] = "junit",
	[CHECK_TAP] = "tap",
	NULL
};

static const char *const per_names[] = {
	[CHECK_PER_MACHINE] = "machine",
	[CHECK_PER_VCPU] = "vcpu",
	NULL
};

/** What lies around a time of --windows, before it and after it. */
#define AROUND_NS	1000000

struct check_options {
	const struct ksv_command *command;
	struct affinity_list	affinities;
	struct irq_affinities	irqs;
	struct budget_list	budgets;
	struct check_windows	windows;
	struct ksv_vcpu_set	vcpus;
	const char		*task;		/* a pattern, or NULL */
	struct ksv_time		around;
	int			per;		/* enum check_per */
	bool			cores;
	const char		*topology;	/* a file, or NULL */
	int			format;		/* enum check_format */
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

static int take_irq_affinity(const struct ksv_command *command, const struct ksv_option *option,
			     const char *text, void *target)
{
	int ret = irq_affinity_add(target, text);

	(void)option;
	if (ret == -EINVAL)
		return ksv_usage_error(command, "--irq-affinity %s: write NAME=pCPUs, such as "
				       "'virtio0*=0,1' or '*=0-3'", text);
	if (ret)
		ksv_error("not enough memory");
	return ret ? KSV_EXIT_FILE : 0;
}

/**
 * Read a file of lines. @read: returns 0 or a negative errno, -EINVAL for @line
 * @form: of a line; @what: they are, for messages
 */
static int take_lines(const struct ksv_command *command, const char *path, void *target,
		      int (*read)(void *target, FILE *file, unsigned int *line),
		      const char *form, const char *what)
{
	FILE *file = fopen(path, "re");
	unsigned int line;
	int status = 0, ret;

	if (!file) {
		ksv_error("%s: cannot open: %s", path, strerror(errno));
		return KSV_EXIT_FILE;
	}
	ret = read(target, file, &line);
	if (ret == -EINVAL) {
		status = ksv_usage_error(command, "%s, line %u: write %s", path, line, form);
	} else if (ret == -ENOMEM || ret == -EIO) {
		ksv_error("%s: %s", path, ret == -EIO ? "cannot read" : "not enough memory");
		status = KSV_EXIT_FILE;
	} else if (ret) {
		ksv_error("%s: its lines are too long or too many for a list of %s", path, what);
		status = KSV_EXIT_FILE;
	}
	fclose(file);
	return status;
}

static int read_affinities(void *target, FILE *file, unsigned int *line)
{
	return affinity_read(target, file, line);
}

static int take_affinity_file(const struct ksv_command *command, const struct ksv_option *option,
			      const char *path, void *target)
{
	(void)option;
	return take_lines(command, path, target, read_affinities,
			  "vCPUs=pCPUs, such as d1v0=2,3 or d2=0-3", "affinities");
}

static int take_budget(const struct ksv_command *command, const struct ksv_option *option,
		       const char *text, void *target)
{
	const char *wrong;
	int ret = budget_add(target, text, &wrong);

	(void)option;
	if (ret == -EINVAL)
		return ksv_usage_error(command, "--max %s: %s", text, wrong);
	if (ret)
		ksv_error("not enough memory");
	return ret ? KSV_EXIT_FILE : 0;
}

static int read_windows(void *target, FILE *file, unsigned int *line)
{
	return check_windows_read(target, file, line);
}

static int take_windows(const struct ksv_command *command, const struct ksv_option *option,
			const char *path, void *target)
{
	(void)option;
	return take_lines(command, path, target, read_windows,
			  "FROM TO, or a TIME, such as 12.5s 12.6s", "windows");
}

#define OPTIONS	struct check_options

static const struct ksv_option check_option_table[] = {
	{ 0, "affinity", "LIST=CPUS", "these vCPUs may run on these pCPUs,\n"
	  "e.g. d1v0=2,3 or d2=0-3; may be repeated, the last one counts",
	  take_affinity, offsetof(OPTIONS, affinities), NULL },
	{ 0, "affinity-file", "FILE", "the same from a file, one per line",
	  take_affinity_file, offsetof(OPTIONS, affinities), NULL },
	{ 0, "irq-affinity", "NAME=CPUS", "these interrupts may be handled on these pCPUs of a\n"
	  "KVM host, e.g. '*=0,1', 'virtio0*=2', 49=0 or softirq=0-3;\n"
	  "may be repeated, the last one counts",
	  take_irq_affinity, offsetof(OPTIONS, irqs), NULL },
	{ 0, "max", "LIMIT", "a limit, e.g. " BUDGET_WAKE ", steal=1%,\n"
	  "exit[MSR].rate=1000/s, migration.count=0, or with the\n"
	  "traces of guests " BUDGET_VECTOR "; may be repeated",
	  take_budget, offsetof(OPTIONS, budgets), NULL },
	{ 0, "per", "WHAT", "judge each machine (default) or each vcpu",
	  ksv_take_choice, offsetof(OPTIONS, per), per_names },
	{ 0, "task", "PATTERN", "with --max: judge the tasks of a KVM host with this name\n"
	  "or PID, e.g. 'vhost-*', instead of vCPUs",
	  ksv_take_text, offsetof(OPTIONS, task), NULL },
	{ 0, "windows", "FILE", "judge each window of FILE separately; each line is\n"
	  "FROM TO [NAME], or a TIME whose surroundings count",
	  take_windows, offsetof(OPTIONS, windows), NULL },
	{ 0, "around", "TIME", "length of the surroundings before and after a TIME\n"
	  "(default 1ms)", ksv_take_time, offsetof(OPTIONS, around), NULL },
	{ 0, "core-isolation", NULL, "check that vCPUs of two machines never share a core",
	  ksv_take_flag, offsetof(OPTIONS, cores), NULL },
	{ 0, "topology", "FILE", "which pCPUs share a core: a sidecar, or output of\n"
	  "'lscpu -p=CPU,CORE,SOCKET,NODE' or 'xl info -n';\n"
	  "default: the trace's sidecar",
	  ksv_take_text, offsetof(OPTIONS, topology), NULL },
	KSV_OPTION_VCPUS(OPTIONS, vcpus, "with --max: only these vCPUs, e.g. d1v0,d2"),
	KSV_OPTION_FORMAT(OPTIONS, format, format_names, "text (default), csv, or with --max:\n"
			  "json; junit (XML) or tap: tests, for CI"),
	KSV_OPTION_FROM(OPTIONS, from, KSV_FROM_HELP),
	KSV_OPTION_TO(OPTIONS, to, "up to this time, which is not included"),
	KSV_OPTIONS_TRACE(OPTIONS, trace),
	KSV_OPTION_QUIET(OPTIONS, quiet, "no progress, no notes about damage, clock and skew"),
};

/* --- runs ------------------------------------------------------------------------------------ */

struct check {
	const struct check_options *options;
	struct model_load	*load;
	struct model_irqs	irqs;
	struct output		*out;
	struct table_writer	*csv;
	int64_t			from_ns, to_ns;
	uint64_t		runs, outside;
	int64_t			outside_ns;
};

static const struct table_column run_columns[] = {
	{ .key = "vcpu" },
	{ .key = "time_ns", .type = TABLE_TIME },
	{ .key = "pcpu", .type = TABLE_COUNT },
	{ .key = "length_ns", .type = TABLE_NS },
	{ .key = "allowed" },
};

static const struct table run_table = { .rows = { TABLE_COLUMNS(run_columns) } };

/** A run outside of what is allowed. */
static void report_run(const struct check *check, const struct virt_vcpu *vcpu,
		       const struct affinity *affinity, int64_t from, int64_t to, int pcpu)
{
	struct output *out = check->out;
	const char *allowed = strchr(affinity->text, '=') + 1;

	if (check->options->format == CHECK_CSV) {
		table_row(check->csv, (const struct table_cell[]){
			table_name(vcpu->name), table_number(from), table_number(pcpu),
			table_number(to - from), table_name(allowed),
		});
		return;
	}
	out_text_right(out, vcpu->name, 12);
	out_str(out, " [");
	out_u64_zeros(out, (uint64_t)pcpu, 3);
	out_str(out, "] ");
	out_ns(out, from, 16);
	out_str(out, ": ran for ");
	out_ns(out, to - from, 0);
	out_str(out, " s, allowed: ");
	out_text(out, allowed);
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

		if (!virt_state_on_pcpu(first->state)) {
			i++;
			continue;
		}
		while (++i < range.n && virt_state_on_pcpu(range.first[i].state) &&
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
	struct ksv_vcpu_list list = { 0 };
	const struct affinity *unused;
	const char *more;

	if (affinity_sort(&options->affinities)) {
		ksv_error("not enough memory");
		return KSV_EXIT_FILE;
	}
	check_model(&options->affinities, model, NULL);
	unused = affinity_unused(&options->affinities);
	if (!unused)
		return 0;
	model_list_vcpus(model, &list);
	more = ksv_vcpu_list_more(&list);
	return ksv_usage_error(options->command, "%s: the trace has no such vCPU; it has %s%s",
			       unused->text, list.text, more);
}

static void print_sum(const struct check *check)
{
	struct output *out = check->out;

	if (check->options->format != CHECK_TEXT)
		return;
	out_style(out, check->outside ? OUT_BAD : OUT_GOOD);
	out_u64(out, check->outside);
	out_str(out, " of ");
	out_u64(out, check->runs);
	out_str(out, " runs outside");
	if (check->outside) {
		out_str(out, ", for ");
		out_ns(out, check->outside_ns, 0);
		out_str(out, " s in total");
	}
	out_style(out, OUT_PLAIN);
	out_char(out, '\n');
}

static int check_limits(struct check *check)
{
	const struct check_options *options = check->options;
	struct host_tasks tasks = { .tasks.trace = NULL };
	struct check_budgets budgets = {
		.budgets = &options->budgets, .windows = &options->windows,
		.task = options->task, .tasks = options->task ? &tasks : NULL,
		.vcpus = &options->vcpus, .irqs = &check->irqs,
		.from_ns = check->from_ns, .to_ns = check->to_ns,
		.around_ns = options->around.kind == KSV_TIME_NS ? options->around.ns : AROUND_NS,
		.per = (enum check_per)options->per,
		.format = (enum check_format)options->format,
	};

	int ret = check_budgets_need_irqs(budgets.budgets) ?
		  model_irqs_read(&check->irqs, check->load) : 0, status;

	if (ret) {
		ksv_error("%s: %s", check->load->path, host_trace_problem(ret));
		return KSV_EXIT_FILE;
	}
	status = options->task ? model_tasks_read(check->load, &tasks, "--task") : KSV_EXIT_OK;
	if (!status)
		status = check_budgets_run(&budgets, check->load, check->out);
	if (!options->quiet)
		check_budgets_notes(&budgets, check->load->model);
	host_tasks_free(&tasks);
	return status;
}

/** Return: KSV_EXIT_OK, or the exit status after a message. */
static int check_isolation(const struct check *check)
{
	const struct check_options *options = check->options;
	struct host_topology topology = { 0 };
	struct table_writer csv = {
		.table = &check_cores_table, .format = &table_csv, .out = check->out,
	};
	struct check_cores cores = {
		.model = check->load->model, .topology = &topology, .out = check->out,
		.from_ns = check->from_ns, .to_ns = check->to_ns,
		.csv = options->format == CHECK_CSV ? &csv : NULL,
	};
	char error[512] = "not enough memory";
	int ret = options->topology ?
		  host_topology_read(&topology, options->topology, error, sizeof(error)) :
		  host_topology_of_trace(&topology, check->load->path, error, sizeof(error));
	int status = KSV_EXIT_FILE;

	if (!ret) {
		ret = topology.n ? check_cores_run(&cores) : -ENODATA;
		status = ret < 0 ? KSV_EXIT_UNKNOWN : ret;
	}
	if (ret == -ENODATA && topology.n)
		ksv_error("%s: no two pCPUs share a core according to %s",
			  check->load->path, options->topology ? options->topology : "the sidecar");
	else if (ret == -ENODATA)
		ksv_error("%s: the topology is unknown: give --topology",
			  check->load->path);
	else if (ret < 0)
		ksv_error("%s", error);
	host_topology_free(&topology);
	return status;
}

static int check_irqs(const struct check *check, struct irq_affinities *affinities)
{
	struct table_writer csv = {
		.table = &check_irqs_table, .format = &table_csv, .out = check->out,
	};
	const struct check_irqs irqs = {
		.affinities = affinities, .load = check->load, .out = check->out,
		.from_ns = check->from_ns, .to_ns = check->to_ns,
		.csv = check->options->format == CHECK_CSV ? &csv : NULL,
		.quiet = check->options->quiet,
	};

	return check_irqs_run(&irqs);
}

static int check_host(struct check_options *options, struct model_files *files, int host,
		      struct output *out)
{
	struct model_load load = {
		.options = options->trace,
		.quiet = options->quiet,
		.command = options->command, .vcpus = &options->vcpus,
	};
	struct table_writer csv = { .table = &run_table, .format = &table_csv, .out = out };
	struct check check = { .options = options, .load = &load, .out = out, .csv = &csv };
	int64_t begin_ns, end_ns;	/* of the part that the trace has */
	int status;

	model_files_load(files, host, &load);
	status = model_load(&load);
	if (status)
		goto end;
	check.from_ns = model_time(&load, &options->from, virt_model_begin(load.model));
	check.to_ns = model_time(&load, &options->to, virt_model_end(load.model));
	status = model_window(&load, options->command, &options->from, &options->to, &begin_ns,
			      &end_ns);
	if (status)
		goto end;
	status = check_used(options, load.model);
	if (status)
		goto changed;
	out_open_text(out, NULL, options->format == CHECK_TEXT ? OUT_PAGES : OUT_PROGRAM);
	if (options->budgets.n || options->cores) {
		status = out_close(out, options->cores ? check_isolation(&check) :
							 check_limits(&check));
		goto notes;
	}
	if (options->irqs.n) {
		status = out_close(out, check_irqs(&check, &options->irqs));
		goto notes;
	}
	if (options->format == CHECK_CSV)
		table_flat(&csv, true);
	check_model(&options->affinities, load.model, &check);
	print_sum(&check);
	status = out_close(out, check.outside ? KSV_EXIT_FINDINGS : KSV_EXIT_OK);
notes:
	if (!options->quiet)
		model_notes(&load);
changed:
	status = model_changed(&load, status);
end:
	model_irqs_free(&check.irqs);
	model_unload(&load);
	return status;
}

static int check_opened(struct check_options *options, struct model_files *files,
			struct output *out)
{
	int host, status = model_files_only_host(files, options->command, &host);

	return status ? status : check_host(options, files, host, out);
}

/** A host; its guests' traces are read if a limit needs them. */
static int check_args(struct check_options *options, char **argv, int n, struct output *out)
{
	struct trace_args args = {
		.host_only = n == 1 && !check_budgets_need_irqs(&options->budgets),
		.quiet = options->quiet, .max_input = options->trace.max_input,
	};
	struct model_files files = {
		.args = &args, .cpu_hz = options->trace.cpu_hz, .quiet = options->quiet,
	};
	int status = trace_args_take(&args, argv, n, options->command, NULL), unread;

	if (!status) {
		unread = model_files_open(&files);
		status = files.traces ? check_opened(options, &files, out) : unread;
		status = status ? status : unread;
	}
	model_files_close(&files);
	trace_args_free(&args);
	return status;
}

/** Return: 0, or the exit status after a message. */
static int check_options(const struct check_options *options)
{
	const struct ksv_command *command = options->command;
	bool windows = options->windows.n;

	int kinds = (options->affinities.n > 0) + (options->budgets.n > 0) + options->cores +
		    (options->irqs.n > 0);

	if (!kinds)
		return ksv_usage_error(command, "nothing to check: give --affinity, "
				       "--affinity-file, --irq-affinity, --max or "
				       "--core-isolation");
	if (kinds > 1)
		return ksv_usage_error(command, "--affinity, --irq-affinity, --max and "
				       "--core-isolation have different tables: check one after "
				       "the other");
	if (options->topology && !options->cores)
		return ksv_usage_error(command, "--topology requires --core-isolation");
	if (!options->budgets.n && (windows || ksv_vcpus_given(&options->vcpus) || options->per ||
				    options->task || options->format >= CHECK_JSON))
		return ksv_usage_error(command, "--windows, --vcpu, --task, --per, json, junit and "
				       "tap require --max");
	if (options->task && (ksv_vcpus_given(&options->vcpus) || options->per))
		return ksv_usage_error(command, "--task judges tasks of the host: --vcpu and --per "
				       "are about vCPUs");
	if (options->task && check_budgets_of_tasks(&options->budgets))
		return ksv_usage_error(command, "--max %s: limits of tasks are steal=N%%, "
				       "migration.count or .rate, and wake: a share, .count, "
				       ".rate, or a percentile of report --tasks, such as "
				       BUDGET_WAKE,
				       check_budgets_of_tasks(&options->budgets)->text);
	if (windows && (options->from.kind || options->to.kind))
		return ksv_usage_error(command, "--windows replaces --from and --to: give only one "
				       "of them");
	if (options->around.kind && (!windows || options->around.kind != KSV_TIME_NS ||
				     options->around.ns <= 0))
		return ksv_usage_error(command, "--around: give a positive duration, and "
				       "--windows");
	return 0;
}

static int run_check(const struct ksv_command *command, int argc, char **argv)
{
	static struct output out;
	struct check_options options = { .command = command };
	int first, status;

	status = model_parse(command, argc, argv, &options, &options.trace, &first);
	if (status >= 0)
		goto end;
	if (first == argc)
		status = ksv_usage_error(command, "which file?");
	else
		status = check_options(&options);
	if (!status)
		status = check_args(&options, argv + first, argc - first, &out);
end:
	affinity_free(&options.affinities);
	irq_affinities_free(&options.irqs);
	budget_free(&options.budgets);
	check_windows_free(&options.windows);
	ksv_vcpus_free(&options.vcpus);
	return status;
}

const struct ksv_command cmd_check = {
	.name = "check",
	.args = "[OPTION...] FILE...",
	.summary = "Check the placement of vCPUs, and limits of latency, steal and exits",
	.notes = KSV_NOTE_HOST
		 "Exit status 1: a vCPU ran elsewhere, or shared a core with another machine, or\n"
		 "exceeded a limit, or an interrupt was handled elsewhere; 4: the trace does not\n"
		 "show it.\n",
	.options = check_option_table,
	.n_options = ARRAY_SIZE(check_option_table),
	.prints_text = true,
	.run = run_check,
};
