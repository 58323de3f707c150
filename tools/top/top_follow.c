// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	top_follow.c
 * @brief	Write the intervals of a trace that is still being recorded, as they come.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "host_trace.h"
#include "terminal.h"
#include "top_follow.h"
#include "top_listen.h"
#include "top_sum.h"

/** How often it looks for signals, and whether anything comes. */
#define WAIT_MS		200
/** Silence gets a note after this time. */
#define SILENCE_S	5
#define SECOND_NS	INT64_C(1000000000)

/* --- signals --------------------------------------------------------------------------------- */

static volatile sig_atomic_t is_over;

static void on_end(int number)
{
	(void)number;
	is_over = 1;
}

void top_follow_signals(void)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP };
	/* the second one is that of all commands, which leaves nothing half written behind */
	struct sigaction action = { .sa_handler = on_end, .sa_flags = SA_RESETHAND }, before;

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (!sigaction(ends[i], NULL, &before) && before.sa_handler != SIG_IGN)
			sigaction(ends[i], &action, NULL);
}

bool top_follow_is_over(void)
{
	return is_over;
}

/* --- what is said ---------------------------------------------------------------------------- */

/** @noted: has this silence had its note? */
static void note_silence(const struct top_follow *follow, const struct top_status *status,
			 bool *noted)
{
	int seconds = (int)(status->silent_ns / SECOND_NS);

	if (status->state > TOP_RUNNING || seconds < SILENCE_S) {
		*noted = false;
		return;
	}
	if (!*noted && !follow->quiet)
		ksv_note("%s: %s: no data for %d s", follow->name,
			 status->state == TOP_WAITING ? "waiting for records" : "stalled", seconds);
	*noted = true;
}

static void note_counts(const struct top_follow *follow, const struct top_count *count)
{
	if (count->late)
		ksv_note("%s: %llu records arrived too late, by up to %.3f ms: they count as lost",
			 follow->name, (unsigned long long)count->late,
			 (double)count->late_ns / 1e6);
	if (count->lost)
		ksv_note("%s: %llu records were lost: larger buffers (--buffer) keep more",
			 follow->name, (unsigned long long)count->lost);
	if (count->hurried)
		ksv_note("%s: waiting records exceeded --limit: %llu records were processed before "
			 "those of other pCPUs", follow->name,
			 (unsigned long long)count->hurried);
}

int top_follow_end(const struct top_follow *follow, const struct top_status *status,
		   struct trace_notes *notes)
{
	if (status->state == TOP_FAILED) {
		const char *why = status->error == -EINVAL ?
				  "not a trace of xentrace: no window of records" :
				  status->error == -ENOTSUP ?
				  "is compressed: unpack it first (zcat, zstdcat)" :
				  host_trace_problem(status->error);

		ksv_error("%s: %s", follow->name, why);
		return KSV_EXIT_FILE;
	}
	if (!status->n && !top_follow_is_over()) {
		ksv_error("%s: has ended without a record", follow->name);
		return KSV_EXIT_FILE;
	}
	if (follow->quiet)
		return KSV_EXIT_OK;
	if (!top_follow_is_over() && !follow->once)
		ksv_note("%s: has ended, after %llu records", follow->name,
			 (unsigned long long)status->count.records);
	note_counts(follow, &status->count);
	trace_notes_print(notes, stderr);
	return KSV_EXIT_OK;
}

/* --- writing --------------------------------------------------------------------------------- */

/** Whether counters are written whenever there are others, each time the whole of them. */
static bool is_replaced(const struct top_follow *follow)
{
	return follow->listen || (follow->format->at_once && follow->output &&
				  strcmp(follow->output, "-"));
}

/** What is under way. */
struct writing {
	const struct top_follow	*follow;
	struct output		*out;
	struct top_sum		sum;
	struct trace_notes	said;		/* notes of intervals */
	bool			failed;		/* to write the last counters */
	unsigned int		waits, left;	/* intervals until the next attempt */
};

/** A full disk may have room later; but a note each second would be too many. */
#define MAX_WAITS	64

/** Return: an exit status, after a message. */
static int write_file(const struct writing *writing)
{
	const struct top_follow *follow = writing->follow;
	int status = out_open(writing->out, follow->output);

	if (status)
		return status;
	follow->format->interval(writing->out, &writing->sum.all);
	if (follow->format->end)
		follow->format->end(writing->out, NULL);
	return out_close(writing->out, KSV_EXIT_OK);
}

/** The same. */
static int serve(const struct writing *writing)
{
	int ret = top_listen_put(writing->follow->listen, &writing->sum.all);

	if (ret)
		ksv_error("%s: %s", top_listen_url(writing->follow->listen), strerror(-ret));
	return ret ? KSV_EXIT_FILE : KSV_EXIT_OK;
}

/** Counters so far, in place of those before. */
static void replace(struct writing *writing)
{
	const struct top_follow *follow = writing->follow;
	int status;

	trace_notes_free(&writing->sum.all.notes);
	top_live_notes(follow->live, &writing->sum.all.notes);
	status = follow->listen ? serve(writing) : write_file(writing);
	writing->failed = status;
	writing->waits = !status ? 0 : writing->waits < MAX_WAITS ? 2 * writing->waits + 1 :
			 MAX_WAITS;
	writing->left = writing->waits;
}

/** Notes come before the first numbers that they are about. */
static void take_notes(struct writing *writing, const struct trace_notes *notes)
{
	trace_notes_copy(&writing->said, notes);
	if (!writing->follow->quiet)
		trace_notes_print(&writing->said, stderr);
}

/** Return: an exit status that ends it, or KSV_EXIT_OK. */
static int write_one(struct writing *writing, const struct top_interval *interval)
{
	const struct top_follow *follow = writing->follow;

	take_notes(writing, &interval->notes);
	if (!follow->format->at_once) {
		follow->format->interval(writing->out, interval);
		out_flush(writing->out);
		return KSV_EXIT_OK;
	}
	if (top_sum_add(&writing->sum, interval)) {
		ksv_error("%s: not enough memory", follow->name);
		return KSV_EXIT_FILE;
	}
	if (is_replaced(follow) && !writing->left--)
		replace(writing);
	return KSV_EXIT_OK;
}

/** Return: an exit status. */
static int write_all(struct writing *writing, struct top_status *status)
{
	const struct top_follow *follow = writing->follow;
	bool noted = false;
	uint64_t n = 0;
	int ret = KSV_EXIT_OK;

	do {
		const struct top_interval *interval;

		if (top_follow_is_over())
			top_live_stop(follow->live);
		top_live_wait(follow->live, n, WAIT_MS, status);
		note_silence(follow, status, &noted);
		interval = top_live_get(follow->live, n);
		if (!interval)
			continue;
		ret = write_one(writing, interval);
		top_live_put(follow->live, interval);
		top_live_taken(follow->live, ++n);
	/* where each interval begins a new file, one that cannot be written is tried again */
	} while (!ret && !(follow->once && n) && (is_replaced(follow) || !writing->out->error) &&
		 (status->state < TOP_ENDED || n < status->n));
	return ret;
}

int top_follow_write(const struct top_follow *follow)
{
	static struct output out;
	struct writing writing = { .follow = follow, .out = &out };
	const struct top_format *format = follow->format;
	struct trace_notes notes = { 0 };
	struct top_status status;
	int ret = KSV_EXIT_OK, ended;
	bool more = false;

	if (!is_replaced(follow))
		ret = out_open_text(&out, follow->output,
				    format == &top_text ? OUT_PEOPLE : OUT_PROGRAM);
	if (ret)
		return ret;
	if (!is_replaced(follow) && format->begin)
		format->begin(&out, follow->path, NULL);
	ret = write_all(&writing, &status);
	top_live_notes(follow->live, &notes);
	for (size_t i = 0; i < notes.n; i++) {
		notes.all[i].printed = trace_notes_has(&writing.said, notes.all[i].text);
		more |= !notes.all[i].printed;
	}
	trace_notes_copy(&writing.sum.all.notes, &notes);
	if (!is_replaced(follow) && format->at_once)
		format->interval(&out, &writing.sum.all);
	if (!is_replaced(follow) && format->end)
		format->end(&out, &notes);
	ended = ret ? ret : top_follow_end(follow, &status, &notes);
	if (is_replaced(follow) && !ended && (writing.failed || more))
		replace(&writing);
	top_sum_free(&writing.sum);
	trace_notes_free(&writing.said);
	trace_notes_free(&notes);
	if (!is_replaced(follow))
		return out_close(&out, ended);
	return ended ? ended : writing.failed ? KSV_EXIT_FILE : KSV_EXIT_OK;
}
