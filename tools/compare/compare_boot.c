// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	compare_boot.c
 * @brief	Boots of guests, to be compared.
 */
#include <errno.h>
#include <stdio.h>

#include "compare_boot.h"
#include "host_stages.h"

/** A machine whose stages are being added. */
struct adding {
	struct compare		*compare;
	int			run;
	const struct virt_machine *machine;
	int			n;		/* stages so far; or an error */
};

static void boot_value_add(struct adding *adding, const struct host_stage *stage, const char *name,
			   double value)
{
	char metric[300];
	int ret;

	if (adding->n < 0)
		return;
	snprintf(metric, sizeof(metric), "%s.boot_%s_%s", adding->machine->name, stage->name, name);
	ret = compare_add(adding->compare, adding->run, metric, value);
	if (ret)
		adding->n = ret;
}

/** Initcalls and devices are too many to be compared one by one, and lie within levels. */
static bool is_compared(const struct host_stage *stage)
{
	return !(stage->slice->flags & HYPER_NO_END) &&
	       (stage->slice->kind == HYPER_PHASE || stage->slice->kind == HYPER_LEVEL ||
		stage->slice->kind == HYPER_SHUTDOWN);
}

static void take_stage(void *arg, const struct host_stage *stage)
{
	struct adding *adding = arg;

	if (!is_compared(stage))
		return;
	boot_value_add(adding, stage, "ns", (double)(stage->to_ns - stage->from_ns));
	if (!stage->unknown_ns)
		boot_value_add(adding, stage, "true_ns", (double)stage->true_ns);
	boot_value_add(adding, stage, "exits", (double)stage->exits);
	boot_value_add(adding, stage, "exits_ns", (double)stage->exits_ns);
	if (adding->n >= 0)
		adding->n++;
}

int compare_boot_add(struct compare *compare, int run, const struct virt_model *model,
		     const struct model_guests *guests, const struct model_boots *boots)
{
	struct adding adding = { .compare = compare, .run = run };

	for (int32_t m = 0; m < virt_model_n_machines(model) && adding.n >= 0; m++) {
		struct host_stages *stages;

		if (!guests->trace->machines[m].guest && !model_boots_of(boots, m))
			continue;
		adding.machine = virt_model_machine(model, m);
		stages = host_stages_new(guests->trace, m, model_boots_of(boots, m), NULL,
					 virt_model_begin(model), virt_model_end(model));
		if (!stages)
			return -ENOMEM;
		host_stages_each(stages, take_stage, &adding);
		host_stages_free(stages);
	}
	return adding.n;
}
