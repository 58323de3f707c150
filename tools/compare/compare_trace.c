// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	compare_trace.c
 * @brief	Metrics of a trace, to be compared.
 *
 * Each duration is a value. Shares and rates are measured in windows of equal length, one value for
 * each window, so that their own variation is known.
 */
#include <errno.h>
#include <stdlib.h>

#include "compare_boot.h"
#include "compare_exits.h"
#include "compare_trace.h"
#include "kvm_meta.h"
#include "model_vcpus.h"
#include "report_count.h"
#include "virt_needs.h"
#include "virt_power.h"
#include "virt_window_walk.h"
#include "virt_worst.h"

/** What the vCPUs of a machine did in a window, as struct virt_window_stats. */
struct sums {
	double		ns[VIRT_N_STATES];	/* together, it may be more than a time can be */
	double		known_ns, unsplit_ns;
	uint64_t	exits, migrations;
};

static double share(const struct sums *sums, enum virt_state state)
{
	return 100 * sums->ns[state] / sums->known_ns;
}

static double guest_percent(const struct sums *sums)
{
	return share(sums, VIRT_GUEST);
}

static double hypervisor_percent(const struct sums *sums)
{
	return share(sums, VIRT_HYPERVISOR);
}

static double polling_percent(const struct sums *sums)
{
	return share(sums, VIRT_POLLING);
}

static double vmm_percent(const struct sums *sums)
{
	return share(sums, VIRT_VMM);
}

static double steal_percent(const struct sums *sums)
{
	return share(sums, VIRT_PREEMPTED);
}

static double waking_percent(const struct sums *sums)
{
	return share(sums, VIRT_WAKING);
}

static double unsplit_percent(const struct sums *sums)
{
	return 100 * sums->unsplit_ns / sums->known_ns;
}

/** Per second of a vCPU. */
static double exits_per_s(const struct sums *sums)
{
	return 1e9 * (double)sums->exits / sums->known_ns;
}

static double migrations_per_s(const struct sums *sums)
{
	return 1e9 * (double)sums->migrations / sums->known_ns;
}

/** Metrics of a window: "MACHINE.NAME". */
static const struct {
	const char	*name;
	double		(*value)(const struct sums *sums);
	enum virt_number number;	/* that the trace must be able to show */
	enum virt_state	state;		/* in which no other one may be included; or none */
} window_metrics[] = {
	{ "guest_percent", guest_percent, VIRT_NUMBER_GUEST, VIRT_GUEST },
	{ "hypervisor_percent", hypervisor_percent, VIRT_NUMBER_HYPERVISOR, VIRT_HYPERVISOR },
	{ "polling_percent", polling_percent, VIRT_NUMBER_POLLING, VIRT_N_STATES },
	{ "vmm_percent", vmm_percent, VIRT_NUMBER_VMM, VIRT_N_STATES },
	{ "steal_percent", steal_percent, VIRT_NUMBER_PREEMPTED, VIRT_N_STATES },
	{ "waking_percent", waking_percent, VIRT_NUMBER_WAKING, VIRT_N_STATES },
	{ "unsplit_percent", unsplit_percent, VIRT_N_NUMBERS, VIRT_N_STATES },
	{ "exits_per_s", exits_per_s, VIRT_NUMBER_EXITS, VIRT_N_STATES },
	{ "migrations_per_s", migrations_per_s, VIRT_NUMBER_MIGRATIONS, VIRT_N_STATES },
};

/** Durations, by kind. */
static const char *const duration_metrics[VIRT_WORST_N_KINDS] = {
	[VIRT_WORST_EXIT] = "exit_cost_ns",
	[VIRT_WORST_STEAL] = "steal_ns",
	[VIRT_WORST_WAKE] = "wake_latency_ns",
	[VIRT_WORST_MIGRATION] = "migration_cost_ns",
};

/** A trace whose metrics are being added. */
struct job {
	struct compare		*compare;
	int			run;
	const struct virt_model	*model;
	const struct virt_machine *machine;
	struct compare_exits	*exits;		/* if they are compared; or NULL */
	const struct virt_worst	*worst;
	struct virt_window_query *queries;	/* by window */
	struct virt_window_walk	**walks;
	int			windows;
	const struct compare_trace_options *options;
	struct model_load	*load;
	int64_t			from_ns, to_ns;	/* what is compared */
	int32_t			*of;		/* vCPUs of @machine that are compared */
	size_t			n_of;
	struct model_guests	guests;		/* if their boots are compared */
	struct model_boots	boots;
	bool			boot;
	uint64_t		records, bytes;
	int			ret;
};

static void trace_value_add(struct job *job, const char *name, double value)
{
	char metric[300];

	if (job->ret)
		return;
	snprintf(metric, sizeof(metric), "%s.%s", job->machine ? job->machine->name : "trace",
		 name);
	job->ret = compare_add(job->compare, job->run, metric, value);
}

/** Without a value, so that the other runs' values are not compared with nothing. */
static void add_unknown(struct job *job, const char *name, enum virt_number number)
{
	char metric[300], text[VIRT_ADVICE_SIZE];

	if (job->ret)
		return;
	snprintf(metric, sizeof(metric), "%s.%s", job->machine->name, name);
	virt_model_advice(job->model, number, text, sizeof(text));
	job->ret = compare_add_unknown(job->compare, job->run, metric, text);
}

/** What includes another state is a metric of its own: guest+hypervisor_percent. */
static void add_included(struct job *job, const struct sums *sums, size_t metric,
			 unsigned int in)
{
	enum virt_state state = window_metrics[metric].state;
	char names[VIRT_STATE_NAMES], name[VIRT_STATE_NAMES + 16];

	add_unknown(job, window_metrics[metric].name,
		    virt_number_of_state((enum virt_state)__builtin_ctz(in)));
	virt_state_names(in | 1U << state, "+", names, sizeof(names));
	snprintf(name, sizeof(name), "%s_percent", names);
	if (sums->known_ns > 0)
		trace_value_add(job, name, window_metrics[metric].value(sums));
}

static void add_window(struct job *job, const struct sums *sums)
{
	for (size_t i = 0; i < ARRAY_SIZE(window_metrics); i++) {
		unsigned int in = virt_model_includes(job->model, window_metrics[i].state);

		if (in)
			add_included(job, sums, i, in);
		else if (!virt_model_knows(job->model, window_metrics[i].number))
			add_unknown(job, window_metrics[i].name, window_metrics[i].number);
		else if (sums->known_ns > 0)
			trace_value_add(job, window_metrics[i].name, window_metrics[i].value(sums));
	}
}

/** How long the window is: times may be farther apart than a time can be. */
static __int128 length_of(const struct job *job)
{
	return (__int128)job->to_ns - job->from_ns;
}

static void sum_up(struct sums *sums, struct virt_window_walk *walk, const struct job *job)
{
	for (size_t i = 0; i < job->n_of; i++) {
		const struct virt_window_stats *vcpu = virt_window_walk_vcpu(walk, job->of[i]);

		for (int state = 0; state < VIRT_N_STATES; state++)
			sums->ns[state] += (double)vcpu->states[state].ns;
		for (int state = 0; state < VIRT_N_STATES; state++)
			sums->unsplit_ns += (double)vcpu->unsplit_ns[state];
		sums->known_ns += (double)vcpu->known_ns;
		sums->exits += vcpu->exits;
		sums->migrations += vcpu->migrations;
	}
}

/** Get ready to measure all windows. Return: 0 or -ENOMEM. */
static int make_windows(struct job *job)
{
	__int128 begin = job->from_ns, length = length_of(job);

	job->queries = calloc((size_t)job->windows + 1, sizeof(*job->queries));
	job->walks = calloc((size_t)job->windows + 1, sizeof(struct virt_window_walk *));
	if (!job->queries || !job->walks)
		return -ENOMEM;
	for (int i = 0; i < job->windows; i++) {
		job->queries[i].from_ns = (int64_t)(begin + length * i / job->windows);
		job->queries[i].to_ns = (int64_t)(begin + length * (i + 1) / job->windows);
		if (job->exits)
			job->queries[i].parts = VIRT_WINDOW_EXITS | VIRT_WINDOW_ARGUMENTS;
		job->walks[i] = virt_window_walk_new(job->model, &job->queries[i]);
		if (!job->walks[i])
			return -ENOMEM;
	}
	return 0;
}

static void free_windows(struct job *job)
{
	for (int i = 0; job->walks && i < job->windows; i++)
		virt_window_walk_free(job->walks[i]);
	free(job->walks);
	free(job->queries);
	free(job->of);
}

static int add_hit(void *arg, const struct virt_worst_hit *hit)
{
	struct job *job = arg;

	/* how long the others took is not known */
	if (hit->whole)
		trace_value_add(job, duration_metrics[hit->kind], (double)hit->cost_ns);
	if (hit->whole && hit->kind == VIRT_WORST_EXIT && job->exits && !job->ret)
		job->ret = compare_exits_hit(job->exits, job->worst, hit);
	return job->ret;
}

static void add_durations(struct job *job)
{
	struct virt_worst_query query = {
		.from_ns = job->from_ns, .to_ns = job->to_ns, .of = job->of, .n_of = job->n_of,
	};

	/* kind by kind: each is one metric, so that finding it is cheap */
	for (int kind = 0; kind < VIRT_WORST_N_KINDS && !job->ret; kind++) {
		enum virt_number number = virt_number_of_worst((enum virt_worst_kind)kind);

		if (!duration_metrics[kind])
			continue;
		query.kinds = 1u << kind;
		if (virt_model_knows(job->model, number))
			virt_worst_each(job->worst, &query, add_hit, job);
		else
			add_unknown(job, duration_metrics[kind], number);
	}
}

static void add_levels(struct job *job)
{
	struct virt_exit_levels all = { 0 };
	double seconds = (double)length_of(job) / 1e9;

	for (size_t i = 0; i < job->n_of; i++) {
		struct virt_exit_levels levels;

		virt_vcpu_exit_levels(job->model, job->of[i], job->from_ns, job->to_ns, &levels);
		all.l1 += levels.l1;
		all.l2 += levels.l2;
	}
	if (!all.l2)
		return;
	trace_value_add(job, "l1_exits_per_s", (double)all.l1 / seconds);
	trace_value_add(job, "l2_exits_per_s", (double)all.l2 / seconds);
	trace_value_add(job, "exit_multiplication", (double)all.l1 / (double)all.l2);
}

static void add_machine(struct job *job, int32_t index)
{
	job->machine = virt_model_machine(job->model, index);
	job->n_of = 0;
	for (int32_t i = 0; i < job->machine->n_vcpus; i++)
		if (model_wants_vcpu(job->model, job->machine->vcpus[i], &job->options->vcpus))
			job->of[job->n_of++] = job->machine->vcpus[i];
	/* no list of vCPUs would mean all of them */
	if (!job->n_of)
		return;
	if (job->exits)
		compare_exits_machine(job->exits, job->machine->name);
	for (int i = 0; i < job->windows && !job->ret; i++) {
		struct sums sums = { .exits = 0 };

		sum_up(&sums, job->walks[i], job);
		job->ret = virt_window_walk_error(job->walks[i]);
		add_window(job, &sums);
		if (!job->ret && job->exits && sums.known_ns > 0)
			job->ret = compare_exits_window(job->exits, job->walks[i], job->of,
							job->n_of, sums.known_ns);
	}
	add_durations(job);
	if (!job->ret && job->exits)
		job->ret = compare_exits_end(job->exits);
	add_levels(job);
}

/** What is of all pCPUs. A loss is cut to the window. */
static void add_volume(struct job *job)
{
	struct virt_loss_range losses = virt_model_losses(job->model);
	double ns = (double)length_of(job);
	double lost = 0;

	if (ns <= 0)
		return;
	for (size_t i = 0; i < losses.n; i++) {
		const struct virt_loss *loss = &losses.first[i];
		__int128 from = loss->from_ns < job->from_ns ? job->from_ns : loss->from_ns;
		__int128 to = loss->to_ns > job->to_ns ? job->to_ns : loss->to_ns;

		lost += to > from ? (double)(to - from) : 0;
	}
	trace_value_add(job, "records_per_s", (double)job->records * 1e9 / ns);
	if (virt_model_n_pcpus(job->model))
		trace_value_add(job, "records_per_pcpu_s", (double)job->records * 1e9 / ns /
					       virt_model_n_pcpus(job->model));
	job->compare->bytes += job->bytes;
	trace_value_add(job, "bytes_per_s", (double)job->bytes * 1e9 / ns);
	if (virt_model_n_pcpus(job->model))
		trace_value_add(job, "lost_percent",
				100 * lost / ns / virt_model_n_pcpus(job->model));
}

/** Records at the end of a trace belong to it. */
static bool is_counted(const struct job *job, int64_t time_ns)
{
	return time_ns >= job->from_ns && (time_ns < job->to_ns || job->to_ns == INT64_MAX);
}

static void count_rows(void *arg, const struct xen_trace_row *rows, size_t n)
{
	struct job *job = arg;

	for (size_t i = 0; i < n; i++) {
		if (!is_counted(job, rows[i].time_ns))
			continue;
		job->records++;
		job->bytes += xentrace_bytes(&rows[i].rec);
	}
	for (size_t i = 0; i < n && job->boot; i++)
		host_hypercalls_row(&job->guests.calls, &rows[i]);
}

static void count_record(void *arg, const struct kvm_trace_record *record)
{
	struct job *job = arg;

	if (is_counted(job, record->time_ns)) {
		job->records++;
		job->bytes += record->bytes;
	}
	if (job->boot)
		host_hypercalls_record(&job->guests.calls, record);
}

static void add_all(struct job *job)
{
	const struct compare_trace_options *options = job->options;
	struct virt_worst *worst = virt_worst_new(job->model, false, NULL, 0);

	job->worst = worst;
	job->of = calloc((size_t)virt_model_n_vcpus(job->model) + 1, sizeof(*job->of));
	if (!worst || !job->of)
		job->ret = -ENOMEM;
	if (!job->ret && options->exits) {
		job->exits = compare_exits_new(job->compare, job->run, job->model,
					       options->metrics, options->n_metrics);
		if (!job->exits)
			job->ret = -ENOMEM;
	}
	if (!job->ret)
		job->ret = make_windows(job);
	for (int32_t i = 0; i < virt_model_n_machines(job->model) && !job->ret; i++)
		add_machine(job, i);
	free_windows(job);
	job->machine = NULL;
	add_volume(job);
	compare_exits_free(job->exits);
	virt_worst_free(worst);
}

/** Return: KSV_EXIT_OK, or the exit status after a message. */
static int add_boots(struct job *job, const struct compare_trace_options *options,
		     const struct model_load *load)
{
	int status = model_guests_find(&job->guests, job->model, options->dialect), n;

	if (status)
		return status;
	n = model_boots_find(&job->boots, load);
	if (!n)
		n = compare_boot_add(job->compare, job->run, job->model, &job->guests, &job->boots);
	job->ret = n < 0 ? n : 0;
	if (n)
		return KSV_EXIT_OK;
	ksv_error("%s: has no complete phase or level of a guest's boot",
		  load->path);
	return KSV_EXIT_FILE;
}

/** Governors, and the frequency of pCPUs while vCPUs had them. Return: 0 or -ENOMEM. */
static int add_conditions(struct job *job, const struct model_load *load)
{
	struct compare_conditions *conditions = &job->compare->conditions[job->run];
	const struct kvm_meta *meta = load->host.kvm ? kvm_trace_meta(load->host.kvm) : NULL;

	for (int i = 0; meta && i < meta->n_governors; i++)
		if (compare_add_fact(job->compare, job->run, COMPARE_GOVERNOR, "",
				     meta->governors[i]))
			return -ENOMEM;
	for (int32_t i = 0; i < virt_model_n_vcpus(job->model); i++) {
		struct virt_vcpu_power_sum sum;

		if (!model_wants_vcpu(job->model, i, &job->options->vcpus))
			continue;
		virt_power_of_vcpu(job->model, i, job->from_ns, job->to_ns, &sum);
		conditions->khz_ns += (double)sum.speed.mean_khz * (double)sum.speed.known_ns;
		conditions->known_ns += sum.speed.known_ns;
		conditions->ran_ns += sum.on_pcpu_ns;
	}
	return 0;
}

/** The clock is known now, so that only what lies inside is counted. */
static int job_opened(void *arg)
{
	struct job *job = arg;
	const struct compare_trace_options *options = job->options;
	int status = KSV_EXIT_OK;

	if (ksv_time_is_relative(&options->from) || ksv_time_is_relative(&options->to))
		status = model_find_ends(job->load);
	job->from_ns = model_time(job->load, &options->from, INT64_MIN);
	job->to_ns = model_time(job->load, &options->to, INT64_MAX);
	if (!status && job->from_ns >= job->to_ns)
		status = ksv_usage_error(job->load->command, "--from is not before --to");
	return status;
}

static int add_trace(struct job *job, struct model_load *load,
		     const struct compare_trace_options *options)
{
	int status = KSV_EXIT_OK;

	job->model = load->model;
	if (options->boot)
		status = add_boots(job, options, load);
	else
		add_all(job);
	if (!status && !job->ret)
		job->ret = add_conditions(job, load);
	if (!status)
		trace_notes_copy(&job->compare->notes, &load->notes);
	if (!status && !load->quiet)
		model_notes(load);
	if (status || !job->ret)
		return status;
	ksv_error("%s: %s", load->path, job->ret == -ENOSPC ? "there are more metrics than can be "
		  "compared" : "not enough memory");
	return KSV_EXIT_FILE;
}

int compare_trace(struct compare *compare, int run, struct model_load *load,
		  const struct compare_trace_options *options)
{
	struct job job = {
		.compare = compare, .run = run, .windows = options->windows,
		.boot = options->boot, .options = options, .load = load,
	};
	int status;

	load->rows = count_rows;
	load->records = count_record;
	load->arg = &job;
	load->opened = job_opened;
	load->vcpus = &options->vcpus;
	status = model_load(load);
	if (!status)
		status = model_cut_window(load, load->command, &job.from_ns, &job.to_ns);
	if (!status)
		status = add_trace(&job, load, options);
	if (!status)
		status = model_changed(load, status);
	model_guests_free(&job.guests);
	model_boots_free(&job.boots);
	model_unload(load);
	return status;
}
