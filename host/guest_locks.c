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

static int put_locks(struct virt_guest *guest, const struct host_locks *locks)
{
	struct virt_lock_wait *waits = calloc(locks->n + 1, sizeof(*waits));

	if (!waits)
		return -ENOMEM;
	for (size_t i = 0; i < locks->n; i++) {
		const struct host_lock_wait *wait = &locks->waits[i];
		uint32_t kind = host_lock_kind_of(wait->flags);

		waits[i] = (struct virt_lock_wait){
			.begin_ns = wait->begin_ns, .end_ns = wait->end_ns, .lock = wait->lock,
			.pid = wait->pid,
			.kind = host_lock_kind_name(kind), .how = (uint8_t)host_lock_how(kind),
			.cpu = wait->cpu, .has_failed = wait->has_failed,
		};
	}
	return virt_guest_set_locks(guest, waits, locks->n);
}

int guest_lives_add_locks(struct guest_lives *lives, const struct host_trace *host,
			  const struct virt_model *model)
{
	struct host_locks locks = { .n = 0 };
	int ret = host->kvm ? host_locks_read(&locks, host->kvm, NULL, NULL) : 0;

	if (!ret && locks.n && !lives->guests.host)
		ret = guest_lives_add_host(lives, host, model);
	if (!ret && locks.n)
		ret = put_locks(&lives->host, &locks);
	host_locks_free(&locks);
	for (int i = 0; i < lives->guests.n && !ret; i++) {
		ret = host_locks_read(&locks, lives->sources[i].trace, axis_time, host);
		if (!ret && locks.n)
			ret = put_locks(&lives->guests.all[i], &locks);
		host_locks_free(&locks);
	}
	return ret;
}
