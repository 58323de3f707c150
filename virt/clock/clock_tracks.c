// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	clock_tracks.c
 * @brief	List events and handlers, and the times at which they are possible.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock_tracks.h"

/** Xen signals all events of devices to Linux by its callback, which Linux names. */
#define XEN_CALLBACK	0xf3

/** Which vectors the guest's handlers name, and which kinds there are of them. */
struct kinds {
	bool		named[256];
	int32_t		vectors[CLOCK_IRQ_KINDS];
	int		n;
};

/* --- kinds ----------------------------------------------------------------------------------- */

/** Can the handlers of a kind be for this vector? */
static bool accepts(const struct kinds *kinds, int kind, int16_t vector)
{
	int32_t wanted = kinds->vectors[kind];

	if (wanted == VIRT_CLOCK_DEVICE)
		return vector == XEN_CALLBACK || !virt_linux_vector(vector);
	return wanted == VIRT_CLOCK_ANY ? vector < 0 || vector > 255 || !kinds->named[vector] :
					  vector == wanted;
}

/** Is anything of a kind injected? Else its interrupts take another way, as with APICv. */
static bool is_injected(const struct virt_clock_problem *problem, const struct kinds *kinds,
			int kind)
{
	for (int32_t v = 0; v < problem->n_vcpus; v++)
		for (size_t i = 0; i < problem->vcpus[v].n_injections; i++)
			if (accepts(kinds, kind, problem->vcpus[v].injections[i].vector))
				return true;
	return false;
}

static void find_kinds(const struct virt_clock_problem *problem, struct kinds *kinds)
{
	bool seen[256 + 2] = { false };

	memset(kinds, 0, sizeof(*kinds));
	for (int32_t c = 0; c < problem->n_cpus; c++) {
		const struct virt_clock_cpu *cpu = &problem->cpus[c];

		for (size_t i = 0; i < cpu->n_handlers; i++) {
			int32_t vector = cpu->handlers[i].vector;

			if (vector < VIRT_CLOCK_DEVICE || vector > 255)
				continue;
			seen[vector + 2] = true;
			if (vector >= 0)
				kinds->named[vector] = true;
		}
	}
	for (int32_t i = 0; i < 256 + 2 && kinds->n < CLOCK_IRQ_KINDS; i++) {
		kinds->vectors[kinds->n] = i - 2;
		if (seen[i] && is_injected(problem, kinds, kinds->n))
			kinds->n++;
	}
}

/* --- tracks ---------------------------------------------------------------------------------- */

static void split_handlers(const struct virt_clock_cpu *cpu, const struct kinds *kinds,
			   struct virt_clock_cpu *tracks, int64_t **room)
{
	for (int k = 0; k < kinds->n; k++) {
		tracks[k].times = *room;
		for (size_t i = 0; i < cpu->n_handlers; i++)
			if (cpu->handlers[i].vector == kinds->vectors[k])
				(*room)[tracks[k].n++] = cpu->handlers[i].time;
		*room += tracks[k].n;
	}
}

/** Where the window after an injection ends: @at is the change in force then, or -1. */
static int64_t window_end(const struct virt_clock_vcpu *vcpu, int64_t at, size_t i)
{
	int64_t entry = vcpu->injections[i].time_ns, end;

	if (at >= 0 && vcpu->changes[at].where == VIRT_CLOCK_OUTSIDE) {
		for (at++; at < (int64_t)vcpu->n; at++)
			if (vcpu->changes[at].where != VIRT_CLOCK_OUTSIDE)
				break;
		if (at < (int64_t)vcpu->n)
			entry = vcpu->changes[at].time;
	}
	end = entry + limits.irq_window;
	/* no interrupt is injected before the handler of another one has begun */
	if (i + 1 < vcpu->n_injections && vcpu->injections[i + 1].time_ns < end)
		end = vcpu->injections[i + 1].time_ns;
	return end;
}

struct windows {
	struct virt_clock_change *changes;
	size_t		n;
};

static void put_state(struct windows *windows, int64_t time, int32_t where)
{
	if (windows->n && windows->changes[windows->n - 1].where == where)
		return;
	if (windows->n && windows->changes[windows->n - 1].time == time) {
		windows->changes[windows->n - 1].where = where;
		return;
	}
	windows->changes[windows->n++] = (struct virt_clock_change){ time, where };
}

/** Bring a track up to @time, from where on the vCPU is in another state. */
static void follow(struct windows *windows, int64_t time, bool unknown, int64_t *end)
{
	if (*end <= time) {
		put_state(windows, *end, unknown ? VIRT_CLOCK_UNKNOWN : VIRT_CLOCK_OUTSIDE);
		*end = INT64_MAX;
	}
}

/** What is unknown of the vCPU is unknown of its injections. */
static void make_windows(const struct virt_clock_vcpu *vcpu, const struct kinds *kinds, int kind,
			struct windows *windows)
{
	int64_t end = INT64_MAX;	/* of the present window; there is none */
	bool unknown = true;
	size_t at = 0;

	for (size_t i = 0; i <= vcpu->n_injections; i++) {
		int64_t time = i < vcpu->n_injections ? vcpu->injections[i].time_ns : INT64_MAX;

		for (; at < vcpu->n && vcpu->changes[at].time <= time; at++) {
			const struct virt_clock_change *change = &vcpu->changes[at];

			follow(windows, change->time, unknown, &end);
			unknown = change->where == VIRT_CLOCK_UNKNOWN;
			put_state(windows, change->time, unknown ? VIRT_CLOCK_UNKNOWN :
			    end == INT64_MAX ? VIRT_CLOCK_OUTSIDE : VIRT_CLOCK_INSIDE);
		}
		if (i == vcpu->n_injections)
			break;
		follow(windows, time, unknown, &end);
		if (!accepts(kinds, kind, vcpu->injections[i].vector))
			continue;
		end = window_end(vcpu, (int64_t)at - 1, i);
		if (end <= time)
			end = INT64_MAX;
		else if (!unknown)
			put_state(windows, time, VIRT_CLOCK_INSIDE);
	}
	if (end != INT64_MAX)
		put_state(windows, end, unknown ? VIRT_CLOCK_UNKNOWN : VIRT_CLOCK_OUTSIDE);
}

/** Return: 0 or -ENOMEM. */
static int make_vcpus(const struct virt_clock_problem *problem, const struct kinds *kinds,
		      struct clock_tracks *tracks)
{
	struct virt_clock_change *room;
	size_t n = 1;

	for (int32_t v = 0; v < problem->n_vcpus; v++)
		n += problem->vcpus[v].n + 2 * problem->vcpus[v].n_injections + 1;
	tracks->changes = room = calloc(n * (size_t)kinds->n + 1, sizeof(*room));
	tracks->vcpus = calloc((size_t)problem->n_vcpus * (size_t)tracks->stride + 1,
			       sizeof(*tracks->vcpus));
	if (!room || !tracks->vcpus)
		return -ENOMEM;
	for (int32_t v = 0; v < problem->n_vcpus; v++) {
		struct clock_vcpu *vcpu = &tracks->vcpus[v * tracks->stride];

		vcpu->known = problem->vcpus[v];
		clock_weigh(vcpu);
		for (int k = 0; k < kinds->n; k++) {
			struct windows windows = { room, 0 };

			make_windows(&problem->vcpus[v], kinds, k, &windows);
			vcpu[1 + k].known.changes = room;
			vcpu[1 + k].known.n = windows.n;
			clock_weigh_irqs(&vcpu[1 + k]);
			room += windows.n;
		}
	}
	return 0;
}

int clock_tracks_make(const struct virt_clock_problem *problem, struct clock_tracks *tracks)
{
	struct kinds kinds;
	int64_t *room;
	size_t n = 1;

	find_kinds(problem, &kinds);
	memset(tracks, 0, sizeof(*tracks));
	tracks->stride = 1 + kinds.n;
	for (int32_t c = 0; c < problem->n_cpus; c++)
		n += problem->cpus[c].n_handlers;
	tracks->times = room = malloc(n * sizeof(*room));
	tracks->cpus = calloc((size_t)problem->n_cpus * (size_t)tracks->stride + 1,
			      sizeof(*tracks->cpus));
	if (!room || !tracks->cpus || make_vcpus(problem, &kinds, tracks))
		return -ENOMEM;
	for (int32_t c = 0; c < problem->n_cpus; c++) {
		struct virt_clock_cpu *track = &tracks->cpus[c * tracks->stride];

		track->times = problem->cpus[c].times;
		track->n = problem->cpus[c].n;
		split_handlers(&problem->cpus[c], &kinds, track + 1, &room);
	}
	return 0;
}

void clock_tracks_free(struct clock_tracks *tracks)
{
	free(tracks->cpus);
	free(tracks->vcpus);
	free(tracks->times);
	free(tracks->changes);
	memset(tracks, 0, sizeof(*tracks));
}
