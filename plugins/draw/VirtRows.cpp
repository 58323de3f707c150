// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtRows.cpp
 * @brief	Label graphs with the machine and the vCPU that they belong to.
 *
 * KernelShark makes its graphs again for each frame, and draws them when all plugins have seen
 * them. The width of its labels is fixed by then, so a longer name needs a line of its own.
 */
#include <cstdlib>

#include <KsPlotTools.hpp>

#include <libkshark.h>

#include "VirtFont.hpp"
#include "VirtRows.hpp"

namespace {

constexpr int MARGIN = 15;		/* KernelShark's, on both sides of a label */
constexpr int INDENT = 4;
constexpr int LEAST_HEIGHT = 26;	/* of two lines */
constexpr int OTHER_SIZE = VIRT_FONT_SIZE - 1;
constexpr virt_color NAME_COLOR = { 0, 0, 0 }, OTHER_COLOR = { 0x48, 0x48, 0x48 };

std::string taskName(int streamId, int pid)
{
	char *comm = kshark_comm_from_pid(streamId, pid);
	QString name = virtShown(comm) + '-' + QString::number(pid);

	free(comm);
	return name.toStdString();
}

/** The two lines. */
void findTexts(VirtRow *row, const VirtNames &names, int streamId, int value, bool isCpu)
{
	std::string cpu = "CPU " + std::to_string(value);

	if (!isCpu) {
		VirtModelRef model(streamId);
		int32_t vcpu = model ? virt_model_find_vcpu(model.get(), value) : VIRT_NONE;

		row->other = taskName(streamId, value);
		if (vcpu != VIRT_NONE)
			row->name = names.vcpu(streamId, vcpu).toStdString();
		/* a xentrace file's task is called as its vCPU */
		if (row->other == row->name + "-" + std::to_string(value))
			row->name.clear();
		return;
	}
	row->name = names.guestCpu(streamId, value).toStdString();
	row->other = cpu;
	if (row->name.empty() && virtOpenStreams().size() > 1) {
		row->name = cpu;
		row->other = virtFileOf(streamId).toStdString();
	}
}

} // namespace

VirtRow virtRow(const KsCppArgV *argv, const VirtNames &names, int streamId, int value,
		int drawAction)
{
	KsPlot::Graph *graph = argv->_graph;
	VirtRow row = { MARGIN + INDENT, graph->base() - graph->height(),
			graph->bin(0)._base.x() - 2 * (MARGIN + INDENT), graph->height(), "", "" };

	if (row.height < LEAST_HEIGHT || !virtFont(VIRT_FONT_SIZE) || !virtFont(OTHER_SIZE))
		return row;
	findTexts(&row, names, streamId, value, drawAction & KSHARK_CPU_DRAW);
	if (!row.name.empty())
		graph->setLabelText("");
	return row;
}

void VirtRow::draw() const
{
	const ksplot_font *first = virtFont(VIRT_FONT_SIZE), *second = virtFont(OTHER_SIZE);
	int top = y + (height - 2 * VIRT_FONT_SIZE) / 2;

	if (name.empty())
		return;
	virtDrawText(first, virtElided(first, name, room), x, top + VIRT_CAPITAL_SIZE + 1,
		     NAME_COLOR);
	virtDrawText(second, virtElided(second, other, room), x,
		     top + VIRT_FONT_SIZE + VIRT_CAPITAL_SIZE + 2, OTHER_COLOR);
}
