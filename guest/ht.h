/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hypertrace: report events of this guest to its host by hypercalls.
 *
 * ht_main.c	begin and end: parameters, CPUs that come and go
 * ht_send.c	send an event as a hypercall, on one CPU, at any moment
 * ht_probes.c	the kernel's tracepoints
 * ht_functions.c functions under a filter
 * ht_control.c	settings that can be changed while the module runs, in debugfs
 */
#ifndef HT_H
#define HT_H

#include <linux/bitmap.h>
#include <linux/types.h>

#include "hypertrace_wire.h"

#define HT_MAX_SYSCALLS	1024
#define HT_LIST_SIZE	256

/* The events to report. Changed with ht_lock held, while no event is reported. */
struct ht_settings {
	bool		packed;
	unsigned int	most;		/* events in a packed call; 0: as many as fit */
	unsigned int	shift;
	char		functions[HT_LIST_SIZE]; /* empty: none */
	/* read by probes at any time */
	bool		some_syscalls;
	DECLARE_BITMAP(syscalls, HT_MAX_SYSCALLS);
};

extern struct ht_settings ht_settings;

/* ht_main.c */
int ht_start(void);
void ht_stop(void);
bool ht_is_on(void);
int ht_restart(void);
void ht_settings_lock(void);
void ht_settings_unlock(void);

/* ht_send.c */
int ht_send_init(void);
void ht_send_exit(void);
int ht_check_host(void);
int ht_cpu_start(unsigned int cpu);
int ht_cpu_stop(unsigned int cpu);
void ht_report(struct ht_event *event);
void ht_report_task(u32 pid, const char *comm);
void ht_flush(void);
void ht_set_reporting(bool on);

struct ht_cpu_stats {
	u64	events, calls, lost;
};

void ht_cpu_stats(unsigned int cpu, struct ht_cpu_stats *stats);

/* ht_probes.c */
struct tracepoint;

/* A tracepoint that can be reported. The table ends with one without a name. */
struct ht_probe {
	const char	*name, *group;
	void		*function;
	u32		kinds;
	bool		wanted;		/* internal ones always are */
	bool		attached;
	struct tracepoint *tracepoint;
};

extern struct ht_probe ht_probes[];

int ht_probes_find(void);
int ht_probes_attach(void);
void ht_probes_detach(void);
int ht_probes_want(const char *list);
u32 ht_probes_kinds(void);

/* ht_functions.c */
int ht_functions_attach(const char *filter);
void ht_functions_detach(void);
void ht_functions_report_missed(void);
u64 ht_functions_missed(void);

/* ht_control.c */
void ht_control_init(void);
void ht_control_exit(void);

#endif
