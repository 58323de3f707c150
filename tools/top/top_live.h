/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	top_live.h
 * @brief	The intervals of a trace that is still being recorded: one thread reads, and others
 *		take them.
 *
 * An interval has the content of a report about the records up to some time after the interval
 * (hold_ns). VM exits and wake-ups that begin in it and end later than that are counted, and have
 * no length. No more of the trace is kept than that time and the interval itself.
 */
#ifndef KSHARK_VIRT_TOP_LIVE_H
#define KSHARK_VIRT_TOP_LIVE_H

#include "host_samples.h"
#include "host_tasks.h"
#include "top.h"

/** What a trace that is being recorded comes from. */
struct top_input {
	/**
	 * Take what has come, or wait for it so long.
	 *
	 * Return: 1 if something has, 0 if not, -ENODATA if nothing ever will, or another negative
	 * errno.
	 */
	int	(*read)(void *self, int timeout_ms);
	/** Nothing has come for a while. Return: 0 or a negative errno. */
	int	(*settle)(void *self);
	/** Nothing more will come, or is wanted. Return: 0 or a negative errno. */
	int	(*end)(void *self);
	bool	(*has_begun)(const void *self, int64_t *begin_ns);
	/**
	 * The next interval that is complete, of an input that has no records: it has none of the
	 * functions below up to forget(). NULL: there is a model.
	 *
	 * Return: 1, 0 if there is none yet, or a negative errno.
	 */
	int	(*interval)(void *self, struct top_interval *interval);
	/** As those of xen_live.h. */
	int	(*feed)(void *self, int64_t until_ns);
	int64_t	(*next)(const void *self);
	int64_t	(*last)(const void *self);
	int	(*model)(void *self, int64_t begin_ns, int64_t end_ns, struct virt_model **model);
	/** The host's tasks up to the end of the model: host_tasks_show(). NULL: none is known. */
	int	(*tasks)(void *self, int64_t end_ns, struct host_tasks *tasks);
	/** Samples of the host, from the last one before what was forgotten on. NULL: has none. */
	const struct host_samples *(*samples)(const void *self);
	void	(*forget)(void *self, int64_t before_ns);
	/** What limits the numbers, as far as it is known by now; as host_trace_notes(). */
	void	(*notes)(const void *self, struct trace_notes *notes);
	/** What has become of what came: to be added to a status. */
	void	(*count)(const void *self, struct top_count *count);
};

struct top_live_options {
	const struct top_input	*input;
	void			*self;		/* of the input, which stays its owner's */
	const char		*name;		/* of the input, for notes */
	bool			once;		/* only the first interval is wanted */
	int64_t			interval_ns, hold_ns;
	const struct ksv_vcpu_set *vcpus;
	uint64_t		max_bytes;	/* of intervals that are kept */
	bool			drops;		/* the oldest go; else it waits until taken */
	uint64_t		left_out;	/* kinds of records without a note, see
						 * host_note_lacks() */
	unsigned int	scope;		/* set of enum top_scope */
};

enum top_state {
	TOP_WAITING = 0,	/* not a record yet */
	TOP_RUNNING,
	TOP_ENDED,		/* nothing more will come */
	TOP_FAILED,
};

struct top_status {
	enum top_state		state;
	struct top_count	count;
	uint64_t		first, n;	/* of the intervals that are kept: [first, n) */
	int64_t			silent_ns;	/* for so long nothing has come */
	int			error;		/* TOP_FAILED: a negative errno */
};

struct top_live;

/** top_live_start - begin to read. Return: NULL with errno. */
struct top_live *top_live_start(const struct top_live_options *options);

/** top_live_stop - read no more; what has come is reported. */
void top_live_stop(struct top_live *live);

/** top_live_free - end the thread, and free all. */
void top_live_free(struct top_live *live);

/**
 * top_live_wait - until there is an interval of this number, or the state is TOP_ENDED or later
 * @timeout_ms: at most
 *
 * @status: receives what there is now.
 */
void top_live_wait(struct top_live *live, uint64_t number, int timeout_ms,
		   struct top_status *status);

/**
 * top_live_get - an interval by its number
 *
 * Return: to be given to top_live_put(); NULL: it is gone, or is not there yet.
 */
const struct top_interval *top_live_get(struct top_live *live, uint64_t number);
void top_live_put(struct top_live *live, const struct top_interval *interval);

/** top_live_notes - add what limits the numbers: all of it if the state is TOP_ENDED or later. */
void top_live_notes(struct top_live *live, struct trace_notes *notes);

/** top_live_taken - unless they drop by themselves, intervals below this number are gone then. */
void top_live_taken(struct top_live *live, uint64_t number);

/** A model begins this long before its interval, to show the states at its beginning. */
#define TOP_BEFORE_NS	1

#endif
