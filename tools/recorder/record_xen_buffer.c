// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_xen_buffer.c
 * @brief	The buffers that Xen puts records into: their size, and the size that would have
 *		sufficed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "array.h"
#include "record_xen.h"

/** Xen's own size of a buffer, per CPU. */
#define PAGES		32
/** Pages are found by numbers of 16 bits, shared by all pCPUs but one (struct t_info). */
#define ALL_PAGES	65535
/** More pCPUs than any Xen has. */
#define MAX_PCPUS	65536

/* --- what there is --------------------------------------------------------------------------- */

struct buffers {
	uint64_t	pages;		/* 0: not made yet */
	uint64_t	max_pages;	/* more cannot be made */
};

static uint64_t number_behind(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

/** Return: false if it is unknown. */
static bool ask(struct buffers *buffers)
{
	char program[PATH_MAX], said[4096];
	const char *argv[] = { program, "--buffers", NULL };
	uint64_t pcpus;

	record_xen_meta(program);
	*buffers = (struct buffers){ 0 };
	if (record_capture(argv, RECORD_ANSWER_S, said, sizeof(said)))
		return false;
	buffers->pages = number_behind(said, "\"trace_buffer_pages\": ");
	pcpus = number_behind(said, "\"max_pcpus\": ");
	buffers->max_pages = pcpus > 1 ? ALL_PAGES / (pcpus - 1) : ALL_PAGES;
	return pcpus && pcpus < MAX_PCPUS;
}

static void take_made(struct record *record, uint64_t pages, const char *why)
{
	struct record_options *options = record->options;
	char asked[24], size[24];

	ksv_note("--buffer: %s for each pCPU instead of %s: %s",
		 record_size_text(pages * RECORD_XEN_PAGE, size),
		 record_size_text(options->buffer, asked), why);
	options->buffer = pages * RECORD_XEN_PAGE;
}

void record_xen_choose_buffer(struct record *record)
{
	struct record_options *options = record->options;
	uint64_t wanted = options->buffer / RECORD_XEN_PAGE;
	struct buffers buffers;

	if (options->buffer && !wanted)
		wanted = 1;
	if (!wanted)
		wanted = PAGES;
	if (!ask(&buffers)) {
		/* unknown, so it is passed on */
		if (options->buffer)
			ksv_note("Xen sets the size of its buffers once per boot: if xentrace has "
				 "run before, --buffer has no effect");
		options->buffer = wanted * RECORD_XEN_PAGE;
		return;
	}
	record->buffer_max = buffers.max_pages * RECORD_XEN_PAGE;
	record->buffer_made = buffers.pages;
	if (buffers.pages && options->buffer && buffers.pages != wanted)
		take_made(record, buffers.pages, "Xen allocates its buffers once, when it is "
			  "traced first; reboot to change them");
	else if (!buffers.pages && wanted > buffers.max_pages)
		take_made(record, buffers.max_pages, "Xen cannot make them larger on this number "
			  "of pCPUs");
	else
		options->buffer = (buffers.pages ? buffers.pages : wanted) * RECORD_XEN_PAGE;
}

/** xentrace opens its file first, and has buffers made then. */
#define MADE_MS		2000
#define ASK_MS		50

void record_xen_check_buffer(struct record *record)
{
	const struct timespec pause = { .tv_nsec = ASK_MS * 1000000L };
	int64_t until = record_now_ns() + MADE_MS * 1000000LL;
	struct buffers buffers = { 0 };

	while (!record->buffer_made && record_now_ns() < until) {
		if (!record->buffer_max || !ask(&buffers))
			return;
		record->buffer_made = buffers.pages;
		if (!buffers.pages)
			nanosleep(&pause, NULL);
	}
	if (!buffers.pages)
		return;
	if (buffers.pages != record->options->buffer / RECORD_XEN_PAGE)
		take_made(record, buffers.pages, "this is the size of Xen's buffers");
}

/* --- what there should have been ------------------------------------------------------------- */

/** The second with most losses of all pCPUs' is what a buffer has to be large enough for. */
static void end_second(const struct record_xen_cpu *cpu, int pcpu, struct record_count *count)
{
	if (cpu->lost <= count->worst.lost)
		return;
	count->worst.lost = cpu->lost;
	count->worst.records = cpu->records + cpu->lost;
	count->worst.cpu = pcpu;
}

int record_xen_add_row(struct record_xen_losses *losses, const struct xen_trace_row *row,
		       struct record_count *count)
{
	int64_t second = row->time_ns / 1000000000;
	struct record_xen_cpu *cpu;
	size_t before = losses->n_cpus;
	uint32_t lost;

	if (row->rec.pcpu >= before) {
		if (ARRAY_GROW(losses->cpus, row->rec.pcpu, losses->room))
			return -ENOMEM;
		losses->n_cpus = (size_t)row->rec.pcpu + 1;
		memset(losses->cpus + before, 0, (losses->n_cpus - before) * sizeof(*cpu));
	}
	cpu = &losses->cpus[row->rec.pcpu];
	if (second != cpu->second) {
		end_second(cpu, row->rec.pcpu, count);
		*cpu = (struct record_xen_cpu){ .second = second };
	}
	cpu->records++;
	count->records++;
	losses->bytes += xentrace_bytes(&row->rec);
	if (row->rec.event != XEN_TRC_LOST_RECORDS)
		return 0;
	lost = xentrace_word(&row->rec, 0);
	cpu->lost += lost;
	count->lost += lost;
	losses->unknown |= !lost;
	return 0;
}

/**
 * xentrace empties all buffers ten times a second, and at once when one is half full. It was kept
 * from that for a while; a buffer that had taken in addition what was lost in the worst second, in
 * records as large as others, would have lasted as long.
 */
void record_xen_losses_end(struct record *record, struct record_xen_losses *losses)
{
	struct record_count *count = &record->count;
	uint64_t needed;

	for (size_t i = 0; i < losses->n_cpus; i++)
		end_second(&losses->cpus[i], (int)i, count);
	count->buffer = 0;
	if (count->worst.lost && !losses->unknown && record->buffer_made) {
		count->worst.bytes = losses->bytes / count->records + 1;
		needed = record->options->buffer + count->worst.lost * count->worst.bytes;
		for (count->buffer = RECORD_MIB; count->buffer < needed;)
			count->buffer *= 2;
	}
	free(losses->cpus);
	*losses = (struct record_xen_losses){ 0 };
}
