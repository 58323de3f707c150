// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtFlags.cpp
 * @brief	Bookmarks, and levels of boots, below KernelShark's axis of time.
 */
#include <algorithm>
#include <cstdlib>

#include <KsPlotTools.hpp>

#include "VirtBookmarks.hpp"
#include "VirtFlags.hpp"
#include "VirtKs.hpp"
#include "ks_stream.h"
#include "virt_inside.h"
#include "virt_slices.h"
#include "virt_text.h"

namespace {

/* KernelShark's axis is 31 pixels below the top of its graphs, the first strip begins at 42 */
constexpr int TOP = 32, BOTTOM = 41;
constexpr int PENNANT = 9;		/* width of a bookmark's */
constexpr int HALF = 4;			/* of the width of a level's mark */
constexpr int SLACK = 3;		/* pixels to each side that mean it, too */
constexpr int BAR = 3;			/* height of that over a long bookmark's time */
constexpr virt_color LINE_COLOR = { 0x20, 0x20, 0x20 };

} // namespace

VirtFlags::VirtFlags(const KsCppArgV *graph, int height)
: _x0(graph->_graph->bin(0)._base.x()),
  _columns(graph->_graph->size()),
  _height(height),
  _from(graph->_histo->min),
  _column(static_cast<int64_t>(graph->_histo->bin_size))
{
}

/** Return: false if it is not in the window. */
bool VirtFlags::place(int64_t from, int64_t to, Flag *flag) const
{
	int64_t end = _from + _columns * _column;

	if (to < _from || from >= end)
		return false;
	flag->begins = from >= _from;
	flag->ends = to < end;
	flag->x0 = _x0 + static_cast<int>((std::max(from, _from) - _from) / _column);
	flag->x1 = _x0 + static_cast<int>((std::min(to, end - 1) - _from) / _column);
	return true;
}

void VirtFlags::addBookmarks(const std::vector<VirtBookmark> &bookmarks)
{
	Flag flag;

	for (const VirtBookmark &one : bookmarks) {
		if (!place(one.from, one.to, &flag))
			continue;
		flag.fact = { one.words(), one.from, one.to };
		_bookmarks.push_back(flag);
	}
}

void VirtFlags::addBoot(int streamId, const virt_inside *inside)
{
	int64_t offset = ks_stream_offset(streamId);
	char text[VIRT_TEXT_SIZE];
	size_t n;
	const virt_inside_lane *lanes = virt_inside_lanes(inside, VIRT_NONE, &n);

	if (!_streams.insert(streamId).second)
		return;
	for (size_t i = 0; i < n; i++) {
		const virt_inside_lane &lane = lanes[i];

		if (lane.kind != VIRT_INSIDE_LEVEL)
			continue;
		for (size_t k = virt_inside_at(&lane, _from - offset); k < lane.n; k++) {
			const virt_inside_piece &piece = lane.pieces[k];
			int64_t from = piece.start_ns + offset;
			Flag flag;

			if (from < _from)
				continue;
			if (!place(from, from, &flag))
				break;
			virt_slice_text(text, sizeof(text), inside, &lane, &piece);
			flag.fact = { virtFileOf(streamId) + ": " + virtShown(text), from,
				      piece.end_ns + offset };
			_levels.push_back(flag);
		}
	}
}

/** The nearest one of several; the user's notes are above all others. */
bool VirtFlags::factAt(int x, int y, VirtFact *fact) const
{
	const Flag *best = nullptr;
	int least = HALF + SLACK;

	if (y < TOP || y >= BOTTOM)
		return false;
	for (const std::vector<Flag> *flags : { &_bookmarks, &_levels }) {
		bool isBookmark = flags == &_bookmarks;

		for (const Flag &flag : *flags) {
			int right = isBookmark ? std::max(flag.x1, flag.x0 + PENNANT) : flag.x0;
			int distance = x < flag.x0 ? flag.x0 - x : std::max(0, x - right);

			if (distance >= least)
				continue;
			least = distance;
			best = &flag;
		}
		if (best)
			break;
	}
	if (best)
		*fact = best->fact;
	return best;
}

void VirtFlags::drawBookmark(const Flag &flag) const
{
	bool isLong = flag.x1 > flag.x0;

	virtSetColor(VIRT_BOOKMARK_COLOR);
	if (isLong)
		virtAddRect({ flag.x0, TOP, flag.x1, TOP + BAR });
	if (flag.ends && isLong)
		virtAddRect({ flag.x1, TOP, flag.x1 + 1, _height });
	if (!flag.begins)
		return;
	virtAddRect({ flag.x0, TOP, flag.x0 + 1, _height });
	for (int i = 0; i < BOTTOM - TOP - 1; i++)
		virtAddRect({ flag.x0, TOP + i,
			      flag.x0 + PENNANT - 2 * std::abs(i - (BOTTOM - TOP - 1) / 2),
			      TOP + i + 1 });
}

/** A triangle that points down from the axis. */
void VirtFlags::drawLevel(const Flag &flag)
{
	for (int half = HALF; half >= 0; half--) {
		int y = TOP + 2 * (HALF - half);

		virtSetColor(LINE_COLOR);
		virtAddRect({ flag.x0 - half, y, flag.x0 + half + 1, std::min(y + 2, BOTTOM) });
		if (half < 1)
			continue;
		virtSetColor(virt_inside_color(VIRT_INSIDE_LEVEL));
		virtAddRect({ flag.x0 - half + 1, y + (half == HALF), flag.x0 + half, y + 2 });
	}
}

void VirtFlags::draw() const
{
	glBegin(GL_QUADS);
	for (const Flag &flag : _levels)
		drawLevel(flag);
	for (const Flag &flag : _bookmarks)
		drawBookmark(flag);
	glEnd();
}
