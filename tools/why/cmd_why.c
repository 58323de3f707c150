// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	cmd_why.c
 * @brief	kshark-virt why: what a vCPU or a physical CPU did in a window, and why.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model_load.h"
#include "trace_args.h"
#include "why.h"

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

static void (*const writers[N_FORMATS])(const struct why_writing *writing,
					const struct why_answer *answer, bool first) = {
	[FORMAT_TEXT] = why_write_text,
	[FORMAT_JSON] = why_write_json,
};

struct why_options {
	const struct ksv_command *command;
	int			format;		/* enum format */
	bool			quiet;
	const char		*output;
	const char		*vcpu;
	struct ksv_id_set	pcpus;
	struct ksv_time		at, from, to;
	size_t			worst;		/* 0: not asked for */
	unsigned int		kinds;		/* set of 1 << enum virt_why_moment_kind */
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
					       "exit and blocked", text);
		*kinds |= 1u << kind;
		if (!rest[n])
			return 0;
		rest += n + 1;
	}
}

#define OPTIONS	struct why_options

static const struct ksv_option why_option_table[] = {
	KSV_OPTION_FORMAT(OPTIONS, format, format_names, "text (default), json; or svg, png, pdf: "
			  "drawn, one answer"),
	KSV_OPTION_OUTPUT(OPTIONS, output),
	{ 0, "vcpu", "NAME", "this vCPU, or all of this machine: d1v0, d1, \"web v0\", web",
	  ksv_take_text, offsetof(OPTIONS, vcpu), NULL },
	{ 0, "cpu", "LIST", "instead: these physical CPUs, e.g. 3",
	  ksv_take_pcpus, offsetof(OPTIONS, pcpus), NULL },
	{ 0, "at", "TIME", "what was going on at this time, as long as it did: seconds,\n"
	  "or a number with ns, us, ms or s, or tsc:N for a raw time\nstamp",
	  ksv_take_time, offsetof(OPTIONS, at), NULL },
	KSV_OPTION_FROM(OPTIONS, from, "from this time on; with --worst, moments that begin then"),
	KSV_OPTION_TO(OPTIONS, to, "up to this time, which is not included"),
	{ 0, "worst", "N", "the N costliest moments, of all vCPUs or of those of --vcpu",
	  take_worst, offsetof(OPTIONS, worst), NULL },
	{ 0, "kind", "LIST", "with --worst: wake,steal,exit,blocked (default: the first three)",
	  take_kinds, offsetof(OPTIONS, kinds), NULL },
	KSV_OPTION_CPU_HZ(OPTIONS, trace.cpu_hz),
	KSV_OPTION_MAX_INPUT(OPTIONS, trace.max_input),
	KSV_OPTION_ABSOLUTE(OPTIONS, trace.absolute_time),
	KSV_OPTION_SKEW(OPTIONS, trace.correct_skew),
	KSV_OPTION_QUIET(OPTIONS, quiet, "no progress, no notes about damage, clock and skew"),
};

/** Whose time, and which. */
static int check_options(const struct why_options *options)
{
	bool window = options->from.kind != KSV_TIME_NONE || options->to.kind != KSV_TIME_NONE;
	bool at = options->at.kind != KSV_TIME_NONE;

	if (options->vcpu && options->pcpus.any)
		return ksv_usage_error(options->command, "either --vcpu or --cpu");
	if (options->worst && (options->pcpus.any || at))
		return ksv_usage_error(options->command, "--worst finds moments of vCPUs by "
				       "itself: neither --cpu nor --at");
	if (!options->worst && options->kinds)
		return ksv_usage_error(options->command, "--kind says more about --worst, which "
				       "is not there");
	if (at && window)
		return ksv_usage_error(options->command, "either --at, or --from and --to");
	if (!options->worst && !options->vcpu && !options->pcpus.any)
		return ksv_usage_error(options->command, "whose time? Give --vcpu or --cpu, or "
				       "--worst");
	if (!options->worst && !at && !window)
		return ksv_usage_error(options->command, "which time? Give --at, --from and --to, "
				       "or --worst");
	return 0;
}

/* --- whose time ------------------------------------------------------------------------------ */

/** A trace, and what is asked about it. */
struct asked {
	const struct why_options *options;
	struct model_load	load;
	int32_t			*vcpus;		/* those of --vcpu */
	size_t			n_vcpus;
	struct virt_why_moment	*moments;
	struct why_answer	*answers;
	size_t			n, room;
	size_t			segments;	/* of all answers */
};

static int no_memory(void)
{
	ksv_error("not enough memory");
	return KSV_EXIT_FILE;
}

/** Is this the name of a machine, or of one of its vCPUs? "web" is that of "g1:web", too. */
static bool is_called(const struct virt_machine *machine, const struct virt_vcpu *vcpu,
		      const char *text)
{
	const char *given = strchr(machine->name, ':');
	size_t n;
	char *end;

	if (!strcmp(text, vcpu->name) || !strcmp(text, machine->name))
		return true;
	given = given ? given + 1 : machine->name;
	n = strlen(given);
	if (strncmp(text, given, n) != 0)
		return false;
	if (!text[n])
		return true;
	return text[n] == ' ' && text[n + 1] == 'v' && text[n + 2] >= '0' && text[n + 2] <= '9' &&
	       strtol(text + n + 2, &end, 10) == vcpu->id && !*end;
}

/** Those that a name or a list such as d1v0,d2 means. Return: 0 or an exit status (reported). */
static int choose_vcpus(struct asked *asked)
{
	const struct virt_model *model = asked->load.model;
	const char *text = asked->options->vcpu;
	int32_t n = virt_model_n_vcpus(model);
	struct ksv_vcpu_set set = { 0 };
	bool listed;

	asked->vcpus = calloc((size_t)n + 1, sizeof(*asked->vcpus));
	if (!asked->vcpus)
		return no_memory();
	if (!text)
		return 0;
	listed = !ksv_parse_vcpus(text, &set);
	for (int32_t i = 0; i < n; i++) {
		const struct virt_vcpu *vcpu = virt_model_vcpu(model, i);
		const struct virt_machine *machine = virt_model_machine(model, vcpu->machine);

		if (is_called(machine, vcpu, text) ||
		    (listed && ksv_vcpu_in_set(&set, (xen_vcpu)machine->id << 16 |
					       (xen_vcpu)vcpu->id)))
			asked->vcpus[asked->n_vcpus++] = i;
	}
	free(set.ranges);
	return asked->n_vcpus ? 0 : ksv_usage_error(asked->options->command, "--vcpu %s: the trace "
						    "has no such vCPU", text);
}

/* --- which time ------------------------------------------------------------------------------ */

static int answer(struct asked *asked, int32_t vcpu, int32_t pcpu, int64_t from_ns, int64_t to_ns,
		  const struct virt_why_moment *moment)
{
	struct why_answer answer = { .vcpu = vcpu, .pcpu = pcpu, .moment = moment };
	const struct virt_model *model = asked->load.model;
	size_t limit = MAX_SEGMENTS - asked->segments;
	int ret;

	if (ARRAY_GROW(asked->answers, asked->n, asked->room))
		return no_memory();
	ret = vcpu == VIRT_NONE ?
	      virt_why_pcpu(model, pcpu, from_ns, to_ns, limit, &answer.why) :
	      virt_why_vcpu(model, vcpu, from_ns, to_ns, limit, &answer.why);
	if (ret == -E2BIG)
		return ksv_usage_error(asked->options->command, "%s: more than %d segments to "
				       "tell of: ask for less time, or for less moments",
				       asked->load.path, MAX_SEGMENTS);
	if (ret == -EINVAL)
		return ksv_usage_error(asked->options->command, "%s: nothing of the trace is there;"
				       " it goes from %.9f to %.9f s", asked->load.path,
				       (double)virt_model_begin(model) / 1e9,
				       (double)virt_model_end(model) / 1e9);
	if (ret)
		return no_memory();
	asked->segments += answer.why.n;
	asked->answers[asked->n++] = answer;
	return 0;
}

static int answer_worst(struct asked *asked, int64_t from_ns, int64_t to_ns)
{
	const struct why_options *options = asked->options;
	unsigned int kinds = options->kinds ? options->kinds :
			     1u << VIRT_WHY_M_WAKE | 1u << VIRT_WHY_M_STEAL | 1u << VIRT_WHY_M_EXIT;
	ssize_t n = -ENOMEM;
	int status = 0;

	asked->moments = calloc(options->worst, sizeof(*asked->moments));
	if (asked->moments)
		n = virt_why_worst(asked->load.model, from_ns, to_ns, kinds,
				   options->vcpu ? asked->vcpus : NULL, asked->n_vcpus,
				   asked->moments, options->worst);
	if (n < 0)
		return no_memory();
	for (ssize_t i = 0; i < n && !status; i++) {
		const struct virt_why_moment *moment = &asked->moments[i];

		status = answer(asked, moment->vcpu, VIRT_NONE, moment->from_ns, moment->to_ns,
				moment);
	}
	return status;
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
		const struct virt_occupant *occupant;

		if (!ksv_id_in_set(&options->pcpus, (unsigned int)i))
			continue;
		if (options->at.kind != KSV_TIME_NONE) {
			occupant = virt_pcpu_at(asked->load.model, i, at_ns, &to_ns);
			from_ns = occupant ? occupant->start_ns : at_ns;
			to_ns = occupant ? to_ns : at_ns;
		}
		status = answer(asked, VIRT_NONE, i, from_ns, to_ns, NULL);
	}
	if (!status && !asked->n)
		status = ksv_usage_error(options->command, "--cpu: the trace has physical CPUs "
					 "from 0 to %d", (int)n - 1);
	return status;
}

static int find_answers(struct asked *asked)
{
	const struct why_options *options = asked->options;
	int64_t from_ns = model_time(&asked->load, &options->from, INT64_MIN);
	int64_t to_ns = model_time(&asked->load, &options->to, INT64_MAX);
	int status = choose_vcpus(asked);

	if (status)
		return status;
	if (from_ns >= to_ns)
		return ksv_usage_error(options->command,
				       "--from is not before --to: nothing lies between");
	return options->worst ? answer_worst(asked, from_ns, to_ns) :
	       options->pcpus.any ? answer_pcpus(asked, from_ns, to_ns) :
	       answer_vcpus(asked, from_ns, to_ns);
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
		return ksv_usage_error(options->command, "%s: there is nothing of this kind, and "
				       "nothing to draw", asked->load.path);
	if (asked->n > 1)
		return ksv_usage_error(options->command, "a picture has one answer, and here are "
				       "%zu: say --worst 1, or one vCPU or physical CPU", asked->n);
	return why_draw(asked->load.model, &asked->answers[0], formats[options->format],
			options->output);
}

static int write_answers(struct asked *asked, struct output *out)
{
	struct why_evidence *evidence = why_evidence_find(&asked->load.host, asked->answers,
							  asked->n, NULL, NULL);
	const struct why_writing writing = {
		.file = asked->load.path, .model = asked->load.model, .evidence = evidence,
		.out = out,
	};
	int status;

	if (!evidence) {
		ksv_error("%s: %s", asked->load.path, host_trace_problem(-errno));
		return KSV_EXIT_FILE;
	}
	status = out_open(out, asked->options->output);
	for (size_t i = 0; i < asked->n && !status && !out->error; i++)
		writers[asked->options->format](&writing, &asked->answers[i], !i);
	if (!status && !asked->n && asked->options->format == FORMAT_TEXT)
		out_str(out, "nothing of this kind\n");
	if (!status)
		status = out_close(out, KSV_EXIT_OK);
	why_evidence_free(evidence);
	return status;
}

static int why_file(const struct why_options *options, const char *path, struct output *out)
{
	struct asked asked = {
		.options = options,
		.load = { .path = path, .options = options->trace, .quiet = options->quiet },
	};
	int status = model_load(&asked.load);

	if (status)
		goto end;
	status = find_answers(&asked);
	if (!status)
		status = options->format >= FORMAT_SVG ? draw_answer(&asked) :
			 write_answers(&asked, out);
	if (!status && !options->quiet)
		model_notes(&asked.load);
	status = model_changed(&asked.load, status);
end:
	for (size_t i = 0; i < asked.n; i++)
		virt_why_free(&asked.answers[i].why);
	free(asked.answers);
	free(asked.moments);
	free(asked.vcpus);
	model_unload(&asked.load);
	return status;
}

static int why_arg(const struct why_options *options, const char *arg, struct output *out)
{
	struct trace_args args = { .quiet = options->quiet };
	const char *path;
	int status = trace_args_only(&args, options->command, arg, options->output, &path);

	if (!status)
		status = why_file(options, path, out);
	trace_args_free(&args);
	return status;
}

static int run_why(const struct ksv_command *command, int argc, char **argv)
{
	static struct output out;
	static struct why_options options;
	char error[512] = "";
	int first, status;

	options = (struct why_options){ .command = command };
	if (host_options_from_env(&options.trace, error, sizeof(error)))
		return ksv_usage_error(command, "%s", error);
	status = ksv_parse(command, argc, argv, &options, &first);
	if (status >= 0)
		return status;
	if (check_options(&options))
		return KSV_EXIT_USAGE;
	if (argc - first != 1)
		return ksv_usage_error(command, argc > first ? "one file at a time" :
				       "which file?");
	return why_arg(&options, argv[first], &out);
}

const struct ksv_command cmd_why = {
	.name = "why",
	.args = "[OPTION...] FILE",
	.summary = "Tell what a vCPU or physical CPU did in a window, and why, as a tree",
	.notes = KSV_NOTE_HOST,
	.options = why_option_table,
	.n_options = ARRAY_SIZE(why_option_table),
	.run = run_why,
};
