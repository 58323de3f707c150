/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtSection.hpp
 * @brief	A part of the dock that can be closed.
 */
#ifndef KSHARK_VIRT_VIRTSECTION_HPP
#define KSHARK_VIRT_VIRTSECTION_HPP

#include <functional>

#include <QString>
#include <QWidget>

class QLabel;
class QToolButton;

class VirtSection : public QWidget {
public:
	/**
	 * @key: of its settings
	 * @opened: is called when the user has opened it
	 */
	VirtSection(const QString &title, const QString &key, QWidget *content,
		    std::function<void(VirtSection *)> opened);

	/** As there is room for it; unless the user has opened or closed it. */
	void suggest(bool open);

	/** What is seen beside the title while it is closed. */
	void setBadge(const QString &text);

private:
	void setOpen(bool open);

	QString			_key;
	bool			_byUser, _isOpen = true;
	std::function<void(VirtSection *)>	_opened;
	QToolButton		*_head;
	QLabel			*_badge;
	QWidget			*_content;
};

#endif
