/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtLegend.hpp
 * @brief	The colours of states and of kinds of VM exits, and what they mean.
 */
#ifndef KSHARK_VIRT_VIRTLEGEND_HPP
#define KSHARK_VIRT_VIRTLEGEND_HPP

#include <QBrush>
#include <QIcon>

class QWidget;
struct virt_look;

QBrush virtStateBrush(int state);
QIcon virtStateIcon(int state);
QIcon virtLookIcon(const virt_look &look);

/** Lines of rich text, one for each state: its colour, what it is called, what it means. */
QString virtStatesInWords();

/** All states, with their meanings as tool tips. */
QWidget *virtStateLegend();

/**
 * The hypervisor's colours in combos. Always there, so that the dock does not grow, and the graphs
 * are not drawn anew, while KernelShark appends a file.
 */
QWidget *virtExitLegend();

#endif
