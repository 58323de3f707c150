/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	json_fields.h
 * @brief	Tables that describe the members of a struct as members of a JSON object.
 *
 * A table ends with JSON_FIELDS_END. Reading, writing and freeing use the same table, so that a
 * member is declared once.
 */
#ifndef KSHARK_VIRT_JSON_FIELDS_H
#define KSHARK_VIRT_JSON_FIELDS_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum json_kind {
	JSON_END = 0,
	JSON_TEXT,		/* char *; NULL: none */
	JSON_NUMBER,		/* of any width; of one byte: unsigned */
	JSON_BITS,		/* unsigned, as json_bits_new() writes it */
	JSON_REAL,		/* double */
	JSON_FLAG,		/* bool; a false one is written only if @always */
	JSON_WORD,		/* a number that stands for a word */
	JSON_LETTERS,		/* in a line: bits that have a letter each; "-": none is set */
	JSON_INSIDE,		/* a struct within the struct */
	JSON_LIST,		/* an array on the heap, and the number of its elements */
	JSON_OWN,		/* by functions of its own */
};

struct json_field {
	const char	*key;		/* NULL: an element of a list that is no object */
	enum json_kind	kind;
	uint8_t		width;		/* bytes of a number, or of the number of elements */
	bool		is_signed;
	bool		must;		/* without a possible value, nothing can be read */
	bool		strict;		/* nor with an impossible number */
	bool		always;		/* NUMBER, WORD: @none is written; LIST: an empty one */
	bool		cut;		/* LIST: elements after the first @most are left out */
	bool		line;		/* LIST: each element is a text, as json_line_read() */
	size_t		offset;
	/* NUMBER, BITS, WORD, in memory: */
	int64_t		none;		/* stands for a missing or impossible value */
	int64_t		least, most;	/* possible values; LIST: the highest number of elements,
					 * 0: no limit */
	int64_t		plus;		/* the number in memory is higher by this */
	size_t		has;		/* offset of a bool, "it is known", plus 1; or 0 */
	bool		(*when)(const void *from);	/* is it written? NULL: it is */
	const char	*(*word)(int i);	/* of numbers from 0 to @most */
	const char	*letters;	/* LETTERS: from bit 0 on; a blank: of no letter */
	int		decimals;	/* REAL: digits after the point; 0: json-c chooses */
	const struct json_field *fields;	/* INSIDE, LIST: of the struct; or of an element */
	size_t		n, room, size;	/* LIST: offsets of numbers of elements; size of one */
	/* LIST, of an element that was read. Return: 0, 1 to leave it out, or -EINVAL */
	int		(*check)(const void *element);
	/* OWN. Return: 0, or -ENOMEM; @take also -EINVAL */
	int		(*put)(struct json_object *object, const char *key, const void *member);
	int		(*take)(struct json_object *object, const char *key, void *member);
};

#define JSON_FIELDS_END		{ .kind = JSON_END }

#define JSON_PLACE(type, member)	.offset = offsetof(type, member)
#define JSON_WIDE(type, member)								\
	JSON_PLACE(type, member), .width = sizeof(((type *)0)->member),			\
	.is_signed = (__typeof__(((type *)0)->member))-1 < 1

#define JSON_A_TEXT(key_, type, member)							\
	.key = (key_), .kind = JSON_TEXT, JSON_PLACE(type, member)

/** A number from @least_ to @most_; @none_ stands for another one, and is not written. */
#define JSON_A_NUMBER(key_, type, member, none_, least_, most_)				\
	.key = (key_), .kind = JSON_NUMBER, JSON_WIDE(type, member),			\
	.none = (none_), .least = (least_), .most = (most_)

/** A number that is always written. */
#define JSON_A_VALUE(key_, type, member, missing)					\
	JSON_A_NUMBER(key_, type, member, missing, INT64_MIN, INT64_MAX), .always = true

#define JSON_SOME_BITS(key_, type, member, none_)					\
	.key = (key_), .kind = JSON_BITS, JSON_WIDE(type, member), .none = (none_)

#define JSON_A_FLAG(key_, type, member)							\
	.key = (key_), .kind = JSON_FLAG, JSON_PLACE(type, member)

#define JSON_A_WORD(key_, type, member, none_, word_, n_words)				\
	.key = (key_), .kind = JSON_WORD, JSON_WIDE(type, member), .none = (none_),	\
	.word = (word_), .most = (n_words) - 1

#define JSON_KHZ		"cpu_khz"

/** The frequency of a TSC, uint64_t; 0: none. What cannot be understood is no assumption. */
#define JSON_A_KHZ(type, member)							\
	.key = JSON_KHZ, .kind = JSON_OWN, JSON_PLACE(type, member),			\
	.put = json_khz_put, .take = json_khz_take

#define JSON_HAS(type, member)		.has = offsetof(type, member) + 1

/** @array, @n_, @room_: members; both numbers are of one type. */
#define JSON_A_LIST(key_, type, array, n_, room_, of)					\
	.key = (key_), .kind = JSON_LIST, JSON_PLACE(type, array),			\
	.n = offsetof(type, n_), .room = offsetof(type, room_),				\
	.width = sizeof(((type *)0)->n_), .size = sizeof(*((type *)0)->array), .fields = (of)

/** The member that cannot be understood. */
struct json_wrong {
	const char	*key;
	size_t		i;		/* of an element of a list */
	size_t		n;		/* -E2BIG: the number of elements */
};

/**
 * json_fields_read - fill a struct, which is all zero before
 * @object: may be of any type
 * @wrong: receives the member, for -EINVAL and -E2BIG
 *
 * Return: 0 or -ENOMEM, -EINVAL, -E2BIG; then, too, json_fields_free() frees the struct.
 */
int json_fields_read(struct json_object *object, const struct json_field *fields, void *to,
		     struct json_wrong *wrong);

/** json_khz_put, json_khz_take - of JSON_A_KHZ() */
int json_khz_put(struct json_object *object, const char *key, const void *khz);
int json_khz_take(struct json_object *object, const char *key, void *khz);

/** json_khz_error - write to @error that the frequency in @object is none. @path: for messages */
void json_khz_error(struct json_object *object, const char *path, char *error, size_t size);

/** json_fields_write - add the members to an object. Return: 0 or -ENOMEM. */
int json_fields_write(struct json_object *object, const struct json_field *fields,
		      const void *from);

/** json_fields_free - free texts and lists. */
void json_fields_free(const struct json_field *fields, void *from);

/**
 * json_list_add - add a copy of an element, with copies of its texts
 * @fields: with a list of this @key
 *
 * Return: 0 or -ENOMEM.
 */
int json_list_add(const struct json_field *fields, const char *key, void *to, const void *element);

/**
 * json_line_read - read a struct from words: numbers, names, letters; "?" is an unknown number
 *
 * Return: the text after the words, or NULL if they cannot be understood.
 */
const char *json_line_read(const char *text, const struct json_field *fields, void *to);

/**
 * json_line_write - the words as a text
 * @rest: follows them; or NULL
 *
 * Return: NULL without memory.
 */
struct json_object *json_line_write(const struct json_field *fields, const void *from,
				    const char *rest);

#endif
