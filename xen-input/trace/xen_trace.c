// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xen_trace.c
 * @brief	Open a xentrace file as records with time, vCPU and names.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "array.h"
#include "block_pipe.h"
#include "escape.h"
#include "hz_contradicts.h"
#include "key_map.h"
#include "sidecar.h"
#include "xen_calibrate.h"
#include "xen_skew.h"
#include "xen_trace_private.h"
#include "xen_window.h"
#include "xentrace_file.h"

struct xen_trace_iter {
	struct xen_trace	*trace;
	struct xentrace_iter	*records;
	struct xen_running	running;
	struct xen_skew		*skew;
	bool			complete;
	/* of xen_trace_iter_skip(): */
	struct counted_calls {
		xen_vcpu	vcpu;
		uint64_t	n_before;	/* calls of the run when it began to run */
		uint64_t	numbers[XENTRACE_NUMBERS];
	}			*counted;	/* by run: calls of who runs there; or NULL */
	struct key_map		calls;		/* of a vCPU, with a number */
	uint64_t		*n_calls;	/* by number in @calls */
	size_t			room_calls;
	bool			is_nameless;	/* rows need no vCPU */
	int			ret;		/* -ENOMEM: calls are missing */
};

/** Records that change no state, but for some of budgets. The tracker looks for multicalls. */
static const struct xentrace_quiet quiet = {
	.part = XEN_TRC_SCHED_CLASS,
	/* a domain without a cap has no budget: INT32_MIN */
	.loud = {
		{ XEN_TRC_CSCHED2_CREDIT_BURN, 2, UINT32_C(1) << 31 },
		{ XEN_TRC_RTDS_BUDGET_BURN, XENTRACE_MAX_WORDS, 0 },
		{ XEN_TRC_RTDS_BUDGET_REPLENISH, XENTRACE_MAX_WORDS, 0 },
	},
	.loud_low = 1U << (XEN_TRC_CSCHED2_CREDIT_BURN & 31) |
		    1U << (XEN_TRC_RTDS_BUDGET_BURN & 31) |
		    1U << (XEN_TRC_RTDS_BUDGET_REPLENISH & 31),
	/* the switch comes after them */
	.plain = { XEN_TRC_SCHED_SWITCH_INFPREV, XEN_TRC_SCHED_SWITCH_INFNEXT },
	.call = XEN_TRC_PV_HYPERCALL_V2,
	.number = XEN_TRC_HYPERCALL_MASK, .given = UINT64_C(1) << XEN_TRC_MULTICALL,
	/* it shows whether runstate changes come after a switch */
	.awaiting = XEN_TRC_SCHED_VERBOSE,
};

/** A switch as people write it. Return: 0 or -EINVAL. */
static int parse_switch(const char *text, bool *on)
{
	static const char *const words[] = { "0", "1", "no", "yes", "false", "true", "off", "on" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (!strcasecmp(text, words[i])) {
			*on = i % 2;
			return 0;
		}
	}
	return -EINVAL;
}

int xen_trace_parse_size(const char *text, uint64_t *size)
{
	static const char units[] = "KMGTPE";
	unsigned __int128 value = 0;
	const char *unit, *end = text;

	for (; *end >= '0' && *end <= '9'; end++) {
		value = value * 10 + (*end - '0');
		if (value > UINT64_MAX)
			return -ERANGE;
	}
	if (end == text)
		return -EINVAL;
	if (*end) {
		unit = strchr(units, *end >= 'a' ? *end - 'a' + 'A' : *end);
		if (!unit || (end[1] && strcasecmp(end + 1, "B") && strcasecmp(end + 1, "iB")))
			return -EINVAL;
		value <<= 10 * (unit - units + 1);
	}
	if (!value || value > UINT64_MAX)
		return -ERANGE;
	*size = (uint64_t)value;
	return 0;
}

int xen_trace_options_from_env(struct xen_trace_options *options, char *error, size_t error_size)
{
	const char *hz = getenv("XEN_CPUHZ");
	const char *absolute = getenv("XEN_ABSTS");
	const char *skew = getenv("XEN_TSC_SKEW");
	const char *max_input = getenv("XEN_MAX_INPUT");
	int ret = 0;

	if (absolute && *absolute && parse_switch(absolute, &options->absolute_time)) {
		ret = -EINVAL;
		xentrace_set_error(error, error_size, "XEN_ABSTS=%s: neither 1, yes, true or on "
				   "nor 0, no, false or off", absolute);
	}
	if (max_input && *max_input &&
	    xen_trace_parse_size(max_input, &options->reader.max_input)) {
		ret = -EINVAL;
		xentrace_set_error(error, error_size, "XEN_MAX_INPUT=%s: not a number of bytes; "
				   "write 500M, 64G or bytes", max_input);
	}
	if (skew && *skew && strcmp(skew, "correct") != 0) {
		ret = -EINVAL;
		xentrace_set_error(error, error_size,
				   "XEN_TSC_SKEW=%s: the only value is \"correct\"", skew);
	} else if (skew && *skew) {
		options->correct_skew = true;
	}
	if (hz && *hz && xen_clock_parse_hz(hz, &options->cpu_hz)) {
		ret = -EINVAL;
		xentrace_set_error(error, error_size, "XEN_CPUHZ=%s: not a CPU frequency; "
				   "write 2.4G, 2400M, 2399998K or Hz", hz);
	}
	return ret;
}

int xen_trace_load_meta(struct xen_trace *trace, const char *path,
			const struct xen_trace_options *options, char *error, size_t error_size)
{
	char text[512] = "";
	char *found;
	int ret = 0;

	if (options->meta_path) {
		trace->meta = xen_meta_load(options->meta_path, error, error_size);
		return trace->meta ? 0 : -errno;
	}
	if (!path)
		return 0;
	errno = 0;
	found = sidecar_find(path);
	/* with other times than those of the sidecar, the trace would be another one */
	if (!found)
		return errno == ENOMEM ? -ENOMEM : 0;
	trace->meta = xen_meta_load(found, text, sizeof(text));
	if (!trace->meta && errno == ENOMEM)
		ret = -ENOMEM;
	else if (!trace->meta)
		trace->meta_error = strdup(text);
	if (!trace->meta && !trace->meta_error)
		ret = -ENOMEM;
	free(found);
	return ret;
}

/** The caller reports a changed file in the end; what was read of it counts. */
static int read_error(int ret)
{
	return ret == -ESTALE ? 0 : ret;
}

/** Records that are handed over at once, and how many of them are worth a thread. */
static const struct block_pipe_size pipe_size = {
	.item = sizeof(struct xentrace_record), .block = 1024, .n_blocks = 8,
};

#define THREAD_RECORDS		200000

/** A walk that ends after a number of records. */
struct reading {
	struct xentrace_iter	*iter;
	uint64_t		most;
};

static bool read_record(const struct reading *reading, struct xentrace_record *rec)
{
	return xentrace_iter_passed(reading->iter) < reading->most &&
	       xentrace_iter_next(reading->iter, rec);
}

static size_t read_block(const struct reading *reading, struct xentrace_record *records)
{
	size_t n = 0;

	while (n < pipe_size.block && read_record(reading, &records[n]))
		n++;
	return n;
}

/** The reading thread. */
static int read_all(void *arg, struct block_pipe *pipe)
{
	size_t n = pipe_size.block;
	int ret = 0;

	while (!ret && n == pipe_size.block) {
		n = read_block(arg, block_pipe_room(pipe));
		ret = block_pipe_give(pipe, n);
	}
	return ret;
}

/** Read them in another thread. @pipe: is finished */
static int take_all(struct block_pipe *pipe,
		    int (*take)(void *arg, const struct xentrace_record *rec), void *arg)
{
	int ret = 0, ret_read;
	void *items;
	size_t n;

	while (!ret && (n = block_pipe_get(pipe, &items)) > 0) {
		const struct xentrace_record *records = items;

		for (size_t i = 0; i < n && !ret; i++)
			ret = take(arg, &records[i]);
	}
	ret_read = block_pipe_finish(pipe);
	return ret ? ret : ret_read;
}

/**
 * @most: number of records from the beginning on, of which only those are given that change a
 *	state, or all of a trace that is being written; UINT64_MAX: all records
 */
static int each_record(const struct xen_trace *trace, uint64_t most,
		       int (*take)(void *arg, const struct xentrace_record *rec), void *arg)
{
	bool all = most == UINT64_MAX;
	struct xentrace_quiet few = quiet;
	struct reading reading = { .most = most };
	struct block_pipe *pipe = NULL;
	struct xentrace_iter *iter;
	struct xentrace_record rec;
	int ret = 0;

	if (trace->stream)
		return xentrace_live_each(trace->stream, take, arg);
	iter = reading.iter = xentrace_iter_new(trace->reader, NULL);
	if (!iter)
		return -ENOMEM;
	/* any record ends a series of runstate changes */
	few.awaiting = 0;
	/* these have the times that show the clock */
	few.plain[0] = few.plain[1] = 0;
	few.most = most;
	if (!all)
		ret = xentrace_iter_skip(iter, &few);
	if (!ret && xentrace_n_records(trace->reader) >= THREAD_RECORDS && block_pipe_pays())
		pipe = block_pipe_start(&pipe_size, read_all, &reading);
	if (pipe)
		ret = take_all(pipe, take, arg);
	while (!pipe && !ret && read_record(&reading, &rec))
		ret = take(arg, &rec);
	if (!ret)
		ret = read_error(xentrace_iter_error(iter));
	xentrace_iter_free(iter);
	return ret;
}

int xen_trace_each_record(const struct xen_trace *trace,
			  int (*take)(void *arg, const struct xentrace_record *rec), void *arg)
{
	return each_record(trace, UINT64_MAX, take, arg);
}

/** What the beginning of the trace shows. */
struct probe {
	uint64_t		votes[XEN_ISA_SVM + 1];
	struct xen_calibrate	*cal;		/* or NULL */
	struct xen_cores_learn	*cores;
	uint64_t		n;
};

/** Return: other than 0 when that is enough. */
static int probe_record(void *arg, const struct xentrace_record *rec)
{
	struct probe *probe = arg;

	if (xen_cores_learn_record(probe->cores, rec))
		return -ENOMEM;
	if (rec->event >> XEN_TRC_CLASS_SHIFT == XEN_TRC_CLASS_HVM)
		probe->votes[xen_isa_from_exit(rec->event, xentrace_word(rec, 0))]++;
	if (probe->cal && xen_calibrate_wants(rec))
		xen_calibrate_observe(probe->cal, rec);
	return ++probe->n < PROBE_RECORDS ? 0 : 1;
}

/**
 * Look at the beginning of the trace: instruction set, cores, and run times if the clock is
 * unknown.
 */
static int probe(struct xen_trace *trace, struct xen_calibrate *cal)
{
	struct probe probe = { .cal = cal, .cores = xen_cores_learn_new() };
	int ret = probe.cores ? each_record(trace, PROBE_RECORDS, probe_record, &probe) : -ENOMEM;
	const uint64_t *votes = probe.votes;

	xen_cores_free(trace->cores);
	trace->cores = NULL;
	if (ret >= 0 && trace->part && trace->part->has_cores) {
		ret = xen_cores_copy(trace->part->cores, &trace->cores);
		xen_cores_set_runs(trace->cores, trace->reader);
	} else if (ret >= 0) {
		ret = xen_cores_make(probe.cores, trace->reader, &trace->cores);
	}
	xen_cores_learn_free(probe.cores);

	if (trace->part && trace->part->model)
		trace->isa = trace->part->isa;
	else if (votes[XEN_ISA_VMX] || votes[XEN_ISA_SVM])
		trace->isa = votes[XEN_ISA_SVM] >= votes[XEN_ISA_VMX] ? XEN_ISA_SVM : XEN_ISA_VMX;
	return ret < 0 ? ret : 0;
}

/** A vCPU that the sidecar names where records do not. */
struct named {
	xen_vcpu	vcpu, somebody;
	bool		wrong;		/* it was elsewhere */
};

/** Names that are being checked. */
struct naming {
	struct xen_running	running;
	struct named		*named;
	size_t			n;
};

static int check_record(void *arg, const struct xentrace_record *rec)
{
	struct naming *naming = arg;
	xen_vcpu before = naming->running.pcpu[rec->run].current;
	xen_vcpu vcpu = xen_running_update(&naming->running, rec);

	for (size_t i = 0; vcpu != before && i < naming->n; i++)
		naming->named[i].wrong |= vcpu == naming->named[i].vcpu &&
					  xen_vcpu_somebody(rec->pcpu) != naming->named[i].somebody;
	return 0;
}

/** Is a vCPU, of those that have been named, on another pCPU than where it has been put? */
static int check_names(const struct xen_trace *trace, struct named *named, size_t n)
{
	struct naming naming = { .named = named, .n = n };
	int ret = xen_running_init(&naming.running, xentrace_n_runs(trace->reader));

	if (!ret)
		ret = xen_trace_each_record(trace, check_record, &naming);
	xen_running_destroy(&naming.running);
	return ret;
}

/** Names that this many vCPUs have at most: they are looked through again and again. */
#define MAX_NAMED	256

int xen_trace_name_somebody(struct xen_trace *trace)
{
	struct xen_first *first = &trace->first;
	struct named named[MAX_NAMED];
	size_t n = 0;
	int ret;

	for (uint32_t i = 0; i < first->n_runs && n < MAX_NAMED; i++) {
		xen_vcpu vcpu = first->vcpu[i];
		const struct xen_meta_pin *pin = NULL;

		if (xen_vcpu_is_somebody(vcpu))
			pin = xen_meta_pinned(trace->meta,
					      xen_vcpu_domid(vcpu) - XEN_DOMID_SOMEBODY);
		if (pin)
			named[n++] = (struct named){ pin->domid << 16 | pin->vcpu, vcpu, false };
	}
	ret = n ? check_names(trace, named, n) : 0;
	for (uint32_t i = 0; i < first->n_runs && n && !ret; i++) {
		for (size_t k = 0; k < n; k++) {
			if (named[k].somebody == first->vcpu[i] && !named[k].wrong)
				first->vcpu[i] = named[k].vcpu;
		}
	}
	return ret;
}

/** The clock of the run times, or else an assumption. Return: 0 or -ENOMEM. */
static int calibrate(struct xen_clock *clock, struct xen_calibrate *cal, uint64_t base)
{
	struct xen_clock_fit fit;
	int ret = xen_calibrate_fit(cal, &fit);

	if (ret == -ENODATA) {
		xen_clock_init(clock, XEN_CLOCK_ASSUMED_HZ, XEN_CLOCK_ASSUMED, base);
		return 0;
	}
	if (ret)
		return ret;
	xen_clock_init(clock, fit.hz, XEN_CLOCK_CALIBRATED, base);
	clock->residual_ppm = fit.residual_ppm;
	clock->n_samples = fit.n_samples;
	return 0;
}

/** Time 0 of the trace. */
static uint64_t base_of(const struct xen_trace *trace, const struct xen_trace_options *options)
{
	if (options->absolute_time)
		return 0;
	return trace->part && trace->part->has_clock ? trace->part->clock.base_tsc :
	       xentrace_first_tsc(trace->reader);
}

/** The standard error of an estimate is at least this: those of short traces are 2.4 % off. */
#define LEAST_ERROR_PPM	4000

/** Does the trace know another frequency than the one of an option? */
static bool is_contradicted(const struct xen_clock *clock, const struct xen_trace_options *options,
			    char *text, size_t size)
{
	bool is_estimate = clock->source == XEN_CLOCK_CALIBRATED;

	return options->cpu_hz && (clock->source == XEN_CLOCK_SIDECAR || is_estimate) &&
	       hz_contradicts(options->cpu_hz, clock->hz,
			      is_estimate && clock->residual_ppm < LEAST_ERROR_PPM ?
			      LEAST_ERROR_PPM : clock->residual_ppm,
			      xen_clock_source_name(clock->source), text, size);
}

int xen_trace_set_clock(struct xen_trace *trace, const struct xen_trace_options *options)
{
	const struct xen_part *part = trace->part && trace->part->has_clock ? trace->part : NULL;
	uint64_t base = base_of(trace, options);
	uint64_t meta_hz = trace->meta ? trace->meta->cpu_khz * 1000 : 0;
	bool known = part || meta_hz >= XEN_CLOCK_MIN_HZ;
	struct xen_calibrate *cal = NULL;
	int ret;

	/* even beside an option, which may contradict it; a stream begins with too few records */
	if (!known && !(options->cpu_hz && trace->stream)) {
		cal = xen_calibrate_new(xentrace_n_runs(trace->reader));
		if (!cal)
			return -ENOMEM;
	}
	ret = probe(trace, cal);
	if (ret)
		goto out;
	if (part)
		xen_trace_set_part_clock(trace, base);
	else if (known)
		xen_clock_init(&trace->clock, meta_hz, XEN_CLOCK_SIDECAR, base);
	else if (cal)
		ret = calibrate(&trace->clock, cal, base);
	if (!ret && is_contradicted(&trace->clock, options, NULL, 0))
		ret = -EDOM;
	else if (!ret && options->cpu_hz)
		xen_clock_init(&trace->clock, options->cpu_hz, XEN_CLOCK_OPTION, base);
out:
	xen_calibrate_free(cal);
	return ret;
}

/** Walk through the whole trace once to find the TSC skew, and prepare its correction. */
static int correct_skew(struct xen_trace *trace, bool absolute_time)
{
	struct xen_trace_iter *iter = xen_trace_iter_new(trace);
	struct xen_trace_row row;
	uint64_t first = UINT64_MAX;
	int64_t *offset;
	int ret;

	if (!iter)
		return -ENOMEM;
	while (xen_trace_iter_next(iter, &row))
		;
	ret = xen_trace_iter_free(iter);
	if (ret)
		return ret;
	offset = calloc(trace->n_pcpus, sizeof(*offset));
	if (!offset)
		return -ENOMEM;
	ret = xen_skew_correction(trace->skew, offset, trace->n_pcpus);
	if (ret) {
		free(offset);
		if (ret == -ERANGE)
			trace->skew_error = strdup("the TSCs of the pCPUs drift: no constant "
						   "offsets put the runstate changes in order; "
						   "nothing was corrected");
		return ret == -ENOMEM ? ret : 0;
	}
	trace->pcpu_offset = offset;
	for (int i = 0; i < xentrace_n_pcpus(trace->reader); i++) {
		const struct xentrace_pcpu *pcpu = xentrace_pcpu_at(trace->reader, i);

		if (pcpu->n_records && pcpu->first_tsc + offset[pcpu->pcpu] < first)
			first = pcpu->first_tsc + offset[pcpu->pcpu];
	}
	if (!absolute_time)
		trace->clock.base_tsc = first;
	return 0;
}

/** What NULL stands for. */
const struct xen_trace_options *xen_trace_or_defaults(const struct xen_trace_options *options)
{
	static const struct xen_trace_options defaults;

	return options ? options : &defaults;
}

/** Who was where, and the clock, once it is known which records there are. */
static int find_all(struct xen_trace *trace, const struct xen_trace_options *options)
{
	int ret;

	trace->n_pcpus = xentrace_pcpu_at(trace->reader,
					  xentrace_n_pcpus(trace->reader) - 1)->pcpu + 1;
	ret = xen_trace_take_part(trace);
	if (!ret)
		ret = xen_first_find(&trace->first, trace->reader);
	if (!ret)
		ret = xen_trace_name_somebody(trace);
	if (ret)
		return ret;
	ret = trace->is_window ? 0 : xen_trace_set_clock(trace, options);
	if (!ret)
		ret = xen_trace_find_core_firsts(trace);
	if (!ret)
		xen_trace_set_first(trace);
	if (!ret && options->correct_skew && !trace->is_window)
		ret = correct_skew(trace, options->absolute_time);
	if (!ret && trace->part) {
		trace->part_is_lost = trace->pcpu_offset;
		xen_part_set_clock(trace->part, &trace->clock);
	}
	return ret;
}

static const char *reason_of(int ret)
{
	return ret == -ENOMEM ? "not enough memory" :
	       ret == -ERANGE ? "nothing of it lies in this window" :
	       ret == -ENODATA ? "there is no record in this window" : NULL;
}

/** Everything beyond the reader, which belongs to the trace from here on; NULL if it is missing. */
struct xen_trace *xen_trace_make(struct xentrace *reader, const char *path,
				    const struct xen_trace_options *options,
				    struct xen_trace_span *span, char *error, size_t error_size)
{
	struct xen_trace *trace = reader ? calloc(1, sizeof(*trace)) : NULL;
	char text[HZ_CONTRADICTION];
	const char *reason;
	int ret;

	if (!trace) {
		xentrace_close(reader);
		return NULL;
	}
	trace->reader = reader;
	trace->is_window = span;
	if (span)
		trace->span = *span;
	ret = xen_trace_load_meta(trace, path, options, error, error_size);
	if (!ret && span) {
		ret = xen_trace_find_window(trace, options);
		*span = trace->span;
	}
	if (!ret)
		ret = find_all(trace, options);
	if (!ret) {
		trace->name = escape_dup(path ? path : "memory");
		ret = trace->name ? 0 : -ENOMEM;
	}
	if (!ret)
		return trace;
	reason = ret == -EDOM && is_contradicted(&trace->clock, options, text, sizeof(text)) ?
		 text : reason_of(ret);
	if (reason)
		xentrace_set_error(error, error_size, "%s: %s", path ? path : "memory", reason);
	xen_trace_close(trace);
	errno = -ret;
	return NULL;
}

struct xen_trace *xen_trace_open(const char *path, const struct xen_trace_options *options,
				 char *error, size_t error_size)
{
	options = xen_trace_or_defaults(options);
	if (xen_window_is(path))
		return xen_trace_open_pointer(path, options, error, error_size);
	return xen_trace_make(xentrace_open(path, &options->reader, error, error_size), path,
			      options, NULL, error, error_size);
}

struct xen_trace *xen_trace_open_memory(const void *data, size_t size,
					const struct xen_trace_options *options,
					char *error, size_t error_size)
{
	options = xen_trace_or_defaults(options);
	return xen_trace_make(xentrace_open_memory(data, size, &options->reader, error, error_size),
			  NULL, options, NULL, error, error_size);
}

void xen_trace_close(struct xen_trace *trace)
{
	if (!trace)
		return;
	xen_skew_free(trace->skew);
	xen_meta_free(trace->meta);
	xen_first_destroy(&trace->first);
	xen_cores_free(trace->cores);
	if (!trace->stream)
		xentrace_close(trace->reader);
	free(trace->pcpu_offset);
	free(trace->name);
	free(trace->meta_error);
	free(trace->part_error);
	free(trace->skew_error);
	free(trace);
}

const struct xentrace *xen_trace_reader(const struct xen_trace *trace)
{
	return trace->reader;
}

const struct xen_clock *xen_trace_clock(const struct xen_trace *trace)
{
	return &trace->clock;
}

const struct xen_meta *xen_trace_meta(const struct xen_trace *trace)
{
	return trace->meta;
}

const struct xen_first *xen_trace_first(const struct xen_trace *trace)
{
	return &trace->first;
}

const struct xen_cores *xen_trace_cores(const struct xen_trace *trace)
{
	return trace->cores;
}

enum xen_isa xen_trace_isa(const struct xen_trace *trace)
{
	return trace->isa;
}

int xen_trace_n_pcpus(const struct xen_trace *trace)
{
	return trace->n_pcpus;
}

/** The vCPUs that nothing names. */
static void note_somebody(struct trace_notes *notes, const struct xen_trace *trace, int max_lines)
{
	const struct xen_first *first = &trace->first;
	char text[512];
	int n = 0;

	for (uint32_t i = 0; i < first->n_runs && n <= max_lines; i++) {
		char name[32];

		if (!xen_vcpu_is_somebody(first->vcpu[i]) || n++ == max_lines)
			continue;
		xen_vcpu_text(name, sizeof(name), first->vcpu[i], NULL);
		snprintf(text, sizeof(text), "%s: %s", name, first->scheduler ?
			 "no record names the vCPU that was on this pCPU all the time, to the end "
			 "or until records are lost; the sidecar can (hard_affinity)" :
			 "whatever vCPUs were there: context switches are not traced");
		xen_trace_note(notes, trace, TRACE_NOTE_EVENTS, text);
	}
	if (n > max_lines)
		xen_trace_note(notes, trace, TRACE_NOTE_EVENTS,
			       "... and more vCPUs that no record names");
}

const char *xen_trace_meta_error(const struct xen_trace *trace)
{
	return trace->meta_error;
}

void xen_trace_note(struct trace_notes *notes, const struct xen_trace *trace,
		    enum trace_note_kind kind, const char *text)
{
	char *line;

	if (asprintf(&line, "%s: %s", trace->name, text) < 0) {
		notes->incomplete = true;
		return;
	}
	trace_notes_add_text(notes, kind, TRACE_NOTE_WARNING, line);
	free(line);
}

static void note_damage(struct trace_notes *notes, const struct xen_trace *trace, int max_lines)
{
	char *damage = xentrace_report(trace->reader, trace->name, max_lines);

	notes->incomplete |= !damage;
	trace_notes_add_text(notes, TRACE_NOTE_DAMAGE, TRACE_NOTE_WARNING, damage);
	free(damage);
}

void xen_trace_note_all(const struct xen_trace *trace, int max_lines, struct trace_notes *notes)
{
	char line[512] = "";

	note_damage(notes, trace, max_lines);
	if (trace->meta_error)
		trace_notes_add(notes, TRACE_NOTE_SIDECAR, TRACE_NOTE_WARNING, "%s",
				trace->meta_error);
	xen_trace_note_part(notes, trace);
	note_somebody(notes, trace, max_lines);
	if (trace->clock.source == XEN_CLOCK_ASSUMED) {
		xen_clock_text(line, sizeof(line), &trace->clock);
		xen_trace_note(notes, trace, TRACE_NOTE_CLOCK, line);
	}
	line[0] = '\0';
	if (trace->skew && !trace->pcpu_offset)
		xen_skew_text(line, sizeof(line), trace->skew);
	if (line[0])
		xen_trace_note(notes, trace, TRACE_NOTE_CLOCK, line);
	if (trace->skew_error)
		xen_trace_note(notes, trace, TRACE_NOTE_CLOCK, trace->skew_error);
	if (xentrace_changed(trace->reader) == XENTRACE_GREW &&
	    xentrace_change_text(line, sizeof(line), trace->reader) > 0)
		trace_notes_add(notes, TRACE_NOTE_CHANGED, TRACE_NOTE_WARNING,
				"%s: what came later is left out", line);
}

char *xen_trace_notes(const struct xen_trace *trace, int max_lines)
{
	struct trace_notes notes = { 0 };
	char *text;

	xen_trace_note_all(trace, max_lines, &notes);
	text = trace_notes_text(&notes);
	trace_notes_free(&notes);
	return text;
}

struct xen_trace_iter *xen_trace_iter_new(struct xen_trace *trace)
{
	struct xentrace_iter_options options = {
		.pcpu_offset = trace->pcpu_offset,
		.n_pcpu_offset = trace->pcpu_offset ? trace->n_pcpus : 0,
	};
	struct xen_trace_iter *iter = calloc(1, sizeof(*iter));

	if (!iter)
		return NULL;
	iter->trace = trace;
	iter->records = xentrace_iter_new(trace->reader, &options);
	iter->skew = xen_skew_new();
	if (!iter->records || !iter->skew ||
	    xen_running_init(&iter->running, xentrace_n_runs(trace->reader))) {
		xen_trace_iter_free(iter);
		return NULL;
	}
	xen_running_start(&iter->running, &trace->first);
	iter->running.cores = trace->cores;
	return iter;
}

int xen_trace_iter_skip(struct xen_trace_iter *iter, bool counts)
{
	struct xentrace_quiet few = quiet;

	iter->is_nameless = !counts;
	/* a record of one pCPU may change who is on another */
	if (iter->trace->cores)
		return 0;
	few.counts = counts;
	if (xentrace_iter_skip(iter->records, &few))
		return -ENOMEM;
	if (!counts)
		return 0;
	iter->counted = calloc(iter->running.n_runs + (size_t)1, sizeof(*iter->counted));
	if (!iter->counted)
		return -ENOMEM;
	for (uint32_t run = 0; run < iter->running.n_runs; run++) {
		iter->counted[run].vcpu = XEN_VCPU_UNKNOWN;
		xentrace_iter_tally(iter->records, run)->numbers = iter->counted[run].numbers;
	}
	return 0;
}

/** Add the calls of the vCPU that ran there until now. Return: 0 or -ENOMEM. */
static int add_calls(struct xen_trace_iter *iter, uint32_t run)
{
	const struct xentrace_tally *tally = xentrace_iter_tally(iter->records, run);
	struct counted_calls *counted = &iter->counted[run];

	/* most vCPUs run without any */
	if (tally->n_calls == counted->n_before)
		return 0;
	counted->n_before = tally->n_calls;
	for (uint64_t number = 0; number < XENTRACE_NUMBERS; number++) {
		uint64_t key = (uint64_t)counted->vcpu * XENTRACE_NUMBERS + number;
		int64_t n;

		if (!counted->numbers[number])
			continue;
		n = KEY_MAP_ELEMENT(&iter->calls, key, iter->n_calls, iter->room_calls);
		if (n < 0)
			return -ENOMEM;
		iter->n_calls[n] += counted->numbers[number];
		counted->numbers[number] = 0;
	}
	return 0;
}

int xen_trace_iter_skipped(struct xen_trace_iter *iter,
			   int (*take)(void *arg, const struct xen_trace_skipped *skipped),
			   void *arg)
{
	int ret = 0;

	for (uint32_t run = 0; iter->counted && run < iter->running.n_runs && !ret; run++) {
		const struct xentrace_tally *tally = xentrace_iter_tally(iter->records, run);
		const struct xen_trace_skipped part = {
			.pcpu = tally->pcpu,
			.event = XEN_TRC_SCHED_CLASS << XEN_TRC_SUBCLASS_SHIFT,
			.records = tally->n_part, .bytes = tally->part_bytes,
		}, plain = {
			.pcpu = tally->pcpu, .event = quiet.plain[0],
			.records = tally->n_plain, .bytes = tally->plain_bytes,
		}, calls = {
			.pcpu = tally->pcpu, .event = XEN_TRC_PV_HYPERCALL_V2,
			.records = tally->n_calls, .bytes = tally->call_bytes,
		};

		ret = part.records ? take(arg, &part) : 0;
		if (!ret && plain.records)
			ret = take(arg, &plain);
		if (!ret && calls.records)
			ret = take(arg, &calls);
		if (!ret)
			ret = add_calls(iter, run);
	}
	for (uint32_t i = 0; i < iter->calls.n_keys && !ret; i++) {
		const struct xen_trace_skipped calls = {
			.is_call = true,
			.vcpu = (xen_vcpu)(iter->calls.keys[i] / XENTRACE_NUMBERS),
			.number = (uint32_t)(iter->calls.keys[i] % XENTRACE_NUMBERS),
			.records = iter->n_calls[i],
		};

		ret = calls.records ? take(arg, &calls) : 0;
	}
	return ret ? ret : iter->ret;
}

size_t xen_trace_iter_read(struct xen_trace_iter *iter, struct xen_trace_row *rows, size_t max)
{
	size_t n = 0;

	for (; n < max && xentrace_iter_next(iter->records, &rows[n].rec); n++) {
		rows[n].vcpu = XEN_VCPU_UNKNOWN;
		if (iter->is_nameless)
			continue;
		rows[n].vcpu = xen_running_update(&iter->running, &rows[n].rec);
		if (iter->counted) {
			uint32_t run = rows[n].rec.run;
			xen_vcpu here = iter->running.pcpu[run].current;

			if (here != iter->counted[run].vcpu) {
				iter->ret = iter->ret ? iter->ret : add_calls(iter, run);
				iter->counted[run].vcpu = here;
			}
		}
	}
	if (n < max)
		iter->complete = true;
	return n;
}

void xen_trace_iter_observe(struct xen_trace_iter *iter, struct xen_trace_row *rows, size_t n)
{
	const struct xen_clock *clock = &iter->trace->clock;

	for (size_t i = 0; i < n; i++) {
		rows[i].time_ns = xen_clock_ns(clock, rows[i].rec.tsc);
		xen_skew_observe(iter->skew, &rows[i].rec);
	}
}

bool xen_trace_iter_next(struct xen_trace_iter *iter, struct xen_trace_row *row)
{
	if (!xen_trace_iter_read(iter, row, 1))
		return false;
	xen_trace_iter_observe(iter, row, 1);
	return true;
}

int xen_trace_iter_free(struct xen_trace_iter *iter)
{
	int ret;

	if (!iter)
		return 0;
	ret = iter->records ? read_error(xentrace_iter_error(iter->records)) : 0;
	if (iter->complete) {
		xen_skew_free(iter->trace->skew);
		iter->trace->skew = iter->skew;
		iter->skew = NULL;
	}
	xen_skew_free(iter->skew);
	xentrace_iter_free(iter->records);
	xen_running_destroy(&iter->running);
	free(iter->n_calls);
	key_map_destroy(&iter->calls);
	free(iter->counted);
	free(iter);
	return ret;
}

int xen_trace_time_at(const struct xen_trace *trace, uint64_t offset, int64_t *time_ns)
{
	struct xentrace_record rec;
	int ret = xentrace_read_at(trace->reader, offset, &rec);

	if (ret)
		return ret;
	if (trace->pcpu_offset)
		rec.tsc += trace->pcpu_offset[rec.pcpu];
	*time_ns = xen_clock_ns(&trace->clock, rec.tsc);
	return 0;
}

int64_t xen_trace_known_until(const struct xen_trace *trace, int i)
{
	const struct xentrace_pcpu *pcpu = xentrace_pcpu_at(trace->reader, i);

	if (!pcpu || pcpu->known_tsc == UINT64_MAX)
		return INT64_MAX;
	return xen_clock_ns(&trace->clock, pcpu->known_tsc +
			    (trace->pcpu_offset ? trace->pcpu_offset[pcpu->pcpu] : 0));
}

int xen_vcpu_text(char *buf, size_t size, xen_vcpu vcpu, const struct xen_meta *meta)
{
	const char *name;

	if (vcpu == XEN_VCPU_UNKNOWN)
		return snprintf(buf, size, "d?v?");
	if (xen_vcpu_is_idle(vcpu))
		return snprintf(buf, size, "idle");
	if (xen_vcpu_is_somebody(vcpu))
		return snprintf(buf, size, "d?v? on p%u",
				xen_vcpu_domid(vcpu) - XEN_DOMID_SOMEBODY);
	name = xen_meta_domain_name(meta, xen_vcpu_domid(vcpu));
	return snprintf(buf, size, "d%uv%u%s%s", xen_vcpu_domid(vcpu), xen_vcpu_id(vcpu),
			name ? ":" : "", name ? name : "");
}
