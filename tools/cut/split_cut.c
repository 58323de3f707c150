// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	split_cut.c
 * @brief	Find the records of a file that lie in a window, pCPU by pCPU.
 */
#include <errno.h>
#include <stdlib.h>

#include "split.h"
#include "xen_cores.h"
#include "xentrace_facts.h"

/** The way through a run of a pCPU. */
struct run {
	struct split_cut	*cut;
	struct xen_running	running;	/* all runs; one goes by */
	uint32_t		number;
	uint16_t		pcpu;
	bool			wanted;
	bool			begun;		/* a record of it lies in the window */
	struct split_piece	*piece;		/* the last one; NULL: none yet */
};

/** Who was there when the window begins, so that @rec is still its, or not. */
static xen_vcpu first_of(const struct run *run, const struct xentrace_record *rec)
{
	const struct xen_running_pcpu *pcpu = &run->running.pcpu[run->number];

	/* as xen_running_change() has it: a switch counts unless a runstate change follows */
	if (pcpu->next != XEN_VCPU_UNKNOWN && rec && !xen_event_is_runstate_change(rec->event))
		return pcpu->next;
	return pcpu->current;
}

/** Of a pCPU with several runs, the last one of which something is known. */
static int note_first(struct run *run, const struct xentrace_record *rec)
{
	struct split_cut *cut = run->cut;
	int i = 0;

	while (i < cut->n_firsts && cut->firsts[i].pcpu != run->pcpu)
		i++;
	if (i == cut->n_firsts) {
		if (ARRAY_GROW(cut->firsts, cut->n_firsts, cut->room_firsts))
			return -ENOMEM;
		cut->n_firsts++;
	} else if (!rec) {
		return 0;
	}
	/* with core scheduling, another run may show it */
	cut->firsts[i] = (struct xen_part_pcpu){
		.pcpu = run->pcpu, .first = first_of(run, rec),
		.has_first = !xen_cores_of(xen_trace_cores(cut->trace), run->pcpu),
		.known_tsc = UINT64_MAX,
	};
	return 0;
}

static int take_record(struct run *run, const struct xentrace_record *rec)
{
	struct split_cut *cut = run->cut;
	bool gap = rec->flags & XENTRACE_AFTER_GAP;

	cut->n_records++;
	if (rec->flags & XENTRACE_TSC_REPAIRED) {
		if (ARRAY_GROW(cut->repairs, cut->n_repairs, cut->room_repairs))
			return -ENOMEM;
		cut->repairs[cut->n_repairs++] = (struct split_repair){ rec->offset, rec->tsc };
	}
	if (run->piece && !gap && run->piece->end == rec->offset) {
		run->piece->end += xentrace_bytes(rec);
		return 0;
	}
	if (ARRAY_GROW(cut->pieces, cut->n_pieces, cut->room_pieces))
		return -ENOMEM;
	run->piece = &cut->pieces[cut->n_pieces++];
	*run->piece = (struct split_piece){
		.begin = rec->offset, .end = rec->offset + xentrace_bytes(rec), .tsc = rec->tsc,
		.pcpu = run->pcpu, .file = cut->file, .gap = gap,
	};
	return 0;
}

/** Is another run of the same pCPU in the window, too? */
static bool is_second(const struct run *run)
{
	for (size_t i = 0; i < run->cut->n_pieces; i++)
		if (run->cut->pieces[i].pcpu == run->pcpu)
			return true;
	return false;
}

static int begin_window(struct run *run, const struct xentrace_record *rec)
{
	int ret = note_first(run, rec);

	run->begun = true;
	if (ret || !run->wanted || xentrace_n_runs(xen_trace_reader(run->cut->trace)) <= 1 ||
	    !is_second(run))
		return ret;
	run->cut->twice = run->pcpu;
	return -EEXIST;
}

static int walk_run(struct run *run, struct xentrace_iter *iter)
{
	const struct xen_clock *clock = xen_trace_clock(run->cut->trace);
	struct xentrace_record rec;
	int ret = 0;

	while (!ret && xentrace_iter_next(iter, &rec)) {
		int64_t ns = xen_clock_ns(clock, rec.tsc);

		if (ns >= run->cut->to_ns)
			break;
		if (ns < run->cut->from_ns) {
			xen_running_update(&run->running, &rec);
			continue;
		}
		if (!run->begun)
			ret = begin_window(run, &rec);
		if (!ret && run->wanted)
			ret = take_record(run, &rec);
	}
	if (!ret && !run->begun)
		ret = note_first(run, NULL);
	return ret ? ret : xentrace_iter_error(iter);
}

static int cut_run(struct split_cut *cut, uint32_t number)
{
	const struct xentrace *reader = xen_trace_reader(cut->trace);
	const struct xentrace_iter_options options = { .one_run = true, .run = number };
	struct xentrace_iter *iter = xentrace_iter_new(reader, &options);
	struct run run = {
		.cut = cut, .number = number, .pcpu = xentrace_run_pcpu(reader, number),
	};
	int ret = iter ? xen_running_init(&run.running, xentrace_n_runs(reader)) : -ENOMEM;

	run.wanted = !cut->pcpus || !cut->pcpus->any || ksv_id_in_set(cut->pcpus, run.pcpu);
	if (!ret) {
		xen_running_start(&run.running, xen_trace_first(cut->trace));
		ret = walk_run(&run, iter);
		xen_running_destroy(&run.running);
	}
	xentrace_iter_free(iter);
	return ret;
}

static int compare_pieces(const void *a, const void *b)
{
	const struct split_piece *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

static int compare_repairs(const void *a, const void *b)
{
	const struct split_repair *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

int split_cut(struct split_cut *cut)
{
	uint32_t n = xentrace_n_runs(xen_trace_reader(cut->trace));
	int ret = 0;

	cut->twice = -1;
	for (uint32_t i = 0; i < n && !ret; i++)
		ret = cut_run(cut, i);
	if (cut->n_pieces)
		qsort(cut->pieces, cut->n_pieces, sizeof(*cut->pieces), compare_pieces);
	if (cut->n_repairs)
		qsort(cut->repairs, cut->n_repairs, sizeof(*cut->repairs), compare_repairs);
	return ret;
}

void split_cut_free(struct split_cut *cut)
{
	free(cut->pieces);
	free(cut->repairs);
	free(cut->firsts);
}
