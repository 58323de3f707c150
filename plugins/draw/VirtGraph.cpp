// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtGraph.cpp
 * @brief	The owner and the position of one of KernelShark's graphs.
 */
#include <utility>

#include <KsPlotTools.hpp>

#include "VirtGraph.hpp"
#include "ks_stream.h"

namespace {

/** A vCPU or a task; or VIRT_NONE. */
int32_t whoIs(const virt_model *model, int pid)
{
	int32_t vcpu = virt_model_find_vcpu(model, pid);

	for (int32_t i = 0; vcpu == VIRT_NONE && i < virt_model_n_tasks(model); i++)
		if (virt_model_task(model, VIRT_FIRST_TASK + i)->pid == pid)
			return VIRT_FIRST_TASK + i;
	return vcpu;
}

} // namespace

VirtGraph virtGraph(const KsCppArgV *argv, int streamId, int value, int drawAction,
		    VirtModelRef &&model)
{
	const KsPlot::Graph *plot = argv->_graph;
	int height = plot->height();
	VirtGraph graph = {};

	graph.streamId = streamId;
	graph.offset = ks_stream_offset(streamId);
	graph.model = std::move(model);
	graph.isPcpu = drawAction & KSHARK_CPU_DRAW;
	graph.isCombo = drawAction & (KSHARK_HOST_DRAW | KSHARK_GUEST_DRAW);
	graph.id = graph.isPcpu ? value : whoIs(graph.model.get(), value);
	graph.window = {
		.from_ns = argv->_histo->min - graph.offset,
		.column_ns = static_cast<int64_t>(argv->_histo->bin_size),
		.n_columns = plot->size(),
		.n_parts = 1,
	};
	graph.x0 = plot->bin(0)._base.x();
	graph.base = plot->base();
	graph.top = graph.base - height - (graph.isCombo ? 0 : VirtGraph::OVER_GRAPH);
	graph.bottom = graph.base - (graph.isPcpu ? height * 7 / 10 + 2 : height / 2);
	return graph;
}
