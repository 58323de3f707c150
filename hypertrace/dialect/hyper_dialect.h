/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	hyper_dialect.h
 * @brief	Dialects of hypertracing: the meaning of call numbers and of their registers.
 *
 * A dialect is a table: ours are in hyper_published.c, a user's own is in a file (hyper_json.c).
 * See docs/hypertracing.md.
 */
#ifndef KSHARK_VIRT_HYPER_DIALECT_H
#define KSHARK_VIRT_HYPER_DIALECT_H

#include "hyper_event.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HYPER_MAX_FIELDS	8

/** What a part of a register says. */
struct hyper_part {
	uint8_t		field;		/* enum hyper_field; HYPER_F_NONE: there are no more */
	uint8_t		reg;		/* below HYPER_N_REGISTERS */
	uint8_t		shift, bits;	/* which part of it; 0 bits: all above @shift */
	uint8_t		only;		/* enum hyper_edge: of such events alone; 0: of all */
};

/** One number. */
struct hyper_row {
	uint32_t	number;
	const char	*name;
	uint8_t		kind;		/* enum hyper_kind */
	uint8_t		edge;		/* enum hyper_edge, unless it has HYPER_F_EDGE */
	struct hyper_part parts[HYPER_MAX_FIELDS];
};

/** What a number is called that an event of a kind has: of a level, of a phase. */
struct hyper_number_name {
	uint8_t		kind;
	int32_t		number;
	const char	*name;
};

struct hyper_dialect {
	const char	*name;
	const char	*about;		/* a few words on whose it is */
	uint8_t		number_bits;	/* of the call's number; above is the guest's CPU; 0: all */
	bool		wire;		/* ours: what its rows do not know, its codec reads */
	const struct hyper_row *rows;	/* ascending by number */
	size_t		n_rows;
	const struct hyper_number_name *names;
	size_t		n_names;
};

/** The published ones, ours first; ends with NULL. */
extern const struct hyper_dialect *const hyper_dialects[];

/**
 * The tracepoints initcall:* of Linux (since 4.17) in a guest's own trace: no dialect of
 * hypercalls, as it has no numbers, but with the same levels.
 */
extern const struct hyper_dialect hyper_tracepoints;

/** A level that has a name, and no number that is known. */
#define HYPER_OTHER_LEVEL	255

/** hyper_level_number - of a level of initcalls that Linux calls so; or HYPER_OTHER_LEVEL. */
int32_t hyper_level_number(const char *name);

/** hyper_dialect_find - a published one by its name; or NULL. */
const struct hyper_dialect *hyper_dialect_find(const char *name);

/**
 * hyper_dialect_read - a user's own, from a file
 * @dialect: receives it, to be given to hyper_dialect_free()
 * @error: on failure, receives a text that names the file, the place in it, and what to do
 *
 * Return: 0 or a negative errno.
 */
int hyper_dialect_read(const char *path, struct hyper_dialect **dialect, char *error, size_t size);

/** hyper_dialect_free - free one of hyper_dialect_read(), or NULL. */
void hyper_dialect_free(struct hyper_dialect *dialect);

/** What a call turned out to be. */
enum hyper_result {
	HYPER_DECODED = 0,
	HYPER_UNKNOWN,		/* its number is not in the dialect */
	HYPER_FOREIGN,		/* KVM's own, see hyper_kvm_number() */
	HYPER_SENSELESS,	/* a register has what cannot be, or is not there */
	HYPER_USERS,		/* hyper_call.is_users: it is not decoded */
	HYPER_N_RESULTS
};

/** hyper_result_of - HYPER_USERS, HYPER_FOREIGN, or HYPER_UNKNOWN: a dialect decides. */
enum hyper_result hyper_result_of(const struct hyper_call *call);

/**
 * hyper_decode - make an event of a call
 * @event: receives it, if it is HYPER_DECODED; of HYPER_SENSELESS, kind, edge and label
 * @bad: of HYPER_SENSELESS, receives which field; may be NULL
 */
enum hyper_result hyper_decode(const struct hyper_dialect *dialect, const struct hyper_call *call,
			       struct hyper_event *event, enum hyper_field *bad);

/** hyper_number_name - what a dialect calls the number of an event; or NULL. */
const char *hyper_number_name(const struct hyper_dialect *dialect, enum hyper_kind kind,
			      int64_t number);

/**
 * hyper_kvm_number - what KVM calls one of its own hypercalls
 *
 * Linux's include/uapi/linux/kvm_para.h. No dialect may have such a number.
 *
 * Return: NULL if it has none of that number.
 */
const char *hyper_kvm_number(uint64_t nr);

/** hyper_field_most - the highest value that a field can have and make sense. */
uint64_t hyper_field_most(enum hyper_field field);

/** hyper_kind_needs - the fields without which an event of a kind says nothing, as a set. */
uint32_t hyper_kind_needs(enum hyper_kind kind);

#ifdef __cplusplus
}
#endif
#endif
