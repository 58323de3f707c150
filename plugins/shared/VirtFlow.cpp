// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtFlow.cpp
 * @brief	A layout that puts as many widgets into a row as the width has room for.
 */
#include <algorithm>

#include "VirtFlow.hpp"

VirtFlow::VirtFlow(QWidget *parent, int most)
: QLayout(parent),
  _most(most)
{
	setContentsMargins(2, 2, 2, 2);
	setSpacing(4);
}

VirtFlow::~VirtFlow()
{
	for (QLayoutItem *item : _items)
		delete item;
}

QLayoutItem *VirtFlow::itemAt(int i) const
{
	return i >= 0 && i < count() ? _items[static_cast<size_t>(i)] : nullptr;
}

QLayoutItem *VirtFlow::takeAt(int i)
{
	QLayoutItem *item = itemAt(i);

	if (item)
		_items.erase(_items.begin() + i);
	return item;
}

/** Room for any of them. */
QSize VirtFlow::widest() const
{
	QSize size;

	for (const QLayoutItem *item : _items)
		size = size.expandedTo(item->sizeHint());
	return size;
}

/** How many there are in a row of this width. */
int VirtFlow::columns(int width) const
{
	int room = width - contentsMargins().left() - contentsMargins().right() + spacing();

	return std::max(1, std::min(_most, room / std::max(1, widest().width() + spacing())));
}

/** Put all items into rows. Return: the height that they take. */
int VirtFlow::arrange(const QRect &rect, bool isMeasured) const
{
	QRect all = rect.marginsRemoved(contentsMargins());
	int n = _most ? columns(rect.width()) : 1, height = widest().height();
	int step = (all.width() + spacing()) / n, x = 0, y = 0;

	for (QLayoutItem *item : _items) {
		bool fills = _most && item->expandingDirections() & Qt::Horizontal;
		int wanted = item->sizeHint().width();
		int room = _most ? step : std::min(wanted + spacing(), step);

		if (x && x + room > all.width() + spacing()) {
			x = 0;
			y += height + 1;
		}
		if (!isMeasured)
			item->setGeometry({ all.left() + x, all.top() + y,
					    fills ? room - spacing() :
						    std::min(room - spacing(), wanted), height });
		x += room;
	}
	return y + height + rect.height() - all.height();
}

int VirtFlow::heightForWidth(int width) const
{
	return arrange({ 0, 0, width, 0 }, true);
}

QSize VirtFlow::sizeHint() const
{
	int width = contentsMargins().left() + contentsMargins().right() - spacing();

	for (const QLayoutItem *item : _items)
		width += item->sizeHint().width() + spacing();
	if (_most)
		width = contentsMargins().left() + contentsMargins().right() - spacing() +
			_most * (widest().width() + spacing());
	return { width, heightForWidth(width) };
}

QSize VirtFlow::minimumSize() const
{
	int width = 0;

	for (const QLayoutItem *item : _items)
		width = std::max(width, item->minimumSize().width());
	return { contentsMargins().left() + contentsMargins().right() + width, widest().height() };
}

void VirtFlow::setGeometry(const QRect &rect)
{
	QLayout::setGeometry(rect);
	arrange(rect, false);
}
