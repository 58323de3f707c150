// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	align_pairing.c
 * @brief	Find the vCPU that each CPU of a guest is, by its events, with unchanged clocks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "align_data.h"
#include "align_pairing.h"
#include "escape.h"

/**
 * Work that files may cause, in steps of about a ns. Reading them, and what is done without being
 * counted, is to fit in as well: 2 us for each byte and 1 s for all is what SECURITY.md promises.
 */
#define WORK_PER_BYTE	1500
#define WORK		600000000

/** Events of a CPU that are looked at to find its vCPU. */
#define MOST_EVENTS	2000
/** This number of events that can be there weighs as much as one that cannot. */
#define AGAINST		9

/** Work on one guest. */
struct search {
	const struct virt_model	*model;
	const struct virt_clock_cpu *cpus;	/* all events */
	struct virt_clock_cpu	*some;		/* a part of them */
	struct virt_clock_cpu	*paired;	/* all of them, with a machine's vCPUs */
	struct virt_clock_evidence *evidence;	/* by CPU */
	int32_t			n_cpus, n_busy;	/* CPUs; those with events */
	int64_t			offset;
	uint64_t		*work;		/* that may still be done; or NULL */
};

/** Some of a CPU's events, from its first to its last one. Return: 0 or -ENOMEM. */
static int choose(const struct virt_clock_cpu *cpu, struct virt_clock_cpu *some)
{
	size_t n = cpu->n < MOST_EVENTS ? cpu->n : MOST_EVENTS;
	int64_t *times = malloc((n + 1) * sizeof(*times));

	if (!times)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		times[i] = cpu->times[(size_t)((double)i * (double)cpu->n / (double)n)];
	*some = (struct virt_clock_cpu){ .times = times, .n = n, .vcpu = VIRT_NONE };
	return 0;
}

static int judge(const struct search *search, const struct align_machine *machine,
		 const struct virt_clock_cpu *cpus, struct virt_clock_alignment *alignment)
{
	const struct virt_clock_problem problem = {
		.vcpus = machine->vcpus, .n_vcpus = machine->n, .cpus = cpus,
		.n_cpus = search->n_cpus, .work = search->work,
	};
	int ret = virt_clock_judge(&problem, search->offset, 0, alignment, search->evidence);

	return !ret && alignment->verdict == VIRT_CLOCK_DENSE ? -ETIME : ret;
}

/** How well each CPU's events fit each vCPU: each turn judges every CPU with another one. */
static int score(const struct search *search, const struct align_machine *machine, int64_t *scores)
{
	struct virt_clock_alignment alignment;
	int ret = 0;

	for (int32_t turn = 0; turn < machine->n && !ret; turn++) {
		for (int32_t c = 0; c < search->n_cpus; c++)
			search->some[c].vcpu = (c + turn) % machine->n;
		ret = judge(search, machine, search->some, &alignment);
		for (int32_t c = 0; c < search->n_cpus && !ret; c++)
			scores[(int64_t)c * machine->n + search->some[c].vcpu] =
				(int64_t)search->evidence[c].inside -
				AGAINST * (int64_t)search->evidence[c].outside;
	}
	return ret;
}

static bool is_taken(const struct search *search, int32_t vcpu)
{
	for (int32_t c = 0; c < search->n_cpus; c++)
		if (search->paired[c].vcpu == vcpu)
			return true;
	return false;
}

/** Pair the next CPU and vCPU that fit each other best, of equal ones those of the same number. */
static bool pair_best(const struct search *search, const struct align_machine *machine,
		      const int64_t *scores)
{
	int32_t best_cpu = VIRT_NONE, best_vcpu = VIRT_NONE;
	int64_t best = INT64_MIN;

	for (int32_t c = 0; c < search->n_cpus; c++) {
		if (search->paired[c].vcpu != VIRT_NONE || !search->cpus[c].n)
			continue;
		for (int32_t turn = 0; turn < machine->n; turn++) {
			int32_t v = (c + turn) % machine->n;
			int64_t here = scores[(int64_t)c * machine->n + v];

			if (here <= best || is_taken(search, v))
				continue;
			best = here;
			best_cpu = c;
			best_vcpu = v;
		}
	}
	if (best_cpu == VIRT_NONE)
		return false;
	search->paired[best_cpu].vcpu = best_vcpu;
	return true;
}

/** The best pairs with one machine, and what they explain. */
static int try_machine(const struct search *search, const struct align_machine *machine,
		       struct virt_clock_alignment *alignment)
{
	int64_t *scores = calloc((size_t)search->n_cpus * (size_t)machine->n + 1, sizeof(*scores));
	int ret = scores ? score(search, machine, scores) : -ENOMEM;

	for (int32_t c = 0; c < search->n_cpus; c++) {
		search->paired[c] = search->cpus[c];
		search->paired[c].vcpu = VIRT_NONE;
	}
	while (!ret && pair_best(search, machine, scores))
		;
	if (!ret)
		ret = judge(search, machine, search->paired, alignment);
	free(scores);
	return ret;
}

static bool is_fit(const struct virt_clock_alignment *alignment)
{
	return alignment->verdict == VIRT_CLOCK_GOOD &&
	       alignment->explained_percent >= VIRT_CLOCK_DOUBT_PERCENT;
}

static void take(const struct search *search, const struct align_machine *machine, int32_t number,
		 const struct virt_clock_alignment *alignment, struct align_pairing *pairing)
{
	pairing->machine = number;
	pairing->alignment = *alignment;
	for (int32_t c = 0; c < search->n_cpus; c++) {
		int32_t vcpu = search->paired[c].vcpu;

		pairing->vcpus[c] = vcpu == VIRT_NONE ? VIRT_NONE : machine->indices[vcpu];
	}
}

/** Return: how many machines explain the events, or a negative errno. */
static int try_all(const struct search *search, struct align_pairing *pairing)
{
	int n = 0, ret = 0;

	for (int32_t i = 0; i < virt_model_n_machines(search->model) && !ret; i++) {
		struct virt_clock_alignment alignment;
		struct align_machine *machine;

		/* a guest has no more CPUs than vCPUs */
		if (virt_model_machine(search->model, i)->n_vcpus < search->n_busy)
			continue;
		machine = align_machine_new(search->model, i, NULL);
		ret = machine ? try_machine(search, machine, &alignment) : -ENOMEM;
		if (!ret && is_fit(&alignment)) {
			n++;
			take(search, machine, i, &alignment, pairing);
		}
		align_machine_free(machine);
	}
	return ret ? ret : n;
}

int align_pairing_find(const struct virt_model *model, const struct virt_clock_cpu *cpus,
		       int32_t n_cpus, int64_t offset, uint64_t *work,
		       struct align_pairing *pairing)
{
	size_t room = (size_t)n_cpus + 1;
	struct search search = {
		.model = model, .cpus = cpus, .n_cpus = n_cpus, .offset = offset,
		.work = work,
		.some = calloc(room, sizeof(*search.some)),
		.paired = calloc(room, sizeof(*search.paired)),
		.evidence = calloc(room, sizeof(*search.evidence)),
	};
	int ret = search.some && search.paired && search.evidence ? 0 : -ENOMEM;

	for (int32_t c = 0; c < n_cpus && !ret; c++) {
		search.n_busy += cpus[c].n > 0;
		ret = choose(&cpus[c], &search.some[c]);
	}
	if (!ret && search.n_busy)
		ret = try_all(&search, pairing);
	for (int32_t c = 0; c < n_cpus && search.some; c++)
		free((int64_t *)search.some[c].times);
	free(search.some);
	free(search.paired);
	free(search.evidence);
	return ret < 0 ? ret : ret == 1;
}

uint64_t align_work(uint64_t bytes)
{
	return WORK + WORK_PER_BYTE * bytes;
}

/* --- words ----------------------------------------------------------------------------------- */

/** "CPU 0 = g1v1, CPU 1 = g1v0" */
static void name_vcpus(const struct virt_model *model, const struct align_pairing *pairing,
		       int32_t n_cpus, char *text, size_t size)
{
	size_t n = 0;

	text[0] = 0;
	for (int32_t c = 0; c < n_cpus && n < size; c++) {
		const struct virt_vcpu *vcpu = virt_model_vcpu(model, pairing->vcpus[c]);

		if (vcpu)
			n += (size_t)text_format(text + n, size - n, "%sCPU %d = %s",
						 n ? ", " : "", c, vcpu->name);
	}
}

/** "d0 (PID 10000)": the PID is its first vCPU's, by which KernelShark names it */
static void name_machine(const struct virt_model *model, const struct align_pairing *pairing,
			 int32_t n_cpus, char *text, size_t size)
{
	const struct virt_vcpu *vcpu = NULL;

	for (int32_t c = 0; c < n_cpus && !vcpu; c++)
		vcpu = virt_model_vcpu(model, pairing->vcpus[c]);
	text_format(text, size, "%s (PID %d)", virt_model_machine(model, pairing->machine)->name,
		    vcpu ? vcpu->host_pid : VIRT_NONE);
}

void align_pairing_text(const struct virt_model *model, int32_t paired,
			const struct align_pairing *pairing, int32_t n_cpus, char *text,
			size_t size)
{
	bool elsewhere = pairing->machine != paired;
	char name[256];

	if (elsewhere)
		name_machine(model, pairing, n_cpus, name, sizeof(name));
	else
		name_vcpus(model, pairing, n_cpus, name, sizeof(name));
	text_format(text, size, "the wrong %s: its events fit %s instead",
		    elsewhere ? "machine" : "vCPUs", name);
}
