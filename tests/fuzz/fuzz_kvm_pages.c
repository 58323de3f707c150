/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	fuzz_kvm_pages.c
 * @brief	Any bytes as pages of the kernel's trace buffers: they are read within the page, and
 *		the models made of them have intervals that fill the time of every vCPU.
 *
 * Input, page by page: CPU, size (2 bytes), that many bytes; the bit 0x80 of the CPU says that
 * a model is made before.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "event_format.h"
#include "kvm_pages.h"
#include "model_checks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PAGE	4096
#define N_CPUS	3

/** As Linux 6.1 has them. */
static const struct event_format formats[] = {
	{ "kvm", "kvm_entry", 1583, { { "vcpu_id", 8, 4 } } },
	{ "kvm", "kvm_exit", 1574, { { "exit_reason", 8, 4 }, { "isa", 24, 4 },
				     { "vcpu_id", 56, 4 } } },
	{ "kvm", "kvm_userspace_exit", 1514, { { "reason", 8, 4 }, { "errno", 12, 4 } } },
	{ "kvm", "kvm_nested_vmexit", 1561, { { "exit_reason", 8, 4 } } },
	{ "sched", "sched_switch", 319, { { "prev_state", 32, 8 }, { "next_comm", 40, 16 },
					  { "next_pid", 56, 4 } } },
	{ "sched", "sched_wakeup", 321, { { "comm", 8, 16 }, { "pid", 24, 4 } } },
	{ "sched", "sched_migrate_task", 318, { { "pid", 24, 4 }, { "dest_cpu", 36, 4 } } },
};

#define N_EVENTS	(sizeof(formats) / sizeof(formats[0]))

static const char *const events[N_EVENTS] = {
	"kvm:kvm_entry", "kvm:kvm_exit", "kvm:kvm_userspace_exit", "kvm:kvm_nested_vmexit",
	"sched:sched_switch", "sched:sched_wakeup", "sched:sched_migrate_task",
};

static const char head[] =
	"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
	"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
	"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
	"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";

static void make_folder(char *path)
{
	check(!mkdir(path, 0700) || errno == EEXIST, "no folder");
}

static void write_file(const char *path, const char *text, size_t size)
{
	FILE *file = fopen(path, "w");

	check(file && fwrite(text, 1, size, file) == size && !fclose(file), "no file");
}

static char folder[] = "/tmp/fuzz-pages-XXXXXX";

static void remove_folder(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", folder);
	check(!system(command), "a folder is left");
}

/** The kernel's formats of its events, as long as this process lives. */
static void make_formats(void)
{
	char path[PATH_MAX];

	check(mkdtemp(folder), "no folder");
	check(!atexit(remove_folder), "out of memory");
	snprintf(path, sizeof(path), "%s/events", folder);
	make_folder(path);
	snprintf(path, sizeof(path), "%s/events/header_page", folder);
	write_file(path, head, sizeof(head) - 1);
	for (size_t i = 0; i < N_EVENTS; i++) {
		size_t size;
		char *text = event_format_text(&formats[i], &size);

		snprintf(path, sizeof(path), "%s/events/%s", folder, formats[i].system);
		make_folder(path);
		snprintf(path, sizeof(path), "%s/events/%s/%s", folder, formats[i].system,
			 formats[i].name);
		make_folder(path);
		snprintf(path, sizeof(path), "%s/events/%s/%s/format", folder, formats[i].system,
			 formats[i].name);
		write_file(path, text, size);
		free(text);
	}
}

static struct kvm_pages *open_pages(void)
{
	static bool is_made;
	struct kvm_pages *pages;
	char error[256];

	if (!is_made)
		make_formats();
	is_made = true;
	pages = kvm_pages_new(folder, events, N_EVENTS, error, sizeof(error));
	check(pages, error);
	return pages;
}

/** Of all that came up to some time before the latest record. */
static void look(struct kvm_pages *pages, struct kvm_follow *follow, int64_t *begin_ns)
{
	int64_t last_ns = kvm_pages_last(pages), next_ns = kvm_follow_next(follow);
	struct virt_model *model = NULL;
	int ret;

	if (last_ns == INT64_MIN || last_ns < kvm_follow_fed(follow))
		return;
	if (*begin_ns == INT64_MIN)
		*begin_ns = next_ns;
	/* records without a thread, which add nothing */
	if (*begin_ns == INT64_MAX) {
		*begin_ns = INT64_MIN;
		return;
	}
	kvm_follow_has_strangers(follow);
	ret = kvm_follow_feed(follow, last_ns);
	/* more machines than there can be */
	if (ret == -E2BIG)
		return;
	check(!ret, "not taken");
	check(!kvm_follow_model(follow, *begin_ns, last_ns, &model), "no model");
	for (int32_t i = 0; i < virt_model_n_vcpus(model); i++)
		check_vcpu(model, i);
	for (int32_t i = 0; i < virt_model_n_pcpus(model); i++)
		check_pcpu(model, i);
	virt_model_free(model);
	check(!kvm_follow_forget(follow, last_ns), "out of memory");
	*begin_ns = last_ns;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct kvm_follow_options options = {
		.kinds = VIRT_RECORD_BIT(VIRT_RECORD_SWITCH) |
			 VIRT_RECORD_BIT(VIRT_RECORD_ENTRY) |
			 VIRT_RECORD_BIT(VIRT_RECORD_EXIT),
		.n_cpus = N_CPUS,
	};
	struct kvm_pages *pages = open_pages();
	struct kvm_follow *follow = kvm_follow_new(&options);
	const uint8_t *end = data + size;
	int64_t begin_ns = INT64_MIN;

	check(follow, "out of memory");
	while (end - data > 3) {
		int cpu = (data[0] & 0x7f) % N_CPUS;
		size_t n = data[1] | (size_t)data[2] << 8, left = (size_t)(end - data) - 3;
		/* exactly as large as it is, so that reading beyond it is seen */
		uint8_t *page = calloc(1, PAGE);

		check(page, "out of memory");
		if (data[0] & 0x80)
			look(pages, follow, &begin_ns);
		n = n < left ? n : left;
		memcpy(page, data + 3, n < PAGE ? n : PAGE);
		check(!kvm_pages_take(pages, follow, cpu, page, PAGE), "not taken");
		data += 3 + n;
		free(page);
	}
	look(pages, follow, &begin_ns);
	kvm_follow_free(follow);
	kvm_pages_free(pages);
	return 0;
}
