/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	migration.h
 * @brief	kshark-virt migration: a machine that moved from one host to another.
 */
#ifndef KSHARK_VIRT_MIGRATION_H
#define KSHARK_VIRT_MIGRATION_H

#include "report.h"
#include "table.h"
#include "virt_move.h"

/** How the machine was recognised on both hosts. */
enum migration_by {
	MIGRATION_BY_OPTION = 0,
	MIGRATION_BY_UUID,
	MIGRATION_BY_NAME,
	MIGRATION_BY_ALONE,	/* each host has no other machine */
	MIGRATION_N_BY
};

/** Where the offset of the clocks is from. */
enum migration_clock {
	MIGRATION_CLOCK_NONE = 0,
	MIGRATION_CLOCK_OPTION,
	MIGRATION_CLOCK_WALL,
	MIGRATION_N_CLOCKS
};

struct migration {
	const struct report	*sides;		/* VIRT_MOVE_N_SIDES */
	struct virt_move_host	hosts[VIRT_MOVE_N_SIDES];
	enum migration_by	by;
	enum migration_clock	clock;
	struct virt_move	move;
	struct virt_move_costs	costs;
};

/** migration_machine - what the machine is called on a side */
const char *migration_machine(const struct migration *migration, enum virt_move_side side);

/** migration_write - all of it */
void migration_write(enum table_format_kind format, struct output *out,
		     const struct migration *migration);

#endif
