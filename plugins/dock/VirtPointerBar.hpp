/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtPointerBar.hpp
 * @brief	Keeps KernelShark's text about the pointer within its bar.
 */
#ifndef KSHARK_VIRT_VIRTPOINTERBAR_HPP
#define KSHARK_VIRT_VIRTPOINTERBAR_HPP

class QWidget;

/**
 * KernelShark's text about the record under the pointer gets longer names of tasks and
 * events; the last part, its info, is shortened until it fits. Where the others leave no room for
 * that, KernelShark shortens it without an end. As the graphs need not be as wide as they ask for,
 * the names are cut instead.
 *
 * @graph:	KsTraceGraph
 */
void virtKeepPointerBar(QWidget *graph);

/** Show or hide it: in a low window, it takes the place of a graph; tooltips say the same. */
void virtShowPointerBar(QWidget *graph, bool isShown);

#endif
