/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtBookmarks.hpp
 * @brief	The dock's page with bookmarks: times that a user has noted something about.
 */
#ifndef KSHARK_VIRT_VIRTBOOKMARKS_HPP
#define KSHARK_VIRT_VIRTBOOKMARKS_HPP

#include <cstdint>
#include <functional>
#include <vector>

#include <QString>
#include <QWidget>

#include "virt_colors.h"

class QPainter;
class QPushButton;
class QRect;
class QTreeWidget;
class QTreeWidgetItem;

/** No state's and no marker's of KernelShark. */
constexpr virt_color VIRT_BOOKMARK_COLOR = { 0xaa, 0x33, 0x77 };

/** Times are those of KernelShark's axis. */
struct VirtBookmark {
	int64_t	from, to;	/* the same: a moment */
	QString	note;		/* anybody's: to be escaped */

	/** What it is, to be shown. */
	QString words() const;
};

class VirtBookmarks : public QWidget {
public:
	/** What happens when ... */
	struct Reactions {
		std::function<void()>	wanted;		/* the user wants another one */
		std::function<void()>	changed;	/* there are others */
		std::function<void(const VirtBookmark &)> chosen;
	};

	explicit VirtBookmarks(Reactions reactions);

	/** In order of time. */
	const std::vector<VirtBookmark> &all() const { return _all; }

	/** Let these be all; nothing is called. */
	void set(std::vector<VirtBookmark> all);

	/**
	 * A time to be noted; the user is asked for the note, if this page is seen.
	 *
	 * Return: false: there are as many as a session keeps.
	 */
	bool add(int64_t from, int64_t to);

	/** A table, with tabs between its columns. */
	QString asText() const;

	/**
	 * Draw them over something whose columns are times.
	 * @area: of them; it shows the time from @from to @to
	 */
	void paint(QPainter *painter, const QRect &area, int64_t from, int64_t to) const;

private:
	void fill(int current);
	void edit(QTreeWidgetItem *item);
	void take(QTreeWidgetItem *item, int column);
	void choose(const QTreeWidgetItem *item);
	void remove();

	Reactions			_reactions;
	std::vector<VirtBookmark>	_all;
	QTreeWidget			*_list;
	QPushButton			*_remove;
};

#endif
