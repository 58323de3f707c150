/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	select.h
 * @brief	The value that would have a certain place among sorted values.
 */
#ifndef KSHARK_VIRT_SELECT_H
#define KSHARK_VIRT_SELECT_H

#include <stddef.h>
#include <stdint.h>

/**
 * SELECT_FIRST - move values to @at, which becomes the place after them
 * @is_first: an expression about value_: is this one moved?
 */
#define SELECT_FIRST(v, at, hi, is_first)						\
	do {										\
		/* no branch depends on a value, which no processor could guess */	\
		for (size_t i_ = (at); i_ < (hi); i_++) {				\
			value_ = (v)[i_];						\
			(v)[i_] = (v)[at];						\
			(v)[at] = value_;						\
			(at) += (is_first);						\
		}									\
	} while (0)

/** Values of which any one is a good pivot. */
#define SELECT_FEW	16

/** select_any - a place in [@lo, @hi) that no trace can have been made to suit badly */
static inline size_t select_any(uint64_t *random, size_t lo, size_t hi)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return lo + *random % (hi - lo);
}

/** SELECT_ORDER - the smaller one of two first */
#define SELECT_ORDER(a, b)								\
	do {										\
		value_ = (a);								\
		(a) = (b) < value_ ? (b) : value_;					\
		(b) = (b) < value_ ? value_ : (b);					\
	} while (0)

/** SELECT_NTH - reorder v[lo .. hi) such that v[nth] is what it would be if all were sorted */
#define SELECT_NTH(v, lo, hi, nth)							\
	do {										\
		size_t lo_ = (lo), hi_ = (hi), nth_ = (nth);				\
		uint64_t random_ = 88172645463325252u;					\
											\
		while (hi_ - lo_ > 1) {							\
			__typeof__(*(v)) pivot_[3], value_;				\
			size_t end_ = lo_, third_ = 0;					\
											\
			pivot_[0] = (v)[select_any(&random_, lo_, hi_)];		\
			/* of three values, the one that is likely to be the nearest */	\
			if (hi_ - lo_ > SELECT_FEW) {					\
				pivot_[1] = (v)[select_any(&random_, lo_, hi_)];	\
				pivot_[2] = (v)[select_any(&random_, lo_, hi_)];	\
				SELECT_ORDER(pivot_[0], pivot_[1]);			\
				SELECT_ORDER(pivot_[1], pivot_[2]);			\
				SELECT_ORDER(pivot_[0], pivot_[1]);			\
				third_ = (nth_ - lo_) / ((hi_ - lo_ + 2) / 3);		\
			}								\
			pivot_[0] = pivot_[third_];					\
			SELECT_FIRST(v, end_, hi_, value_ < pivot_[0]);			\
			if (nth_ < end_) {						\
				hi_ = end_;						\
				continue;						\
			}								\
			/* none is smaller: those that are equal */			\
			if (end_ == lo_)						\
				SELECT_FIRST(v, end_, hi_, !(pivot_[0] < value_));	\
			if (nth_ < end_)						\
				break;							\
			lo_ = end_;							\
		}									\
	} while (0)

#endif
