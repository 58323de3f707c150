// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	guest_clock.c
 * @brief	Check whether the clock of a guest's trace is aligned with its host's.
 */
#include <errno.h>
#include <stdlib.h>

#include "align_data.h"
#include "guest_clock.h"
#include "guest_tasks.h"
#include "irq_delivery.h"

/** From this number of records on, the share must be IRQ_ALIGNED_SHARE. */
#define MANY_RECORDS	100
/** With fewer records, at least FEW_OUTSIDE, and more than one in FEW_SHARE, must lie outside. */
#define FEW_OUTSIDE	5
#define FEW_SHARE	10

/* --- counting -------------------------------------------------------------------------------- */

/** On the way through the trace of a guest, CPU by CPU. */
struct clock_walk {
	struct guest_clock	*clock;
	const struct host_trace	*host;
	const struct virt_model	*model;
};

static int take_record(void *arg, const struct kvm_trace_record *record)
{
	const struct clock_walk *walk = arg;
	const struct virt_interval *interval;
	struct guest_clock_cpu *cpu;

	if (record->cpu < 0 || record->cpu >= walk->clock->n_cpus)
		return 0;
	cpu = &walk->clock->cpus[record->cpu];
	if (cpu->vcpu == VIRT_NONE)
		return 0;
	interval = virt_vcpu_at(walk->model, cpu->vcpu,
				guest_tasks_time(walk->host, record->time_ns), NULL);
	if (!interval)
		cpu->beyond++;
	else if (virt_interval_is_lost(interval))
		cpu->unknown++;
	else if (interval->state == VIRT_GUEST)
		cpu->inside++;
	else
		cpu->outside++;
	return 0;
}

static int set_cpus(struct guest_clock *clock, const struct host_trace *host,
		    const struct virt_model *model)
{
	int n = 0, n_cpus = kvm_trace_n_cpus(clock->trace);
	const int *tids = guest_tasks_tids(host, clock->trace, &n);

	clock->cpus = calloc((size_t)n_cpus + 1, sizeof(*clock->cpus));
	if (!clock->cpus)
		return -ENOMEM;
	clock->n_cpus = n_cpus;
	for (int i = 0; i < n_cpus; i++)
		clock->cpus[i].vcpu = tids && i < n && tids[i] > 0 ?
				      virt_model_find_vcpu(model, tids[i]) : VIRT_NONE;
	return 0;
}

/* --- which vCPUs fit instead ----------------------------------------------------------------- */

/** Of Xen's trace, in which the model's times are. */
static void take_tsc(const struct host_trace *host, struct align_events *events)
{
	for (int32_t c = 0; c < events->n; c++) {
		/* as it was read */
		int64_t *times = (int64_t *)events->cpus[c].times;

		for (size_t i = 0; i < events->cpus[c].n; i++)
			times[i] = host_trace_tsc_ns(host, (uint64_t)times[i]);
	}
}

static bool is_wrong_anywhere(const struct guest_clock *clock)
{
	for (int c = 0; c < clock->n_cpus; c++)
		if (guest_clock_is_wrong(clock, c))
			return true;
	return false;
}

static int find_fits(struct guest_clock *clock, const struct host_trace *host,
		     const struct virt_model *model)
{
	const struct align_stop never = { 0 };
	struct align_events events = { 0 };
	uint64_t work;
	int ret;

	if (!is_wrong_anywhere(clock))
		return 0;
	clock->fits.vcpus = calloc((size_t)clock->n_cpus + 1, sizeof(*clock->fits.vcpus));
	ret = clock->fits.vcpus ? align_events_read(clock->trace, &never, &events) : -ENOMEM;
	if (!ret && !host->kvm)
		take_tsc(host, &events);
	work = align_work(events.bytes);
	if (!ret)
		ret = align_pairing_find(model, events.cpus, events.n, 0, &work, &clock->fits);
	align_events_free(&events);
	if (ret != 1) {
		free(clock->fits.vcpus);
		clock->fits.vcpus = NULL;
	}
	/* nothing is said where it takes too long to know, or damaged times are out of reach */
	return ret < 0 && ret != -ETIME && ret != -EINVAL ? ret : 0;
}

/* --- all of it ------------------------------------------------------------------------------- */

int guest_clock_read(struct guest_clock *clock, const struct host_trace *host,
		     const struct virt_model *model, struct kvm_trace *trace)
{
	struct clock_walk walk = { .clock = clock, .host = host, .model = model };
	int ret;

	*clock = (struct guest_clock){ .trace = trace };
	ret = set_cpus(clock, host, model);
	if (!ret)
		ret = kvm_trace_walk(trace, take_record, NULL, &walk);
	return ret ? ret : find_fits(clock, host, model);
}

void guest_clock_free(struct guest_clock *clock)
{
	free(clock->cpus);
	free(clock->fits.vcpus);
	*clock = (struct guest_clock){ 0 };
}

bool guest_clock_is_wrong(const struct guest_clock *clock, int cpu)
{
	const struct guest_clock_cpu *of = &clock->cpus[cpu];
	uint64_t all = of->inside + of->outside;

	if (of->vcpu == VIRT_NONE)
		return false;
	/* in a trace of the same time, some lie within it */
	if (!all)
		return of->beyond && !of->unknown;
	if (all >= MANY_RECORDS)
		return (double)of->inside < IRQ_ALIGNED_SHARE * (double)all;
	return of->outside >= FEW_OUTSIDE && of->outside > all / FEW_SHARE;
}

int *guest_clock_tids(const struct guest_clock *clock, const struct host_trace *host, int *n)
{
	const int *tids = guest_tasks_tids(host, clock->trace, n);
	int *right = calloc((size_t)*n + 1, sizeof(*right));

	for (int i = 0; right && tids && i < *n; i++)
		right[i] = i < clock->n_cpus && guest_clock_is_wrong(clock, i) ? VIRT_NONE :
										 tids[i];
	return right;
}

static void note_pairing(const struct guest_clock *clock, const struct virt_model *model,
			 struct trace_notes *notes)
{
	int32_t paired = VIRT_NONE;
	char text[512];

	for (int c = 0; c < clock->n_cpus && paired == VIRT_NONE; c++)
		if (clock->cpus[c].vcpu != VIRT_NONE)
			paired = virt_model_vcpu(model, clock->cpus[c].vcpu)->machine;
	align_pairing_text(model, paired, &clock->fits, clock->n_cpus, text, sizeof(text));
	trace_notes_add(notes, TRACE_NOTE_PAIRING, TRACE_NOTE_WARNING,
			"%s: it is paired with %s, %.3f %% of them, and results about its tasks "
			"are not reliable: pair it with kshark-virt align --write",
			kvm_trace_path(clock->trace), text,
			clock->fits.alignment.explained_percent);
}

static void note_cpu(const struct guest_clock *clock, int c, const struct virt_model *model,
		     struct trace_notes *notes)
{
	const struct guest_clock_cpu *cpu = &clock->cpus[c];
	const char *path = kvm_trace_path(clock->trace);

	if (cpu->vcpu == VIRT_NONE)
		trace_notes_add(notes, TRACE_NOTE_PAIRING, TRACE_NOTE_WARNING,
				"%s: nothing is known of the vCPU that is CPU %d", path, c);
	else if (!guest_clock_is_wrong(clock, c) || clock->fits.vcpus)
		return;
	else if (cpu->inside + cpu->outside)
		trace_notes_add(notes, TRACE_NOTE_ALIGNMENT, TRACE_NOTE_WARNING,
				"%s: only %.1f %% of the records of CPU %d lie where %s executed "
				"its guest: the guest's clock is not aligned with the host's, and "
				"results about the guest's tasks are not reliable", path,
				100.0 * (double)cpu->inside / (double)(cpu->inside + cpu->outside),
				c, virt_model_who(model, cpu->vcpu));
	else
		trace_notes_add(notes, TRACE_NOTE_ALIGNMENT, TRACE_NOTE_WARNING,
				"%s: no record of CPU %d lies within the host's trace: the guest's "
				"clock is not aligned with the host's, or it was recorded at "
				"another time. 'kshark-virt align --write' with both files aligns "
				"the clocks", path, c);
}

void guest_clock_notes(const struct guest_clock *clock, const struct virt_model *model,
		       struct trace_notes *notes)
{
	kvm_trace_notes(clock->trace, notes);
	if (clock->fits.vcpus)
		note_pairing(clock, model, notes);
	for (int c = 0; c < clock->n_cpus; c++)
		note_cpu(clock, c, model, notes);
}
