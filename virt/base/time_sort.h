/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	time_sort.h
 * @brief	Sort elements by their time; those of the same time keep their order.
 *
 * Records come CPU by CPU, each CPU in order of time. A merge sort needs few passes over them, and
 * no number for the order in which they came.
 */
#ifndef KSHARK_VIRT_TIME_SORT_H
#define KSHARK_VIRT_TIME_SORT_H

#include <stddef.h>

/**
 * time_sort - sort elements that begin with an int64_t time
 * @all: from malloc(); may be replaced by another array of @n elements
 * @size: of an element
 *
 * Return: 0; -ENOMEM, and nothing has changed.
 */
int time_sort(void **all, size_t n, size_t size);

#endif
