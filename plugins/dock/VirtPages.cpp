// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtPages.cpp
 * @brief	Pages in one place; hidden pages take no room.
 */
#include <algorithm>
#include <utility>

#include <QBoxLayout>
#include <QResizeEvent>
#include <QToolButton>

#include "VirtColumn.hpp"
#include "VirtPages.hpp"

namespace {

constexpr int ROOMY_WIDTH = 900;	/* for buttons and line in one row */

} // namespace

VirtPages::VirtPages(QWidget *line, std::function<void()> chosen)
: _chosen(std::move(chosen)),
  _head(new QWidget),
  _headLayout(new QBoxLayout(QBoxLayout::LeftToRight, _head)),
  _row(new QHBoxLayout),
  _layout(new QVBoxLayout(this))
{
	_row->setSpacing(2);
	_row->addStretch();
	_headLayout->setContentsMargins(4, 2, 4, 2);
	_headLayout->setSpacing(4);
	_headLayout->addLayout(_row);
	_headLayout->addWidget(line, 1);
	_layout->setContentsMargins(0, 0, 0, 0);
	_layout->setSpacing(0);
	_layout->addWidget(_head);
}

VirtPages::Page VirtPages::make(const QString &title, const QString &tip, QWidget *page)
{
	auto button = new QToolButton;
	auto column = new VirtColumn;

	button->setText(title);
	button->setToolTip(tip);
	button->setCheckable(true);
	button->setAutoExclusive(true);
	column->add(page, 1);
	page->show();
	_layout->addWidget(column, 1);
	connect(button, &QToolButton::clicked, this, [this, page] { show(page); });
	return { button, page, column };
}

void VirtPages::add(const QString &title, const QString &tip, QWidget *page)
{
	Page made = make(title, tip, page);

	_row->insertWidget(_row->count() - 1, made.button);
	made.button->setChecked(_pages.empty());
	made.column->setVisible(_pages.empty());
	_pages.push_back(made);
}

void VirtPages::addFirst(const QString &title, const QString &tip, QWidget *page)
{
	Page made = make(title, tip, page);

	_row->insertWidget(0, made.button);
	made.column->hide();
	_pages.insert(_pages.begin(), made);
}

bool VirtPages::isOn(const QWidget *page) const
{
	return std::any_of(_pages.begin(), _pages.end(), [page] (const Page &other) {
		return other.page == page && !other.column->isHidden();
	});
}

void VirtPages::show(QWidget *page)
{
	for (const Page &other : _pages) {
		other.column->setVisible(other.page == page);
		other.button->setChecked(other.page == page);
	}
	_chosen();
}

QString VirtPages::current() const
{
	for (const Page &one : _pages)
		if (isOn(one.page))
			return one.button->text();
	return QString();
}

void VirtPages::show(const QString &title)
{
	for (const Page &one : _pages)
		if (!one.button->text().compare(title, Qt::CaseInsensitive))
			show(one.page);
}

void VirtPages::resizeEvent(QResizeEvent *event)
{
	QWidget::resizeEvent(event);
	_headLayout->setDirection(event->size().width() >= ROOMY_WIDTH ? QBoxLayout::LeftToRight :
									QBoxLayout::TopToBottom);
}
