// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	align_try.c
 * @brief	Find the source that aligns a guest's clock best with its host's.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "align_try.h"
#include "array.h"
#include "foreign_file.h"
#include "xentrace_copy.h"

/** What is recorded is left only for what explains that much more. */
#define BETTER_PERCENT	0.5

static const char *const source_names[ALIGN_N_SOURCES] = {
	[ALIGN_AUTO] = "auto",
	[ALIGN_TRACE_CMD] = "trace-cmd",
	[ALIGN_KVM] = "kvm_write_tsc_offset",
	[ALIGN_SIDECAR] = "sidecar",
	[ALIGN_TSC] = "tsc",
	[ALIGN_CAUSALITY] = "causality",
};

const char *align_source_name(enum align_source source)
{
	return source_names[source];
}

int align_source_find(const char *name)
{
	for (int i = 0; i < ALIGN_N_SOURCES; i++)
		if (!strcmp(name, source_names[i]))
			return i;
	return -1;
}

/* --- reading --------------------------------------------------------------------------------- */

/** What a trace.dat counts; ns also if it cannot be read. */
static enum trace_dat_unit unit_of(const char *path)
{
	struct trace_dat_info info;
	char problem[512];

	return trace_dat_check(path, problem, sizeof(problem), &info) ? info.unit : TRACE_DAT_NS;
}

/** The bytes of a regular file. */
static uint64_t bytes_of(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && st.st_size > 0 ?
	       (uint64_t)st.st_size : 0;
}

/** Before anything is said about what is in it. */
static bool is_there(const char *path, char *error, size_t size)
{
	struct stat st;

	if (!strcmp(path, "-") || !stat(path, &st))
		return true;
	snprintf(error, size, "%s: cannot open: %s", path, strerror(errno));
	return false;
}

int align_pair_begin(struct align_pair *pair, const char *host, const char *guest, char *error,
		     size_t size)
{
	bool *cycles = &pair->cycles;
	enum trace_dat_unit host_unit, guest_unit;
	uint8_t head[FOREIGN_FILE_HEAD];
	const char *problem;
	bool is_copied;
	int n;

	if (!is_there(host, error, size) || !is_there(guest, error, size))
		return -ENOENT;
	if (!trace_dat_is(guest)) {
		n = xentrace_head(guest, head, sizeof(head), &is_copied);
		problem = n > 0 ? foreign_file_problem(head, (size_t)n) : NULL;
		snprintf(error, size, "%s: %s", guest, problem ? problem : "the guest's trace must "
			 "be a trace.dat file of trace-cmd");
		return -EINVAL;
	}
	pair->file_bytes = bytes_of(host) + bytes_of(guest);
	host_unit = trace_dat_is(host) ? unit_of(host) : TRACE_DAT_CYCLES;
	guest_unit = unit_of(guest);
	/* if a unit may be either, the other file decides; what does not fit stays unexplained */
	if (guest_unit == TRACE_DAT_EITHER)
		guest_unit = host_unit;
	*cycles = guest_unit == TRACE_DAT_CYCLES;
	pair->scaled = !*cycles && trace_dat_is(host) &&
		       trace_dat_find_scale(host, &pair->host_scale) &&
		       trace_dat_find_scale(guest, &pair->guest_scale);
	if (host_unit == TRACE_DAT_EITHER || *cycles == (host_unit == TRACE_DAT_CYCLES))
		return 0;
	snprintf(error, size, "%s counts %s and %s counts %s: record the guest with 'trace-cmd "
		 "record -C %s'", host, *cycles ? "ns" : "cycles of the TSC", guest,
		 *cycles ? "cycles of the TSC" : "ns", *cycles ? "mono" : "x86-tsc");
	return -EINVAL;
}

void align_pair_kvm(struct align_pair *pair, const struct kvm_trace_record *record)
{
	pair->record_bytes += record->bytes;
	irq_injections_kvm(&pair->injections, record);
	align_tsc_sets_add(&pair->tsc_sets, record);
}

void align_pair_xen(struct align_pair *pair, const struct xen_trace_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		pair->record_bytes += xentrace_bytes(&rows[i].rec);
		irq_injections_xen(&pair->injections, &rows[i]);
	}
}

/** An event's time, and what trace-cmd's offsets add to it. */
struct shift {
	int64_t		time, added;
};

static size_t n_shifts(const struct align_pair *pair, int32_t cpu)
{
	size_t a = pair->plain.cpus[cpu].n, b = pair->shifted.cpus[cpu].n;

	return a < b ? a : b;
}

static struct shift shift_of(const struct align_pair *pair, int32_t cpu, size_t i)
{
	int64_t time = pair->plain.cpus[cpu].times[i];

	return (struct shift){ time, pair->shifted.cpus[cpu].times[i] - time };
}

/** The shifts of the first event of all, and of the last. Return: false if there is none. */
static bool find_ends(const struct align_pair *pair, struct shift *first, struct shift *last)
{
	bool any = false;

	for (int32_t c = 0; c < pair->plain.n && c < pair->shifted.n; c++) {
		struct shift a, b;

		if (!n_shifts(pair, c))
			continue;
		a = shift_of(pair, c, 0);
		b = shift_of(pair, c, n_shifts(pair, c) - 1);
		*first = any && first->time <= a.time ? *first : a;
		*last = any && last->time >= b.time ? *last : b;
		any = true;
	}
	return any;
}

/** Any scale, and any offsets that change in the course of the trace, show in the events. */
static void measure_offsets(struct align_pair *pair)
{
	struct align_offsets *offsets = &pair->offsets;
	struct shift first, last;
	double slope;

	if (!find_ends(pair, &first, &last))
		return;
	slope = last.time > first.time ? (double)(last.added - first.added) /
					 (double)(last.time - first.time) : 0;
	*offsets = (struct align_offsets){ first.added, first.added, slope * 1e6, 0 };
	for (int32_t c = 0; c < pair->plain.n && c < pair->shifted.n; c++) {
		for (size_t i = 0; i < n_shifts(pair, c); i++) {
			struct shift shift = shift_of(pair, c, i);
			int64_t line = first.added +
				       llround(slope * (double)(shift.time - first.time));
			int64_t bend = llabs(shift.added - line);

			offsets->least = shift.added < offsets->least ? shift.added :
					 offsets->least;
			offsets->most = shift.added > offsets->most ? shift.added : offsets->most;
			offsets->bend = bend > offsets->bend ? bend : offsets->bend;
		}
	}
	pair->has_offsets = offsets->least || offsets->most;
}

static int read_guest(struct align_pair *pair, struct kvm_trace *guest)
{
	int ret = align_events_read(guest, &pair->stop, &pair->shifted);

	if (!ret) {
		/* what cannot be left out is part of the guest's times */
		kvm_trace_hide_offsets(guest);
		ret = align_events_read(guest, &pair->stop, &pair->plain);
	}
	if (!ret)
		measure_offsets(pair);
	return ret;
}

/* --- trying ---------------------------------------------------------------------------------- */

bool align_machine_is(const char *machine, const char *name)
{
	const char *colon = strchr(machine, ':');
	size_t length = strlen(name);

	return !strcmp(machine, name) || (colon && !strcmp(colon + 1, name)) ||
	       (!strncmp(machine, name, length) && machine[length] == ':');
}

static bool is_wanted(const struct align_pair *pair, const char *name)
{
	return !pair->machine || align_machine_is(name, pair->machine);
}

/** Let the guest's CPUs be the vCPUs of these threads, or else those of the same number. */
static bool find_vcpus(const struct align_pair *pair, const struct align_machine *machine,
		       struct virt_clock_cpu *cpus, int32_t n_cpus)
{
	int n = 0;
	const int *tids = pair->host ?
			  kvm_trace_guest_tids(pair->host, pair->guest, &n) : NULL;
	bool any = false;

	for (int32_t c = 0; c < n_cpus; c++) {
		cpus[c].vcpu = VIRT_NONE;
		for (int32_t v = 0; v < machine->n; v++) {
			const struct virt_vcpu *vcpu = virt_model_vcpu(pair->model,
								       machine->indices[v]);

			if (tids ? c < n && tids[c] > 0 && vcpu->host_pid == tids[c] :
				   vcpu->id == c)
				cpus[c].vcpu = v;
		}
		any |= cpus[c].vcpu >= 0;
	}
	return any;
}

static void free_try(struct align_try *try)
{
	free(try->evidence);
	free(try->steps);
	try->evidence = NULL;
	try->steps = NULL;
	try->n_steps = 0;
}

static void set_best(struct align_pair *pair, struct align_try *try)
{
	free_try(&pair->best);
	pair->best = *try;
	try->evidence = NULL;
	try->steps = NULL;
}

/** Its figures alone are kept. */
static void set_recorded(struct align_pair *pair, const struct align_try *try)
{
	pair->recorded = *try;
	pair->recorded.evidence = NULL;
	pair->recorded.steps = NULL;
	pair->recorded.n_steps = 0;
}

static bool is_fit(const struct align_try *try)
{
	return try->machine >= 0 && try->alignment.verdict == VIRT_CLOCK_GOOD;
}

/** If two machines fit, one may have been given the interrupts in the guest's trace. */
static bool has_interrupts(const struct align_try *a, const struct align_try *b)
{
	return a->alignment.by_interrupts && !b->alignment.by_interrupts;
}

static bool explains_more(const struct align_try *a, const struct align_try *b)
{
	bool good = a->alignment.verdict == VIRT_CLOCK_GOOD;

	if (b->machine < 0 || good != (b->alignment.verdict == VIRT_CLOCK_GOOD))
		return b->machine < 0 || good;
	if (good && a->machine != b->machine && (has_interrupts(a, b) || has_interrupts(b, a)))
		return has_interrupts(a, b);
	return a->alignment.explained_percent > b->alignment.explained_percent;
}

/** Is this the machine that the caller has chosen for the case that several fit? */
static bool is_chosen(const struct align_pair *pair, const struct align_try *try)
{
	int32_t vcpu = pair->chosen_pid ? virt_model_find_vcpu(pair->model, pair->chosen_pid) :
					  VIRT_NONE;

	return vcpu >= 0 && virt_model_vcpu(pair->model, vcpu)->machine == try->machine;
}

/** Keep the better one, and take note of another machine that fits as well. */
static void compare(struct align_pair *pair, struct align_try *try)
{
	bool better = explains_more(try, &pair->best);
	bool both = is_fit(try) && is_fit(&pair->best) && try->source == pair->best.source &&
		    try->machine != pair->best.machine;

	if (both && (is_chosen(pair, try) || is_chosen(pair, &pair->best)))
		better = is_chosen(pair, try);
	else if (both && has_interrupts(try, &pair->best))
		pair->other_machine = -1;
	else if (both && !has_interrupts(&pair->best, try))
		pair->other_machine = better ? pair->best.machine : try->machine;
	if (better && is_chosen(pair, try))
		pair->other_machine = -1;
	if (better)
		set_best(pair, try);
}

static bool is_of_tsc(const struct align_pair *pair, enum align_source source)
{
	return source == ALIGN_SIDECAR || (source == ALIGN_KVM && pair->host);
}

/** The guest's events with these steps, of the same vCPUs. */
static int read_stepped(struct align_pair *pair, const struct align_try *try,
			const struct align_events *events, struct align_events *stepped)
{
	int ret = kvm_trace_set_steps(pair->guest, try->steps, try->n_steps);

	if (!ret)
		ret = align_events_read(pair->guest, &pair->stop, stepped);
	kvm_trace_set_steps(pair->guest, NULL, 0);
	for (int32_t c = 0; !ret && c < stepped->n && c < events->n; c++)
		stepped->cpus[c].vcpu = events->cpus[c].vcpu;
	return ret;
}

/** Find or judge the alignment of one machine with events that know their vCPUs, or not. */
static int align_machine(struct align_pair *pair, const struct align_machine *machine,
			 const struct align_events *events, const struct align_tsc *tsc,
			 struct align_try *try)
{
	struct align_events stepped = { 0 };
	struct virt_clock_problem problem = {
		machine->vcpus, machine->n, events->cpus, events->n, pair->stop.asked,
		pair->stop.arg, &pair->work,
	};
	int ret = try->n_steps ? read_stepped(pair, try, events, &stepped) : 0;

	if (!ret && try->n_steps)
		problem.cpus = stepped.cpus;
	if (!ret && try->source == ALIGN_CAUSALITY)
		ret = virt_clock_align(&problem, &try->alignment, try->evidence);
	else if (!ret)
		ret = virt_clock_judge(&problem, tsc->offset, tsc->ppm, &try->alignment,
				       try->evidence);
	align_events_free(&stepped);
	return !ret && try->alignment.verdict == VIRT_CLOCK_DENSE ? -ETIME : ret;
}

/** Try one source with one machine. */
static int try_machine(struct align_pair *pair, enum align_source source, int32_t number,
		       const struct align_machine *machine, struct align_events *events,
		       bool known)
{
	struct align_try try = { .source = source, .machine = number };
	struct align_tsc tsc = { .ppm = align_tsc_scale(pair, 0) };
	int ret = 1;

	if (!find_vcpus(pair, machine, events->cpus, events->n) && known)
		return 0;
	for (int32_t c = 0; !known && c < events->n; c++)
		events->cpus[c].vcpu = VIRT_NONE;
	if (is_of_tsc(pair, source))
		ret = align_tsc_find(pair, source, number, machine, &tsc);
	if (ret <= 0)
		return ret;
	try.steps = tsc.steps;
	try.n_steps = tsc.n_steps;
	try.evidence = calloc((size_t)events->n + 1, sizeof(*try.evidence));
	ret = !try.evidence ? -ENOMEM :
	      pair->work < (uint64_t)events->n * (uint64_t)machine->n ? -ETIME :
	      align_machine(pair, machine, events, &tsc, &try);
	if (!ret)
		compare(pair, &try);
	free_try(&try);
	return ret;
}

/** Try one source with all machines: of known pairing, or of none. */
static int try_source(struct align_pair *pair, enum align_source source,
		      struct align_events *events, bool known)
{
	const struct virt_model *model = pair->model;
	int ret = 0;

	for (int32_t i = 0; i < virt_model_n_machines(model) && !ret; i++) {
		struct align_machine *machine;

		if (!is_wanted(pair, virt_model_machine(model, i)->name))
			continue;
		machine = align_machine_new(model, i, &pair->injections);
		ret = machine ? try_machine(pair, source, i, machine, events, known) : -ENOMEM;
		align_machine_free(machine);
	}
	return ret;
}

static bool is_good(const struct align_pair *pair)
{
	return pair->best.machine >= 0 && pair->best.alignment.verdict == VIRT_CLOCK_GOOD;
}

/** A vCPU of the model, in a machine of its own. */
static int32_t place_of(const struct align_machine *machine, int32_t vcpu)
{
	for (int32_t v = 0; v < machine->n; v++)
		if (machine->indices[v] == vcpu)
			return v;
	return VIRT_NONE;
}

/** What the events fit is the result. */
static int take_pairing(struct align_pair *pair, enum align_source source,
			struct align_events *events)
{
	struct align_machine *machine = align_machine_new(pair->model, pair->fits.machine,
							  &pair->injections);
	struct align_try try = {
		.source = source, .machine = pair->fits.machine,
		.evidence = calloc((size_t)events->n + 1, sizeof(*try.evidence)),
	};
	int ret = -ENOMEM;

	if (machine && try.evidence) {
		const struct virt_clock_problem problem = {
			machine->vcpus, machine->n, events->cpus, events->n, pair->stop.asked,
			pair->stop.arg, &pair->work,
		};

		for (int32_t c = 0; c < events->n; c++)
			events->cpus[c].vcpu = place_of(machine, pair->fits.vcpus[c]);
		ret = virt_clock_judge(&problem, 0, 0, &try.alignment, try.evidence);
		if (!ret && try.alignment.verdict == VIRT_CLOCK_DENSE)
			ret = -ETIME;
	}
	if (!ret)
		set_best(pair, &try);
	free(try.evidence);
	align_machine_free(machine);
	return ret;
}

/**
 * Before a clock is blamed: with it as it is, perhaps the events fit other vCPUs than those that
 * they are paired with. These are the result, unless another machine is wanted.
 */
static int try_other_pairs(struct align_pair *pair, enum align_source source,
			   struct align_events *events)
{
	bool wanted;
	int ret;

	pair->fits.vcpus = calloc((size_t)events->n + 1, sizeof(*pair->fits.vcpus));
	if (!pair->fits.vcpus)
		return -ENOMEM;
	ret = align_pairing_find(pair->model, events->cpus, events->n, 0, &pair->work,
				 &pair->fits);
	wanted = ret == 1 &&
		 is_wanted(pair, virt_model_machine(pair->model, pair->fits.machine)->name);
	if (wanted && (pair->source == ALIGN_AUTO || pair->source == source))
		return take_pairing(pair, source, events);
	/* nor is it a note on the machine that was named, if only another source was */
	if (ret != 1 || wanted) {
		free(pair->fits.vcpus);
		pair->fits.vcpus = NULL;
	}
	return ret < 0 ? ret : 0;
}

/** trace-cmd's own offsets: libtracecmd has applied them. */
static int try_trace_cmd(struct align_pair *pair)
{
	int ret;

	if (!pair->has_offsets)
		return 0;
	ret = try_source(pair, ALIGN_TRACE_CMD, &pair->shifted, true);
	if (!ret && pair->best.machine >= 0 &&
	    pair->best.alignment.explained_percent < VIRT_CLOCK_DOUBT_PERCENT) {
		set_recorded(pair, &pair->best);
		ret = try_other_pairs(pair, ALIGN_TRACE_CMD, &pair->shifted);
	}
	return ret;
}

/** Of all events: more of them that are not judged make offsets suspicious that change. */
#define STRAY_SHARE	100

/**
 * Do offsets that change put events where the host's trace shows nothing? While a guest runs a
 * guest of its own, the file in debugfs from which trace-cmd takes them has that one's offset.
 */
static bool strays(const struct align_pair *pair, const struct align_try *try)
{
	const struct virt_clock_alignment *found = &try->alignment;
	uint64_t all = found->inside + found->outside + found->unknown;

	return try->source == ALIGN_TRACE_CMD && pair->offsets.bend > ALIGN_ROUNDING &&
	       found->unknown > all / STRAY_SHARE;
}

/** trace-cmd's offsets are good, but are they right? */
static bool is_doubtful(const struct align_pair *pair, const struct align_try *try)
{
	return try->alignment.explained_percent < VIRT_CLOCK_DOUBT_PERCENT || strays(pair, try);
}

/** Is an alignment by causality worth replacing what was recorded? */
static bool is_better(const struct align_pair *pair, const struct align_try *recorded)
{
	const struct virt_clock_alignment *found = &pair->best.alignment;
	const struct virt_clock_alignment *old = &recorded->alignment;

	if (!is_good(pair))
		return false;
	if (found->explained_percent >= old->explained_percent + BETTER_PERCENT)
		return true;
	/* most of those of which nothing could be said are inside now */
	return strays(pair, recorded) && found->explained_percent >= VIRT_CLOCK_DOUBT_PERCENT &&
	       found->inside > old->inside + old->unknown / 2;
}

static int try_causality(struct align_pair *pair)
{
	int ret = try_source(pair, ALIGN_CAUSALITY, &pair->plain, true);

	if (!ret && !is_good(pair))
		ret = try_source(pair, ALIGN_CAUSALITY, &pair->plain, false);
	return ret;
}

/** Try causality, and keep what trace-cmd has recorded if that is not better. */
static int try_instead(struct align_pair *pair)
{
	struct align_try recorded = pair->best;
	int ret;

	pair->best = (struct align_try){ .machine = -1 };
	ret = try_causality(pair);
	if (!is_better(pair, &recorded)) {
		set_best(pair, &recorded);
	} else if (recorded.source == ALIGN_TRACE_CMD) {
		set_recorded(pair, &recorded);
	}
	free_try(&recorded);
	return ret;
}

/** Nothing is good yet, or what trace-cmd has recorded is, but might be better. */
static bool is_unsure(const struct align_pair *pair)
{
	return !is_good(pair) || (pair->best.source == ALIGN_TRACE_CMD &&
				  is_doubtful(pair, &pair->best));
}

static int try_all(struct align_pair *pair)
{
	const enum align_source of_cycles[] = { ALIGN_KVM, ALIGN_SIDECAR, ALIGN_TSC };
	enum align_source wanted = pair->source;
	int ret = 0;

	if (wanted == ALIGN_AUTO || wanted == ALIGN_TRACE_CMD)
		ret = try_trace_cmd(pair);
	for (size_t i = 0; i < ARRAY_SIZE(of_cycles) && !ret && (pair->cycles || pair->scaled); i++)
		if (is_unsure(pair) && (pair->host || of_cycles[i] != ALIGN_KVM) &&
		    (wanted == ALIGN_AUTO || wanted == of_cycles[i]))
			ret = try_source(pair, of_cycles[i], &pair->plain, true);
	if (ret || (wanted != ALIGN_AUTO && wanted != ALIGN_CAUSALITY))
		return ret;
	if (is_good(pair) && is_doubtful(pair, &pair->best))
		return try_instead(pair);
	if (is_good(pair))
		return 0;
	return try_causality(pair);
}

/** What is compressed counts as what it unpacks to. */
static void set_work(struct align_pair *pair)
{
	uint64_t records = pair->record_bytes + pair->plain.bytes;
	uint64_t bytes = records > pair->file_bytes ? records : pair->file_bytes;

	pair->work = align_work(bytes);
}

int align_pair_try(struct align_pair *pair, struct kvm_trace *guest)
{
	int ret;

	pair->guest = guest;
	pair->best.machine = pair->recorded.machine = pair->other_machine = -1;
	irq_injections_sort(&pair->injections);
	align_tsc_sets_sort(&pair->tsc_sets);
	ret = pair->injections.error ? pair->injections.error : pair->tsc_sets.error;
	if (!ret)
		ret = read_guest(pair, guest);
	if (ret)
		return ret;
	set_work(pair);
	ret = try_all(pair);
	/* both may count the same TSC */
	if (!ret && pair->machine && pair->cycles && !pair->fits.vcpus && align_pair_refusal(pair))
		ret = try_other_pairs(pair, ALIGN_TSC, &pair->plain);
	if (ret != -ETIME)
		return ret;
	/* what was found so far may not be the best, or not the only one */
	pair->dense = true;
	free_try(&pair->best);
	pair->best = pair->recorded = (struct align_try){ .machine = -1 };
	return 0;
}

void align_pair_free(struct align_pair *pair)
{
	free_try(&pair->best);
	free(pair->fits.vcpus);
	pair->fits.vcpus = NULL;
	free(pair->unequal);
	pair->unequal = NULL;
	pair->n_unequal = pair->room_unequal = 0;
	align_events_free(&pair->shifted);
	align_events_free(&pair->plain);
	irq_injections_free(&pair->injections);
	align_tsc_sets_free(&pair->tsc_sets);
}
