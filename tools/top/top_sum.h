/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	top_sum.h
 * @brief	The facts of many intervals, added up: counters since the beginning.
 */
#ifndef KSHARK_VIRT_TOP_SUM_H
#define KSHARK_VIRT_TOP_SUM_H

#include "key_map.h"
#include "top.h"

/** All zero is nothing yet. */
struct top_sum {
	struct top_interval	all;	/* from the first interval to the last one */
	struct key_map		map;
};

/**
 * top_sum_add - one more interval
 *
 * Times and counts are added; percentiles are of the last interval, or not known. Machines that are
 * not in it have ended: their sums go, lest there are more and more of them.
 *
 * Return: 0 or -ENOMEM.
 */
int top_sum_add(struct top_sum *sum, const struct top_interval *interval);
void top_sum_free(struct top_sum *sum);

#endif
