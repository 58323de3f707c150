// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xen_trace_part.c
 * @brief	Apply the facts in a sidecar's member "part" to a trace that was cut out of another.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "xen_trace_private.h"
#include "xentrace_facts.h"

static void strip_tracks(struct virt_part_track *tracks, int32_t n)
{
	for (int32_t i = 0; i < n; i++)
		tracks[i].n_pieces = tracks[i].n_changes = 0;
}

/**
 * A window of a part has fewer records than the part: the sidecar's differences from the result of
 * all records do not fit the result of these. Only missing pCPUs remain missing.
 */
static void strip_part(struct xen_trace *trace, struct xen_part *part)
{
	struct virt_part *model = part->model;

	if (!virt_part_leaves_out(model))
		trace->part_is_window = true;
	strip_tracks(model->vcpus, model->n_vcpus);
	strip_tracks(model->pcpus, model->n_pcpus);
	for (int kind = 0; kind < VIRT_POWER_N_KINDS; kind++)
		strip_tracks(model->power[kind], model->n_pcpus);
}

int xen_trace_take_part(struct xen_trace *trace)
{
	struct xen_part *part = trace->meta ? trace->meta->part : NULL;
	char text[512];

	if (!part)
		return 0;
	if (part->bytes != xentrace_size(trace->reader) ||
	    (!trace->is_window && part->records != xentrace_n_records(trace->reader))) {
		snprintf(text, sizeof(text), "the sidecar's \"part\" belongs to another file, of "
			 "%llu bytes: it is ignored", (unsigned long long)part->bytes);
		trace->part_error = strdup(text);
		return trace->part_error ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < part->n_gaps; i++)
		xentrace_set_gap(trace->reader, part->gaps[i]);
	for (int i = 0; i < part->n_of_pcpus; i++)
		xentrace_set_known_tsc(trace->reader, part->pcpus[i].pcpu,
				       part->pcpus[i].known_tsc);
	/* of a window, less is there than of all of it */
	if (part->has_whole && !trace->is_window)
		xentrace_set_whole_tsc(trace->reader, part->whole_tsc);
	if (part->model && part->n_pcpus > trace->n_pcpus)
		trace->n_pcpus = part->n_pcpus;
	if (trace->is_window && part->model)
		strip_part(trace, part);
	trace->part = part;
	return 0;
}

void xen_trace_set_first(struct xen_trace *trace)
{
	const struct xen_part *part = trace->part;

	if (!part || !part->model || trace->is_window)
		return;
	trace->first.scheduler = part->scheduler;
	for (uint32_t run = 0; run < trace->first.n_runs; run++) {
		uint16_t pcpu = xentrace_run_pcpu(trace->reader, run);

		for (int i = 0; i < part->n_of_pcpus; i++)
			if (part->pcpus[i].pcpu == pcpu && part->pcpus[i].has_first)
				trace->first.vcpu[run] = part->pcpus[i].first;
	}
}

void xen_trace_set_part_clock(struct xen_trace *trace, uint64_t base)
{
	const struct xen_clock *clock = &trace->part->clock;

	xen_clock_init(&trace->clock, clock->hz, clock->source, base);
	trace->clock.residual_ppm = clock->residual_ppm;
	trace->clock.n_samples = clock->n_samples;
}

/** The pCPUs that were left out, as "1, 4". Return: to be freed; NULL without memory. */
static char *left_out_text(const struct virt_part *part)
{
	const char *separator = "";
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (int32_t i = 0; i < part->n_left_out; i++) {
		if (!part->left_out[i])
			continue;
		fprintf(out, "%s%d", separator, (int)i);
		separator = ", ";
	}
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

void xen_trace_note_part(struct trace_notes *notes, const struct xen_trace *trace)
{
	const struct virt_part *model = trace->part ? trace->part->model : NULL;
	char *pcpus, *text = NULL;

	if (trace->part_error)
		xen_trace_note(notes, trace, TRACE_NOTE_SIDECAR, trace->part_error);
	if (trace->part_is_lost)
		xen_trace_note(notes, trace, TRACE_NOTE_SIDECAR,
			       "facts about this part from the whole trace are ignored, because "
			       "the TSCs are corrected: correct those of the whole trace");
	if (!model || !virt_part_leaves_out(model))
		return;
	pcpus = left_out_text(model);
	if (!pcpus || asprintf(&text, "a part of a trace, without the records of pCPU %s: what "
			       "only these show is unknown", pcpus) < 0)
		notes->incomplete = true;
	else
		xen_trace_note(notes, trace, TRACE_NOTE_EVENTS, text);
	free(pcpus);
	free(text);
}

const struct xen_part *xen_trace_part(const struct xen_trace *trace)
{
	return trace->part_is_lost || trace->part_is_window ? NULL : trace->part;
}
