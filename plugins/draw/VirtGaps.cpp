// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtGaps.cpp
 * @brief	Mark the times of missing records of a stream, with marks that hang from
 *		KernelShark's axis.
 */
#include <algorithm>
#include <utility>

#include <KsPlotTools.hpp>

#include "VirtGaps.hpp"

namespace {

/* KernelShark's axis is 31 pixels below the top of its graphs, the first strip begins at 42 */
constexpr int AXIS_TOP = 32;
constexpr int AXIS_BOTTOM = 38;
constexpr int LEAST_WIDTH = 3;		/* what is seen, however short it was */
constexpr int SLACK = 3;		/* pixels to each side that mean it, too */
constexpr virt_color MISSING_COLOR = { 0xd0, 0x00, 0x00 };

} // namespace

VirtGaps::VirtGaps(const KsCppArgV *argv, VirtStream stream)
: _stream(std::move(stream)),
  _x0(argv->_graph->bin(0)._base.x()),
  _window({ .from_ns = argv->_histo->min - _stream.offset,
	    .column_ns = static_cast<int64_t>(argv->_histo->bin_size),
	    .n_columns = argv->_graph->size(),
	    .n_parts = 1 }),
  _spans(_window.n_columns)
{
	_spans.resize(virt_shade_losses(_stream.model.get(), &_window, _spans.data()));
}

VirtRect VirtGaps::area(const virt_shade_span &span) const
{
	int width = std::max(span.n, LEAST_WIDTH);
	int x = std::min(_x0 + span.first, _x0 + _window.n_columns - width);

	return { x, AXIS_TOP, x + width, AXIS_BOTTOM };
}

/** Return: or nullptr. */
const virt_shade_span *VirtGaps::spanAt(int x, int y) const
{
	for (const virt_shade_span &span : _spans) {
		VirtRect rect = area(span);

		if (x >= rect.x0 - SLACK && x < rect.x1 + SLACK && y >= rect.y0 && y < rect.y1)
			return &span;
	}
	return nullptr;
}

bool VirtGaps::factAt(int x, int y, VirtFact *fact) const
{
	const virt_shade_span *span = spanAt(x, y);

	if (!span)
		return false;

	int column = std::clamp(x - _x0, span->first, span->first + span->n - 1);
	int64_t from = _window.from_ns + column * _window.column_ns;
	const virt_loss *loss = virt_model_loss_in(_stream.model.get(), from,
						   from + _window.column_ns);

	if (loss)
		*fact = virtLossFact(_stream, *loss);
	return loss;
}

void VirtGaps::draw() const
{
	glBegin(GL_QUADS);
	virtSetColor(MISSING_COLOR);
	for (const virt_shade_span &span : _spans)
		virtAddRect(area(span));
	glEnd();
}
