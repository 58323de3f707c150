/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	live_guest.h
 * @brief	The lives of a guest's tasks, from events made by hand. Include cmocka.h before.
 */
#ifndef KSHARK_VIRT_LIVE_GUEST_H
#define KSHARK_VIRT_LIVE_GUEST_H

#include <stdlib.h>

#include "array.h"
#include "virt_guest.h"

/** @by: of a wake-up, the pid of the waker, or none: a timer; of VIRT_LIFE_E_MIGRATE, the CPU */
struct made_event {
	int64_t	time;
	int	cpu, kind, pid, left, by;
};

static inline struct virt_guest live(const struct made_event *made, size_t n)
{
	struct virt_life_events events = { .n = 0 };
	struct virt_guest guest = { .n_cpus = 0 };

	for (size_t i = 0; i < n; i++) {
		struct virt_life_event event = {
			.time_ns = made[i].time, .cpu = (int16_t)made[i].cpu, .pid = made[i].pid,
			.kind = (uint8_t)made[i].kind, .left = (uint8_t)made[i].left,
			.wake = { .waker = made[i].by, .handler = VIRT_NONE,
				  .cpu = (int16_t)made[i].cpu,
				  .cause = made[i].by > 0 ? VIRT_WAKE_TASK : VIRT_WAKE_TIMER },
		};

		if (made[i].kind == VIRT_LIFE_E_MIGRATE)
			event.wake.cpu = (int16_t)made[i].by;
		assert_int_equal(virt_life_events_add(&events, &event), 0);
	}
	assert_int_equal(virt_guest_live(&guest, &events), 0);
	free(events.all);
	return guest;
}

#define LIVE(...) __extension__ ({						\
	static const struct made_event made_[] = { __VA_ARGS__ };		\
										\
	live(made_, ARRAY_SIZE(made_));						\
})

#endif
