/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	model_guests.h
 * @brief	Read the reports of guests about themselves, for a trace that is being loaded.
 *
 * Guests report through hypercalls; traces of their own report their boots. While the host's trace
 * is read, its rows and records are given to host_hypercalls_row() and host_hypercalls_record().
 */
#ifndef KSHARK_VIRT_MODEL_GUESTS_H
#define KSHARK_VIRT_MODEL_GUESTS_H

#include "host_hypertrace.h"
#include "model_load.h"

/** All zero at first. */
struct model_guests {
	struct host_hypercalls	calls;	/* what has gone by */
	struct host_hypertrace	*trace;	/* what model_guests_find() makes of it */
};

/** model_take_dialect - --hypertrace: @target is a const char *, the name of a dialect or a file */
int model_take_dialect(const struct ksv_command *command, const struct ksv_option *option,
		       const char *text, void *target);

/**
 * model_guests_find - dialects and guests, when all has gone by
 * @model: of the trace
 * @dialect: of model_take_dialect(); NULL: found by the calls
 *
 * Return: KSV_EXIT_OK, or KSV_EXIT_FILE after a message.
 */
int model_guests_find(struct model_guests *guests, const struct virt_model *model,
		      const char *dialect);
void model_guests_free(struct model_guests *guests);

/** Boots in guests' own traces (initcall:*); all zero at first. */
struct model_boots {
	struct hyper_guest	**guests; /* by machine of the model; or NULL */
	int32_t			n;
};

/**
 * model_boots_find - those of a trace that is loaded, with those of guests
 *
 * Return: 0 or -ENOMEM; to be given to model_boots_free() in any case.
 */
int model_boots_find(struct model_boots *boots, const struct model_load *load);

/** model_boots_of - that of a machine. Return: NULL if no trace contains it. */
const struct hyper_guest *model_boots_of(const struct model_boots *boots, int32_t machine);
void model_boots_free(struct model_boots *boots);

#endif
