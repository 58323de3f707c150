// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtCopy.cpp
 * @brief	The dock's button with a menu of the texts that can be copied.
 */
#include <QApplication>
#include <QClipboard>
#include <QMenu>

#include "VirtCopy.hpp"

VirtCopy::VirtCopy()
: _menu(new QMenu(this))
{
	setText("Copy");
	setToolTip("Copy what is shown, or the command line that prints it");
	/* a menu of the button's own would have an arrow on the text, or take more room */
	connect(this, &QToolButton::clicked, _menu, [this] {
		_menu->popup(mapToGlobal(QPoint(0, height())));
	});
}

void VirtCopy::add(const char *title, const std::function<QString()> &what,
		   const std::function<bool()> &isThere)
{
	QAction *action = _menu->addAction(title, this, [what] {
		QApplication::clipboard()->setText(what());
	});

	connect(_menu, &QMenu::aboutToShow, action, [action, isThere] {
		action->setEnabled(isThere());
	});
}
