/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	heap.h
 * @brief	Heaps: arrays whose first element comes before all others.
 *
 * @before(a, b), a function of pointers to two elements, says whether *a comes before *b.
 */
#ifndef KSHARK_VIRT_HEAP_H
#define KSHARK_VIRT_HEAP_H

#include <stddef.h>

/** HEAP_DOWN - restore a heap of @n elements whose element @at may come too early */
#define HEAP_DOWN(heap, n, at, before)							\
	do {										\
		size_t i_ = (at), n_ = (n), child_;					\
		__typeof__(*(heap)) moved_ = (heap)[i_];				\
											\
		for (; (child_ = 2 * i_ + 1) < n_; i_ = child_) {			\
			child_ += child_ + 1 < n_ &&					\
				  before(&(heap)[child_ + 1], &(heap)[child_]);		\
			if (!before(&(heap)[child_], &moved_))				\
				break;							\
			(heap)[i_] = (heap)[child_];					\
		}									\
		(heap)[i_] = moved_;							\
	} while (0)

/** HEAP_UP - restore a heap whose element @at may come too late */
#define HEAP_UP(heap, at, before)							\
	do {										\
		size_t i_ = (at);							\
		__typeof__(*(heap)) moved_ = (heap)[i_];				\
											\
		for (; i_ && before(&moved_, &(heap)[(i_ - 1) / 2]); i_ = (i_ - 1) / 2)	\
			(heap)[i_] = (heap)[(i_ - 1) / 2];				\
		(heap)[i_] = moved_;							\
	} while (0)

#endif
