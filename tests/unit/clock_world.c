// SPDX-License-Identifier: LGPL-2.1-or-later
/* Made-up hosts and guests whose clocks differ as one likes. */
#include <stdlib.h>

#include "clock_world.h"

#define IN	VIRT_CLOCK_INSIDE
#define OUT	VIRT_CLOCK_OUTSIDE
#define UNKNOWN	VIRT_CLOCK_UNKNOWN

static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/** 1 to 2 * mean, and now and then ten times as much, as work and waiting are. */
static int64_t some(uint64_t *state, int64_t mean)
{
	int64_t value = 1 + (int64_t)(next(state) % (uint64_t)(2 * mean));

	return next(state) % 16 ? value : 10 * value;
}

static int compare_times(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int64_t guest_time(const struct clock_recipe *recipe, int64_t host)
{
	/* guest = (host - offset) / (1 + ppm) */
	return (int64_t)((long double)(host - recipe->offset) /
			 (1 + (long double)recipe->ppm * 1e-6L));
}

/** An interrupt: injected 1 us before a stretch at @t, with its handler 5 to 10 us after that. */
static int64_t interrupt(struct clock_world *world, const struct clock_recipe *recipe, int v,
			 int64_t t, bool lost, uint64_t *state)
{
	bool device = (int)(next(state) % 100) < recipe->device_percent;
	int16_t vector = device ? CLOCK_WORLD_DEVICE : CLOCK_WORLD_TIMER;
	int64_t time = guest_time(recipe, t + 5000 + (int64_t)(next(state) % 5000));

	if ((int)(next(state) % 100) >= recipe->missed_percent && !lost)
		world->injections[v][world->vcpus[v].n_injections++] = (struct virt_injection){
			.time_ns = t - 1000, .vector = vector,
		};
	world->handlers[v][world->cpus[v].n_handlers++] = (struct virt_clock_handler){
		time, recipe->has_vectors ? vector : device ? VIRT_CLOCK_DEVICE : VIRT_CLOCK_ANY,
	};
	return time;
}

/** A time in the stretch from @t on, if there is one between its margins, else its middle. */
static int64_t within(const struct clock_recipe *recipe, int64_t t, int64_t in, uint64_t *state)
{
	int64_t room = in - 2 * recipe->margin;

	return room > 0 ? t + recipe->margin + (int64_t)(next(state) % (uint64_t)room) : t + in / 2;
}

/** What is done at @t, since the begin. */
static struct clock_phase phase_at(const struct clock_recipe *recipe, int64_t t)
{
	const struct clock_phase *phase = recipe->phases;

	if (!phase)
		return (struct clock_phase){ recipe->length, recipe->in, recipe->out,
					     recipe->percent, recipe->events };
	while (t >= phase->length) {
		t -= phase->length;
		phase++;
		if (!phase->length)
			phase = recipe->phases;
	}
	return *phase;
}

/** The most that any phase puts into a time. */
static size_t room_for(const struct clock_recipe *recipe, int *events)
{
	struct clock_phase phase = phase_at(recipe, 0);
	int64_t least = phase.in + phase.out;

	*events = phase.events;
	for (const struct clock_phase *p = recipe->phases; p && p->length; p++) {
		least = p->in + p->out < least ? p->in + p->out : least;
		*events = p->events > *events ? p->events : *events;
	}
	return (size_t)(recipe->length / least) * 3 + 100;
}

static void make_cpu(struct clock_world *world, const struct clock_recipe *recipe, int v,
		     uint64_t *state)
{
	int events;
	size_t n = 0, m = 0, room = room_for(recipe, &events);
	struct virt_clock_change *changes = calloc(room, sizeof(*changes));
	int64_t *times = calloc(room * ((size_t)events + 2), sizeof(*times));
	int64_t t = CLOCK_WORLD_BEGIN, end = t + recipe->length;

	world->injections[v] = calloc(room, sizeof(*world->injections[v]));
	world->handlers[v] = calloc(room, sizeof(*world->handlers[v]));
	world->vcpus[v] = (struct virt_clock_vcpu){ .injections = world->injections[v] };
	world->cpus[v] = (struct virt_clock_cpu){ .handlers = world->handlers[v], .vcpu = v };
	if (!changes || !times || !world->injections[v] || !world->handlers[v])
		abort();
	while (t < end && n + 4 < room) {
		struct clock_phase phase = phase_at(recipe, t - CLOCK_WORLD_BEGIN);
		int64_t in = recipe->periodic ? phase.in : some(state, phase.in);
		int64_t out = recipe->periodic ? phase.out : some(state, phase.out);
		bool lost = (int)(next(state) % 100) < recipe->lost_percent;

		changes[n++] = (struct virt_clock_change){ t, lost ? UNKNOWN : IN };
		changes[n++] = (struct virt_clock_change){ t + in, lost ? UNKNOWN : OUT };
		for (int i = 0; (int)(next(state) % 100) < phase.percent && i < phase.events;
		     i++) {
			int64_t host = within(recipe, t, in, state);

			if (recipe->wrong && !(next(state) % (uint64_t)recipe->wrong))
				host = t + (int64_t)(next(state) % (uint64_t)(in + out));
			if (recipe->jitter)
				host += (int64_t)(next(state) % (uint64_t)(2 * recipe->jitter)) -
					recipe->jitter;
			times[m++] = guest_time(recipe, host);
		}
		if (recipe->irqs)
			times[m++] = interrupt(world, recipe, v, t, lost, state);
		if (recipe->periodic && recipe->events)
			times[m++] = guest_time(recipe, t + in - 1000);
		t += in + out;
	}
	changes[n] = (struct virt_clock_change){ changes[n - 1].time + recipe->out, UNKNOWN };
	n++;
	qsort(times, m, sizeof(*times), compare_times);
	world->changes[v] = changes;
	world->times[v] = times;
	world->vcpus[v].changes = changes;
	world->vcpus[v].n = n;
	world->cpus[v].times = times;
	world->cpus[v].n = m;
}

static void cut(struct clock_world *world, int64_t from, int64_t to)
{
	for (int32_t v = 0; v < world->problem.n_vcpus; v++) {
		struct virt_clock_change *changes = world->changes[v];
		size_t n = 0;

		for (size_t i = 0; i < world->vcpus[v].n; i++)
			if (changes[i].time >= CLOCK_WORLD_BEGIN + from &&
			    changes[i].time < CLOCK_WORLD_BEGIN + to)
				changes[n++] = changes[i];
		changes[n++] = (struct virt_clock_change){ CLOCK_WORLD_BEGIN + to,
							   VIRT_CLOCK_UNKNOWN };
		world->vcpus[v].n = n;
	}
}

void clock_world_make(struct clock_world *world, const struct clock_recipe *recipe)
{
	uint64_t state = 88172645463325252u + recipe->seed * 1000003u;

	for (int v = 0; v < recipe->n; v++)
		make_cpu(world, recipe, v, &state);
	world->problem = (struct virt_clock_problem){
		.vcpus = world->vcpus, .n_vcpus = recipe->n, .cpus = world->cpus,
		.n_cpus = recipe->n, .work = &world->work,
	};
	if (recipe->host_to)
		cut(world, recipe->host_from, recipe->host_to);
	world->work = clock_world_work(&world->problem);
}

uint64_t clock_world_work(const struct virt_clock_problem *problem)
{
	uint64_t n = 0;

	for (int32_t v = 0; v < problem->n_vcpus; v++)
		n += problem->vcpus[v].n + problem->vcpus[v].n_injections;
	for (int32_t c = 0; c < problem->n_cpus; c++)
		n += problem->cpus[c].n + problem->cpus[c].n_handlers;
	return 600000000 + 64 * 1500 * n;
}

void clock_world_drop(struct clock_world *world)
{
	for (int v = 0; v < world->problem.n_cpus; v++) {
		free(world->changes[v]);
		free(world->times[v]);
		free(world->injections[v]);
		free(world->handlers[v]);
	}
}

int64_t clock_world_offset(const struct clock_recipe *recipe, int64_t guest_time)
{
	return virt_clock_offset_at(recipe->offset, recipe->ppm, 0, guest_time);
}

int64_t clock_world_error(const struct clock_recipe *recipe,
			  const struct virt_clock_alignment *alignment)
{
	int64_t to = recipe->host_to ? recipe->host_to : recipe->length;
	int64_t host = CLOCK_WORLD_BEGIN + (recipe->host_from + to) / 2;

	return virt_clock_host_time(virt_clock_offset_at(alignment->offset, alignment->drift_ppm,
							 alignment->at, 0), alignment->drift_ppm,
				    guest_time(recipe, host)) - host;
}
