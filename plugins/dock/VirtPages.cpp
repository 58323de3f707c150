// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtPages.cpp
 * @brief	Pages in one place; hidden pages take no room.
 *
 * In a narrow dock, Qt's own tabs hide some of the pages; these buttons wrap instead.
 */
#include <utility>

#include <QToolButton>
#include <QVBoxLayout>

#include "VirtFlow.hpp"
#include "VirtPages.hpp"

VirtPages::VirtPages(std::function<void()> chosen)
: _chosen(std::move(chosen)),
  _row(nullptr),
  _layout(new QVBoxLayout(this))
{
	auto buttons = new QWidget;
	QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Minimum);

	_row = new VirtFlow(buttons, 0);
	policy.setHeightForWidth(true);
	buttons->setSizePolicy(policy);
	_layout->setContentsMargins(0, 0, 0, 0);
	_layout->setSpacing(2);
	_layout->addWidget(buttons);
}

void VirtPages::add(const QString &title, const QString &tip, QWidget *page)
{
	auto button = new QToolButton;

	button->setText(title);
	button->setToolTip(tip);
	button->setCheckable(true);
	button->setAutoExclusive(true);
	button->setChecked(_pages.empty());
	_row->addWidget(button);
	_layout->addWidget(page, 1);
	if (!_pages.empty())
		page->hide();
	_pages.push_back({ button, page });
	connect(button, &QToolButton::clicked, this, [this, page] { show(page); });
}

bool VirtPages::isOn(const QWidget *page) const
{
	return !page->isHidden();
}

void VirtPages::show(QWidget *page)
{
	for (const Page &other : _pages) {
		other.page->setVisible(other.page == page);
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
		if (one.button->text() == title)
			show(one.page);
}
