/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtPages.hpp
 * @brief	The pane below the graphs: pages in one place, with buttons to choose a page, and a
 *		line for all of them.
 */
#ifndef KSHARK_VIRT_VIRTPAGES_HPP
#define KSHARK_VIRT_VIRTPAGES_HPP

#include <functional>
#include <vector>

#include <QString>
#include <QWidget>

class QBoxLayout;
class QToolButton;
class VirtColumn;

class VirtPages : public QWidget {
public:
	/**
	 * @line: what is seen beside the buttons, below them in a narrow window
	 * @chosen: another page is seen now
	 */
	VirtPages(QWidget *line, std::function<void()> chosen);

	void add(const QString &title, const QString &tip, QWidget *page);

	/** Let this page be the first one. */
	void addFirst(const QString &title, const QString &tip, QWidget *page);

	/** The buttons and the line; without them, one page is seen. */
	void showHead(bool isShown) { _head->setVisible(isShown); }

	/** Is this page seen, or would be if the pane were? */
	bool isOn(const QWidget *page) const;
	void show(QWidget *page);

	/** The title of the page that is seen; and another one by its title, in any case. */
	QString current() const;
	void show(const QString &title);

protected:
	void resizeEvent(QResizeEvent *event) override;

private:
	struct Page {
		QToolButton	*button;
		QWidget		*page;
		VirtColumn	*column;	/* that it is in: it scrolls in a low window */
	};

	Page make(const QString &title, const QString &tip, QWidget *page);

	std::function<void()>		_chosen;
	QWidget				*_head;
	QBoxLayout			*_headLayout, *_row, *_layout;
	std::vector<Page>		_pages;
};

#endif
