// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_wakeups.c
 * @brief	Find the wake-ups within a window, with their wakers.
 */
#include <errno.h>

#include "virt_search.h"
#include "virt_wakeups.h"

/** On which pCPU a vCPU or task is, or VIRT_NONE. */
static int16_t pcpu_of(const struct virt_model *model, int32_t who, int64_t time_ns)
{
	for (int32_t pcpu = 0; pcpu < virt_model_n_pcpus(model); pcpu++) {
		const struct virt_occupant *occupant = virt_pcpu_at(model, pcpu, time_ns, NULL);

		if (occupant && occupant->known && occupant->vcpu == who)
			return (int16_t)pcpu;
	}
	return VIRT_NONE;
}

/** Where the woken vCPU comes to, and when. */
static void find_run(const struct virt_model *model, struct virt_wakeup *wakeup)
{
	int64_t start_ns = wakeup->time_ns, end_ns;
	const struct virt_interval *interval = virt_vcpu_at(model, wakeup->vcpu, start_ns, &end_ns);

	while (interval && interval->state == VIRT_WAKING) {
		start_ns = end_ns;
		interval = virt_vcpu_at(model, wakeup->vcpu, start_ns, &end_ns);
	}
	wakeup->to = VIRT_NONE;
	if (!interval || !virt_state_on_pcpu(interval->state))
		return;
	wakeup->to = interval->pcpu;
	wakeup->run_ns = start_ns;
}

/** Return: does the trace show who ended the wait? */
static bool take_wait(const struct virt_model *model, int32_t vcpu, int64_t end_ns,
		      struct virt_wakeup *wakeup)
{
	const struct virt_interval *last = virt_vcpu_at(model, vcpu, end_ns - 1, NULL);
	const struct virt_wake *wake = virt_model_wake(model, last->detail);

	if (!wake || wake->who == VIRT_NONE)
		return false;
	*wakeup = (struct virt_wakeup){
		.time_ns = end_ns, .wait = *last, .vcpu = vcpu, .who = wake->who,
		.from = pcpu_of(model, wake->who, end_ns),
	};
	find_run(model, wakeup);
	return true;
}

/** Where the search for waits that end in the window begins: before the one in force before it. */
static struct virt_search_place first_place(const struct virt_model *model, int32_t vcpu,
					    const struct virt_search *search, int64_t from_ns)
{
	struct virt_search_place place = { from_ns, vcpu, 0 };
	struct virt_search_hit hit;

	/* it ends at the beginning, or later */
	if (virt_search_prev(model, search, &place, &hit) == 1 && hit.end_ns >= from_ns)
		place = (struct virt_search_place){ hit.place.time_ns - 1, vcpu, 0 };
	return place;
}

int virt_wakeups(const struct virt_model *model, const int32_t *of, size_t n_of, int64_t from_ns,
		 int64_t to_ns, struct virt_wakeup *found, int most)
{
	size_t n_vcpus = of ? n_of : (size_t)virt_model_n_vcpus(model);
	int n = 0, seen = 0;

	for (size_t i = 0; i < n_vcpus; i++) {
		const int32_t vcpu = of ? of[i] : (int32_t)i;
		const struct virt_search search = {
			.what = VIRT_BLOCKED, .reason = VIRT_NONE, .min_ns = 1,
			.of = &vcpu, .n_of = 1,
		};
		struct virt_search_hit hit = {
			.place = first_place(model, vcpu, &search, from_ns),
		};

		while (virt_search_next(model, &search, &hit.place, &hit) == 1 &&
		       hit.end_ns < to_ns) {
			if (seen++ == most)
				return -E2BIG;
			n += take_wait(model, vcpu, hit.end_ns, &found[n]);
		}
	}
	return n;
}
