/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	why_log.h
 * @brief	Warnings of guests' kernels, and verdicts about them: whose fault were they?
 */
#ifndef KSHARK_VIRT_WHY_LOG_H
#define KSHARK_VIRT_WHY_LOG_H

#include "guest_log.h"
#include "model_load.h"
#include "virt_verdict.h"
#include "why.h"

#define WHY_MAX_LOGS	256

/** Arguments of --guest-log and --log-offset: "web:console.log", "web:12.5". All zero: none. */
struct why_log_words {
	const char	*words[WHY_MAX_LOGS];
	int		n;
};

int why_take_log(const struct ksv_command *command, const struct ksv_option *option,
		 const char *text, void *target);

/** Which source has put a log on the axis of the trace. */
enum why_log_source {
	WHY_LOG_NOWHERE = 0,
	WHY_LOG_BY_OPTION,		/* --log-offset */
	WHY_LOG_BY_TRACE,		/* the guest's own trace, which has the clock of the log */
	WHY_LOG_N_SOURCES
};

struct why_log {
	const char	*path;
	int32_t		machine;
	struct guest_log log;
	enum why_log_source source;
	int64_t		offset_ns;	/* WHY_LOG_BY_OPTION: to be added */
	/* the machine's own trace and its CPUs, or NULL: */
	const struct guest_clock *guest;
};

/** Why there is no verdict about a warning. */
enum why_log_problem {
	WHY_LOG_JUDGED = 0,		/* there is one */
	WHY_LOG_NO_TIME,		/* the line has none, or that of another clock */
	WHY_LOG_NO_PLACE,		/* its place on the axis is not known */
	WHY_LOG_OTHER_BOOT,		/* the guest booted again, the place counts from then on */
	WHY_LOG_NO_SPAN,		/* the message names no span of time */
	WHY_LOG_NO_VCPU,		/* the trace does not have the CPU */
	WHY_LOG_N_PROBLEMS
};

/** A warning, and what the trace has about it. */
struct why_finding {
	const struct why_log	*log;
	const struct guest_log_warning *warning;
	enum why_log_problem	problem;
	int64_t			time_ns;	/* on the axis, if @has_time */
	bool			has_time;
	bool			is_machine;	/* the warning names no CPU: the worst of all */
	int32_t			vcpu;		/* or VIRT_NONE */
	struct virt_verdict	verdict;	/* WHY_LOG_JUDGED */
	size_t			answer;		/* about its longest stretch; SIZE_MAX: none */
};

/** All zero: none. */
struct why_findings {
	struct why_log		*logs;
	int			n_logs;
	struct why_finding	*all;		/* in the order of the logs */
	size_t			n;
	uint64_t		left_out;	/* warnings that were too many */
};

/** why_logs_check - the same file as the output? Return: 0, or the exit status after a message. */
int why_logs_check(const struct why_log_words *logs, const struct ksv_command *command,
		   const char *output);

/**
 * why_findings_make - read logs, put their warnings on the axis, and judge each of them
 * @from_ns, @to_ns: warnings on the axis outside of this window are left out
 * @findings: to be given to why_findings_free() in any case
 *
 * Return: KSV_EXIT_OK, or the exit status after a message.
 */
int why_findings_make(struct why_findings *findings, const struct model_load *load,
		      const struct why_log_words *logs, const struct why_log_words *offsets,
		      int64_t from_ns, int64_t to_ns);
void why_findings_free(struct why_findings *findings);

/** why_log_problem_name - as in JSON; or NULL: there is a verdict */
const char *why_log_problem_name(enum why_log_problem problem);

/** why_log_source_name - "offset", "guest_trace"; or NULL */
const char *why_log_source_name(enum why_log_source source);

/* --- how they are written: why_log_write.c ---------------------------------------------------- */

/**
 * why_put_finding, why_json_finding - one of them
 * @answer: about its longest stretch, or NULL
 */
void why_put_finding(const struct why_writing *writing, const struct virt_model *model,
		     const struct why_finding *finding, const struct why_answer *answer,
		     bool first);
void why_json_finding(const struct why_writing *writing, const struct virt_model *model,
		      const struct why_finding *finding, const struct why_answer *answer,
		      bool first);

#endif
