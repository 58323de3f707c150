// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtMinimap.cpp
 * @brief	The whole trace in one line, and which part of it the graphs show.
 *
 * A column has the shares of the states of all vCPUs together. It is made once for a trace and a
 * width, not for each window.
 */
#include <algorithm>
#include <tuple>
#include <utility>

#include <QMouseEvent>
#include <QPainter>

#include "VirtLegend.hpp"
#include "VirtMinimap.hpp"
#include "VirtView.hpp"
#include "virt_colors.h"

namespace {

constexpr int HEIGHT = 14, MARGIN = 2;	/* above and below the columns */
constexpr int LEAST_WIDTH = 4;		/* of the visible part's frame */

} // namespace

VirtMinimap::VirtMinimap(QWidget *parent, VirtView *view)
: QWidget(parent),
  _view(view)
{
	setFixedHeight(HEIGHT);
	setAccessibleName("The whole trace");
	setToolTip("The states of all vCPUs in the whole trace. The frame is the time that the"
		   " graphs show: click or drag to move it");
}

void VirtMinimap::follow(const std::vector<VirtStream> &streams, int left, int columns)
{
	std::vector<int64_t> key = { columns };

	if (_view->isEmpty() || columns <= LEAST_WIDTH) {
		_columns.clear();
		update();
		return;
	}
	std::tie(_from, _to) = _view->rows();
	_left = left;
	key.push_back(_from);
	key.push_back(_to);
	for (const VirtStream &stream : streams) {
		key.push_back(static_cast<int64_t>(stream.model.serial()));
		key.push_back(stream.offset);
	}
	if (key != _key) {
		_key = key;
		_columns.assign(columns, Column());
		shade(streams);
	}
	update();
}

/** Shares of shares: those of a machine count as often as it has vCPUs. */
void VirtMinimap::shade(const std::vector<VirtStream> &streams)
{
	auto columns = static_cast<int64_t>(_columns.size());
	int64_t length = std::max<int64_t>(1, (_to - _from + columns - 1) / columns);
	int height = HEIGHT - 2 * MARGIN, vcpus = 0;
	std::vector<virt_shade_run> runs(_columns.size());

	for (const VirtStream &stream : streams) {
		virt_shade_window where = {
			.from_ns = _from - stream.offset,
			.column_ns = length,
			.n_columns = static_cast<int>(columns),
			.n_parts = VIRT_SHADE_MAX_PARTS,
		};

		for (int32_t m = 0; m < virt_model_n_machines(stream.model.get()); m++) {
			int of = virt_model_machine(stream.model.get(), m)->n_vcpus;
			int n = virt_shade_machine(stream.model.get(), m, &where, runs.data());

			vcpus += of;
			for (int i = 0; i < n; i++)
				for (int c = runs[i].first; c < runs[i].first + runs[i].n; c++)
					for (int s = 0; s < VIRT_N_STATES; s++)
						_columns[c][s] += runs[i].parts[s] * of;
		}
	}
	for (Column &column : _columns) {
		int64_t all = std::max<int64_t>(1, int64_t{ VIRT_SHADE_MAX_PARTS } * vcpus);
		int64_t sum = 0, before = 0;

		/* edges are rounded, not parts: no part is lost */
		for (int &state : column) {
			sum += state;
			int64_t edge = sum * height / all;

			state = static_cast<int>(edge - std::exchange(before, edge));
		}
	}
}

int VirtMinimap::xOf(int64_t ns) const
{
	auto width = static_cast<double>(_columns.size());

	return _left + static_cast<int>(width * static_cast<double>(ns - _from) /
					static_cast<double>(std::max<int64_t>(1, _to - _from)));
}

void VirtMinimap::paintEvent(QPaintEvent *)
{
	QPainter painter(this);
	auto [from, to] = _view->visible();
	int x = _left, right = _left + static_cast<int>(_columns.size());

	painter.fillRect(rect(), Qt::white);
	for (const Column &column : _columns) {
		int y = height() - MARGIN;

		for (int state = 0; state < VIRT_N_STATES; state++) {
			y -= column[state];
			if (column[state])
				painter.fillRect(x, y, 1, column[state],
						 virtStateBrush(state));
		}
		x++;
	}
	if (_columns.empty())
		return;

	int first = std::clamp(xOf(from), _left, right - LEAST_WIDTH);
	int end = std::clamp(xOf(to), first + LEAST_WIDTH, right);

	painter.fillRect(_left, 0, first - _left, height(), QColor(255, 255, 255, 140));
	painter.fillRect(end, 0, right - end, height(), QColor(255, 255, 255, 140));
	painter.setPen(QPen(Qt::black, 1));
	painter.drawRect(first, 0, end - first - 1, height() - 1);
}

void VirtMinimap::go(const QMouseEvent *event)
{
	auto [from, to] = _view->visible();
	int64_t half = (to - from) / 2;

	if (!(event->buttons() & Qt::LeftButton) || _columns.empty() || virtMustWait())
		return;

	double part = static_cast<double>(event->pos().x() - _left) /
		      static_cast<double>(_columns.size());
	int64_t middle = _from + static_cast<int64_t>(part * static_cast<double>(_to - _from));

	/* the window keeps its length at both ends */
	middle = std::clamp(middle, _from + half, std::max(_from + half, _to - half));
	_view->show(middle - half, middle + half);
}
