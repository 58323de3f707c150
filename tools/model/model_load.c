// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	model_load.c
 * @brief	Open a trace and build its vCPU model, whatever hypervisor it is of.
 */
#include <stdio.h>

#include "model_load.h"
#include "trace_dat.h"

bool model_is_trace_dat(const char *path)
{
	return trace_dat_is(path);
}

int model_load(struct model_load *load)
{
	load->source = model_is_trace_dat(load->path) ? &model_kvm : &model_xen;
	return load->source->load(load);
}

void model_unload(struct model_load *load)
{
	virt_model_free(load->model);
	load->model = NULL;
	if (load->source)
		load->source->unload(load);
}

void model_notes(const struct model_load *load)
{
	const char *what;
	uint64_t count;

	load->source->notes(load);
	for (int i = 0; (what = virt_model_contradictions(load->model, i, &count)); i++)
		ksv_note("%s: the records contradict each other: %s (%llu times)",
			 load->path, what, (unsigned long long)count);
}

int model_changed(const struct model_load *load, int status)
{
	return load->trace ? model_xen_changed(load->trace, status) : status;
}

int64_t model_time(const struct model_load *load, const struct ksv_time *time, int64_t none)
{
	switch (time->kind) {
	case KSV_TIME_NS:
		return time->ns;
	case KSV_TIME_TSC:
		return load->source->tsc_ns(load, time->tsc);
	default:
		return none;
	}
}

int model_n_pcpus(const struct model_load *load)
{
	return load->source->n_pcpus(load);
}
