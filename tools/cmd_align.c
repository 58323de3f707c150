// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	cmd_align.c
 * @brief	kshark-virt align: how a guest's clock and its host's belong together.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>

#include "align_data.h"
#include "align_meta.h"
#include "json_writer.h"
#include "trace_dat.h"

/** Counting cycles as ns keeps them as they are. */
#define AS_IT_IS	1000000000

/** trace-cmd's offsets are doubted if they explain less; another fit must explain that much more */
#define DOUBT_PERCENT	99.5
#define BETTER_PERCENT	0.5

/** From which an alignment comes, in the order in which they are tried. */
enum source { SOURCE_AUTO = 0, SOURCE_TRACE_CMD, SOURCE_TSC, SOURCE_CAUSALITY, N_SOURCES };

static const char *const source_names[N_SOURCES] = {
	[SOURCE_AUTO] = "auto",
	[SOURCE_TRACE_CMD] = "trace-cmd",
	[SOURCE_TSC] = "tsc",
	[SOURCE_CAUSALITY] = "causality",
};

struct align_options {
	const struct ksv_command *command;
	enum source	source;
	const char	*machine;
	bool		json, write, quiet;
};

enum { KEY_SOURCE = 256, KEY_MACHINE, KEY_WRITE };

static const struct ksv_option align_option_table[] = {
	{ 'f', "format", "FORMAT", "text (default) or json" },
	{ KEY_SOURCE, "source", "SOURCE", "trace-cmd, tsc or causality instead of the first of\n"
	  "these that explains the guest's events (auto)" },
	{ KEY_MACHINE, "machine", "NAME", "the machine that the guest is, e.g. d1 or g1" },
	{ KEY_WRITE, "write", NULL, "store the result in GUEST.meta.json" },
	{ 'q', "quiet", NULL, "no progress, no notes" },
};

/** One try: what was found for a machine. */
struct try {
	enum source			source;
	int32_t				machine;	/* -1: nothing was tried */
	struct virt_clock_alignment	alignment;
	struct virt_clock_evidence	*evidence;	/* by the guest's CPU */
};

struct align {
	const struct align_options *options;
	struct model_load	host;
	const char		*guest_path;
	struct kvm_trace	*guest;
	bool			cycles;
	bool			has_offsets;	/* trace-cmd's, as events show */
	struct align_events	shifted, plain;	/* with them, without them */
	struct try		best;
	int32_t			other_machine;	/* which fits as well; -1: none */
};

static int align_option(void *arg, int key, const char *value)
{
	struct align_options *options = arg;

	switch (key) {
	case 'f':
		options->json = !strcmp(value, "json");
		if (!options->json && strcmp(value, "text"))
			return ksv_usage_error(options->command, "--format %s: not text or json",
					       value);
		break;
	case KEY_SOURCE:
		for (int i = 0; i < N_SOURCES; i++) {
			if (strcmp(value, source_names[i]))
				continue;
			options->source = (enum source)i;
			return 0;
		}
		return ksv_usage_error(options->command, "--source %s: not auto, trace-cmd, tsc "
				       "or causality", value);
	case KEY_MACHINE:
		options->machine = value;
		break;
	case KEY_WRITE:
		options->write = true;
		break;
	case 'q':
		options->quiet = true;
		break;
	}
	return 0;
}

/* --- trying ---------------------------------------------------------------------------------- */

/** Is it this machine that is wanted? Names of Xen's may be given without what follows a colon. */
static bool is_wanted(const struct align *align, const char *name)
{
	const char *wanted = align->options->machine;
	size_t length = wanted ? strlen(wanted) : 0;

	return !wanted || !strcmp(name, wanted) ||
	       (!strncmp(name, wanted, length) && name[length] == ':');
}

/** Let the guest's CPUs be the vCPUs of these threads, or else those of the same number. */
static bool pair(const struct align *align, const struct align_machine *machine,
		 struct virt_clock_cpu *cpus, int32_t n_cpus)
{
	int n = 0;
	const int *tids = align->host.kvm ?
			  kvm_trace_guest_tids(align->host.kvm, align->guest, &n) : NULL;
	bool any = false;

	for (int32_t c = 0; c < n_cpus; c++) {
		cpus[c].vcpu = VIRT_NONE;
		for (int32_t v = 0; v < machine->n; v++) {
			const struct virt_vcpu *vcpu = virt_model_vcpu(align->host.model,
								       machine->indices[v]);

			if (tids ? c < n && tids[c] > 0 && vcpu->host_pid == tids[c] :
				   vcpu->id == c)
				cpus[c].vcpu = v;
		}
		any |= cpus[c].vcpu >= 0;
	}
	return any;
}

static void set_best(struct align *align, struct try *try)
{
	free(align->best.evidence);
	align->best = *try;
	try->evidence = NULL;
}

static bool explains_more(const struct try *a, const struct try *b)
{
	bool good = a->alignment.verdict == VIRT_CLOCK_GOOD;

	if (b->machine < 0 || good != (b->alignment.verdict == VIRT_CLOCK_GOOD))
		return b->machine < 0 || good;
	return a->alignment.explained_percent > b->alignment.explained_percent;
}

/** Try one source with one machine. */
static int try_machine(struct align *align, enum source source, int32_t number,
		       const struct align_machine *machine, struct align_events *events,
		       bool known)
{
	struct virt_clock_problem problem = { machine->vcpus, machine->n, events->cpus,
					      events->n };
	struct try try = { .source = source, .machine = number,
			   .evidence = calloc((size_t)events->n + 1, sizeof(*try.evidence)) };
	int ret;

	if (!try.evidence)
		return -ENOMEM;
	if (!pair(align, machine, events->cpus, events->n) && known) {
		free(try.evidence);
		return 0;
	}
	for (int32_t c = 0; !known && c < events->n; c++)
		events->cpus[c].vcpu = VIRT_NONE;
	if (source == SOURCE_CAUSALITY)
		ret = virt_clock_align(&problem, &try.alignment, try.evidence);
	else
		ret = virt_clock_judge(&problem, 0, 0, &try.alignment, try.evidence);
	if (!ret && align->best.alignment.verdict == VIRT_CLOCK_GOOD && align->best.machine >= 0 &&
	    align->best.machine != number && try.alignment.verdict == VIRT_CLOCK_GOOD &&
	    align->best.source == source)
		align->other_machine = explains_more(&try, &align->best) ? align->best.machine :
				       number;
	if (!ret && explains_more(&try, &align->best))
		set_best(align, &try);
	free(try.evidence);
	return ret;
}

/** Try one source with all machines: of known pairing, or of none. */
static int try_source(struct align *align, enum source source, struct align_events *events,
		      bool known)
{
	const struct virt_model *model = align->host.model;
	int ret = 0;

	for (int32_t i = 0; i < virt_model_n_machines(model) && !ret; i++) {
		struct align_machine *machine;

		if (!is_wanted(align, virt_model_machine(model, i)->name))
			continue;
		machine = align_machine_new(model, i);
		ret = machine ? try_machine(align, source, i, machine, events, known) : -ENOMEM;
		align_machine_free(machine);
	}
	return ret;
}

static bool is_good(const struct align *align)
{
	return align->best.machine >= 0 && align->best.alignment.verdict == VIRT_CLOCK_GOOD;
}

/** trace-cmd's own offsets: libtracecmd has applied them. */
static int try_trace_cmd(struct align *align)
{
	int ret;

	if (!align->has_offsets)
		return 0;
	ret = try_source(align, SOURCE_TRACE_CMD, &align->shifted, true);
	if (!ret && !align->options->quiet && align->best.machine >= 0 &&
	    align->best.alignment.explained_percent < DOUBT_PERCENT)
		fprintf(stderr, "%s: trace-cmd's own offsets are wrong: with them, only %.3f %% of "
			"the guest's events lie where its vCPUs executed it, and one is %lld %s "
			"outside\n", align->guest_path, align->best.alignment.explained_percent,
			(long long)align->best.alignment.worst, align->cycles ? "cycles" : "ns");
	return ret;
}

static int try_causality(struct align *align)
{
	int ret = try_source(align, SOURCE_CAUSALITY, &align->plain, true);

	if (!ret && !is_good(align))
		ret = try_source(align, SOURCE_CAUSALITY, &align->plain, false);
	return ret;
}

static int try_all(struct align *align)
{
	enum source wanted = align->options->source;
	int ret = 0;

	if (wanted == SOURCE_AUTO || wanted == SOURCE_TRACE_CMD)
		ret = try_trace_cmd(align);
	if (!ret && align->cycles && !is_good(align) &&
	    (wanted == SOURCE_AUTO || wanted == SOURCE_TSC))
		ret = try_source(align, SOURCE_TSC, &align->plain, true);
	if (ret || (wanted != SOURCE_AUTO && wanted != SOURCE_CAUSALITY))
		return ret;
	if (is_good(align) && align->best.alignment.explained_percent >= DOUBT_PERCENT)
		return 0;
	if (is_good(align)) {
		/* what is recorded is left only for what is clearly better */
		struct try recorded = align->best;

		align->best = (struct try){ .machine = -1 };
		ret = try_causality(align);
		if (!is_good(align) || align->best.alignment.explained_percent <
				       recorded.alignment.explained_percent + BETTER_PERCENT)
			set_best(align, &recorded);
		free(recorded.evidence);
		return ret;
	}
	return try_causality(align);
}

/* --- output ---------------------------------------------------------------------------------- */

static const struct virt_vcpu *vcpu_of(const struct align *align, int32_t cpu)
{
	const struct virt_machine *machine = virt_model_machine(align->host.model,
								align->best.machine);
	int32_t vcpu = align->best.evidence[cpu].vcpu;

	return machine && vcpu >= 0 && vcpu < machine->n_vcpus ?
	       virt_model_vcpu(align->host.model, machine->vcpus[vcpu]) : NULL;
}

static double share(const struct virt_clock_evidence *evidence)
{
	uint64_t judged = evidence->inside + evidence->outside;

	return judged ? 100.0 * (double)evidence->inside / (double)judged : 0;
}

static const char *refusal(const struct align *align)
{
	if (align->best.machine < 0)
		return "no machine of the host can be the guest";
	if (align->other_machine >= 0)
		return "two machines fit as well; --machine tells which one it is";
	if (align->best.alignment.verdict != VIRT_CLOCK_GOOD)
		return virt_clock_verdict_text(align->best.alignment.verdict);
	return NULL;
}

static void put_json(const struct align *align, struct output *out)
{
	const struct virt_clock_alignment *result = &align->best.alignment;
	const char *refused = refusal(align);
	struct json json;

	json_begin(&json, out);
	json_open(&json, NULL, '{', false);
	json_i64(&json, "offset", result->offset);
	json_str(&json, "unit", align->cycles ? "cycles" : "ns");
	json_open(&json, "interval", '[', true);
	json_i64(&json, NULL, result->lo);
	json_i64(&json, NULL, result->hi);
	json_close(&json, ']');
	json_fixed(&json, "drift_ppm", result->drift_ppm);
	json_fixed(&json, "explained_percent", result->explained_percent);
	json_i64(&json, "worst_violation", result->worst);
	json_u64(&json, "unknown", result->unknown);
	json_str(&json, "source", source_names[align->best.source]);
	json_bool(&json, "refused", refused);
	if (refused)
		json_str(&json, "reason", refused);
	json_open(&json, "vcpus", '[', false);
	for (int32_t c = 0; align->best.machine >= 0 && c < align->plain.n; c++) {
		const struct virt_clock_evidence *evidence = &align->best.evidence[c];
		const struct virt_vcpu *vcpu = vcpu_of(align, c);

		json_open(&json, NULL, '{', true);
		if (vcpu) {
			json_str(&json, "name", vcpu->name);
			json_i64(&json, "tid", vcpu->host_pid);
		}
		json_i64(&json, "guest_cpu", c);
		json_u64(&json, "events", evidence->inside + evidence->outside);
		json_fixed(&json, "explained_percent", share(evidence));
		json_i64(&json, "worst_violation", evidence->worst);
		json_close(&json, '}');
	}
	json_close(&json, ']');
	json_close(&json, '}');
	json_end(&json);
}

__attribute__((format(printf, 2, 3)))
static void put(struct output *out, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	out_str(out, text);
}

static void put_text(const struct align *align, struct output *out)
{
	const struct virt_clock_alignment *result = &align->best.alignment;
	const char *unit = align->cycles ? "cycles" : "ns", *refused = refusal(align);
	uint64_t judged = result->inside + result->outside;

	if (refused)
		put(out, "refused: %s\n", refused);
	if (align->best.machine < 0)
		return;
	put(out, "host time = guest time%s %+lld %s\n", align->best.source == SOURCE_TRACE_CMD ?
	    " with trace-cmd's offsets" : result->drift_ppm != 0 ? " * (1 + drift)" : "",
	    (long long)result->offset, unit);
	put(out, "  source      %s\n", source_names[align->best.source]);
	put(out, "  interval    %lld .. %lld (%lld %s wide)\n", (long long)result->lo,
	    (long long)result->hi, (long long)(result->hi - result->lo), unit);
	if (result->drift_ppm != 0)
		put(out, "  drift       %.6f ppm\n", result->drift_ppm);
	else
		put(out, "  drift       none to be seen\n");
	put(out, "  explained   %.3f %% of %llu events; %llu not judged\n",
	    result->explained_percent, (unsigned long long)judged,
	    (unsigned long long)result->unknown);
	put(out, "  worst       %lld %s outside\n", (long long)result->worst, unit);
	for (int32_t c = 0; c < align->plain.n; c++) {
		const struct virt_clock_evidence *evidence = &align->best.evidence[c];
		const struct virt_vcpu *vcpu = vcpu_of(align, c);

		if (vcpu)
			put(out, "  CPU %-7d %.40s (%d): %.3f %% of %llu events\n", c, vcpu->name,
			    vcpu->host_pid, share(evidence),
			    (unsigned long long)(evidence->inside + evidence->outside));
		else
			put(out, "  CPU %-7d no vCPU is known for it\n", c);
	}
}

static int store(const struct align *align)
{
	const char *slash = strrchr(align->host.path, '/');
	int *tids = calloc((size_t)align->plain.n + 1, sizeof(*tids));
	struct align_meta meta = {
		.host = slash ? slash + 1 : align->host.path,
		.source = source_names[align->best.source], .cycles = align->cycles,
		.after_trace_cmd = align->best.source == SOURCE_TRACE_CMD,
		.alignment = &align->best.alignment, .tids = tids, .n_tids = align->plain.n,
	};
	int status = KSV_EXIT_FILE;

	if (!tids) {
		ksv_error("not enough memory");
		return status;
	}
	for (int32_t c = 0; c < align->plain.n; c++) {
		const struct virt_vcpu *vcpu = vcpu_of(align, c);

		tids[c] = vcpu ? vcpu->host_pid : VIRT_NONE;
	}
	status = align_meta_write(align->guest_path, &meta);
	free(tids);
	return status;
}

/* --- reading --------------------------------------------------------------------------------- */

/** Whether the times of a trace.dat are cycles; false also if it cannot be read. */
static bool counts_cycles(const char *path)
{
	char problem[512];
	bool cycles = false;

	return trace_dat_check(path, problem, sizeof(problem), &cycles) && cycles;
}

static bool differ(const struct align_events *a, const struct align_events *b)
{
	for (int32_t c = 0; c < a->n && c < b->n; c++)
		if (a->cpus[c].n && b->cpus[c].n && a->cpus[c].times[0] != b->cpus[c].times[0])
			return true;
	return false;
}

static int read_guest(struct align *align)
{
	int ret = align_events_read(align->guest, &align->shifted);

	if (!ret) {
		/* what cannot be left out is part of the guest's times */
		kvm_trace_hide_offsets(align->guest);
		ret = align_events_read(align->guest, &align->plain);
	}
	align->has_offsets = differ(&align->shifted, &align->plain);
	if (!ret)
		return KSV_EXIT_OK;
	ksv_error("%s: not enough memory", align->guest_path);
	return KSV_EXIT_FILE;
}

static int read_both(struct align *align)
{
	bool xen = !model_is_trace_dat(align->host.path);
	int status;

	if (!model_is_trace_dat(align->guest_path)) {
		ksv_error("%s: the guest's trace must be a trace.dat file of trace-cmd",
			  align->guest_path);
		return KSV_EXIT_FILE;
	}
	align->cycles = counts_cycles(align->guest_path);
	if (align->cycles != (xen || counts_cycles(align->host.path))) {
		ksv_error("%s counts %s and %s counts %s: record the guest with 'trace-cmd record "
			  "-C %s'", align->host.path, align->cycles ? "ns" : "cycles of the TSC",
			  align->guest_path, align->cycles ? "cycles of the TSC" : "ns",
			  align->cycles ? "mono" : "x86-tsc");
		return KSV_EXIT_FILE;
	}
	align->guest = model_open_kvm(align->guest_path, AS_IT_IS);
	if (!align->guest)
		return KSV_EXIT_FILE;
	align->host.options.cpu_hz = AS_IT_IS;
	align->host.options.absolute_time = true;
	align->host.quiet = align->options->quiet;
	align->host.guests = &align->guest;
	align->host.n_guests = 1;
	status = model_load(&align->host);
	return status ? status : read_guest(align);
}

static int align_files(const struct align_options *options, const char *host, const char *guest,
		       struct output *out)
{
	struct align align = {
		.options = options, .host.path = host, .guest_path = guest, .best.machine = -1,
		.other_machine = -1,
	};
	int status = read_both(&align), ret;

	if (status)
		goto end;
	ret = try_all(&align);
	if (ret) {
		ksv_error("%s: %s", guest, ret == -ENOMEM ? "not enough memory" :
			  "its times, or the host's, are beyond all reason");
		status = KSV_EXIT_FILE;
		goto end;
	}
	out_open(out, NULL);
	if (options->json)
		put_json(&align, out);
	else
		put_text(&align, out);
	status = out_close(out);
	if (!status && refusal(&align))
		status = KSV_EXIT_FINDINGS;
	else if (!status && options->write)
		status = store(&align);
end:
	free(align.best.evidence);
	align_events_free(&align.shifted);
	align_events_free(&align.plain);
	kvm_trace_close(align.guest);
	model_unload(&align.host);
	return status;
}

static int run_align(const struct ksv_command *command, int argc, char **argv)
{
	static struct output out;
	struct align_options options = { .command = command };
	int first, status;

	status = ksv_parse(command, argc, argv, align_option, &options, &first);
	if (status >= 0)
		return status;
	signal(SIGPIPE, SIG_IGN);
	if (first + 2 != argc)
		return ksv_usage_error(command, "give two files: the trace of the host, and that "
				       "of its guest");
	return align_files(&options, argv[first], argv[first + 1], &out);
}

const struct ksv_command cmd_align = {
	.name = "align",
	.args = "[OPTION...] HOST GUEST",
	.summary = "Find how the clocks of a guest and its host belong together",
	.notes = "HOST is the trace.dat of a KVM host or a xentrace file, GUEST a trace.dat.\n"
		 "Exit status 1: refused, the events do not show it clearly enough.\n",
	.options = align_option_table,
	.n_options = ARRAY_SIZE(align_option_table),
	.run = run_align,
};
