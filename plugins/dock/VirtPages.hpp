/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtPages.hpp
 * @brief	Pages in one place, with buttons to choose a page, in as many rows as the buttons
 *		need.
 */
#ifndef KSHARK_VIRT_VIRTPAGES_HPP
#define KSHARK_VIRT_VIRTPAGES_HPP

#include <functional>
#include <vector>

#include <QString>
#include <QWidget>

class QToolButton;
class QVBoxLayout;
class VirtFlow;

class VirtPages : public QWidget {
public:
	/** @chosen: another page is seen now */
	explicit VirtPages(std::function<void()> chosen);

	void add(const QString &title, const QString &tip, QWidget *page);

	/** Is this page seen, or would be if the dock were? */
	bool isOn(const QWidget *page) const;
	void show(QWidget *page);

	/** The title of the page that is seen; and another one by its title, if there is one. */
	QString current() const;
	void show(const QString &title);

private:
	struct Page {
		QToolButton	*button;
		QWidget		*page;
	};

	std::function<void()>		_chosen;
	VirtFlow			*_row;
	QVBoxLayout			*_layout;
	std::vector<Page>		_pages;
};

#endif
