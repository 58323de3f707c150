/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	check_cores.h
 * @brief	Check that each core has only one machine at a time, as with core scheduling.
 */
#ifndef KSHARK_VIRT_CHECK_CORES_H
#define KSHARK_VIRT_CHECK_CORES_H

#include "host_topology.h"
#include "table.h"
#include "virt_model.h"

struct check_cores {
	const struct virt_model *model;
	const struct host_topology *topology;
	struct output	*out;
	int64_t		from_ns, to_ns;
	struct table_writer *csv;	/* of check_cores_table; NULL: text */
};

extern const struct table check_cores_table;

/**
 * check_cores_run - list every time that vCPUs of two machines were on siblings, and sums
 *
 * Hosts' own tasks do not count. Time in which it is unknown who is on a sibling is a separate sum.
 *
 * Return: KSV_EXIT_OK, KSV_EXIT_FINDINGS if there is one; KSV_EXIT_FILE after a message: a core has
 * too many physical CPUs; -ENODATA: no two physical CPUs share a core; or -ENOMEM.
 */
int check_cores_run(const struct check_cores *check);

#endif
