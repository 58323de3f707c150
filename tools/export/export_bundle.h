/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	export_bundle.h
 * @brief	Records of a CPU as messages of Perfetto, until they are a packet.
 */
#ifndef KSHARK_VIRT_EXPORT_BUNDLE_H
#define KSHARK_VIRT_EXPORT_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kvm_line.h"
#include "output.h"

struct export_bundle;

struct export_record {
	int64_t		time_ns;	/* not below 0 */
	int32_t		pid;
	int32_t		event;		/* its number, where @name is NULL */
	const char	*system, *name;	/* of the event; NULL: not known */
	bool		has_release;	/* of the kernel, which says what prev_state means */
	const struct kvm_line *line;	/* with fields */
};

/** export_bundle_new - Return: an empty bundle, or NULL without memory */
struct export_bundle *export_bundle_new(void);
void export_bundle_free(struct export_bundle *bundle);

bool export_bundle_is_empty(const struct export_bundle *bundle);
bool export_bundle_is_full(const struct export_bundle *bundle);

/** export_bundle_add - keep a record; the bundle is not full. Texts are copied and escaped. */
void export_bundle_add(struct export_bundle *bundle, const struct export_record *record);

/**
 * export_bundle_write - write the bundle as a packet, and empty it
 * @machine: 0: the host
 * @has_lost: records before these are lost
 */
void export_bundle_write(struct export_bundle *bundle, struct output *out, uint32_t machine,
			 int cpu, bool has_lost);

#endif
