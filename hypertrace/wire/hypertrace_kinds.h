/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/**
 * @file	hypertrace_kinds.h
 * @brief	The table of kinds: their fields, and the places of these fields in calls.
 */
#ifndef KSHARK_VIRT_HYPERTRACE_KINDS_H
#define KSHARK_VIRT_HYPERTRACE_KINDS_H

#include "hypertrace_wire.h"

/** How a field becomes a varint. */
enum ht_form {
	HT_UNSIGNED = 0,
	HT_SIGNED,		/* zigzag: 0, -1, 1, -2 ... become 0, 1, 2, 3 ... */
	HT_PLUS_ONE,		/* -1 and up: one more */
	HT_ADDRESS,		/* signed distance from HT_ADDRESS_BASE */
};

/** Where Linux on x86-64 has its text, at most 2 GiB from there. */
#define HT_ADDRESS_BASE		0xffffffff80000000ull

struct ht_field {
	const char	*name;	/* NULL: there are no more */
	uint8_t		reg, shift, bits; /* of a plain call */
	uint8_t		form;
};

struct ht_kind_row {
	const char	*name;	/* NULL: the number is not in use */
	bool		text;	/* of HT_TEXT_SIZE bytes: a1 and a2 of a plain call */
	bool		inner;	/* of packed calls alone */
	struct ht_field	fields[HT_MAX_FIELDS];
};

extern const struct ht_kind_row ht_kinds[HT_N_KINDS];

/** A tag of a packed call: kind in the lower 5 bits, how many varints follow in the upper 3. */
#define HT_TAG_KIND		0x1f
#define HT_TAG_FIELDS_SHIFT	5
#define HT_TAG_TEXT		7	/* instead of varints, a length and its bytes */
#define HT_TAG_EXTENDED		0x1f	/* the kind is in the next byte */

/** The header of a packed call: shift 5 bits, exponent 5, mantissa 22 of the first event's age. */
#define HT_HEADER_BYTES		4
#define HT_AGE_EXPONENT_SHIFT	5
#define HT_AGE_MANTISSA_SHIFT	10
#define HT_AGE_MANTISSA_BITS	22

/** The longest varint. */
#define HT_VARINT_BYTES		10

/** ht_row - of a kind that can be in a struct ht_event; or NULL. */
const struct ht_kind_row *ht_row(unsigned int kind);

/** ht_low_bits - a mask of @bits bits, 64 at most. */
static inline uint64_t ht_low_bits(unsigned int bits)
{
	return bits >= 64 ? ~0ull : (1ull << bits) - 1;
}

#endif
