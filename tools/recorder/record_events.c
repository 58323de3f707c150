// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_events.c
 * @brief	Choose the events of a KVM host to record.
 */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "record.h"

#define SWITCHES	"sched:sched_switch", "sched:sched_wakeup", "sched:sched_wakeup_new", \
			"sched:sched_migrate_task"
#define POWER		"power:cpu_idle", "power:cpu_frequency"

static const struct {
	const char	*name;
	const char	*events[16];	/* SYSTEM or SYSTEM:EVENT */
	const char	*guest;		/* the same for guests, separated by commas */
} presets[] = {
	/* what each number needs that every report has, see virt_needs.h, and no more */
	{ "minimal", { "kvm:kvm_entry", "kvm:kvm_exit", "kvm:kvm_userspace_exit",
		       "kvm:kvm_vcpu_wakeup", "kvm:kvm_write_tsc_offset", SWITCHES },
	  "sched:sched_switch,irq:irq_handler_entry,irq:irq_handler_exit" },
	/* also what an exit was for, nested guests, interrupts, and wake-ups: recorded by the
	 * waker, while sched_wakeup may be recorded where the woken one will run; how CPUs sleep */
	{ "default", { "kvm", SWITCHES, "sched:sched_waking", POWER }, "sched,irq,timer" },
	/* also what exits for memory wait for, see exit_causes.h; and the block requests */
	{ "memory", { "kvm", SWITCHES, "sched:sched_waking", POWER,
		      "kvmmmu:fast_page_fault", "filemap:mm_filemap_add_to_page_cache", "block",
		      "kmem:mm_page_alloc", "syscalls:sys_enter_ioctl", "syscalls:sys_exit_ioctl" },
	  "sched,irq,timer" },
	/* also what the host does at these times */
	{ "full", { "kvm", "sched", "irq", "irq_vectors", "timer", POWER },
	  "sched,irq,irq_vectors,timer,raw_syscalls" },
};

static const char *preset_name(const struct record *record)
{
	return record->options->events ? record->options->events : "default";
}

const char *record_event_preset(size_t i)
{
	return i < ARRAY_SIZE(presets) ? presets[i].name : NULL;
}

const char *record_guest_events(const struct record *record)
{
	for (size_t i = 0; i < ARRAY_SIZE(presets); i++)
		if (!strcmp(presets[i].name, preset_name(record)))
			return presets[i].guest;
	return presets[1].guest;
}

static int add_event(struct record *record, const char *name, size_t n)
{
	char *copy = strndup(name, n);

	if (!copy || ARRAY_GROW(record->events, record->n_events, record->room_events)) {
		free(copy);
		ksv_error("not enough memory");
		return KSV_EXIT_FILE;
	}
	record->events[record->n_events++] = copy;
	return KSV_EXIT_OK;
}

bool record_is_event(const char *name)
{
	const char *colon = strchr(name, ':');

	if (strchr(name, '/') || *name == '.' || !record_tracing())
		return false;
	return colon ? record_there("%s/events/%.*s/%s", record_tracing(), (int)(colon - name),
				    name, colon + 1) :
	       record_there("%s/events/%s", record_tracing(), name);
}

/** The system of an event that was named alone. */
static bool find_system(const char *event, char *full, size_t size)
{
	static const char *const systems[] = { "kvm", "sched", "irq", "irq_vectors", "timer",
					       "raw_syscalls", "power", "workqueue", "kvmmmu" };

	for (size_t i = 0; i < ARRAY_SIZE(systems); i++) {
		snprintf(full, size, "%s:%s", systems[i], event);
		if (record_is_event(full))
			return true;
	}
	return false;
}

static int add_word(struct record *record, const char *word, size_t n)
{
	char name[128], full[160];

	if (n >= sizeof(name))
		return ksv_usage_error(record->command, "--events: a name is too long");
	memcpy(name, word, n);
	name[n] = '\0';
	if (record_is_event(name))
		return add_event(record, name, n);
	if (!strchr(name, ':') && !strchr(name, '/') && find_system(name, full, sizeof(full)))
		return add_event(record, full, strlen(full));
	return ksv_usage_error(record->command, "--events %s: this kernel has no such event; "
			       "'trace-cmd list -e' lists all", name);
}

static int add_list(struct record *record, const char *list)
{
	int status = KSV_EXIT_OK;

	while (!status) {
		size_t n = strcspn(list, ",");

		status = add_word(record, list, n);
		if (!list[n])
			break;
		list += n + 1;
	}
	return status;
}

int record_events(struct record *record)
{
	int status = KSV_EXIT_OK;

	for (size_t i = 0; i < ARRAY_SIZE(presets); i++) {
		if (strcmp(presets[i].name, preset_name(record)) != 0)
			continue;
		/* kernels differ in what they have */
		for (size_t j = 0; !status && presets[i].events[j]; j++)
			if (record_is_event(presets[i].events[j]))
				status = add_event(record, presets[i].events[j],
						   strlen(presets[i].events[j]));
		return status;
	}
	return add_list(record, record->options->events);
}
