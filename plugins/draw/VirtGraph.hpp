/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtGraph.hpp
 * @brief	One of KernelShark's graphs whose stream has a model: its owner and its position.
 */
#ifndef KSHARK_VIRT_VIRTGRAPH_HPP
#define KSHARK_VIRT_VIRTGRAPH_HPP

#include <cstdint>

#include <KsPlugins.hpp>

#include "VirtKs.hpp"
#include "virt_shading.h"

struct VirtGraph {
	static constexpr int OVER_GRAPH = 8;	/* of the gap above a graph; not in a combo */

	int			streamId;
	int64_t			offset;
	VirtModelRef		model;
	bool			isPcpu, isCombo;
	int32_t			id;	/* pCPU; or vCPU by its global index, or task; VIRT_NONE */
	virt_shade_window	window;	/* of one part */
	int			x0, base;
	int			top, bottom;	/* of our strip above it, if it has one */
};

/**
 * virtGraph - the graph that KernelShark is about to draw
 * @value: its CPU or PID
 */
VirtGraph virtGraph(const KsCppArgV *argv, int streamId, int value, int drawAction,
		    VirtModelRef &&model);

#endif
