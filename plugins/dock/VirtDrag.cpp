// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtDrag.cpp
 * @brief	Select a time in KernelShark's graphs with the mouse.
 */
#include <algorithm>

#include <QMouseEvent>

#include "VirtDrag.hpp"
#include "VirtKs.hpp"
#include "VirtView.hpp"

namespace {

constexpr int LEAST_WIDTH = 3;	/* pixels; a shorter drag is a click */

} // namespace

VirtDrag::VirtDrag(QWidget *graphs, VirtView *view)
: QObject(graphs),
  _graphs(graphs),
  _view(view),
  _band(new QRubberBand(QRubberBand::Rectangle, graphs))
{
	graphs->installEventFilter(this);
}

void VirtDrag::grow(int x)
{
	_band->setGeometry(std::min(_begin, x), 0, std::abs(x - _begin), _graphs->height());
}

/** Return: whether KernelShark must not get the event. */
bool VirtDrag::handle(QEvent::Type type, const QMouseEvent *event)
{
	int x = event->pos().x();

	if (type == QEvent::MouseButtonPress) {
		_isDragged = event->button() == Qt::LeftButton &&
			     event->modifiers() == Qt::ShiftModifier && !_view->isEmpty();
		_begin = x;
		grow(x);
		_band->setVisible(_isDragged);
		return _isDragged;
	}
	if (!_isDragged)
		return false;
	grow(x);
	if (type != QEvent::MouseButtonRelease)
		return true;
	_isDragged = false;
	_band->hide();
	if (std::abs(x - _begin) >= LEAST_WIDTH)
		_view->mark(_view->timeAt(std::min(_begin, x)), _view->timeAt(std::max(_begin, x)));
	return true;
}

bool VirtDrag::eventFilter(QObject *, QEvent *event)
{
	switch (event->type()) {
	case QEvent::MouseButtonPress:
	case QEvent::MouseButtonRelease:
	case QEvent::MouseMove:
		return !virtIsLoading() && handle(event->type(), static_cast<QMouseEvent *>(event));
	default:
		return false;
	}
}
