/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	same_model.h
 * @brief	Two models with the same contents. To be included after cmocka.h.
 */
#ifndef KSHARK_VIRT_SAME_MODEL_H
#define KSHARK_VIRT_SAME_MODEL_H

#include "virt_model.h"

/** Every interval of every vCPU, and who had which pCPU when. */
static inline void same_model(const struct virt_model *a, const struct virt_model *b)
{
	int64_t begin = virt_model_begin(a), end = virt_model_end(a);

	assert_int_equal(virt_model_begin(b), begin);
	assert_int_equal(virt_model_end(b), end);
	assert_int_equal(virt_model_n_vcpus(a), virt_model_n_vcpus(b));
	for (int32_t i = 0; i < virt_model_n_vcpus(a); i++) {
		struct virt_interval_range x = virt_vcpu_intervals(a, i, begin, end);
		struct virt_interval_range y = virt_vcpu_intervals(b, i, begin, end);

		assert_string_equal(virt_model_vcpu(a, i)->name, virt_model_vcpu(b, i)->name);
		assert_int_equal(x.n, y.n);
		assert_memory_equal(x.first, y.first, x.n * sizeof(*x.first));
	}
	assert_int_equal(virt_model_n_machines(a), virt_model_n_machines(b));
	for (int32_t i = 0; i < virt_model_n_machines(a); i++)
		assert_int_equal(virt_model_machine(a, i)->ended_ns,
				 virt_model_machine(b, i)->ended_ns);
	assert_int_equal(virt_model_n_pcpus(a), virt_model_n_pcpus(b));
	for (int32_t i = 0; i < virt_model_n_pcpus(a); i++) {
		struct virt_occupant_range x = virt_pcpu_occupants(a, i, begin, end);
		struct virt_occupant_range y = virt_pcpu_occupants(b, i, begin, end);

		assert_int_equal(x.n, y.n);
		assert_memory_equal(x.first, y.first, x.n * sizeof(*x.first));
	}
	assert_int_equal(virt_model_losses(a).n, virt_model_losses(b).n);
	for (size_t i = 0; i < virt_model_losses(a).n; i++) {
		const struct virt_loss *x = &virt_model_losses(a).first[i];
		const struct virt_loss *y = &virt_model_losses(b).first[i];

		assert_int_equal(x->from_ns, y->from_ns);
		assert_int_equal(x->to_ns, y->to_ns);
		assert_int_equal(x->records, y->records);
		assert_int_equal(x->pcpu, y->pcpu);
	}
}

#endif
