/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	diff.h
 * @brief	The changes of the activity of vCPUs: two windows, difference by difference.
 *
 * All values are per second of a vCPU's known time, so windows of different lengths can be
 * compared. The numbers are those of virt_window.h. One recording on each side cannot separate
 * change from chance; compare exists for that.
 */
#ifndef KSHARK_VIRT_DIFF_H
#define KSHARK_VIRT_DIFF_H

#include "report.h"
#include "table.h"

/** What a migration weighs: caches are cold after it, for longer than the trace can show. */
#define DIFF_MOVE_NS	1000000

/** The statistic of the latencies of wake-ups that is compared. */
#define DIFF_WAKE	VIRT_STAT_P99

/** Before and after. */
enum diff_side { DIFF_BEFORE = 0, DIFF_AFTER, DIFF_N_SIDES };

enum diff_kind {
	DIFF_STATE = 0,		/* time in a state */
	DIFF_EXIT,		/* cost of VM exits of a reason */
	DIFF_MIGRATIONS,
	DIFF_N_KINDS
};

/** What is compared, of one side. */
struct diff_value {
	uint64_t	count;		/* in the window; of a state, how often it begins */
	int64_t		ns;		/* of each second; 0 for migrations */
	double		per_s;		/* @count of each second */
	int64_t		wake_ns;	/* DIFF_WAKE; VIRT_NONE: none, or no wake-ups */
};

/** Who took the pCPU of a preempted vCPU. */
struct diff_culprit {
	const char	*name;
	int64_t		ns[DIFF_N_SIDES];	/* of each second */
};

/** VM exits of a reason with the same argument and cause. They add up to those of the reason. */
struct diff_argument {
	const char	*name, *cause;	/* as report_argument(), report_cause() */
	struct diff_value value[DIFF_N_SIDES];
};

/** Something of a vCPU that differs. */
struct diff_item {
	enum diff_kind	kind;
	const char	*machine;
	int		vcpu;		/* of the machine */
	const char	*who;		/* its name, as it is after */
	enum virt_state	state;
	unsigned int	includes;	/* other states that are in it, see virt_model_includes() */
	const char	*reason;	/* of exits */
	struct diff_value value[DIFF_N_SIDES];
	struct diff_culprit *culprits;	/* of VIRT_PREEMPTED: what differs most comes first */
	size_t		n_culprits;
	bool		arguments_unknown;	/* of DIFF_EXIT: one side cannot show them */
	struct diff_argument *arguments; /* the same order; NULL: not asked for, or none */
	size_t		n_arguments;
};

/** A vCPU that is there only before, or only after. */
struct diff_missing {
	const char	*who;
	enum diff_side	only;
};

/** All of it. Names are those of the models, which must stay. */
struct diff {
	struct diff_item *items;	/* costs first; then what differs most of each second */
	size_t		n, room;
	size_t		n_same;		/* less than @above_ns: not among them */
	size_t		n_vcpus;	/* that are on both sides */
	struct diff_missing *missing;
	size_t		n_missing, room_missing;
	int64_t		length_ns[DIFF_N_SIDES];
	double		unknown[DIFF_N_SIDES];	/* the largest share of a vCPU's time, 0 .. 1 */
};

/**
 * diff_make - compare two windows
 * @reports: their windows are set, and have a length; may be of the same trace
 * @above_ns: of each second: what does not differ by more is left out
 * @arguments: also the arguments of VM exits, which take longer to find
 *
 * Return: 0, and @diff is to be given to diff_free(), also else; or -ENOMEM.
 */
int diff_make(struct diff *diff, struct report *reports, const struct ksv_vcpu_set *vcpus,
	      int64_t above_ns, bool arguments);
void diff_free(struct diff *diff);

/** diff_is_cost - is it time that a vCPU would rather not have spent? Else it is what it did. */
bool diff_is_cost(const struct diff_item *item);

/** diff_kind_name - "state", "exits", "migrations" */
const char *diff_kind_name(enum diff_kind kind);

/** diff_write - write the first @most items. Return: 0 or -ENOMEM. */
int diff_write(enum table_format_kind format, struct output *out, const struct diff *diff,
	       const struct report *reports, size_t most);

#endif
