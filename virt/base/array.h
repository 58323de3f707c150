/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	array.h
 * @brief	Arrays that grow.
 */
#ifndef KSHARK_VIRT_ARRAY_H
#define KSHARK_VIRT_ARRAY_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/** Elements of an array whose size is known. */
#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

/** The highest number that a variable can have, of those that count elements. */
#define ARRAY_MOST(n)	((__typeof__(n))-1 > 0 ? (size_t)(__typeof__(n))-1 : (size_t)INT32_MAX)

/**
 * array_room - room for at least one element more than @n: twice as much as before, if it is full
 * @size: of an element
 * @room: how many fit; is changed with the array
 * @most: there must never be more
 *
 * Return: the array, which may have moved; NULL without memory, and the array is as before.
 */
static inline void *array_room(void *array, size_t size, size_t n, size_t *room, size_t most)
{
	size_t wanted = *room ? *room : 1;	/* of very many arrays, each may stay short */
	void *grown;

	if (n < *room)
		return array;
	if (n >= most)
		return NULL;
	do
		wanted = wanted > most / 2 ? most : 2 * wanted;
	while (wanted <= n);
	grown = wanted > PTRDIFF_MAX / size ? NULL : realloc(array, wanted * size);
	if (grown)
		*room = wanted;
	return grown;
}

/**
 * ARRAY_GROW - make room for an element after @n others
 * @array, @room: variables: a pointer, and how many elements there is room for
 *
 * It is evaluated more than once. Value: 0, or -ENOMEM, and nothing is changed.
 */
#define ARRAY_GROW(array, n, room) __extension__ ({					\
	size_t room_ = (size_t)(room);							\
	void *grown_ = array_room((array), sizeof(*(array)), (size_t)(n), &room_,	\
				  ARRAY_MOST(room));					\
											\
	if (grown_) {									\
		(array) = grown_;							\
		(room) = (__typeof__(room))room_;					\
	}										\
	grown_ ? 0 : -ENOMEM;								\
})

/**
 * ARRAY_REACH - make an array reach up to index @i; new elements are all zero
 * @array, @n: variables: a pointer, and how many elements there are
 *
 * Value: 0, or -ENOMEM, and nothing is changed.
 */
#define ARRAY_REACH(array, i, n) __extension__ ({					\
	size_t before_ = (size_t)(n);							\
	int ret_ = ARRAY_GROW(array, i, n);						\
											\
	if (!ret_)									\
		memset((array) + before_, 0, ((size_t)(n) - before_) * sizeof(*(array)));\
	ret_;										\
})

/** ARRAY_SHRINK - give back what an array of @n elements does not need, if that is possible. */
#define ARRAY_SHRINK(array, n) do {							\
	void *smaller_ = (n) ? realloc((array), (size_t)(n) * sizeof(*(array))) : NULL;	\
											\
	if (smaller_)									\
		(array) = smaller_;							\
} while (0)

#endif
