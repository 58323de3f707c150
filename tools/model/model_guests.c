// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	model_guests.c
 * @brief	Read the reports of guests about themselves, for a trace that is being loaded.
 */
#include <errno.h>
#include <stdlib.h>

#include "model_guests.h"

int model_take_dialect(const struct ksv_command *command, const struct ksv_option *option,
		       const char *text, void *target)
{
	char error[512];

	*(const char **)target = text;
	if (host_hypertrace_check(text, error, sizeof(error)))
		return 0;
	if (!host_hypertrace_is_file(text))
		return ksv_usage_error(command, "--%s %s: %s", option->name, text, error);
	ksv_error("%s", error);
	return KSV_EXIT_FILE;
}

int model_guests_find(struct model_guests *guests, const struct virt_model *model,
		      const char *dialect)
{
	char error[512] = "not enough memory";

	host_hypercalls_sort(&guests->calls);
	if (!guests->calls.error)
		guests->trace = host_hypertrace_new(model, &guests->calls, dialect, error,
						    sizeof(error));
	if (guests->trace && !host_hypertrace_guests(guests->trace, INT64_MIN, INT64_MAX))
		return KSV_EXIT_OK;
	ksv_error("%s", error);
	return KSV_EXIT_FILE;
}

void model_guests_free(struct model_guests *guests)
{
	host_hypertrace_free(guests->trace);
	host_hypercalls_free(&guests->calls);
	*guests = (struct model_guests){ .trace = NULL };
}

int model_boots_find(struct model_boots *boots, const struct model_load *load)
{
	int ret = 0;

	boots->n = virt_model_n_machines(load->model);
	boots->guests = calloc((size_t)boots->n + 1, sizeof(struct hyper_guest *));
	if (!boots->guests)
		return -ENOMEM;
	for (int i = 0; i < load->n_guests && !ret; i++) {
		struct host_boot boot;

		ret = host_hypertrace_boot(&load->host, load->model, load->guests[i], &boot);
		/* if a machine has several traces, the first one with a boot counts */
		if (!ret && boot.guest && !boots->guests[boot.machine])
			boots->guests[boot.machine] = boot.guest;
		else
			hyper_guest_free(boot.guest);
	}
	return ret;
}

const struct hyper_guest *model_boots_of(const struct model_boots *boots, int32_t machine)
{
	return boots->guests && machine < boots->n ? boots->guests[machine] : NULL;
}

void model_boots_free(struct model_boots *boots)
{
	for (int32_t i = 0; boots->guests && i < boots->n; i++)
		hyper_guest_free(boots->guests[i]);
	free(boots->guests);
	*boots = (struct model_boots){ .guests = NULL };
}
