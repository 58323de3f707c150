// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtInside.cpp
 * @brief	Draw the activity inside a guest over the graph of its CPU.
 */
#include <algorithm>

#include <KsPlotTools.hpp>

#include "VirtFont.hpp"
#include "VirtInside.hpp"
#include "VirtStrips.hpp"
#include "ks_stream.h"
#include "virt_colors.h"
#include "virt_text.h"

namespace {

constexpr int NAME_MARGIN = 3;
constexpr int LEAST_NAME = 2 * VIRT_FONT_SIZE;	/* width of what has a name written into it */

/** What of a colour goes, where another piece begins. */
virt_color darker(virt_color color)
{
	auto part = [] (uint8_t value) { return static_cast<uint8_t>(value * 2 / 3); };

	return { part(color.red), part(color.green), part(color.blue) };
}

} // namespace

VirtInside::VirtInside(const KsCppArgV *argv, int streamId, int cpu, int drawAction,
		       VirtInsideRef &&inside)
: _inside(std::move(inside)),
  _offset(ks_stream_offset(streamId))
{
	const KsPlot::Graph *graph = argv->_graph;
	bool isCombo = drawAction & (KSHARK_HOST_DRAW | KSHARK_GUEST_DRAW);
	int x0 = graph->bin(0)._base.x(), base = graph->base(), height = graph->height();
	int middle = base - height * 7 / 10 - 2;
	size_t nMachine, nCpu;
	virt_slice_row rows[VIRT_SLICE_ROWS];

	_area = { x0, base - height - (isCombo ? 0 : VirtStrip::OVER_GRAPH), x0 + graph->size(),
		  middle };
	_boxes = { x0, middle, x0 + graph->size(), base };
	_window = {
		.from_ns = argv->_histo->min - _offset,
		.column_ns = static_cast<int64_t>(argv->_histo->bin_size),
		.n_columns = graph->size(),
		.n_parts = std::min(_area.y1 - _area.y0, VIRT_SHADE_MAX_PARTS),
	};

	const virt_inside_lane *machine = virt_inside_lanes(_inside.get(), VIRT_NONE, &nMachine);
	const virt_inside_lane *lanes = virt_inside_lanes(_inside.get(), cpu, &nCpu);
	int n = virt_slice_rows(machine, nMachine, lanes, nCpu, &_window, _area.y1 - _area.y0,
				rows);

	for (int i = 0; i < n; i++)
		_rows.push_back(newRow(rows[i]));
	for (size_t i = 0; i < nCpu; i++) {
		if (lanes[i].kind == VIRT_INSIDE_UNKNOWN)
			_unknown.push_back(newRow({ &lanes[i], 0, 0 }));
		else if (lanes[i].kind == VIRT_INSIDE_DOUBT)
			_doubtful.push_back(newRow({ &lanes[i], 0, 0 }));
	}
}

VirtInside::Row VirtInside::newRow(const virt_slice_row &place) const
{
	Row row = { place, std::vector<virt_slice_run>(static_cast<size_t>(_window.n_columns)) };

	row.runs.resize(static_cast<size_t>(virt_slices(place.lane, &_window, row.runs.data())));
	return row;
}

VirtRect VirtInside::rectOf(const Row &row, const virt_slice_run &run) const
{
	int top = _area.y0 + row.place.top;

	return { _area.x0 + run.first, top, _area.x0 + run.first + run.n, top + row.place.height };
}

/** Many short ones are as high as what they cover. */
void VirtInside::drawRow(const Row &row) const
{
	virt_color color = virt_inside_color(row.place.lane->kind);

	glBegin(GL_QUADS);
	for (const virt_slice_run &run : row.runs) {
		VirtRect rect = rectOf(row, run);

		virtSetColor(color);
		if (!run.piece)
			rect.y0 = rect.y1 - std::max(1, row.place.height * run.parts /
							_window.n_parts);
		virtAddRect(rect);
		virtSetColor(darker(color));
		if (run.piece && run.n > 2)
			virtAddRect({ rect.x0, rect.y0, rect.x0 + 1, rect.y1 });
		if (run.piece && run.piece->no_end)
			virtAddHatch(rect);
	}
	glEnd();
}

/** What is unknown, or is not to be relied on, for most of a column. */
void VirtInside::drawHatch(const Row &row, bool ground) const
{
	const virt_look *look = virt_state_look(VIRT_UNKNOWN);

	glBegin(GL_QUADS);
	for (const virt_slice_run &run : row.runs) {
		VirtRect rect = { _boxes.x0 + run.first, _boxes.y0, _boxes.x0 + run.first + run.n,
				  _boxes.y1 };

		if (!run.piece && 2 * run.parts < _window.n_parts)
			continue;
		virtSetColor(look->color);
		if (ground)
			virtAddRect(rect);
		virtSetColor(look->hatch);
		virtAddHatch(rect);
	}
	glEnd();
}

void VirtInside::draw() const
{
	for (const Row &row : _unknown)
		drawHatch(row, true);
	for (const Row &row : _doubtful)
		drawHatch(row, false);
	for (const Row &row : _rows)
		drawRow(row);
}

void VirtInside::drawNames() const
{
	const ksplot_font *font = virtFont(VIRT_FONT_SIZE);

	for (const Row &row : _rows) {
		virt_color color = virt_inside_color(row.place.lane->kind);

		if (!font || row.place.height < VIRT_CAPITAL_SIZE + 2)
			continue;
		for (const virt_slice_run &run : row.runs) {
			VirtRect rect = rectOf(row, run);

			if (!run.piece || run.n < LEAST_NAME)
				continue;
			virtDrawText(font,
				     virtElided(font, virtShown(virt_inside_name(
						_inside.get(), run.piece->name)).toStdString(),
						run.n - 2 * NAME_MARGIN),
				     rect.x0 + NAME_MARGIN,
				     (rect.y0 + rect.y1 + VIRT_CAPITAL_SIZE) / 2,
				     virt_color_text_is_dark(color) ? virt_color{ 0, 0, 0 } :
								      virt_color{ 255, 255, 255 });
		}
	}
}

const VirtInside::Row *VirtInside::rowAt(int y) const
{
	for (const Row &row : _rows)
		if (y >= _area.y0 + row.place.top &&
		    y <= _area.y0 + row.place.top + row.place.height)
			return &row;
	return nullptr;
}

bool VirtInside::factAt(int x, int y, VirtFact *fact) const
{
	const Row *row = _area.contains(x, y) ? rowAt(y) : nullptr;
	const virt_inside_piece *piece = row ?
		virt_slice_at(row->place.lane, &_window, x - _area.x0) : nullptr;
	char text[VIRT_TEXT_SIZE];

	if (!piece)
		return false;
	virt_slice_text(text, sizeof(text), _inside.get(), row->place.lane, piece);
	*fact = { virtShown(text), piece->start_ns + _offset, piece->end_ns + _offset };
	return true;
}
