/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	axis_steps.h
 * @brief	Round steps of a time axis.
 */
#ifndef KSHARK_VIRT_AXIS_STEPS_H
#define KSHARK_VIRT_AXIS_STEPS_H

#include <stdint.h>

/** axis_step - the smallest step of 1, 2 or 5 times a power of ten that is @least ns or longer */
static inline int64_t axis_step(int64_t least)
{
	int64_t power = 1;

	while (power < INT64_MAX / 100 && power * 10 <= least)
		power *= 10;
	return power >= least ? power : power * 2 >= least ? power * 2 :
	       power * 5 >= least ? power * 5 : power * 10;
}

/** axis_floor - the last multiple of @step that is not after @value */
static inline int64_t axis_floor(int64_t value, int64_t step)
{
	int64_t rest = value % step;

	return value - (rest < 0 ? rest + step : rest);
}

/** axis_first - the first multiple of @step that is not before @value */
static inline int64_t axis_first(int64_t value, int64_t step)
{
	int64_t floor = axis_floor(value, step);

	return floor < value ? floor + step : floor;
}

/** axis_decimals - decimals that multiples of @step need, in units of @unit ns, a power of ten */
static inline int axis_decimals(int64_t step, int64_t unit)
{
	int decimals = 0;

	for (; unit > 1 && step % unit; unit /= 10)
		decimals++;
	return decimals;
}

#endif
