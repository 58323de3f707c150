/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	search.h
 * @brief	Binary search.
 */
#ifndef KSHARK_VIRT_SEARCH_H
#define KSHARK_VIRT_SEARCH_H

#include <stddef.h>

/**
 * SEARCH_FIRST - the first index from @lo on, and below @hi, with which @before does not hold
 * @i: a variable that @before, an expression, is about; receives the index, or @hi if there is none
 *
 * @before holds up to some index, and not from there on.
 */
#define SEARCH_FIRST(i, lo, hi, before)				\
	do {							\
		size_t lo_ = (size_t)(lo), hi_ = (size_t)(hi);	\
								\
		while (lo_ < hi_) {				\
			(i) = lo_ + (hi_ - lo_) / 2;		\
			if (before)				\
				lo_ = (i) + 1;			\
			else					\
				hi_ = (i);			\
		}						\
		(i) = lo_;					\
	} while (0)

#endif
