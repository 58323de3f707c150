/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtHover.hpp
 * @brief	A tooltip for the item under the mouse in KernelShark's graphs.
 */
#ifndef KSHARK_VIRT_VIRTHOVER_HPP
#define KSHARK_VIRT_VIRTHOVER_HPP

#include <QPoint>

#include "VirtFact.hpp"

/** The fact to show at a place of the graphs; false: none. */
using VirtFactAt = bool (*)(int x, int y, VirtFact *fact);

/** virtShowTip - show it at once, or as soon as no button is pressed any more */
void virtShowTip(const QPoint &place, const QString &text);

/** virtHover - show facts from now on; may be called again and again */
void virtHover(VirtFactAt factAt);

#endif
