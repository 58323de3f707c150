// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	merge_check.c
 * @brief	Check whether files belong together, and in which order.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "merge.h"

/** Of what is fitted to run times, this much may differ besides its own error, in ppm. */
#define MOST_PPM	1000
#define ERRORS		6

bool merge_same_time(const struct merge_file *a, const struct merge_file *b)
{
	return a->part->model->from_ns == b->part->model->from_ns &&
	       a->part->model->to_ns == b->part->model->to_ns;
}

bool merge_follows(const struct merge *merge, int i)
{
	return merge->files[i].part->model->from_ns == merge->files[i - 1].part->model->to_ns;
}

/* ---- order ---- */

static int64_t begin_of(const struct merge_file *file)
{
	return file->part ? file->part->model->from_ns : 0;
}

static int compare_files(const void *a, const void *b)
{
	const struct merge_file *x = a, *y = b;

	if (begin_of(x) != begin_of(y))
		return begin_of(x) < begin_of(y) ? -1 : 1;
	return (x->first_tsc > y->first_tsc) - (x->first_tsc < y->first_tsc);
}

/* ---- frequencies ---- */

static double hz_of(const struct merge_file *file)
{
	return (double)xen_trace_clock(file->trace)->hz;
}

/** How much a frequency may differ from another one that is the same. */
static double doubt_of(const struct merge_file *file)
{
	const struct xen_clock *clock = xen_trace_clock(file->trace);

	return clock->source == XEN_CLOCK_CALIBRATED ?
	       MOST_PPM + ERRORS * clock->residual_ppm : 0;
}

static bool same_frequency(const struct merge_file *a, const struct merge_file *b)
{
	double difference = (hz_of(a) - hz_of(b)) / hz_of(a) * 1e6;

	if (xen_trace_clock(a->trace)->source == XEN_CLOCK_ASSUMED ||
	    xen_trace_clock(b->trace)->source == XEN_CLOCK_ASSUMED)
		return true;
	return (difference < 0 ? -difference : difference) <= doubt_of(a) + doubt_of(b);
}

/* ---- what belongs together ---- */

/** Are both part of a trace, of the same one? Return: KSV_EXIT_OK, or after a message. */
static int check_parts(const struct merge_file *a, const struct merge_file *b)
{
	if (!a->part != !b->part) {
		ksv_error("%s is a part of another trace, %s is not: they do not belong together",
			  a->part ? a->path : b->path, a->part ? b->path : a->path);
		return KSV_EXIT_FILE;
	}
	if (!a->part || (a->part->clock.hz == b->part->clock.hz &&
			 a->part->clock.base_tsc == b->part->clock.base_tsc &&
			 virt_part_same(a->part->model, b->part->model) &&
			 !memcmp(a->part->vcpus, b->part->vcpus,
				 (size_t)a->part->model->n_vcpus * sizeof(*a->part->vcpus))))
		return KSV_EXIT_OK;
	ksv_error("%s and %s are parts of different traces", a->path, b->path);
	return KSV_EXIT_FILE;
}

static int check_frequency(const struct merge_file *a, const struct merge_file *b)
{
	if (same_frequency(a, b))
		return KSV_EXIT_OK;
	ksv_error("%s has a TSC of %.6f MHz, %s one of %.6f MHz: they are of different hosts",
		  a->path, hz_of(a) / 1e6, b->path, hz_of(b) / 1e6);
	return KSV_EXIT_FILE;
}

static const struct xentrace_pcpu *pcpu_of(const struct merge_file *file, uint16_t pcpu)
{
	const struct xentrace *reader = xen_trace_reader(file->trace);

	for (int i = 0; i < xentrace_n_pcpus(reader); i++)
		if (xentrace_pcpu_at(reader, i)->pcpu == pcpu)
			return xentrace_pcpu_at(reader, i);
	return NULL;
}

/** Both have records of a pCPU, which are not all before those of the other one. */
static int check_overlap(const struct merge_file *a, const struct merge_file *b)
{
	const struct xentrace *reader = xen_trace_reader(a->trace);

	for (int i = 0; i < xentrace_n_pcpus(reader); i++) {
		const struct xentrace_pcpu *x = xentrace_pcpu_at(reader, i);
		const struct xentrace_pcpu *y = pcpu_of(b, x->pcpu);

		if (!y || !x->n_records || !y->n_records || x->last_tsc < y->first_tsc ||
		    y->last_tsc < x->first_tsc)
			continue;
		ksv_error("%s and %s both have records of pCPU %u from TSC %llu to %llu: are "
			  "they of the same time, or of different boots?", a->path, b->path,
			  x->pcpu,
			  (unsigned long long)(x->first_tsc > y->first_tsc ? x->first_tsc :
					       y->first_tsc),
			  (unsigned long long)(x->last_tsc < y->last_tsc ? x->last_tsc :
					       y->last_tsc));
		return KSV_EXIT_FILE;
	}
	return KSV_EXIT_OK;
}

/** Parts: of the same window and other pCPUs, or of windows that do not overlap. */
static int check_window(const struct merge_file *a, const struct merge_file *b)
{
	const struct virt_part *x = a->part->model, *y = b->part->model;

	if (!merge_same_time(a, b)) {
		if (x->to_ns <= y->from_ns || y->to_ns <= x->from_ns)
			return KSV_EXIT_OK;
		ksv_error("%s and %s overlap: the one ends at %.9f s, the other one begins at "
			  "%.9f s", a->path, b->path, (double)x->to_ns / 1e9,
			  (double)y->from_ns / 1e9);
		return KSV_EXIT_FILE;
	}
	for (int32_t pcpu = 0; pcpu < a->part->n_pcpus; pcpu++)
		if (!virt_part_is_left_out(x, pcpu) && !virt_part_is_left_out(y, pcpu)) {
			ksv_error("%s and %s both are pCPU %d from %.9f to %.9f s", a->path,
				  b->path, (int)pcpu, (double)x->from_ns / 1e9,
				  (double)x->to_ns / 1e9);
			return KSV_EXIT_FILE;
		}
	return KSV_EXIT_OK;
}

/** Is a pCPU there in a window, of whichever file? */
static bool is_there(const struct merge *merge, int first, int32_t pcpu)
{
	for (int i = first; i < merge->n; i++)
		if (merge_same_time(&merge->files[first], &merge->files[i]) &&
		    !virt_part_is_left_out(merge->files[i].part->model, pcpu))
			return true;
	return false;
}

/** All windows have to have the same pCPUs: what is left out is left out of the whole. */
static int check_left_out(const struct merge *merge)
{
	const struct merge_file *first = merge->files;

	for (int i = 1; i < merge->n; i++) {
		if (merge_same_time(&merge->files[i - 1], &merge->files[i]))
			continue;
		for (int32_t pcpu = 0; pcpu < first->part->n_pcpus; pcpu++) {
			if (is_there(merge, 0, pcpu) == is_there(merge, i, pcpu))
				continue;
			ksv_error("pCPU %d has records from %.9f s on, but not from %.9f s on: "
				  "give its part as well", (int)pcpu,
				  (double)merge->files[is_there(merge, 0, pcpu) ? 0 : i]
				  .part->model->from_ns / 1e9,
				  (double)merge->files[is_there(merge, 0, pcpu) ? i : 0]
				  .part->model->from_ns / 1e9);
			return KSV_EXIT_FILE;
		}
	}
	return KSV_EXIT_OK;
}

int merge_check(struct merge *merge)
{
	int status = KSV_EXIT_OK;

	for (int i = 1; i < merge->n && !status; i++)
		status = check_parts(&merge->files[0], &merge->files[i]);
	if (status)
		return status;
	qsort(merge->files, (size_t)merge->n, sizeof(*merge->files), compare_files);
	for (int i = 0; i < merge->n && !status; i++) {
		for (int k = i + 1; k < merge->n && !status; k++) {
			const struct merge_file *a = &merge->files[i], *b = &merge->files[k];

			status = check_frequency(a, b);
			if (!status && a->part)
				status = check_window(a, b);
			if (!status)
				status = check_overlap(a, b);
		}
	}
	return status || !merge->files[0].part ? status : check_left_out(merge);
}

/* ---- the order of windows ---- */

/** Where each window was in the trace that its file was cut out of, if all are known. */
static bool take_offsets(const struct merge *merge, uint64_t *offsets)
{
	size_t n = 0;

	for (int i = 0; i < merge->n; i++) {
		const struct merge_file *file = &merge->files[i];

		if (!file->part || file->part->n_windows != file->cut.n_pieces)
			return false;
		for (size_t k = 0; k < file->cut.n_pieces; k++)
			offsets[n++] = file->part->windows[k];
	}
	return true;
}

/** A window with what it is ordered by. */
struct place {
	uint64_t		group, key, pcpu, n;
	struct split_piece	piece;
};

static int compare_places(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	for (int i = 0; i < 4; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

/** Files of which each one is over before the next one begins stay as they are. */
static bool is_later(const struct merge *merge, int i)
{
	for (int k = 0; k < i; k++)
		if (merge->files[k].last_tsc >= merge->files[i].first_tsc)
			return false;
	return true;
}

/** Must TSCs separate the windows of file @i from those of files beside it? */
static bool is_beside(const struct merge *merge, int i)
{
	return (i && !is_later(merge, i)) || (i + 1 < merge->n && !is_later(merge, i + 1));
}

int merge_order(struct merge *merge)
{
	uint64_t group = 0, *offsets;
	struct place *places;
	size_t n = 0;
	bool by_offset;

	for (int i = 0; i < merge->n; i++)
		n += merge->files[i].cut.n_pieces;
	places = calloc(n + 1, sizeof(*places));
	offsets = calloc(n + 1, sizeof(*offsets));
	merge->pieces = calloc(n + 1, sizeof(*merge->pieces));
	if (!places || !offsets || !merge->pieces) {
		free(places);
		free(offsets);
		return -ENOMEM;
	}
	by_offset = take_offsets(merge, offsets);
	n = 0;
	for (int i = 0; i < merge->n; i++) {
		const struct split_cut *cut = &merge->files[i].cut;
		bool beside = is_beside(merge, i);

		group += i && is_later(merge, i);
		for (size_t k = 0; k < cut->n_pieces; k++, n++)
			places[n] = (struct place){
				.group = group,
				.key = by_offset ? offsets[n] : beside ? cut->pieces[k].tsc : k,
				.pcpu = by_offset || !beside ? 0 : cut->pieces[k].pcpu, .n = n,
				.piece = cut->pieces[k],
			};
	}
	qsort(places, n, sizeof(*places), compare_places);
	for (size_t i = 0; i < n; i++)
		merge->pieces[merge->n_pieces++] = places[i].piece;
	free(places);
	free(offsets);
	return 0;
}
