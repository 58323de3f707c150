/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtLayout.hpp
 * @brief	KernelShark's graphs and list among our panes.
 *
 * KernelShark has a splitter with its graphs above and its list below. There remain two widgets in
 * it, as its sessions keep their sizes: above, the graphs with docks around them, below, pages of
 * which the list is one.
 */
#ifndef KSHARK_VIRT_VIRTLAYOUT_HPP
#define KSHARK_VIRT_VIRTLAYOUT_HPP

#include <QMainWindow>

class QSplitter;
class VirtPages;

class VirtLayout : public QObject {
public:
	/** @isRestored: a session has set the height */
	VirtLayout(QMainWindow *window, VirtPages *pages, bool isRestored);

	/** Has KernelShark's window the widgets that it is known to have? */
	bool isPossible() const;

	/**
	 * Put all in place, if that is possible. Not while KernelShark loads or draws.
	 * @top: above all others, for what is seen only now and then
	 */
	void build(QWidget *top);
	bool isBuilt() const { return _docks; }

	/** Docks can be added to it, as soon as all is in place. */
	QMainWindow *docks() const { return _docks; }

	/** KernelShark's list, which is a page. */
	QWidget *list() const { return _list; }

	/** What is shared by docks and graphs, from above. */
	int upperHeight() const;

	/** The height of what lies between the graphs and a dock above them. */
	int separator() const;

	/** The height in which all graphs are seen. */
	int mostGraphs() const { return _graphs->maximumHeight(); }

	/** Do now what layouts would do after the current event. */
	static void settle();

	/**
	 * Give the graphs their share of the height, and the lanes above them @lanes pixels more,
	 * as far as the pages keep some lines. Not if the user has moved the splitter.
	 */
	void fit(int lanes);

	/**
	 * Keep the pages where they are, as a click there has brought graphs, and the next click is
	 * to be on the same row; until the window has another height, or other files come.
	 */
	void keep(bool kept) { _isKept = kept; }

private:
	bool isUsers() const;

	QMainWindow	*_window, *_docks = nullptr;
	VirtPages	*_pages;
	QSplitter	*_splitter;
	QWidget		*_graphs, *_list;
	bool		_isMoved;	/* the user or a session has chosen the height */
	bool		_isKept = false;
	int		_fitHeight = 0;	/* of all, when the pages got their place */
};

#endif
