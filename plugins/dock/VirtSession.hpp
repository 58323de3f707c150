/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtSession.hpp
 * @brief	Let sessions of KernelShark keep the dock's page, what is selected, whether figures
 *		are those from A to B, how far the graphs are scrolled, and bookmarks.
 *
 * KernelShark's own part of a session has graphs, markers and the visible time.
 */
#ifndef KSHARK_VIRT_VIRTSESSION_HPP
#define KSHARK_VIRT_VIRTSESSION_HPP

#include <functional>
#include <vector>

#include <QByteArray>
#include <QString>

#include "VirtBookmarks.hpp"
#include "VirtCount.hpp"
#include "VirtWhose.hpp"

class QWidget;

/** What is kept. */
struct VirtSeen {
	QString		page;			/* title; empty: not known */
	VirtSubject	selected = { VIRT_NONE, VIRT_NONE, VIRT_NONE, 0 };
	VirtWhose	why;			/* a pCPU or task that is chosen there */
	bool		isAToB = false;
	int		scrolled = -1;		/* pixels; -1: not known */
	std::vector<VirtBookmark> bookmarks;
};

class VirtSession {
public:
	/** Leave it where KernelShark's next session finds it. Not while KernelShark loads. */
	void keep(const VirtSeen &seen);

	enum Found {
		SAME,		/* of the files of before, one is still open */
		OTHERS,		/* none is: what was kept is about others */
		RESTORED,	/* a session has brought something */
	};

	/**
	 * Other files may have been opened.
	 * @areNew: all models are others than before
	 * @seen: receives what a session has brought
	 * @problem: receives what is wrong with that; else it is empty
	 */
	Found look(bool areNew, VirtSeen *seen, QString *problem);

	/** How far graphs are scrolled in what scrolls them; and scroll them, as far as they go. */
	static int scrolled(QWidget *graphs);
	static void scroll(QWidget *graphs, int pixels);

	/** Call @scrolled whenever the graphs have been scrolled, as long as @owner lives. */
	static void onScroll(QWidget *graphs, QObject *owner, std::function<void()> scrolled);

private:
	std::vector<QByteArray>	_files;		/* that were open last */
	QByteArray		_kept;
};

#endif
