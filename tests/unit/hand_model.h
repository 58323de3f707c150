/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	hand_model.h
 * @brief	Timelines of vCPUs, made by hand: what must succeed. To be included after cmocka.h.
 */
#ifndef KSHARK_VIRT_HAND_MODEL_H
#define KSHARK_VIRT_HAND_MODEL_H

#include <stdbool.h>

#include "virt_model.h"

static inline void set(struct virt_model *model, int32_t vcpu, int64_t time,
		       enum virt_state state, int16_t pcpu, int32_t detail, uint8_t flags)
{
	assert_int_equal(virt_model_set(model, vcpu, time, state, pcpu, detail, flags), 0);
}

static inline void occupy(struct virt_model *model, int16_t pcpu, int64_t time, int32_t vcpu,
			  bool known)
{
	assert_int_equal(virt_model_occupy(model, pcpu, time, vcpu, known), 0);
}

/** @n vCPUs, called v, of one machine. */
static inline struct virt_model *with_vcpus(int n)
{
	struct virt_model *model = virt_model_new();
	int32_t machine;

	assert_non_null(model);
	machine = virt_model_add_machine(model, 1, "d1");
	assert_int_equal(machine, 0);
	for (int i = 0; i < n; i++)
		assert_int_equal(virt_model_add_vcpu(model, machine, i, 20000 + i, "v"), i);
	return model;
}

#endif
