// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	model_guests.c
 * @brief	What guests tell of themselves through hypercalls, of a trace that is being loaded.
 */
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
