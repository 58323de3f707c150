// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_vcpu_lives.c
 * @brief	Join the threads of a vCPU that continues as another thread.
 */
#include <errno.h>

#include "array.h"
#include "virt_vcpu_lives.h"
#include "virt_private.h"

int virt_model_add_life(struct virt_model *model, const struct virt_life *life)
{
	if (model->finished || life->vcpu < 0 || life->vcpu >= model->n_vcpus)
		return -EINVAL;
	if (ARRAY_GROW(model->lives, model->n_lives, model->lives_room))
		return -ENOMEM;
	model->lives[model->n_lives++] = *life;
	return 0;
}

const struct virt_life *virt_model_lives(const struct virt_model *model, size_t *n)
{
	*n = model->n_lives;
	return model->lives;
}
