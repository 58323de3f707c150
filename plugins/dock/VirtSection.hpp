/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtSection.hpp
 * @brief	A part of the details that takes room only while the menu "View" shows it.
 */
#ifndef KSHARK_VIRT_VIRTSECTION_HPP
#define KSHARK_VIRT_VIRTSECTION_HPP

#include <functional>

#include <QString>
#include <QWidget>

class QAction;

class VirtSection : public QWidget {
public:
	/**
	 * @key: of its settings
	 * @opened: is called when the user has opened it
	 */
	VirtSection(const QString &title, const QString &key, QWidget *content,
		    std::function<void(VirtSection *)> opened);

	/** For the menu. */
	QAction *action() const { return _action; }

	/** What is seen beside the title in the menu. */
	void setBadge(const QString &text);

private:
	QString		_title;
	QAction		*_action;
};

#endif
