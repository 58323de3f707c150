// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtPath.cpp
 * @brief	Draw the result of the dock's page "Why" over the graphs.
 */
#include <algorithm>

#include "VirtPath.hpp"
#include "ks_stream.h"

namespace {

/* above the base line: the edge, the colour, the edge */
constexpr int TOP = 11, BOTTOM = 1;
constexpr int LEAST_WAIT = 6;		/* columns of a wait that has lines */
constexpr int MOST_LINKS = 400;
constexpr int HEAD = 4;			/* half the width of an arrow's head */
constexpr virt_color EDGE_COLOR = { 0x20, 0x20, 0x20 };

} // namespace

void VirtPath::add(const KsCppArgV *argv, const VirtWhyTree &tree, int streamId, int value,
		   int drawAction)
{
	const KsPlot::Graph *graph = argv->_graph;
	const virt_model *model = tree.stream.model.get();
	const virt_shade_window window = {
		.from_ns = argv->_histo->min - ks_stream_offset(tree.stream.id),
		.column_ns = static_cast<int64_t>(argv->_histo->bin_size),
		.n_columns = graph->size(),
		.n_parts = 1,
	};
	bool isPcpu = drawAction & KSHARK_CPU_DRAW;
	Band band = {};

	band.row = { isPcpu, isPcpu ? value : tree.numberOf(streamId, value) };
	/* a guest's CPU is a vCPU, which has a graph of its own */
	if (isPcpu && streamId != tree.stream.id)
		return;
	band.x0 = _x0 = graph->bin(0)._base.x();
	band.base = graph->base();
	band.runs.resize(static_cast<size_t>(window.n_columns));
	band.runs.resize(static_cast<size_t>(std::max(0, virt_path_runs(tree.path, band.row,
									&window,
									band.runs.data()))));
	for (const virt_path_run &run : band.runs)
		band.looks.push_back(virt_path_look(model, &tree.answer.why.segments[run.segment]));
	if (_bands.empty()) {
		_links.resize(MOST_LINKS);
		_links.resize(static_cast<size_t>(virt_path_links(tree.path, &window, LEAST_WAIT,
								  _links.data(), MOST_LINKS)));
	}
	_bands.push_back(std::move(band));
}

/** The first one, from the top; or nullptr. */
const VirtPath::Band *VirtPath::bandOf(bool isPcpu, int32_t id) const
{
	for (const Band &band : _bands)
		if (band.row.is_pcpu == isPcpu && band.row.id == id && id != VIRT_NONE)
			return &band;
	return nullptr;
}

void VirtPath::drawBand(const Band &band) const
{
	int top = band.base - TOP, bottom = band.base - BOTTOM;

	glBegin(GL_QUADS);
	virtSetColor(EDGE_COLOR);
	for (const virt_path_run &run : band.runs)
		virtAddRect({ band.x0 + run.first, top, band.x0 + run.first + run.n, bottom });
	for (size_t i = 0; i < band.runs.size(); i++) {
		int x = band.x0 + band.runs[i].first;
		VirtRect rect = { x, top + 1, x + band.runs[i].n, bottom - 1 };

		virtSetColor(band.looks[i].color);
		virtAddRect(rect);
		if (!band.looks[i].hatched)
			continue;
		virtSetColor(band.looks[i].hatch);
		virtAddHatch(rect);
	}
	glEnd();
}

/** From band to band; the head is where the time goes on. */
void VirtPath::drawLink(const virt_path_link &link) const
{
	const Band *waits = bandOf(false, link.waits), *other = bandOf(false, link.other);
	int x = _x0 + link.column;

	if (!other)
		other = bandOf(false, link.vcpu);
	if (!other)
		other = bandOf(true, link.pcpu);
	if (!waits || !other)
		return;

	const Band *from = link.is_back ? other : waits, *to = link.is_back ? waits : other;
	bool isDown = from->base < to->base;
	int y0 = isDown ? from->base - BOTTOM : from->base - TOP;
	int y1 = isDown ? to->base - TOP : to->base - BOTTOM, neck = isDown ? y1 - 2 * HEAD :
									     y1 + 2 * HEAD;

	virtSetColor(EDGE_COLOR);
	glBegin(GL_QUADS);
	virtAddRect({ x, std::min(y0, neck), x + 1, std::max(y0, neck) });
	glEnd();
	glBegin(GL_TRIANGLES);
	glVertex2i(x - HEAD, neck);
	glVertex2i(x + HEAD + 1, neck);
	glVertex2i(x, y1);
	glEnd();
}

void VirtPath::draw() const
{
	for (const Band &band : _bands)
		drawBand(band);
	for (const virt_path_link &link : _links)
		drawLink(link);
}
