/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	compare_boot.h
 * @brief	Boots of guests, to be compared: phases and levels, as report --boot has them.
 */
#ifndef KSHARK_VIRT_COMPARE_BOOT_H
#define KSHARK_VIRT_COMPARE_BOOT_H

#include "compare.h"
#include "model_guests.h"

/**
 * compare_boot_add - add what each phase, level and step of the shutdown took
 * @guests: found
 * @boots: of machines that report none through hypercalls
 *
 * What has no known end is left out, as is the time in the guest of what is not wholly known.
 *
 * Return: how many stages there are; -ENOMEM; or -ENOSPC: there are too many metrics.
 */
int compare_boot_add(struct compare *compare, int run, const struct virt_model *model,
		     const struct model_guests *guests, const struct model_boots *boots);

#endif
