// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_handlers.c
 * @brief	Keep the handlers that interrupt vCPUs, and sum up their times.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "virt_private.h"
#include "virt_window.h"

const char *virt_handler_kind_name(enum virt_handler_kind kind)
{
	static const char *const name[VIRT_HANDLER_N_KINDS] = {
		[VIRT_HANDLER_IRQ] = "irq",
		[VIRT_HANDLER_SOFTIRQ] = "softirq",
		[VIRT_HANDLER_VECTOR] = "vector",
		[VIRT_HANDLER_NMI] = "nmi",
	};

	return (unsigned int)kind < VIRT_HANDLER_N_KINDS ? name[kind] : NULL;
}

/* --- filling --------------------------------------------------------------------------------- */

int32_t virt_model_add_handler(struct virt_model *model, enum virt_handler_kind kind,
			       const char *name)
{
	struct virt_handlers *all = &model->handlers;
	char *copy;

	if (model->finished || (unsigned int)kind >= VIRT_HANDLER_N_KINDS)
		return -EINVAL;
	for (int32_t i = 0; i < all->n; i++)
		if (all->handlers[i].kind == kind && !strcmp(all->handlers[i].name, name))
			return i;
	if (all->n >= VIRT_MAX_HANDLERS)
		return -E2BIG;
	if (ARRAY_GROW(all->handlers, all->n, all->room))
		return -ENOMEM;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	all->handlers[all->n] = (struct virt_handler){ .name = copy, .kind = (uint8_t)kind };
	return all->n++;
}

int virt_model_add_handling(struct virt_model *model, const struct virt_handling *handling)
{
	struct virt_handlers *all = &model->handlers;

	if (model->finished || !virt_is_vcpu(model, handling->vcpu) || handling->handler < 0 ||
	    handling->handler >= all->n || handling->end_ns < handling->start_ns)
		return -EINVAL;
	if (ARRAY_GROW(all->handlings, all->n_handlings, all->handlings_room))
		return -ENOMEM;
	all->handlings[all->n_handlings++] = *handling;
	return 0;
}

static int compare_handlings(const void *a, const void *b)
{
	const struct virt_handling *x = a, *y = b;

	if (x->vcpu != y->vcpu)
		return x->vcpu < y->vcpu ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? -1 : 1;
	return (x->begins < y->begins) - (x->begins > y->begins);
}

void virt_handlers_order(struct virt_model *model)
{
	struct virt_handlers *all = &model->handlers;
	size_t kept = 0;

	if (all->n_handlings)
		qsort(all->handlings, all->n_handlings, sizeof(*all->handlings),
		      compare_handlings);
	for (size_t i = 0; i < all->n_handlings; i++) {
		const struct virt_handling *last = kept ? &all->handlings[kept - 1] : NULL;

		if (last && last->vcpu == all->handlings[i].vcpu &&
		    last->end_ns > all->handlings[i].start_ns)
			virt_model_contradiction_at(model, "a vCPU is interrupted on two pCPUs",
						    all->handlings[i].start_ns);
		else
			all->handlings[kept++] = all->handlings[i];
	}
	all->n_handlings = kept;
}

void virt_handlers_free(struct virt_handlers *all)
{
	for (int32_t i = 0; i < all->n; i++)
		free((char *)all->handlers[i].name);
	free(all->handlers);
	free(all->handlings);
}

/* --- asking ---------------------------------------------------------------------------------- */

const struct virt_handler *virt_model_handler(const struct virt_model *model, int32_t handler)
{
	return handler >= 0 && handler < model->handlers.n ? &model->handlers.handlers[handler] :
							     NULL;
}

/** The first piece of a vCPU that ends behind a time; pieces do not overlap. */
static size_t first_behind(const struct virt_handlers *all, int32_t vcpu, int64_t time_ns)
{
	size_t i;

	SEARCH_FIRST(i, 0, all->n_handlings, all->handlings[i].vcpu < vcpu ||
		     (all->handlings[i].vcpu == vcpu && all->handlings[i].end_ns < time_ns));
	return i;
}

struct virt_handling_range virt_vcpu_handlings(const struct virt_model *model, int32_t vcpu,
					       int64_t from_ns, int64_t to_ns)
{
	const struct virt_handlers *all = &model->handlers;
	struct virt_handling_range range = { 0 };
	size_t first = first_behind(all, vcpu, from_ns), end;

	SEARCH_FIRST(end, first, all->n_handlings, all->handlings[end].vcpu == vcpu &&
		     all->handlings[end].start_ns < to_ns);
	if (first < end && from_ns < to_ns)
		range = (struct virt_handling_range){ &all->handlings[first], end - first };
	return range;
}

/** The time of a piece, by state of its vCPU. */
static void add_piece(const struct virt_model *model, const struct virt_handling *piece,
		      int64_t from_ns, int64_t to_ns, struct virt_handled *handled)
{
	struct virt_totals totals;
	int64_t start = piece->start_ns < from_ns ? from_ns : piece->start_ns;
	int64_t end = piece->end_ns > to_ns ? to_ns : piece->end_ns;

	if (piece->begins && virt_begins_in(piece->start_ns, from_ns, to_ns)) {
		handled->count++;
		if (piece->whole_ns > handled->max_ns)
			handled->max_ns = piece->whole_ns;
	}
	if (start >= end)
		return;
	virt_vcpu_totals(model, piece->vcpu, start, end, &totals);
	handled->hypervisor_ns += totals.ns[VIRT_HYPERVISOR];
	handled->vmm_ns += totals.ns[VIRT_VMM];
	handled->other_ns += end - start - totals.ns[VIRT_HYPERVISOR] - totals.ns[VIRT_VMM];
}

static int compare_handled(const void *a, const void *b)
{
	const struct virt_handled *x = a, *y = b;
	int64_t x_ns = x->hypervisor_ns + x->vmm_ns + x->other_ns;
	int64_t y_ns = y->hypervisor_ns + y->vmm_ns + y->other_ns;

	if (x_ns != y_ns)
		return x_ns > y_ns ? -1 : 1;
	return (x->handler > y->handler) - (x->handler < y->handler);
}

struct virt_handled *virt_handled_new(const struct virt_model *model, int32_t vcpu,
				      int64_t from_ns, int64_t to_ns, size_t *n)
{
	struct virt_handled *handled = calloc((size_t)model->handlers.n + 1, sizeof(*handled));
	struct virt_handling_range range;

	*n = 0;
	if (!handled)
		return NULL;
	from_ns = from_ns < model->begin_ns ? model->begin_ns : from_ns;
	to_ns = to_ns > model->end_ns ? model->end_ns : to_ns;
	range = virt_vcpu_handlings(model, vcpu, from_ns, to_ns);
	for (size_t i = 0; i < range.n; i++)
		add_piece(model, &range.first[i], from_ns, to_ns,
			  &handled[range.first[i].handler]);
	for (int32_t i = 0; i < model->handlers.n; i++) {
		handled[i].handler = i;
		if (handled[i].count || handled[i].hypervisor_ns || handled[i].vmm_ns ||
		    handled[i].other_ns)
			handled[(*n)++] = handled[i];
	}
	qsort(handled, *n, sizeof(*handled), compare_handled);
	return handled;
}
