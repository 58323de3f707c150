// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xen_tracker_loss.c
 * @brief	Set the states of vCPUs while records are missing.
 */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "virt_power.h"
#include "xen_tracker_private.h"

/** The first TSC of a lost-records record, as a time. */
static int64_t first_lost_ns(const struct xen_tracker *tracker, const struct xen_trace_row *row)
{
	uint64_t tsc = (uint64_t)xentrace_word(&row->rec, 3) << 32 | xentrace_word(&row->rec, 2);
	struct xentrace_record raw;

	/* a correction of the pCPU's TSC holds for the payload too */
	if (!xentrace_read_at(xen_trace_reader(tracker->trace), row->rec.offset, &raw))
		tsc += row->rec.tsc - raw.tsc;
	return cut_time(xen_clock_ns(xen_trace_clock(tracker->trace), tsc));
}

static void add_loss(struct xen_tracker *tracker, const struct loss *loss)
{
	if (ARRAY_GROW(tracker->losses, tracker->n_losses, tracker->room_losses))
		tracker_fail(tracker, -ENOMEM);
	else
		tracker->losses[tracker->n_losses++] = *loss;
}

/** The loss before a record, from what that says. @last_ns: of the record before it */
static struct loss loss_before(const struct xen_tracker *tracker, const struct xen_trace_row *row,
			       int64_t last_ns)
{
	struct loss loss = {
		.run = row->rec.run, .pcpu = (int16_t)row->rec.pcpu,
		.from_ns = last_ns, .to_ns = row->time_ns,
	};

	if (row->rec.event == XEN_TRC_LOST_RECORDS && row->rec.n_words >= 4) {
		loss.records = xentrace_word(&row->rec, 0);
		/* bytes that are missing, too, reach back to the last record */
		if (!(row->rec.flags & XENTRACE_AFTER_GAP))
			loss.from_ns = first_lost_ns(tracker, row);
	}
	if (loss.from_ns < last_ns)
		loss.from_ns = last_ns;
	if (loss.from_ns < tracker->begin_ns)
		loss.from_ns = tracker->begin_ns;
	if (loss.from_ns > loss.to_ns)
		loss.from_ns = loss.to_ns;
	return loss;
}

void tracker_note_loss(struct xen_tracker *tracker, const struct xen_trace_row *row)
{
	int64_t last_ns = cut_time(tracker->head.last_ns[row->rec.run]);
	struct loss loss = loss_before(tracker, row, last_ns);

	add_loss(tracker, &loss);
}

void tracker_expect(struct xen_tracker *tracker, const struct loss *loss)
{
	struct loss *losses;
	size_t i;

	/* those that have begun are in the model */
	tracker->n_losses -= tracker->next_loss;
	if (tracker->n_losses)
		memmove(tracker->losses, tracker->losses + tracker->next_loss,
			tracker->n_losses * sizeof(*tracker->losses));
	tracker->next_loss = 0;
	add_loss(tracker, loss);
	losses = tracker->losses;
	for (i = tracker->n_losses; i-- > 1 && losses[i - 1].from_ns > losses[i].from_ns; ) {
		struct loss later = losses[i - 1];

		losses[i - 1] = losses[i];
		losses[i] = later;
	}
}

void tracker_expect_loss(struct xen_tracker *tracker, const struct xen_trace_row *row,
			 int64_t last_ns)
{
	struct loss loss = loss_before(tracker, row, last_ns);

	tracker_expect(tracker, &loss);
}

/** The end of the trace, and the last run of each pCPU. */
static int64_t last_runs(const struct xen_tracker *tracker, int64_t *run_of, int n_pcpus)
{
	int64_t end_ns = INT64_MIN;

	for (int i = 0; i < n_pcpus; i++)
		run_of[i] = -1;
	for (uint32_t i = 0; i < tracker->n_runs; i++) {
		if (tracker->head.last_ns[i] == INT64_MIN)
			continue;
		run_of[tracker->runs[i].pcpu] = i;
		if (tracker->head.last_ns[i] > end_ns)
			end_ns = tracker->head.last_ns[i];
	}
	return cut_time(end_ns);
}

/** pCPUs whose records are not in this part of the trace: as if they were lost. */
static void note_left_out(struct xen_tracker *tracker)
{
	const struct virt_part *model = tracker->part ? tracker->part->model : NULL;

	for (uint32_t i = 0; i < tracker->n_left_out; i++) {
		if (!model->left_out[i])
			continue;
		add_loss(tracker, &(struct loss){
			.run = tracker->n_runs + i, .pcpu = (int16_t)i,
			.from_ns = tracker->begin_ns, .to_ns = cut_time(model->to_ns),
		});
	}
}

void tracker_note_ends(struct xen_tracker *tracker)
{
	const struct xentrace *reader = xen_trace_reader(tracker->trace);
	int n_pcpus = xen_trace_n_pcpus(tracker->trace);
	int64_t *run_of = calloc(n_pcpus, sizeof(*run_of)), end_ns;

	if (!run_of) {
		tracker_fail(tracker, -ENOMEM);
		return;
	}
	end_ns = last_runs(tracker, run_of, n_pcpus);
	for (int i = 0; i < xentrace_n_pcpus(reader); i++) {
		int64_t from_ns = cut_time(xen_trace_known_until(tracker->trace, i));
		uint16_t pcpu = xentrace_pcpu_at(reader, i)->pcpu;

		if (run_of[pcpu] < 0 || from_ns >= end_ns)
			continue;
		add_loss(tracker, &(struct loss){ .run = run_of[pcpu], .pcpu = (int16_t)pcpu,
						  .from_ns = from_ns, .to_ns = end_ns });
	}
	free(run_of);
	note_left_out(tracker);
}

static void begin_loss(struct xen_tracker *tracker, const struct loss *loss)
{
	struct tracked_run *run = &tracker->runs[loss->run];
	struct virt_loss lost = {
		.from_ns = loss->from_ns,
		.to_ns = loss->to_ns,
		.records = loss->records,
		.pcpu = loss->pcpu,
	};

	tracker_fail(tracker, virt_model_add_loss(tracker->model, &lost));
	if (!run->lost)
		tracker->n_lost++;
	run->lost = true;
	run->speed_known = true;
	for (int kind = 0; kind < VIRT_POWER_N_KINDS; kind++)
		tracker_fail(tracker, virt_model_add_power(tracker->model,
							   (enum virt_power_kind)kind, loss->pcpu,
							   loss->from_ns, VIRT_POWER_UNKNOWN));
	run->pcpu = (uint16_t)loss->pcpu;
	tracker_drop_switch(tracker, run);
	tracker_lose_run(tracker, loss->run, loss->from_ns);
}

void tracker_begin_losses(struct xen_tracker *tracker, int64_t time_ns, bool inclusive)
{
	while (tracker->next_loss < tracker->n_losses) {
		const struct loss *loss = &tracker->losses[tracker->next_loss];

		if (loss->from_ns > time_ns || (loss->from_ns == time_ns && !inclusive))
			return;
		begin_loss(tracker, loss);
		tracker->next_loss++;
	}
}

void tracker_end_loss(struct xen_tracker *tracker, const struct xen_trace_row *row)
{
	struct tracked_run *run = &tracker->runs[row->rec.run];
	uint32_t did_vid = xentrace_word(&row->rec, 1);
	xen_vcpu vcpu = (did_vid & 0xffff) << 16 | did_vid >> 16;
	int32_t who;

	if (run->lost && !--tracker->n_lost && tracker->whole_ns < row->time_ns)
		tracker->whole_ns = row->time_ns;
	run->lost = false;
	if (row->rec.event != XEN_TRC_LOST_RECORDS || row->rec.n_words < 2 ||
	    tracker_core_is_lost(tracker, row->rec.pcpu))
		return;
	if (xen_vcpu_is_idle(vcpu)) {
		tracker_put_idle(tracker, row->rec.run, row->time_ns);
	} else if (believable(vcpu)) {
		who = tracker_vcpu_of(tracker, vcpu);
		if (who >= 0)
			tracker_put_on(tracker, row->rec.run, row->time_ns, who, ANY_RUNSTATE,
				       false);
	}
}

static int compare_losses(const void *a, const void *b)
{
	const struct loss *x = a, *y = b;

	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

void tracker_sort_losses(struct xen_tracker *tracker)
{
	qsort(tracker->losses, tracker->n_losses, sizeof(*tracker->losses), compare_losses);
}
