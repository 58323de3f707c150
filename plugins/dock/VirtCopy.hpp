/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtCopy.hpp
 * @brief	The dock's button with a menu of the texts that can be copied.
 */
#ifndef KSHARK_VIRT_VIRTCOPY_HPP
#define KSHARK_VIRT_VIRTCOPY_HPP

#include <functional>

#include <QToolButton>

class QMenu;

class VirtCopy : public QToolButton {
public:
	VirtCopy();

	/**
	 * @what: is asked when it is chosen
	 * @isThere: is asked when the menu is opened: else it cannot be chosen
	 */
	void add(const char *title, const std::function<QString()> &what,
		 const std::function<bool()> &isThere);

private:
	QMenu	*_menu;
};

#endif
