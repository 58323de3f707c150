/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtPins.hpp
 * @brief	Markers of the worst moments, drawn beside KernelShark's graphs.
 */
#ifndef KSHARK_VIRT_VIRTPINS_HPP
#define KSHARK_VIRT_VIRTPINS_HPP

#include <vector>

#include <KsPlugins.hpp>

#include "VirtFact.hpp"
#include "virt_shading.h"

/** virtDrawPins - add the markers of a graph. Return: where they are. */
std::vector<virt_shade_taken> virtDrawPins(const KsCppArgV *argv, int streamId, int value,
					   int drawAction);

/** What a double click shows of the marker that is drawn there. Return: false if there is none. */
bool virtPinFact(int x, int y, VirtFact *fact);

#endif
