/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	check_budgets.h
 * @brief	Check whether a trace keeps limits: of machines or vCPUs, in one window or in
 *		several.
 */
#ifndef KSHARK_VIRT_CHECK_BUDGETS_H
#define KSHARK_VIRT_CHECK_BUDGETS_H

#include "budget.h"
#include "host_tasks.h"
#include "model_irqs.h"
#include "output.h"

enum check_per { CHECK_PER_MACHINE = 0, CHECK_PER_VCPU };

/** A part of the trace to be judged by itself. */
struct check_window {
	struct ksv_time	from, to;	/* with only one, @to is none: some time around it */
	char		*name;		/* or NULL */
};

struct check_windows {
	struct check_window *items;
	size_t		n, room;
};

/**
 * check_windows_read - take a file with FROM TO [NAME] or TIME in each line
 * @line: receives the number of the last line that was read
 *
 * Return: 0, -EINVAL, -ENOMEM, -EIO, or -EFBIG for what is no such file.
 */
int check_windows_read(struct check_windows *windows, FILE *file, unsigned int *line);
void check_windows_free(struct check_windows *windows);

enum check_format { CHECK_TEXT, CHECK_CSV, CHECK_JSON, CHECK_JUNIT, CHECK_TAP };

struct check_budgets {
	const struct budget_list *budgets;
	const struct check_windows *windows; /* none: from @from_ns to @to_ns */
	const struct ksv_vcpu_set *vcpus;
	const struct model_irqs *irqs;	/* empty if no limit is about interrupts */
	/* judge the tasks of the host whose names fit @task, a shell pattern, instead of vCPUs */
	const struct host_tasks *tasks;
	const char	*task;		/* NULL: vCPUs */
	int64_t		from_ns, to_ns;
	int64_t		around_ns;
	enum check_per	per;
	enum check_format format;
};

/** check_budgets_need_irqs - is a limit about interrupts? */
bool check_budgets_need_irqs(const struct budget_list *budgets);

/**
 * check_budgets_of_tasks - a limit that tasks cannot have, or NULL
 *
 * They can have shares of steal and wake, lengths of wake-ups with a statistic of
 * virt_statistics.h, and numbers of wake-ups and migrations.
 */
const struct budget *check_budgets_of_tasks(const struct budget_list *budgets);

/** check_budgets_notes - print which limits are about exits or interrupts that the trace lacks. */
void check_budgets_notes(const struct check_budgets *check, const struct virt_model *model);

/**
 * check_budgets_run - judge, and write what comes of it
 *
 * Return: KSV_EXIT_OK; KSV_EXIT_FINDINGS if a limit is exceeded; else KSV_EXIT_UNKNOWN if the trace
 * does not show one; KSV_EXIT_FILE without memory, after a message.
 */
int check_budgets_run(const struct check_budgets *check, const struct model_load *load,
		      struct output *out);

#endif
