/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtListWidths.hpp
 * @brief	The widths of the columns of KernelShark's list.
 *
 * KernelShark measures the texts of a thousand rows whenever its list gets another size, and gives
 * the last column the width that is left (KsTraceViewer::resizeEvent()). As long as the same rows
 * are in sight, the texts have the widths that were measured before, and only the last column
 * changes: it does so here.
 */
#ifndef KSHARK_VIRT_VIRTLISTWIDTHS_HPP
#define KSHARK_VIRT_VIRTLISTWIDTHS_HPP

#include <QMainWindow>

/** virtKeepWidths - from now on, as long as the window's list exists; more calls change nothing */
void virtKeepWidths(QMainWindow *window);

#endif
