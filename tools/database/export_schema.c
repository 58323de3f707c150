// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	export_schema.c
 * @brief	The tables of kshark-virt export.
 */
#include <string.h>

#include "array.h"
#include "export_schema.h"
#include "host_samples.h"

#define INTEGER(name, what)		{ name, EXPORT_INTEGER, NULL, what }
#define BOOLEAN(name, what)		{ name, EXPORT_BOOLEAN, NULL, what }
#define TEXT(name, what)		{ name, EXPORT_TEXT, NULL, what }
#define KEY(name, what)			{ name, EXPORT_INTEGER, "primary", what }
#define OF(name, key, what)		{ name, EXPORT_INTEGER, key, what }

static const struct export_column host[] = {
	INTEGER("schema", "version of this schema"),
	TEXT("file", "the trace, as given on the command line"),
	TEXT("hypervisor", "xen or kvm"),
	INTEGER("n_pcpus", "number of pCPUs"),
	INTEGER("from_ns", "beginning of the window, cut to the trace"),
	INTEGER("to_ns", "end of the window, exclusive"),
	INTEGER("begin_ns", "beginning of the trace"),
	INTEGER("end_ns", "end of the trace"),
	BOOLEAN("unsplit", "the trace does not show which thread has a pCPU"),
};

static const struct export_column clock[] = {
	TEXT("name", "tsc: cycles; ns: the trace counts ns"),
	INTEGER("hz", "its frequency; empty: not known"),
	TEXT("source", "source of the frequency, as in report; empty: not known"),
	INTEGER("at_0", "its value at time 0; empty: not known"),
};

static const struct export_column machine[] = {
	KEY("id", "Xen: the domain; KVM: a number"),
	TEXT("name", "as in report"),
	INTEGER("n_vcpus", "number of its vCPUs"),
};

static const struct export_column vcpu[] = {
	KEY("id", "the same for every window and selection of vCPUs"),
	OF("machine", "machine.id", "its machine"),
	INTEGER("number", "its number within the machine"),
	TEXT("name", "as in report"),
	INTEGER("tid", "its thread ID; empty on Xen"),
};

static const struct export_column interval[] = {
	OF("vcpu", "vcpu.id", "the vCPU"),
	INTEGER("start_ns", "cut to the window; a vCPU's intervals have no gaps"),
	INTEGER("end_ns", "exclusive; may equal start_ns"),
	TEXT("state", "as in report: guest, hypervisor, polling, vmm, preempted, waking, blocked, "
	     "device_model, offline, unknown"),
	INTEGER("pcpu", "the current or the last pCPU; empty: not known"),
	TEXT("detail", "hypervisor, polling, vmm: exit reason; preempted: the culprit; blocked: "
	     "the cause of its end"),
	OF("who", "vcpu.id", "preempted: the culprit; blocked: the waker; empty if it is no vCPU"),
	BOOLEAN("is_exit", "begins with a VM exit"),
	BOOLEAN("is_migrated", "the first interval on another pCPU"),
	BOOLEAN("is_nested", "a nested guest executes"),
	BOOLEAN("is_unsplit", "may partly have been another state"),
	BOOLEAN("is_unasked", "a wait that the guest did not ask for"),
	INTEGER("held_ns", "preempted, waking, offline: part in which its own quota, cap or budget "
		"held it; empty: not known"),
	INTEGER("possible_ns", "the same: it may have been more by this time"),
};

static const struct export_column exit_columns[] = {
	OF("vcpu", "vcpu.id", "the vCPU"),
	INTEGER("time_ns", "when the vCPU left guest code, within the window"),
	INTEGER("entry_ns", "the next entry, maybe after the window; empty: not in the trace"),
	TEXT("reason", "as in report; unknown: not in the trace"),
	INTEGER("cost_ns", "as in report; empty: its entry is not in the trace"),
	INTEGER("pcpu", "the pCPU; empty: not known"),
	INTEGER("hypervisor_ns", "from exit to entry, by state; empty if cost_ns is, or if not "
		"known"),
	INTEGER("polling_ns", "not part of the cost"),
	INTEGER("vmm_ns", ""),
	INTEGER("preempted_ns", ""),
	INTEGER("waking_ns", ""),
	INTEGER("blocked_ns", ""),
	INTEGER("device_model_ns", "Xen; part of the cost"),
	INTEGER("offline_ns", ""),
	INTEGER("unasked_ns", "part of the last three that the guest did not ask for; part of the "
		"cost"),
	TEXT("argument", "what it was for, as in report --exits; empty: no record shows it"),
	TEXT("cause", "what the host did for the guest's memory, as there; empty: unknown"),
};

static const struct export_column migration[] = {
	OF("vcpu", "vcpu.id", "the vCPU"),
	INTEGER("time_ns", "first run on the new pCPU, within the window"),
	INTEGER("from_pcpu", ""),
	INTEGER("to_pcpu", ""),
	INTEGER("gap_ns", "time since the end of the last run on the old pCPU"),
};

static const struct export_column wake[] = {
	OF("vcpu", "vcpu.id", "the vCPU that was woken"),
	INTEGER("time_ns", "time of the wake-up, within the window"),
	INTEGER("latency_ns", "until it had a pCPU or changed its state; empty: not in the trace"),
	INTEGER("pcpu", "the pCPU that it waited for at the end; empty: not known"),
	TEXT("cause", "as in report --waits; empty: no wait before it"),
	TEXT("waker", "name of the waker; empty: not known"),
	OF("who", "vcpu.id", "the waker, if it is a vCPU"),
	INTEGER("vector", "vector of the interrupt; empty: not known"),
};

static const struct export_column moment[] = {
	KEY("rank", "1 is the costliest"),
	TEXT("kind", "as in report --worst: exit, steal, wake, migration, lost, offline, tsc"),
	OF("vcpu", "vcpu.id", "empty: lost"),
	INTEGER("time_ns", "its time, within the window"),
	INTEGER("start_ns", ""),
	INTEGER("end_ns", ""),
	INTEGER("cost_ns", ""),
	INTEGER("pcpu", "empty: not known"),
	INTEGER("from_pcpu", "migration: the old pCPU"),
	TEXT("reason", "exit: the exit reason"),
	TEXT("culprit", "steal, wake: the culprit that had the pCPU longest"),
	BOOLEAN("is_whole", "the trace shows its beginning and its end; if 0, the cost is a "
		"minimum"),
	TEXT("argument", "exit: as in exit"),
	TEXT("cause", "exit: as in exit"),
	INTEGER("held_ns", "steal, wake, offline: as in interval"),
	INTEGER("possible_ns", "the same"),
};

static const struct export_column loss[] = {
	INTEGER("pcpu", "the pCPU whose records are missing"),
	INTEGER("from_ns", "not cut to the window"),
	INTEGER("to_ns", ""),
	INTEGER("records", "empty: not counted"),
};

static const struct export_column guest_task[] = {
	OF("vcpu", "vcpu.id", "the vCPU that is the guest's CPU"),
	INTEGER("start_ns", "cut to the window"),
	INTEGER("end_ns", ""),
	INTEGER("pid", "the task's pid in the guest; 0: idle"),
	TEXT("name", "name of the task, with its pid"),
	INTEGER("executed_ns", "part of this time in which the vCPU executed guest code"),
};

static const struct export_column disk_request[] = {
	TEXT("disk", "its numbers, as in report --disks"),
	TEXT("operation", "read, write, discard, flush, other"),
	OF("machine", "machine.id", "the machine that the task works for; empty: none"),
	INTEGER("pid", "the task that put it into a queue, else the one that gave it to the disk"),
	TEXT("task", "name of the task, with its pid"),
	INTEGER("issue_ns", "when it was given to the disk, within the window"),
	INTEGER("queue_ns", "how long it was in a queue before; empty: in none, or not known"),
	INTEGER("end_ns", "its end, maybe after the window; empty: not known"),
	INTEGER("sector", "where it begins, in units of 512 bytes; empty: it has no place"),
	INTEGER("bytes", ""),
	INTEGER("depth", "requests that the disk has, this one too; empty: not known"),
	INTEGER("seek_bytes", "distance from the end of the disk's request before it; empty: not "
		"known"),
	BOOLEAN("failed", ""),
};

static const struct export_column lock_wait[] = {
	TEXT("lock", "its address, as in report --locks"),
	TEXT("kind", "as in report --locks"),
	OF("machine", "machine.id", "the machine that the task works for; empty: none"),
	INTEGER("pid", "the task that waits, or is interrupted by what waits"),
	TEXT("task", "name of the task, with its pid"),
	INTEGER("begin_ns", "within the window"),
	INTEGER("end_ns", "maybe after the window; empty: not known"),
	BOOLEAN("failed", "it ended without the lock"),
};

/** Their descriptions are those of HOST_SAMPLE_CPU(), _COUNTERS() and _STATES(). */
static const struct export_column host_sample[] = {
	INTEGER("time_ns", "when the kernel was asked"),
#define COUNTER(name, key)	INTEGER(key, "counted since its boot; empty: not known"),
#define CPU(name, kind)		COUNTER(name, kind "_ns")
	HOST_SAMPLE_CPU(CPU)
	HOST_SAMPLE_COUNTERS(COUNTER)
#undef CPU
#undef COUNTER
#define STATE(name, key)	INTEGER(key, "at this time; empty: not known"),
	HOST_SAMPLE_STATES(STATE)
#undef STATE
};

static const struct export_column power[] = {
	INTEGER("pcpu", "the pCPU"),
	TEXT("kind", "idle: an idle state, or none; frequency"),
	INTEGER("from_ns", "within the window"),
	INTEGER("to_ns", "within the window"),
	INTEGER("value", "number of the idle state, -1: awake; kHz; empty: not known"),
	TEXT("name", "of the idle state; awake; empty: not known"),
	BOOLEAN("begins", "a record shows that it begins then"),
};

static const struct export_column counter[] = {
	KEY("id", "the same for every window"),
	TEXT("name", "as perf has it"),
	INTEGER("counter_group", "counters of one are counted at the same times"),
	TEXT("read_at", "the event at whose records it is read"),
	TEXT("counts_in", "of a counter of the processor: host, guests, both"),
};

static const struct export_column counter_span[] = {
	OF("counter", "counter.id", "the counter"),
	INTEGER("pcpu", "the pCPU"),
	INTEGER("from_ns", "a reading of the counter, within the window"),
	INTEGER("to_ns", "the next one, within the window, too"),
	TEXT("owner", "vcpu, task, idle; unknown: several, or not known"),
	OF("vcpu", "vcpu.id", "the vCPU"),
	OF("machine", "machine.id", "the machine that the task works for; empty: none"),
	INTEGER("pid", "the task, also that of a vCPU; 0: idle"),
	TEXT("task", "name of the task, with its pid"),
	TEXT("state", "of a vCPU, if it is in one state all the time; else mixed"),
	TEXT("after", "of a vCPU, before its run: steal, sleep, unknown"),
	INTEGER("count", "what the counter counted; empty: it began anew"),
	INTEGER("enabled_ns", "how long it should count; empty: not known"),
	INTEGER("running_ns", "how long it did; empty: not known"),
};

#define TABLE(name, columns, what)	{ name, what, columns, ARRAY_SIZE(columns) }

const struct export_table export_tables[EXPORT_N_TABLES] = {
	[EXPORT_HOST] = TABLE("host", host, "the trace; the only row"),
	[EXPORT_CLOCK] = TABLE("clock", clock, "a clock of the trace"),
	[EXPORT_MACHINE] = TABLE("machine", machine, "a VM of KVM, a domain of Xen"),
	[EXPORT_VCPU] = TABLE("vcpu", vcpu,
			      "a vCPU, including those not selected, because other rows may "
			      "refer to them"),
	[EXPORT_INTERVAL] = TABLE("interval", interval, "a vCPU's time in one state"),
	[EXPORT_EXIT] = TABLE("exit", exit_columns, "a VM exit that begins in the window"),
	[EXPORT_MIGRATION] = TABLE("migration", migration, "a vCPU runs on another pCPU"),
	[EXPORT_WAKE] = TABLE("wake", wake, "a wake-up of a vCPU"),
	[EXPORT_MOMENT] = TABLE("moment", moment, "one of the costliest moments"),
	[EXPORT_LOSS] = TABLE("loss", loss, "a loss of records of a pCPU"),
	[EXPORT_POWER] = TABLE("power", power,
			       "a pCPU's time in an idle state, awake, or at a frequency"),
	[EXPORT_GUEST_TASK] = TABLE("guest_task", guest_task,
				    "a task has a CPU of its guest, by the guest's own trace"),
	[EXPORT_DISK_REQUEST] = TABLE("disk_request", disk_request,
				      "a request is given to a disk of the host"),
	[EXPORT_LOCK_WAIT] = TABLE("lock_wait", lock_wait,
				   "a task of the host begins to wait for a lock of its kernel, or "
				   "for a futex"),
	[EXPORT_HOST_SAMPLE] = TABLE("host_sample", host_sample,
				     "record reads what the host's kernel counts"),
	[EXPORT_COUNTER] = TABLE("counter", counter, "a counter that perf has read"),
	[EXPORT_COUNTER_SPAN] = TABLE("counter_span", counter_span,
				      "the time between two readings of a counter of a pCPU"),
};

static void create_column(FILE *sql, const struct export_column *column, const char *type)
{
	const char *key = column->key ? column->key : "";
	const char *dot = strchr(key, '.');

	fprintf(sql, "\"%s\" %s", column->name, type);
	if (dot)
		fprintf(sql, " REFERENCES \"%.*s\"(\"%s\")", (int)(dot - key), key, dot + 1);
	else if (*key)
		fputs(" PRIMARY KEY", sql);
}

void export_create_table(FILE *sql, const struct export_table *table,
			 const char *const types[EXPORT_N_TYPES])
{
	fprintf(sql, "CREATE TABLE \"%s\" (", table->name);
	for (size_t i = 0; i < table->n; i++) {
		fputs(i ? ", " : "", sql);
		create_column(sql, &table->columns[i], types[table->columns[i].type]);
	}
	fputs(")", sql);
}
