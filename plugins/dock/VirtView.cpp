// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtView.cpp
 * @brief	The time that KernelShark's graphs show, and its markers.
 */
#include <algorithm>
#include <cstdlib>

#include <QApplication>
#include <QResizeEvent>
#include <QScrollArea>

#include <KsPluginsGUI.hpp>

#include "VirtKs.hpp"
#include "VirtView.hpp"

namespace {

constexpr int NEIGHBOURS = 110;		/* pixels above and below a graph that is scrolled to */
constexpr int STILL_PART = 10;		/* a window that has moved by less of itself is the same */

} // namespace

void VirtView::expect(int64_t fromNs, int64_t toNs)
{
	if (_histo && _histo->n_bins)
		ksmodel_set_bining(_histo, _histo->n_bins, fromNs, toNs);
}

std::pair<int64_t, int64_t> VirtView::visible() const
{
	if (!_histo)
		return { 0, 0 };
	return { _histo->min, _histo->min +
			      static_cast<int64_t>(_histo->bin_size) * _histo->n_bins };
}

int64_t VirtView::timeAt(int x) const
{
	int column = _histo ? qBound(0, x - _x0, _histo->n_bins) : 0;

	return visible().first + column * (_histo ? static_cast<int64_t>(_histo->bin_size) : 0);
}

int VirtView::xOf(int64_t ns) const
{
	int64_t column = _histo && _histo->bin_size ?
			 (ns - _histo->min) / static_cast<int64_t>(_histo->bin_size) : 0;

	return _x0 + static_cast<int>(column);
}

QString VirtView::span(int64_t fromNs, int64_t toNs) const
{
	if (!isEmpty()) {
		fromNs = std::max(fromNs, _histo->data[0]->ts);
		toNs = std::min(toNs, _histo->data[_histo->data_size - 1]->ts);
	}
	return QString("%1 to %2 s").arg(virtSeconds(fromNs), virtSeconds(toNs));
}

bool VirtView::isStill(const std::pair<int64_t, int64_t> &window) const
{
	auto [from, to] = visible();
	int64_t most = (window.second - window.first) / STILL_PART +
		       (_histo ? _histo->n_bins : 0);

	return std::abs(from - window.first) <= most && std::abs(to - window.second) <= most;
}

void VirtView::show(int64_t fromNs, int64_t toNs)
{
	int64_t least;

	if (isEmpty() || !_histo->n_bins)
		return;
	fromNs = std::max(fromNs, _histo->data[0]->ts);
	toNs = std::min(toNs, _histo->data[_histo->data_size - 1]->ts);
	/* A bin cannot be shorter than a nanosecond. */
	least = _histo->n_bins;
	if (toNs - fromNs < least)
		toNs = fromNs + least;
	ksmodel_set_bining(_histo, _histo->n_bins, fromNs, toNs);
	ksmodel_fill(_histo, _histo->data, _histo->data_size);
	redraw();
}

void VirtView::showAround(int64_t fromNs, int64_t toNs)
{
	int64_t half = (toNs - fromNs) / 2;

	show(fromNs - half, toNs + half);
}

void VirtView::markOne(int marker, int64_t ns)
{
	kshark_entry entry = {};
	int64_t min, max;
	ssize_t row;

	if (isEmpty())
		return;
	min = _histo->min;
	max = _histo->max;
	row = kshark_find_entry_by_time(ns, _histo->data, 0, _histo->data_size - 1);
	if (row == BSEARCH_ALL_GREATER)
		row = 0;
	if (row == BSEARCH_ALL_SMALLER)
		row = static_cast<ssize_t>(_histo->data_size) - 1;
	entry.ts = _histo->data[row]->ts;
	(marker ? markEntryB : markEntryA)(_window, &entry);
	if (min != _histo->min || max != _histo->max)
		show(min, max);
}

void VirtView::mark(int64_t fromNs, int64_t toNs)
{
	markOne(1, toNs);
	markOne(0, fromNs);
}

void VirtView::scrollTo(int base)
{
	QWidget *widget = virtChild(_window, "KsGLWidget");

	for (QWidget *up = widget; up; up = up->parentWidget())
		if (auto area = qobject_cast<QScrollArea *>(up))
			area->ensureVisible(0, base, 0, std::min(NEIGHBOURS,
					    area->viewport()->height() / 2));
	if (!widget)
		return;

	/* A wider label has moved the graphs; only a resize counts columns anew. */
	QResizeEvent event(widget->size(), widget->size());

	QApplication::sendEvent(widget, &event);
}

void VirtView::redraw()
{
	virtRedrawGraphs(_window);
}
