/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtCopy.hpp
 * @brief	The dock's button with what can be copied.
 */
#ifndef KSHARK_VIRT_VIRTCOPY_HPP
#define KSHARK_VIRT_VIRTCOPY_HPP

#include <functional>

#include <QToolButton>

class QMenu;

class VirtCopy : public QToolButton {
public:
	VirtCopy();

	/** @what: is asked when it is chosen */
	void add(const char *title, const std::function<QString()> &what);

private:
	QMenu	*_menu;
};

#endif
