// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	model_irqs.c
 * @brief	Find the deliveries of interrupts to the guests of a trace that is loaded.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "guest_tasks.h"
#include "model_irqs.h"

static int64_t host_time(void *arg, int64_t time)
{
	return guest_tasks_time(arg, time);
}

static int add_list(struct irq_list *all, const struct irq_list *more)
{
	for (size_t i = 0; i < more->n; i++) {
		if (ARRAY_GROW(all->all, all->n, all->room))
			return -ENOMEM;
		all->all[all->n++] = more->all[i];
	}
	return 0;
}

static int read_guest(struct model_irqs *irqs, struct model_load *load, int guest,
		      struct virt_devices *devices)
{
	struct irq_list found = { 0 };
	int n_tids, *tids = guest_clock_tids(&load->clocks[guest], &load->host, &n_tids);
	int ret = tids ? irq_pair_read(&(struct irq_pair){
		.model = load->model, .host = &load->host, .guest = load->guests[guest],
		.tids = tids, .n_tids = n_tids, .devices = devices, .judged = irqs->judged,
		.model_time = host_time, .arg = &load->host,
	}, &found) : -ENOMEM;

	if (!ret)
		ret = add_list(&irqs->list, &found);
	irq_list_free(&found);
	free(tids);
	return ret;
}

static int compare(const void *a, const void *b)
{
	const struct virt_irq_delivery *x = a, *y = b;

	return x->vcpu != y->vcpu ? (x->vcpu > y->vcpu) - (x->vcpu < y->vcpu) :
	       (x->inject_ns > y->inject_ns) - (x->inject_ns < y->inject_ns);
}

int model_irqs_read(struct model_irqs *irqs, struct model_load *load)
{
	struct virt_devices *devices = virt_devices_new();
	int ret = devices ? 0 : -ENOMEM;

	irqs->judged = calloc((size_t)virt_model_n_vcpus(load->model) + 1, sizeof(bool));
	if (!irqs->judged)
		ret = -ENOMEM;
	for (int i = 0; i < load->n_guests && !ret; i++)
		ret = read_guest(irqs, load, i, devices);
	virt_model_set_devices(load->model, devices);
	if (irqs->list.n)
		qsort(irqs->list.all, irqs->list.n, sizeof(*irqs->list.all), compare);
	return ret;
}

/** The first one of a vCPU from a time on, or of a later vCPU. */
static size_t find(const struct irq_list *list, int32_t vcpu, int64_t time_ns)
{
	const struct virt_irq_delivery key = { .vcpu = vcpu, .inject_ns = time_ns };
	size_t low = 0, high = list->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(&list->all[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct virt_irq_delivery *model_irqs_of(const struct model_irqs *irqs, int32_t vcpu,
					      int64_t from_ns, int64_t to_ns, size_t *n)
{
	size_t first = find(&irqs->list, vcpu, from_ns), end = find(&irqs->list, vcpu, to_ns);

	*n = end > first ? end - first : 0;
	return *n ? irqs->list.all + first : NULL;
}

void model_irqs_free(struct model_irqs *irqs)
{
	irq_list_free(&irqs->list);
	free(irqs->judged);
	memset(irqs, 0, sizeof(*irqs));
}
