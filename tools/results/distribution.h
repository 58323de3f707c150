/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	distribution.h
 * @brief	Probabilities that statistics need.
 */
#ifndef KSHARK_VIRT_DISTRIBUTION_H
#define KSHARK_VIRT_DISTRIBUTION_H

#include <stddef.h>

/**
 * distribution_student - how far off the middle part of Student's t distribution reaches
 * @confidence: what lies in this part, above 0 and below 1
 * @freedom: degrees of freedom, above 0; INFINITY gives the normal distribution
 *
 * Return: the quantile at (1 + @confidence) / 2.
 */
double distribution_student(double confidence, double freedom);

/** distribution_binomial - Return: the probability of @least or more hits in @n draws. */
double distribution_binomial(size_t n, double hit, size_t least);

#endif
