// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtAxis.cpp
 * @brief	Time axes.
 *
 * The one over the graphs lies over the first graph that is seen, in the scroll area and
 * not in the graphs, so that scrolling does not move it.
 */
#include <algorithm>
#include <cstdlib>

#include <QEvent>
#include <QFontMetrics>
#include <QPainter>
#include <QScrollArea>
#include <QScrollBar>
#include <QStringList>

#include "VirtAxis.hpp"
#include "VirtView.hpp"
#include "axis_steps.h"

namespace {

constexpr int OWN_LABELS = 12;	/* pixels above the times of KernelShark's axis */
constexpr int TICK = 4, GAP = 24;
constexpr int64_t SECOND = 1000000000;
constexpr int DIGITS = 9;	/* of a second */

QString seconds(int64_t ns, int decimals)
{
	QString text = QString("%1%2").arg(ns < 0 ? "-" : "").arg(std::abs(ns) / SECOND);

	return decimals ? text + "." + QString("%1").arg(std::abs(ns) % SECOND, DIGITS, 10,
							 QChar('0')).left(decimals) : text;
}

} // namespace

VirtTicks::VirtTicks(QWidget *parent)
: QLabel(parent)
{
	setAttribute(Qt::WA_TransparentForMouseEvents);
}

int VirtTicks::lineHeight() const
{
	return fontMetrics().height() + TICK + 2;
}

void VirtTicks::setTimes(int64_t from, int64_t to, int left, int columns)
{
	int64_t column = std::max<int64_t>(1, (to - from) / std::max(columns, 1)), step = 1;
	int decimals = DIGITS;
	QStringList words;

	/* the longer the step, the shorter the numbers */
	for (int i = 0; i < 2; i++) {
		step = axis_step(column * (GAP + fontMetrics().horizontalAdvance(
					seconds(to, decimals))));
		decimals = axis_decimals(step, SECOND);
	}
	_ticks.clear();
	for (int64_t ns = axis_first(from, step); ns < to; ns += step) {
		_ticks.emplace_back(left + static_cast<int>((ns - from) / column),
				    seconds(ns, decimals));
		words << _ticks.back().second;
	}
	setText(words.join(" ") + " s");
	update();
}

void VirtTicks::paintEvent(QPaintEvent *)
{
	QPainter painter(this);
	int line = height() - 1;

	painter.fillRect(rect(), Qt::white);
	painter.setPen(Qt::black);
	painter.drawLine(0, line, width(), line);
	for (const auto &[x, text] : _ticks) {
		int half = painter.fontMetrics().horizontalAdvance(text) / 2;

		painter.drawLine(x, line - TICK, x, line);
		painter.drawText(std::max(0, x - half), line - TICK - 2, text);
	}
}

VirtAxis::VirtAxis(QWidget *graphs, const VirtView *view)
: VirtTicks(graphs),
  _graphs(graphs),
  _view(view)
{
	for (QWidget *up = graphs; up && !_area; up = up->parentWidget())
		_area = qobject_cast<QScrollArea *>(up);
	hide();
	if (!_area)
		return;
	setParent(_area->viewport());
	_area->viewport()->installEventFilter(this);
	connect(_area->verticalScrollBar(), &QScrollBar::valueChanged, this,
		[this] { follow(); });
}

void VirtAxis::follow()
{
	auto [from, to] = _view->visible();

	if (!_area || _graphs->y() > -OWN_LABELS || _view->isEmpty() || from >= to) {
		hide();
		return;
	}
	setTimes(from, to, _graphs->x() + _view->xOf(from), _view->columns());
	setGeometry(0, 0, _area->viewport()->width(), lineHeight());
	show();
	raise();
}

void VirtAxis::paintEvent(QPaintEvent *event)
{
	int left = _graphs->x() + _view->xOf(_view->visible().first);

	VirtTicks::paintEvent(event);
	if (!_over)
		return;

	QPainter painter(this);

	_over(&painter, QRect(left, 0, _graphs->x() + _view->xOf(_view->visible().second) - left,
			      height()));
}

bool VirtAxis::eventFilter(QObject *object, QEvent *event)
{
	if (event->type() == QEvent::Resize)
		follow();
	return VirtTicks::eventFilter(object, event);
}
