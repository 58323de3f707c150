// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	guest_locks.c
 * @brief	Waits for locks of a host and its guests, for "why".
 */
#include <errno.h>
#include <stdlib.h>

#include "guest_lives.h"
#include "guest_tasks.h"
#include "host_locks.h"

static int64_t axis_time(const void *arg, int64_t time_ns)
{
	return guest_tasks_time(arg, time_ns);
}

int guest_locks_read(struct guest_locks *waits, struct kvm_trace *trace,
		     int64_t (*time)(const void *arg, int64_t time_ns), const void *arg)
{
	struct host_locks locks = { .n = 0 };
	int ret = host_locks_read(&locks, trace, time, arg);

	*waits = (struct guest_locks){ .all = NULL };
	if (!ret && locks.n) {
		waits->all = calloc(locks.n, sizeof(*waits->all));
		ret = waits->all ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < locks.n && !ret; i++) {
		const struct host_lock_wait *wait = &locks.waits[i];
		uint32_t kind = host_lock_kind_of(wait->flags);

		waits->all[waits->n++] = (struct virt_lock_wait){
			.begin_ns = wait->begin_ns, .end_ns = wait->end_ns, .lock = wait->lock,
			.pid = wait->pid,
			.kind = host_lock_kind_name(kind), .how = (uint8_t)host_lock_how(kind),
			.cpu = wait->cpu, .has_failed = wait->has_failed,
		};
	}
	host_locks_free(&locks);
	return ret;
}

int guest_locks_put(struct virt_guest *guest, struct guest_locks *waits)
{
	int ret = waits->n ? virt_guest_set_locks(guest, waits->all, waits->n) : 0;

	*waits = (struct guest_locks){ .all = NULL };
	return ret;
}

int guest_lives_add_locks(struct guest_lives *lives, const struct host_trace *host,
			  const struct virt_model *model)
{
	struct guest_locks locks = { .n = 0 };
	int ret = host->kvm ? guest_locks_read(&locks, host->kvm, NULL, NULL) : 0;

	if (!ret && locks.n && !lives->guests.host)
		ret = guest_lives_add_host(lives, host, model);
	if (!ret)
		ret = guest_locks_put(&lives->host, &locks);
	free(locks.all);
	for (int i = 0; i < lives->guests.n && !ret; i++) {
		ret = guest_locks_read(&locks, lives->sources[i].trace, axis_time, host);
		if (!ret)
			ret = guest_locks_put(&lives->guests.all[i], &locks);
		free(locks.all);
	}
	return ret;
}
