// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	cmd_why.c
 * @brief	kshark-virt why: explain the activity of a vCPU, a pCPU or a task in a window.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "guest_lives.h"
#include "model_files.h"
#include "model_irqs.h"
#include "model_load.h"
#include "model_monitors.h"
#include "model_vcpus.h"
#include "terminal.h"
#include "virt_delivery.h"
#include "why_log.h"

/** More than anybody reads, less than memory holds. */
#define MAX_WORST	10000
#define MAX_SEGMENTS	1000000

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_SVG, FORMAT_PNG, FORMAT_PDF, N_FORMATS };

static const char *const format_names[] = {
	[FORMAT_TEXT] = "text",
	[FORMAT_JSON] = "json",
	[FORMAT_SVG] = "svg",
	[FORMAT_PNG] = "png",
	[FORMAT_PDF] = "pdf",
	NULL
};

/** How answers are written, one after the other. */
static const struct writer {
	/** Or NULL. @file: the host's trace; @notes: about it and its guests */
	void	(*begin)(struct output *out, const char *file, const struct trace_notes *notes);
	void	(*write)(const struct why_writing *writing, const struct why_answer *answer,
			 bool first);
	/** @answer: or NULL */
	void	(*write_finding)(const struct why_writing *writing, const struct virt_model *model,
				 const struct why_finding *finding,
				 const struct why_answer *answer, bool first);
	void	(*end)(struct output *out);		/* or NULL */
} writers[N_FORMATS] = {
	[FORMAT_TEXT] = { .write = why_write_text, .write_finding = why_put_finding },
	[FORMAT_JSON] = {
		.begin = why_write_json_begin, .write = why_write_json,
		.write_finding = why_json_finding,
		.end = why_write_json_end,
	},
};

struct why_options {
	const struct ksv_command *command;
	int			format;		/* enum format */
	bool			quiet;
	const char		*output;
	struct ksv_vcpu_set	vcpus;
	const char		*task;
	struct ksv_id_set	pcpus;
	bool			path;
	struct ksv_time		at, from, to;
	size_t			worst;		/* 0: not asked for */
	bool			apart;		/* one moment of each incident */
	unsigned int		kinds;		/* set of 1 << enum virt_why_moment_kind */
	struct model_monitors	monitors;
	struct why_log_words	logs, log_offsets;
	struct host_options	trace;
};

/* --- the command line ------------------------------------------------------------------------ */

static int take_worst(const struct ksv_command *command, const struct ksv_option *option,
		      const char *text, void *target)
{
	return ksv_take_number(command, option, text, 1, MAX_WORST, target);
}

/** Which kind the first @n characters are the name of; VIRT_WHY_M_N_KINDS: none. */
static int find_kind(const char *text, size_t n)
{
	int kind = 0;

	for (; kind < VIRT_WHY_M_N_KINDS; kind++) {
		const char *name = virt_why_moment_name((enum virt_why_moment_kind)kind);

		if (strlen(name) == n && !strncmp(name, text, n))
			break;
	}
	return kind;
}

static int take_kinds(const struct ksv_command *command, const struct ksv_option *option,
		      const char *text, void *target)
{
	const char *rest = text;
	unsigned int *kinds = target;

	(void)option;
	*kinds = 0;
	for (;;) {
		size_t n = strcspn(rest, ",");
		int kind = find_kind(rest, n);

		if (kind == VIRT_WHY_M_N_KINDS)
			return ksv_usage_error(command, "--kind %s: not a list of wake, steal, "
					       "exit, blocked and offline", text);
		*kinds |= 1u << kind;
		if (!rest[n])
			return 0;
		rest += n + 1;
	}
}

#define OPTIONS	struct why_options

static const struct ksv_option why_option_table[] = {
	KSV_OPTION_FORMAT(OPTIONS, format, format_names, "text (default), json; or svg, png, pdf: "
			  "a drawing of one answer"),
	KSV_OPTION_OUTPUT(OPTIONS, output),
	KSV_OPTION_VCPUS(OPTIONS, vcpus, "these vCPUs, or all vCPUs of these machines: d1v0, d1,\n"
			 "\"web v0\", web:0, web"),
	KSV_OPTION_PCPUS(OPTIONS, pcpus, "instead: these pCPUs, e.g. 3"),
	{ 0, "task", "NAME", "instead: a task, by machine, name and pid: web:nginx-412,\n"
	  "web:412, web:nginx, which needs the guest's trace; of the\nKVM host itself: host:dd-7",
	  ksv_take_text, offsetof(OPTIONS, task), NULL },
	{ 0, "path", NULL,
	  "for a vCPU or task: the critical path, from waker to waker\n"
	  "back through guests and host",
	  ksv_take_flag, offsetof(OPTIONS, path), NULL },
	{ 0, "at", "TIME", "the interval at this time, as a whole: seconds, or a\n"
	  "number with ns, us, ms, s, m or h, or tsc:N for a raw\ntime stamp",
	  ksv_take_time, offsetof(OPTIONS, at), NULL },
	KSV_OPTION_FROM(OPTIONS, from, "from this time on; with --worst: moments that begin then"),
	KSV_OPTION_TO(OPTIONS, to, "up to this time, which is not included"),
	{ 0, "worst", "N",
	  "the N costliest moments, of all vCPUs, of --vcpu, or of\n--task (default: 3, without a "
	  "subject or a time)",
	  take_worst, offsetof(OPTIONS, worst), NULL },
	{ 0, "kind", "LIST",
	  "with --worst: wake,steal,exit,blocked,offline (default:\nthe first three)",
	  take_kinds, offsetof(OPTIONS, kinds), NULL },
	MODEL_OPTION_MONITOR(OPTIONS, monitors, "QEMU's own trace (-trace) of a machine of this "
			     "host,\nto explain time in it; may be repeated"),
	{ 0, "guest-log", "NAME:FILE",
	  "whose fault was it? A verdict for each warning of the\nguest's kernel in this log: soft "
	  "lockup, RCU stall ...;\nmay be repeated",
	  why_take_log, offsetof(OPTIONS, logs), NULL },
	{ 0, "log-offset", "NAME:TIME",
	  "with --guest-log: what to add to times of the log for\nthose of the trace",
	  why_take_log, offsetof(OPTIONS, log_offsets), NULL },
	KSV_OPTIONS_TRACE(OPTIONS, trace),
	KSV_OPTION_QUIET(OPTIONS, quiet, "no progress, no notes about damage, clock and skew"),
};

static const char *kind_word(size_t i)
{
	return i < VIRT_WHY_M_N_KINDS ? virt_why_moment_name((enum virt_why_moment_kind)i) : NULL;
}

static const struct ksv_words why_words[] = { { .option = "kind", .word = kind_word }, { 0 } };

/** Without a subject and a time, the worst moments are explained. */
static void choose_worst(struct why_options *options)
{
	bool window = options->from.kind != KSV_TIME_NONE || options->to.kind != KSV_TIME_NONE;
	bool subject = ksv_vcpus_given(&options->vcpus) || options->task;

	if (options->logs.n || options->worst || options->pcpus.any ||
	    options->at.kind != KSV_TIME_NONE || (window && subject))
		return;
	/* a picture has one answer */
	options->worst = options->format >= FORMAT_SVG ? 1 : KSV_FEW_WORST;
	options->apart = true;
}

/** Whose time. */
static int check_subject(const struct why_options *options)
{
	int wanted = ksv_vcpus_given(&options->vcpus) + !!options->task + options->pcpus.any;

	if (wanted > 1)
		return ksv_usage_error(options->command, "only one of --vcpu, --task and --pcpu");
	if (!wanted && !options->worst)
		return ksv_usage_error(options->command, "no subject: give --vcpu, --task or "
				       "--pcpu");
	if (options->task && !strchr(options->task, ':'))
		return ksv_usage_error(options->command, "--task %s: no machine: write MACHINE:%s",
				       options->task, options->task);
	return 0;
}

/** A log has its own subjects and times. */
static int check_log(const struct why_options *options)
{
	if (ksv_vcpus_given(&options->vcpus) || options->task || options->pcpus.any ||
	    options->worst || options->path || options->at.kind != KSV_TIME_NONE)
		return ksv_usage_error(options->command, "--guest-log excludes --vcpu, --task, "
				       "--pcpu, --worst, --path and --at");
	if (options->format >= FORMAT_SVG)
		return ksv_usage_error(options->command, "--guest-log: no picture shows verdicts: "
				       "give --format text or json");
	return 0;
}

/** And which time. */
static int check_options(const struct why_options *options)
{
	bool window = options->from.kind != KSV_TIME_NONE || options->to.kind != KSV_TIME_NONE;
	bool at = options->at.kind != KSV_TIME_NONE;

	if (options->log_offsets.n && !options->logs.n)
		return ksv_usage_error(options->command, "--log-offset requires --guest-log");
	if (options->logs.n)
		return check_log(options) ||
		       (options->kinds && ksv_usage_error(options->command, "--kind requires "
							  "--worst"));
	if (check_subject(options))
		return KSV_EXIT_USAGE;
	if (options->worst && (options->pcpus.any || at))
		return ksv_usage_error(options->command, "--worst excludes --pcpu and --at");
	if (options->path && options->pcpus.any)
		return ksv_usage_error(options->command, "--path requires a vCPU or task, not "
				       "--pcpu");
	if (!options->worst && options->kinds)
		return ksv_usage_error(options->command, "--kind requires --worst");
	if (at && window)
		return ksv_usage_error(options->command, "give either --at, or --from and --to");
	if (!options->worst && !at && !window)
		return ksv_usage_error(options->command, "no time: give --at, or --from and --to");
	return 0;
}

/* --- whose time ------------------------------------------------------------------------------ */

/** A trace, and what is asked about it. */
struct asked {
	const struct why_options *options;
	struct model_load	load;
	struct guest_lives	lives;
	struct model_monitors	monitors;
	int32_t			*vcpus;		/* those of --vcpu */
	size_t			n_vcpus;
	int32_t			task;		/* that of --task, or VIRT_NONE */
	struct virt_why_moment	*moments;
	struct why_findings	findings;	/* of --guest-log */
	struct why_answer	*answers;
	size_t			n, room;
	size_t			segments;	/* of all answers */
};

static int no_memory(void)
{
	ksv_error("not enough memory");
	return KSV_EXIT_FILE;
}

/** Those of --vcpu, which the trace has. Return: 0 or an exit status (reported). */
static int choose_vcpus(struct asked *asked)
{
	const struct ksv_vcpu_set *wanted = &asked->options->vcpus;
	const struct virt_model *model = asked->load.model;
	int32_t n = virt_model_n_vcpus(model);

	asked->vcpus = calloc((size_t)n + 1, sizeof(*asked->vcpus));
	if (!asked->vcpus)
		return no_memory();
	for (int32_t i = 0; i < n && ksv_vcpus_given(wanted); i++)
		if (model_wants_vcpu(model, i, wanted))
			asked->vcpus[asked->n_vcpus++] = i;
	return 0;
}

static bool has_wrong_clock(const struct model_load *load)
{
	for (int i = 0; i < load->n_guests; i++)
		for (int cpu = 0; cpu < load->clocks[i].n_cpus; cpu++)
			if (guest_clock_is_wrong(&load->clocks[i], cpu))
				return true;
	return false;
}

/** The notes say which guest it is, and why. Return: an exit status. */
static int unaligned(struct asked *asked)
{
	if (!asked->options->quiet)
		model_notes(&asked->load);
	ksv_error("--task %s: no such task is known; tasks of a guest are only known if it is "
		  "aligned with its host: run 'kshark-virt align --write %s GUEST'",
		  asked->options->task, asked->load.path);
	return KSV_EXIT_UNKNOWN;
}

/** That of --task. Return: 0 or an exit status (reported). */
static int choose_task(struct asked *asked)
{
	const struct why_options *options = asked->options;
	int n;

	if (!options->task)
		return 0;
	if (asked->load.host.kvm && guest_lives_is_host(options->task) &&
	    !asked->lives.guests.host &&
	    guest_lives_add_host(&asked->lives, &asked->load.host, asked->load.model))
		return no_memory();
	if (!asked->lives.guests.n && !asked->lives.guests.host)
		return ksv_usage_error(options->command, "--task %s: give the aligned trace of a "
				       "guest with that of its host", options->task);
	n = guest_lives_find(&asked->lives.guests, asked->load.model, options->task, &asked->task);
	if (n == 1)
		return 0;
	if (!n && has_wrong_clock(&asked->load))
		return unaligned(asked);
	return ksv_usage_error(options->command, n ? "--task %s: %d tasks have this name: give the "
			       "pid" : "--task %s: no such task in the given traces",
			       options->task, n);
}

/* --- which time ------------------------------------------------------------------------------ */

/** @who: a vCPU or task; VIRT_NONE: @pcpu */
static int make_answer(const struct asked *asked, int64_t from_ns, int64_t to_ns,
		       struct why_answer *answer)
{
	const struct virt_model *model = asked->load.model;
	const struct virt_guests *guests = &asked->lives.guests;
	size_t limit = MAX_SEGMENTS - asked->segments;

	if (answer->who == VIRT_NONE)
		return virt_why_pcpu(model, guests, answer->pcpu, from_ns, to_ns, limit,
				     &answer->why);
	if (asked->options->path)
		return virt_why_path(model, guests, answer->who, from_ns, to_ns, limit,
				     &answer->why);
	return (virt_model_vcpu(model, answer->who) ? virt_why_vcpu : virt_why_task)
	       (model, guests, answer->who, from_ns, to_ns, limit, &answer->why);
}

static int answer(struct asked *asked, int32_t who, int32_t pcpu, int64_t from_ns, int64_t to_ns,
		  const struct virt_why_moment *moment)
{
	struct why_answer answer = { .who = who, .pcpu = pcpu, .moment = moment };
	const struct virt_model *model = asked->load.model;
	int ret;

	if (ARRAY_GROW(asked->answers, asked->n, asked->room))
		return no_memory();
	ret = make_answer(asked, from_ns, to_ns, &answer);
	if (ret == -E2BIG)
		return ksv_usage_error(asked->options->command, "%s: more than %d segments: give a "
				       "shorter window, or fewer moments",
				       asked->load.path, MAX_SEGMENTS);
	if (ret == -EINVAL)
		return ksv_usage_error(asked->options->command, "%s: the time is outside the "
				       "trace, which goes from %.9f to %.9f s", asked->load.path,
				       (double)virt_model_begin(model) / 1e9,
				       (double)virt_model_end(model) / 1e9);
	if (ret)
		return no_memory();
	asked->segments += answer.why.n;
	asked->answers[asked->n++] = answer;
	return 0;
}

static ssize_t find_worst(struct asked *asked, int64_t from_ns, int64_t to_ns)
{
	const struct why_options *options = asked->options;
	unsigned int kinds = options->kinds ? options->kinds :
			     1u << VIRT_WHY_M_WAKE | 1u << VIRT_WHY_M_STEAL | 1u << VIRT_WHY_M_EXIT;

	asked->moments = calloc(options->worst, sizeof(*asked->moments));
	if (!asked->moments)
		return -ENOMEM;
	if (options->task)
		return virt_why_worst_of_task(asked->load.model, &asked->lives.guests, asked->task,
					      from_ns, to_ns, kinds, asked->moments,
					      options->worst);
	return virt_why_worst(asked->load.model, from_ns, to_ns, kinds,
			      asked->n_vcpus ? asked->vcpus : NULL, asked->n_vcpus, options->apart,
			      asked->moments, options->worst);
}

static int answer_worst(struct asked *asked, int64_t from_ns, int64_t to_ns)
{
	ssize_t n = find_worst(asked, from_ns, to_ns);
	int status = 0;

	if (n < 0)
		return no_memory();
	for (ssize_t i = 0; i < n && !status; i++) {
		const struct virt_why_moment *moment = &asked->moments[i];

		status = answer(asked, moment->subject, VIRT_NONE, moment->from_ns, moment->to_ns,
				moment);
	}
	return status;
}

static int answer_task(struct asked *asked, int64_t from_ns, int64_t to_ns)
{
	const struct why_options *options = asked->options;
	int64_t at_ns = model_time(&asked->load, &options->at, INT64_MIN);

	if (options->at.kind != KSV_TIME_NONE &&
	    !virt_why_task_at(asked->load.model, &asked->lives.guests, asked->task, at_ns, &from_ns,
			      &to_ns))
		from_ns = to_ns = at_ns;
	return answer(asked, asked->task, VIRT_NONE, from_ns, to_ns, NULL);
}

static int answer_vcpus(struct asked *asked, int64_t from_ns, int64_t to_ns)
{
	const struct why_options *options = asked->options;
	int64_t at_ns = model_time(&asked->load, &options->at, INT64_MIN);
	int status = 0;

	for (size_t i = 0; i < asked->n_vcpus && !status; i++) {
		if (options->at.kind != KSV_TIME_NONE &&
		    !virt_why_at(asked->load.model, asked->vcpus[i], at_ns, &from_ns, &to_ns))
			from_ns = to_ns = at_ns;
		status = answer(asked, asked->vcpus[i], VIRT_NONE, from_ns, to_ns, NULL);
	}
	return status;
}

static int answer_pcpus(struct asked *asked, int64_t from_ns, int64_t to_ns)
{
	const struct why_options *options = asked->options;
	int64_t at_ns = model_time(&asked->load, &options->at, INT64_MIN);
	int32_t n = virt_model_n_pcpus(asked->load.model);
	int status = 0;

	for (int32_t i = 0; i < n && !status; i++) {
		if (!ksv_id_in_set(&options->pcpus, (unsigned int)i))
			continue;
		if (options->at.kind != KSV_TIME_NONE &&
		    !virt_why_pcpu_at(asked->load.model, i, at_ns, &from_ns, &to_ns))
			from_ns = to_ns = at_ns;
		status = answer(asked, VIRT_NONE, i, from_ns, to_ns, NULL);
	}
	if (!status && !asked->n)
		status = ksv_usage_error(options->command, "--pcpu: the trace has pCPUs 0 to %d",
					 (int)n - 1);
	return status;
}

/** The longest time at once that the host kept each vCPU of a warning from running. */
static int answer_findings(struct asked *asked)
{
	int status = 0;

	for (size_t i = 0; i < asked->findings.n && !status; i++) {
		struct why_finding *finding = &asked->findings.all[i];
		const struct virt_verdict *verdict = &finding->verdict;

		finding->answer = SIZE_MAX;
		if (finding->problem ||
		    (verdict->word != VIRT_VERDICT_HOST && verdict->word != VIRT_VERDICT_BOTH) ||
		    verdict->longest_from_ns == verdict->longest_to_ns)
			continue;
		finding->answer = asked->n;
		status = answer(asked, finding->vcpu, VIRT_NONE, verdict->longest_from_ns,
				verdict->longest_to_ns, NULL);
	}
	return status;
}

static void drop_answers(struct asked *asked)
{
	for (size_t i = 0; i < asked->n; i++)
		virt_why_free(&asked->answers[i].why);
	free(asked->moments);
	asked->moments = NULL;
	asked->n = 0;
	asked->segments = 0;
}

static bool asks_for_host(const struct asked *asked)
{
	for (size_t i = 0; i < asked->n; i++)
		if (why_asks_for_host(&asked->answers[i].why))
			return true;
	return false;
}

static int answer_all(struct asked *asked, int64_t from_ns, int64_t to_ns)
{
	const struct why_options *options = asked->options;

	return options->logs.n ? answer_findings(asked) :
	       options->worst ? answer_worst(asked, from_ns, to_ns) :
	       options->task ? answer_task(asked, from_ns, to_ns) :
	       options->pcpus.any ? answer_pcpus(asked, from_ns, to_ns) :
	       answer_vcpus(asked, from_ns, to_ns);
}

/** Can an answer contain an interrupt that Linux may have given to a device? */
static bool asks_for_devices(const struct asked *asked)
{
	for (size_t i = 0; i < asked->n; i++) {
		const struct virt_why *why = &asked->answers[i].why;

		for (size_t j = 0; j < why->n; j++) {
			int vector = why_vector_of(why, &why->segments[j]);

			if (vector >= 0 && !virt_linux_vector(vector))
				return true;
		}
	}
	return false;
}

/** Which device has which vector, by the host's own guests, read once more. */
static int name_devices(struct asked *asked)
{
	struct model_irqs irqs = { 0 };
	int ret = model_irqs_read(&irqs, &asked->load);

	model_irqs_free(&irqs);
	return ret;
}

static int find_answers(struct asked *asked)
{
	const struct why_options *options = asked->options;
	int64_t from_ns = model_time(&asked->load, &options->from, INT64_MIN);
	int64_t to_ns = model_time(&asked->load, &options->to, INT64_MAX);
	int64_t begin_ns, end_ns;	/* of the part that the trace has */
	int status = choose_vcpus(asked);

	if (!status)
		status = choose_task(asked);
	if (!status)
		status = model_window(&asked->load, options->command, &options->from, &options->to,
				      &begin_ns, &end_ns);
	if (!status && options->logs.n)
		status = why_findings_make(&asked->findings, &asked->load, &options->logs,
					   &options->log_offsets, from_ns, to_ns);
	if (!status)
		status = answer_all(asked, from_ns, to_ns);
	if (status)
		return status;
	if (asked->load.host.kvm && !asked->lives.guests.host && asks_for_host(asked)) {
		if (guest_lives_add_host(&asked->lives, &asked->load.host, asked->load.model))
			return no_memory();
		drop_answers(asked);
		status = answer_all(asked, from_ns, to_ns);
	}
	if (status || !asked->load.n_guests || !asks_for_devices(asked))
		return status;
	return name_devices(asked) ? no_memory() : 0;
}

/* --- all of it ------------------------------------------------------------------------------- */

/** One picture has one answer. */
static int draw_answer(struct asked *asked)
{
	static const enum canvas_format formats[N_FORMATS] = {
		[FORMAT_SVG] = CANVAS_SVG, [FORMAT_PNG] = CANVAS_PNG, [FORMAT_PDF] = CANVAS_PDF,
	};
	const struct why_options *options = asked->options;

	if (!asked->n)
		return ksv_usage_error(options->command, "%s: no moment of this kind, so nothing "
				       "to draw", asked->load.path);
	if (asked->n > 1)
		return ksv_usage_error(options->command, "a picture shows one answer, but there "
				       "are %zu: give --worst 1, or one vCPU or pCPU", asked->n);
	return why_draw(asked->load.model, &asked->answers[0], formats[options->format],
			options->output);
}

/** @files: of the guests, in their order */
static int write_all(struct asked *asked, const struct why_evidence *evidence,
		     const char *const *files, struct output *out)
{
	const struct writer *writer = &writers[asked->options->format];
	bool logs = asked->options->logs.n;
	size_t n = logs ? asked->findings.n : asked->n;
	int status = out_open_text(out, asked->options->output,
				   asked->options->format == FORMAT_TEXT ? OUT_PAGES : OUT_PROGRAM);

	if (!status && writer->begin)
		writer->begin(out, asked->load.path, &asked->load.notes);
	for (size_t i = 0; i < n && !status && !out->error; i++) {
		const struct why_finding *finding = logs ? &asked->findings.all[i] : NULL;
		size_t number = finding ? finding->answer : i;
		const struct why_answer *answer = number < asked->n ? &asked->answers[number] :
						  NULL;
		const struct why_writing writing = {
			.file = asked->load.path, .guest_files = files,
			.why = answer ? &answer->why : NULL, .evidence = evidence, .out = out,
			.put_more = why_put_accesses, .monitors = asked->monitors.all,
			.n_monitors = asked->monitors.n,
		};

		if (finding)
			writer->write_finding(&writing, asked->load.model, finding, answer, !i);
		else
			writer->write(&writing, answer, !i);
	}
	if (!status && writer->end)
		writer->end(out);
	if (!status && !n && asked->options->format == FORMAT_TEXT)
		out_str(out, logs ? "no warning of a kind that is known\n" :
				    "nothing of this kind\n");
	return status ? status : out_close(out, KSV_EXIT_OK);
}

static int write_answers(struct asked *asked, struct output *out)
{
	const struct why_source source = {
		.host = &asked->load.host, .guests = asked->lives.sources,
		.n_guests = asked->lives.guests.n,
	};
	struct why_evidence *evidence = why_evidence_find(&source, asked->answers, asked->n);
	int problem = errno, status = KSV_EXIT_FILE;
	const char **files = calloc((size_t)source.n_guests + 1, sizeof(*files));

	for (int i = 0; files && i < source.n_guests; i++)
		files[i] = kvm_trace_path(source.guests[i].trace);
	if (evidence && files)
		status = write_all(asked, evidence, files, out);
	else
		ksv_error("%s: %s", asked->load.path,
			  host_trace_problem(evidence ? -ENOMEM : -problem));
	free(files);
	why_evidence_free(evidence);
	return status;
}

static int read_lives(struct asked *asked)
{
	const struct model_load *load = &asked->load;
	size_t n = (size_t)(load->n_guests + load->n_inner);
	struct kvm_trace **traces = calloc(n + 1, sizeof(struct kvm_trace *));
	int *outer = calloc(n + 1, sizeof(*outer));
	int ret = traces && outer ? 0 : -ENOMEM;

	for (int i = 0; !ret && i < (int)n; i++) {
		bool is_inner = i >= load->n_guests;

		traces[i] = is_inner ? load->inner[i - load->n_guests].trace : load->guests[i];
		outer[i] = is_inner ? load->inner[i - load->n_guests].guest : -1;
	}
	if (!ret)
		ret = guest_lives_of(&asked->lives, &load->host, load->model, traces,
				     load->clocks, outer, (int)n);
	free(traces);
	free(outer);
	if (!ret)
		ret = guest_lives_add_locks(&asked->lives, &load->host, load->model);
	if (!ret)
		return KSV_EXIT_OK;
	ksv_error("%s: %s", asked->load.path, host_trace_problem(ret));
	return KSV_EXIT_FILE;
}

static int why_host(const struct why_options *options, struct model_files *files, int host,
		    struct output *out)
{
	struct asked asked = {
		.options = options, .task = VIRT_NONE,
		.load = {
			.options = options->trace, .quiet = options->quiet,
			.command = options->command, .vcpus = &options->vcpus,
		},
		.monitors = options->monitors,
	};
	int status;

	model_files_load(files, host, &asked.load);
	status = model_load(&asked.load);
	if (!status && options->monitors.n_paths)
		status = model_monitors_open(&asked.monitors, &asked.load);
	if (!status)
		status = read_lives(&asked);
	if (status)
		goto end;
	status = find_answers(&asked);
	if (!status)
		status = options->format >= FORMAT_SVG ? draw_answer(&asked) :
			 write_answers(&asked, out);
	if (!status && asked.findings.left_out)
		ksv_note("%llu warnings of logs are left out: there are more than %d",
			 (unsigned long long)asked.findings.left_out, GUEST_LOG_MOST);
	if (!status && !options->quiet) {
		model_notes(&asked.load);
		model_monitors_notes(&asked.monitors);
	}
	status = model_changed(&asked.load, status);
end:
	drop_answers(&asked);
	why_findings_free(&asked.findings);
	free(asked.answers);
	free(asked.vcpus);
	guest_lives_free(&asked.lives);
	model_monitors_close(&asked.monitors);
	model_unload(&asked.load);
	return status;
}

static int why_opened(const struct why_options *options, struct model_files *files,
		      struct output *out)
{
	int host, status = model_files_only_host(files, options->command, &host);

	return status ? status : why_host(options, files, host, out);
}

/** A host and its guests. */
static int why_args(const struct why_options *options, char **argv, int n, struct output *out)
{
	struct trace_args args = {
		.quiet = options->quiet, .max_input = options->trace.max_input,
	};
	struct model_files files = {
		.args = &args, .cpu_hz = options->trace.cpu_hz, .quiet = options->quiet,
	};
	int status = trace_args_take(&args, argv, n, options->command, options->output), unread;

	if (!status)
		status = model_monitors_check(&options->monitors, options->command,
					      options->output);
	if (!status)
		status = why_logs_check(&options->logs, options->command, options->output);
	if (!status) {
		unread = model_files_open(&files);
		status = files.traces ? why_opened(options, &files, out) : unread;
		status = status ? status : unread;
	}
	model_files_close(&files);
	trace_args_free(&args);
	return status;
}

static int run_why(const struct ksv_command *command, int argc, char **argv)
{
	static struct output out;
	static struct why_options options;
	int first, status;

	options = (struct why_options){ .command = command };
	status = model_parse(command, argc, argv, &options, &options.trace, &first);
	if (status < 0) {
		choose_worst(&options);
		status = check_options(&options) ? KSV_EXIT_USAGE :
			 first == argc ? ksv_usage_error(command, "which file?") :
			 why_args(&options, argv + first, argc - first, &out);
	}
	ksv_vcpus_free(&options.vcpus);
	return status;
}

const struct ksv_command cmd_why = {
	.name = "why",
	.args = "[OPTION...] FILE...",
	.summary = "Explain what a vCPU, pCPU or task did in a window, as a tree",
	.notes = "FILE is a xentrace file, which may be compressed with gzip or zstd, a pipe, or\n"
		 "- for standard input; or the trace.dat of a KVM host, and those of its guests;\n"
		 "or the folder of a recording.\n",
	.options = why_option_table,
	.words = why_words,
	.n_options = ARRAY_SIZE(why_option_table),
	.prints_text = true,
	.run = run_why,
};
