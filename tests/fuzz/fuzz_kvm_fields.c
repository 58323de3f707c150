/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	fuzz_kvm_fields.c
 * @brief	Any records of events whose fields are said to be anywhere: read within the record.
 *
 * Input: a byte of flags, descriptions of events (event, number of fields, and six bytes for each
 * field: name, offset, size), a byte 0xff, then records: event, CPU, step of time, size, data.
 */
#include <errno.h>
#include <string.h>

#include <event-parse.h>

#include "event_format.h"
#include "kvm_fields.h"
#include "model_checks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FIELD_BYTES	6
#define FIRST_ID	100
#define N_CPUS		4
#define BIG_ENDIAN_FLAG	1
#define END		0xff

static const char *const events[][2] = {
	{ "kvm", "kvm_entry" }, { "kvm", "kvm_exit" }, { "kvm", "kvm_userspace_exit" },
	{ "kvm", "kvm_nested_vmrun" }, { "kvm", "kvm_nested_vmenter" },
	{ "kvm", "kvm_nested_vmexit" }, { "kvm", "kvm_nested_vmexit_inject" },
	{ "kvm", "kvm_write_tsc_offset" }, { "kvm", "kvm_hypercall" },
	{ "kvm", "kvm_hv_hypercall" }, { "kvm", "kvm_xen_hypercall" }, { "sched", "sched_switch" },
	{ "sched", "sched_wakeup" }, { "sched", "sched_wakeup_new" },
	{ "sched", "sched_migrate_task" }, { "power", "cpu_idle" },
	{ "power", "cpu_frequency" }, { "other", "other" },
};

static const char *const names[] = {
	"vcpu_id", "exit_reason", "isa", "esr_ec", "ret", "reason", "errno", "next_tsc_offset",
	"nr", "code", "a0", "next_pid", "prev_state", "next_comm", "pid", "dest_cpu",
	"state", "cpu_id",
};

struct input {
	const uint8_t	*at, *end;
};

static unsigned int take(struct input *in)
{
	return in->at < in->end ? *in->at++ : END;
}

static void add_event(struct tep_handle *tep, struct input *in, unsigned int event)
{
	struct event_format format = { .id = FIRST_ID + (int)event };
	unsigned int n = take(in) % (FORMAT_FIELDS + 1);
	size_t size;
	char *text;

	format.system = events[event][0];
	format.name = events[event][1];
	for (unsigned int i = 0; i < n && in->end - in->at >= FIELD_BYTES; i++) {
		struct event_field *field = &format.fields[i];
		uint16_t offset;

		field->name = names[in->at[0] % (sizeof(names) / sizeof(names[0]))];
		memcpy(&offset, in->at + 1, sizeof(offset));
		/* small, or beyond all reason, or below zero */
		field->offset = in->at[3] % 4 ? offset % 128 : (uint32_t)offset << 16 | in->at[3];
		field->size = in->at[4] % 4 ? in->at[5] % 24 :
			      (uint32_t)in->at[5] << 24 | in->at[4];
		in->at += FIELD_BYTES;
	}
	text = event_format_text(&format, &size);
	tep_parse_event(tep, text, size, format.system);
	free(text);
}

/** Exactly as large as it says, so that reading beyond it is seen. */
static int add_record(const struct kvm_fields *fields, struct kvm_tracker *tracker,
		      struct input *in, int64_t *time_ns)
{
	int id = FIRST_ID + (int)(take(in) % 20);
	int cpu = (int)(take(in) % N_CPUS);
	size_t size, left;
	struct tep_record record = { .cpu = cpu };
	int32_t pid;
	int ret;

	*time_ns += take(in);
	size = take(in) % 80;
	left = (size_t)(in->end - in->at);
	size = size < left ? size : left;
	/* libtracecmd gives no record without a type */
	if (size < 8)
		return 0;
	record.data = malloc(size);
	if (!record.data)
		abort();
	memcpy(record.data, in->at, size);
	in->at += size;
	record.size = (int)size;
	pid = kvm_fields_pid(fields, &record);
	ret = kvm_fields_take(fields, tracker, &record, id, cpu, pid, *time_ns);
	free(record.data);
	return ret;
}

static void check_events(const struct kvm_fields *fields)
{
	const int *ids;
	size_t n = kvm_fields_events(fields, &ids);

	for (size_t i = 0; i < n; i++)
		if (ids[i] < FIRST_ID || ids[i] > FIRST_ID + 20)
			abort();
	if (kvm_fields_is_host(fields) && !n)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, data + size };
	struct tep_handle *tep = tep_alloc();
	struct kvm_tracker *tracker = kvm_tracker_new();
	struct virt_model *model = NULL;
	struct kvm_fields *fields;
	int64_t time_ns = 0;
	unsigned int event;

	if (!tep || !tracker)
		abort();
	tep_set_loglevel(TEP_LOG_NONE);
	if (take(&in) & BIG_ENDIAN_FLAG)
		tep_set_file_bigendian(tep, TEP_BIG_ENDIAN);
	while ((event = take(&in)) != END)
		add_event(tep, &in, event % (sizeof(events) / sizeof(events[0])));
	fields = kvm_fields_new(tep);
	if (!fields)
		abort();
	check_events(fields);
	while (in.at < in.end)
		check(add_record(fields, tracker, &in, &time_ns) != -ENOMEM, "out of memory");
	check(!kvm_tracker_finish(tracker, 0, time_ns + 1, &model), "no model");
	check_model(model);
	virt_model_free(model);
	kvm_tracker_free(tracker);
	kvm_fields_free(fields);
	tep_free(tep);
	return 0;
}
