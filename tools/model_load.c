// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	model_load.c
 * @brief	Open a trace and build its vCPU model, whatever hypervisor it is of.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "model_load.h"
#include "trace_dat.h"

bool model_is_trace_dat(const char *path)
{
	char head[sizeof(trace_dat_magic)];
	struct stat st;
	bool is = false;
	FILE *file;

	/* nothing may be taken from a pipe here */
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	file = fopen(path, "re");
	if (!file)
		return false;
	is = fread(head, sizeof(head), 1, file) == 1 &&
	     !memcmp(head, trace_dat_magic, sizeof(head));
	fclose(file);
	return is;
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
		fprintf(stderr, "%s: the records contradict each other: %s (%llu times)\n",
			load->path, what, (unsigned long long)count);
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
