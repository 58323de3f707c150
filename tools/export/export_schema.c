// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	export_schema.c
 * @brief	The tables of kshark-virt export.
 */
#include <string.h>

#include "array.h"
#include "export_schema.h"

#define INTEGER(name, what)		{ name, EXPORT_INTEGER, NULL, what }
#define BOOLEAN(name, what)		{ name, EXPORT_BOOLEAN, NULL, what }
#define TEXT(name, what)		{ name, EXPORT_TEXT, NULL, what }
#define KEY(name, what)			{ name, EXPORT_INTEGER, "primary", what }
#define OF(name, key, what)		{ name, EXPORT_INTEGER, key, what }

static const struct export_column host[] = {
	INTEGER("schema", "version of this schema"),
	TEXT("file", "the trace, as it was given"),
	TEXT("hypervisor", "xen or kvm"),
	INTEGER("n_pcpus", "physical CPUs"),
	INTEGER("from_ns", "begin of the window, cut to the trace"),
	INTEGER("to_ns", "its end, which is not included"),
	INTEGER("begin_ns", "begin of the trace"),
	INTEGER("end_ns", "end of the trace"),
	BOOLEAN("unsplit", "the trace does not tell who has a physical CPU"),
};

static const struct export_column clock[] = {
	TEXT("name", "tsc: cycles; ns: the trace counts ns"),
	INTEGER("hz", "how many are a second; empty: not known"),
	TEXT("source", "where that is from, as in report; empty: not known"),
	INTEGER("at_0", "what it shows at time 0; empty: not known"),
};

static const struct export_column machine[] = {
	KEY("id", "domain of Xen; of KVM, a number"),
	TEXT("name", "as in report"),
	INTEGER("n_vcpus", "how many it has"),
};

static const struct export_column vcpu[] = {
	KEY("id", "the same whatever window and vCPUs are asked for"),
	OF("machine", "machine.id", "whose it is"),
	INTEGER("number", "within its machine"),
	TEXT("name", "as in report"),
	INTEGER("tid", "its thread; empty on Xen"),
};

static const struct export_column interval[] = {
	OF("vcpu", "vcpu.id", "whose it is"),
	INTEGER("start_ns", "cut to the window; a vCPU's follow each other without a gap"),
	INTEGER("end_ns", "not included; may be start_ns"),
	TEXT("state", "as in report: guest, hypervisor, polling, vmm, preempted, waking, blocked, "
	     "offline, unknown"),
	INTEGER("pcpu", "where it is, or was last; empty: not known"),
	TEXT("detail", "hypervisor, polling, vmm: exit reason; preempted: who took the pCPU; "
	     "blocked: what ended it"),
	OF("who", "vcpu.id", "preempted: who took the pCPU; blocked: who woke it; if a vCPU did"),
	BOOLEAN("is_exit", "begins with a VM exit"),
	BOOLEAN("is_migrated", "first run on another pCPU"),
	BOOLEAN("is_nested", "a guest of the guest executes"),
	BOOLEAN("is_unsplit", "may partly have been another state"),
	BOOLEAN("is_unasked", "a wait that the guest did not ask for"),
};

static const struct export_column exit_columns[] = {
	OF("vcpu", "vcpu.id", "whose it is"),
	INTEGER("time_ns", "when guest code was left, within the window"),
	INTEGER("entry_ns", "when it went on, which may be after the window; empty: not in the "
		"trace"),
	TEXT("reason", "as in report; unknown: not told"),
	INTEGER("cost_ns", "as in report; empty: its entry is not in the trace"),
	INTEGER("pcpu", "where; empty: not known"),
	INTEGER("hypervisor_ns",
		"from the exit to the entry, by state; empty as cost_ns is, or unknown"),
	INTEGER("polling_ns", "no cost"),
	INTEGER("vmm_ns", ""),
	INTEGER("preempted_ns", ""),
	INTEGER("waking_ns", ""),
	INTEGER("blocked_ns", ""),
	INTEGER("offline_ns", ""),
	INTEGER("unasked_ns", "of the last two: no part of what the guest asked for, so a cost"),
};

static const struct export_column migration[] = {
	OF("vcpu", "vcpu.id", "whose it is"),
	INTEGER("time_ns", "first run on the new pCPU, within the window"),
	INTEGER("from_pcpu", ""),
	INTEGER("to_pcpu", ""),
	INTEGER("gap_ns", "since the end of the last run on the old one"),
};

static const struct export_column wake[] = {
	OF("vcpu", "vcpu.id", "who was woken"),
	INTEGER("time_ns", "when, within the window"),
	INTEGER("latency_ns", "until it had a pCPU, or did something else; empty: the trace does "
		"not show it"),
	INTEGER("pcpu", "that it waited for, in the end; empty: not known"),
	TEXT("cause", "as in report --waits; empty: no wait was before it"),
	TEXT("waker", "name of who woke it; empty: not known"),
	OF("who", "vcpu.id", "the same, if a vCPU did"),
	INTEGER("vector", "of the interrupt; empty: not known"),
};

static const struct export_column moment[] = {
	KEY("rank", "1 is the costliest"),
	TEXT("kind", "as in report --worst: exit, steal, wake, migration, lost, offline, tsc"),
	OF("vcpu", "vcpu.id", "empty: lost"),
	INTEGER("time_ns", "where it lies, within the window"),
	INTEGER("start_ns", ""),
	INTEGER("end_ns", ""),
	INTEGER("cost_ns", ""),
	INTEGER("pcpu", "empty: not known"),
	INTEGER("from_pcpu", "of a migration"),
	TEXT("reason", "of an exit"),
	TEXT("culprit", "steal: who had the pCPU longest"),
	BOOLEAN("is_whole", "the trace shows its beginning and its end; else it took at least so "
		"long"),
};

static const struct export_column loss[] = {
	INTEGER("pcpu", "whose records are missing"),
	INTEGER("from_ns", "not cut to the window"),
	INTEGER("to_ns", ""),
	INTEGER("records", "empty: not counted"),
};

static const struct export_column guest_task[] = {
	OF("vcpu", "vcpu.id", "what the guest takes for its CPU"),
	INTEGER("start_ns", "cut to the window"),
	INTEGER("end_ns", ""),
	INTEGER("pid", "within the guest; 0: idle"),
	TEXT("name", "of the task, with its pid"),
	INTEGER("executed_ns", "of this time, what the vCPU executed in its guest"),
};

#define TABLE(name, columns, what)	{ name, what, columns, ARRAY_SIZE(columns) }

const struct export_table export_tables[EXPORT_N_TABLES] = {
	[EXPORT_HOST] = TABLE("host", host, "the trace: one row"),
	[EXPORT_CLOCK] = TABLE("clock", clock, "a clock of the trace"),
	[EXPORT_MACHINE] = TABLE("machine", machine, "a VM of KVM, a domain of Xen"),
	[EXPORT_VCPU] = TABLE("vcpu", vcpu,
			      "a vCPU, also one that was not asked for: rows of others may "
			      "refer to it"),
	[EXPORT_INTERVAL] = TABLE("interval", interval, "a vCPU's time in one state"),
	[EXPORT_EXIT] = TABLE("exit", exit_columns, "a VM exit that begins in the window"),
	[EXPORT_MIGRATION] = TABLE("migration", migration, "a vCPU comes to another pCPU"),
	[EXPORT_WAKE] = TABLE("wake", wake, "a vCPU wants to run again"),
	[EXPORT_MOMENT] = TABLE("moment", moment, "one of the costliest moments"),
	[EXPORT_LOSS] = TABLE("loss", loss, "records of a pCPU are missing"),
	[EXPORT_GUEST_TASK] = TABLE("guest_task", guest_task,
				    "a task has a CPU of its guest, as the guest's own trace "
				    "tells"),
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
