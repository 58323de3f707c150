// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtCopy.cpp
 * @brief	The dock's button with what can be copied.
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

void VirtCopy::add(const char *title, const std::function<QString()> &what)
{
	_menu->addAction(title, this, [what] { QApplication::clipboard()->setText(what()); });
}
