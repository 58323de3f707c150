// SPDX-License-Identifier: LGPL-2.1-or-later
/* A search for an alignment that is under way, and what its parts should say, by definition. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "clock_small.h"

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t greatest(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

void clock_small_begin(struct clock_search *search, const struct virt_clock_problem *problem)
{
	*search = (struct clock_search){
		.problem = problem, .events = true,
		.room = { .n_most = SIZE_MAX, .work = UINT64_MAX },
		.host_begin = INT64_MAX, .host_end = INT64_MIN,
		.guest_begin = INT64_MAX, .guest_end = INT64_MIN,
		.pairing = calloc((size_t)problem->n_cpus + 1, sizeof(*search->pairing)),
	};
	assert_non_null(search->pairing);
	assert_int_equal(clock_tracks_make(problem, &search->tracks), 0);
	for (int32_t v = 0; v < problem->n_vcpus; v++) {
		const struct virt_clock_vcpu *vcpu = &problem->vcpus[v];

		if (!vcpu->n)
			continue;
		search->host_begin = least(search->host_begin, vcpu->changes[0].time);
		search->host_end = greatest(search->host_end, vcpu->changes[vcpu->n - 1].time);
	}
	for (int32_t c = 0; c < problem->n_cpus; c++) {
		const struct virt_clock_cpu *cpu = &problem->cpus[c];

		search->pairing[c] = cpu->vcpu;
		if (!cpu->n)
			continue;
		search->guest_begin = least(search->guest_begin, cpu->times[0]);
		search->guest_end = greatest(search->guest_end, cpu->times[cpu->n - 1]);
	}
}

void clock_small_end(struct clock_search *search)
{
	clock_tracks_free(&search->tracks);
	free(search->pairing);
	free(search->pool);
	free(search->sums);
	free(search->best);
	clock_room_free(&search->room);
}

static int64_t score_at(const struct clock_vcpu *vcpu, int64_t time)
{
	int32_t where = VIRT_CLOCK_UNKNOWN;

	for (size_t i = 0; i < vcpu->known.n && vcpu->known.changes[i].time <= time; i++)
		where = vcpu->known.changes[i].where;
	return where == VIRT_CLOCK_INSIDE ? vcpu->inside :
	       where == VIRT_CLOCK_OUTSIDE ? -vcpu->outside : 0;
}

int64_t clock_small_score(const struct clock_vcpu *vcpus, const struct clock_sample *samples,
			  int n, const struct clock_rate *rate, int64_t offset)
{
	int64_t score = 0;

	for (int s = 0; s < n; s++)
		for (size_t i = 0; samples[s].vcpu >= 0 && i < samples[s].n; i++)
			score += score_at(&vcpus[samples[s].vcpu],
					  clock_apply(rate, samples[s].times[i]) + offset);
	return score;
}
