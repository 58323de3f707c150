// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	align_clocks.c
 * @brief	Example of libkshark-virt: where a guest's clock stands, from when its vCPU ran.
 *
 * A made-up vCPU executes its guest in 400 irregular stretches, in each of which the guest
 * records three events. Its clock is 123456789 ns behind the host's.
 *
 * Usage: align_clocks
 *
 * Build: cc -o align_clocks align_clocks.c $(pkg-config --cflags --libs kshark-virt)
 */
#include <stdio.h>

#include <kshark-virt/clock_align.h>
#include <kshark-virt/virt_delivery.h>

#define STRETCHES	400
#define BEHIND		123456789

/** Numbers without a pattern, the same ones each time. */
static int64_t next(void)
{
	static uint64_t state = 1;

	state = state * 6364136223846793005u + 1442695040888963407u;
	return (int64_t)(state >> 44);
}

int main(void)
{
	struct virt_clock_change changes[2 * STRETCHES];
	int64_t events[3 * STRETCHES], time = 1000000000;
	struct virt_clock_vcpu vcpu = { .changes = changes, .n = 2 * STRETCHES };
	struct virt_clock_cpu cpu = { .times = events, .n = 3 * STRETCHES, .vcpu = VIRT_NONE };
	struct virt_clock_problem problem = {
		.vcpus = &vcpu, .n_vcpus = 1, .cpus = &cpu, .n_cpus = 1,
	};
	struct virt_clock_alignment found;
	struct virt_clock_evidence evidence;

	for (int i = 0; i < STRETCHES; i++) {
		int64_t length = 1000 + next();

		changes[2 * i] = (struct virt_clock_change){ time, VIRT_CLOCK_INSIDE };
		changes[2 * i + 1] = (struct virt_clock_change){
			time + length, VIRT_CLOCK_OUTSIDE,
		};
		for (int j = 0; j < 3; j++)
			events[3 * i + j] = time + (j + 1) * length / 5 - BEHIND;
		time += length + 1000 + next();
	}
	if (virt_clock_align(&problem, &found, &evidence)) {
		fprintf(stderr, "align_clocks: not enough memory\n");
		return 1;
	}
	printf("%s, %.1f %% of the events are explained\n", virt_clock_verdict_text(found.verdict),
	       found.explained_percent);
	printf("the clock is %s %d ns behind\n",
	       found.lo <= BEHIND && BEHIND <= found.hi ? "rightly found" : "not found to be",
	       BEHIND);
	/* vectors that Linux keeps for itself have names */
	printf("interrupts of its timer are those of vector 236, %s\n", virt_linux_vector(236));
	return found.verdict != VIRT_CLOCK_GOOD;
}
