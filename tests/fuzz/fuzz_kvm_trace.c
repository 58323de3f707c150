/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	fuzz_kvm_trace.c
 * @brief	Any bytes as pages of records of a host's trace.dat: a model that adds up.
 *
 * What comes before the records is sound: trace_dat and kvm_fields have targets of their own. What
 * makes libtracecmd crash is left out: commands read in a process of its own, kvm_reader.h.
 */
#include <errno.h>
#include <string.h>

#include <event-parse.h>

#include "event_format.h"
#include "kvm_trace.h"
#include "memory_file.h"
#include "model_checks.h"
#include "trace_dat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PAGE		4096u
#define N_CPUS		2u
#define MAX_PAGES	4u
#define COMMIT_SIZE	0x7ffffffu	/* above are flags */

static const struct event_format formats[] = {
	{ "kvm", "kvm_entry", 1583, { { "vcpu_id", 8, 4 }, { "rip", 16, 8 } } },
	{ "kvm", "kvm_exit", 1574, { { "exit_reason", 8, 4 }, { "isa", 24, 4 },
				     { "vcpu_id", 56, 4 } } },
	{ "kvm", "kvm_userspace_exit", 1514, { { "reason", 8, 4 }, { "errno", 12, 4 } } },
	{ "kvm", "kvm_inj_virq", 1573, { { "vector", 8, 4 }, { "soft", 12, 1 },
					 { "reinjected", 13, 1 } } },
	{ "kvm", "kvm_hypercall", 1582, { { "nr", 8, 8 } } },
	{ "sched", "sched_switch", 319, { { "prev_state", 32, 8 }, { "next_comm", 40, 16 },
					  { "next_pid", 56, 4 } } },
	{ "sched", "sched_wakeup", 321, { { "pid", 24, 4 } } },
	{ "irq_vectors", "local_timer_entry", 60, { { "vector", 8, 4 } } },
};

#define N_FORMATS	(sizeof(formats) / sizeof(formats[0]))

static void put(FILE *out, int bytes, uint64_t value)
{
	for (int i = 0; i < bytes; i++)
		fputc((int)(value >> 8 * i & 0xff), out);
}

static void put_block(FILE *out, int bytes, const char *text)
{
	put(out, bytes, strlen(text));
	fputs(text, out);
}

static void put_systems(FILE *out)
{
	put(out, 4, N_FORMATS);
	for (size_t i = 0; i < N_FORMATS; i++) {
		size_t size;
		char *text = event_format_text(&formats[i], &size);

		fwrite(formats[i].system, 1, strlen(formats[i].system) + 1, out);
		put(out, 4, 1);
		put_block(out, 8, text);
		free(text);
	}
}

/** Version 6 up to the list of CPUs (trace-cmd.dat.v6(5)). */
static void put_head(FILE *out)
{
	fwrite(trace_dat_magic, 1, sizeof(trace_dat_magic), out);
	fwrite("6\0\0\x8", 1, 4, out);
	put(out, 4, PAGE);
	fwrite("header_page", 1, 12, out);
	put_block(out, 8, "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
			  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
			  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
			  "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n");
	fwrite("header_event", 1, 13, out);
	put_block(out, 8, "");
	put(out, 4, 0);
	put_systems(out);
	put(out, 4, 0);
	put(out, 4, 0);
	put_block(out, 8, "17 CPU 0/KVM\n");
	put(out, 4, N_CPUS);
	fwrite("options  ", 1, 10, out);
	put(out, 2, 0);
	fwrite("flyrecord", 1, 10, out);
}

/** A page that claims to have more than its size makes libtraceevent crash. */
static void limit_page(char *page)
{
	uint64_t commit;

	memcpy(&commit, page + 8, sizeof(commit));
	if ((commit & COMMIT_SIZE) > PAGE - 16)
		commit = (commit & ~(uint64_t)COMMIT_SIZE) | (PAGE - 16);
	memcpy(page + 8, &commit, sizeof(commit));
}

/** The pages are dealt to the CPUs in turn. */
static char *make_file(const uint8_t *data, size_t size, size_t *made)
{
	size_t pages = (size + PAGE - 1) / PAGE, n = (pages + N_CPUS - 1) / N_CPUS, at;
	char *file = NULL;
	FILE *out = open_memstream(&file, made);

	if (!out)
		abort();
	put_head(out);
	fflush(out);
	at = (*made + N_CPUS * 16 + PAGE - 1) / PAGE * PAGE;
	for (size_t cpu = 0; cpu < N_CPUS; cpu++) {
		put(out, 8, at + cpu * n * PAGE);
		put(out, 8, n * PAGE);
	}
	fflush(out);
	while (*made < at) {
		fputc(0, out);
		fflush(out);
	}
	fwrite(data, 1, size, out);
	for (; size < n * N_CPUS * PAGE; size++)
		fputc(0, out);
	fclose(out);
	for (; at < *made; at += PAGE)
		limit_page(file + at);
	return file;
}

struct counted {
	uint64_t	records, lost;
};

static int take(void *arg, const struct kvm_trace_record *record)
{
	struct counted *counted = arg;

	check(record->cpu >= 0 && record->cpu < (int)N_CPUS, "a CPU that is none");
	check(record->time_ns >= 0, "a time before the beginning");
	check(record->injection < KVM_TRACE_N_INJECTIONS, "an injection that is none");
	counted->records++;
	return 0;
}

static void lost(void *arg, int cpu, uint64_t records)
{
	struct counted *counted = arg;

	(void)cpu;
	(void)records;
	counted->lost++;
}

static void use(struct kvm_trace *trace)
{
	struct counted first = { 0 }, second = { 0 };
	struct virt_model *model = NULL;
	int ret;

	check(kvm_trace_is_host(trace), "a host that is none");
	check(!kvm_trace_walk(trace, take, lost, &first), "a walk that fails");
	ret = kvm_trace_model(trace, take, lost, &second, &model);
	check(first.records == second.records && first.lost == second.lost, "two walks differ");
	check(ret ? ret == -ENODATA && !first.records : model != NULL, "no model");
	if (!ret)
		check_model(model);
	virt_model_free(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memory_file file;
	struct kvm_trace *trace;
	char error[600] = "", *made;
	size_t n;

	if (size < 16 || size > MAX_PAGES * PAGE)
		return 0;
	made = make_file(data, size, &n);
	file = memory_file(made, n);
	tep_set_loglevel(TEP_LOG_NONE);
	trace = kvm_trace_open(file.path, error, sizeof(error));
	if (trace)
		use(trace);
	else
		check(!strncmp(error, file.path, strlen(file.path)), error);
	kvm_trace_close(trace);
	close(file.fd);
	free(made);
	return 0;
}
