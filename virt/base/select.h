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

/** SELECT_NTH - reorder v[lo .. hi) such that v[nth] is what it would be if all were sorted */
#define SELECT_NTH(v, lo, hi, nth)							\
	do {										\
		size_t lo_ = (lo), hi_ = (hi), nth_ = (nth);				\
		uint64_t random_ = 88172645463325252u;					\
											\
		while (hi_ - lo_ > 1) {							\
			__typeof__(*(v)) pivot_, value_;				\
			size_t end_ = lo_;						\
											\
			/* a pivot that no trace can have been made to suit badly */	\
			random_ ^= random_ << 13;					\
			random_ ^= random_ >> 7;					\
			random_ ^= random_ << 17;					\
			pivot_ = (v)[lo_ + random_ % (hi_ - lo_)];			\
			SELECT_FIRST(v, end_, hi_, value_ < pivot_);			\
			if (nth_ < end_) {						\
				hi_ = end_;						\
				continue;						\
			}								\
			/* none is smaller: those that are equal */			\
			if (end_ == lo_)						\
				SELECT_FIRST(v, end_, hi_, !(pivot_ < value_));		\
			if (nth_ < end_)						\
				break;							\
			lo_ = end_;							\
		}									\
	} while (0)

#endif
