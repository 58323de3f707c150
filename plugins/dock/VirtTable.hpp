/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtTable.hpp
 * @brief	The dock's table: numbers of each machine and vCPU in the visible window.
 */
#ifndef KSHARK_VIRT_VIRTTABLE_HPP
#define KSHARK_VIRT_VIRTTABLE_HPP

#include <cstdint>
#include <vector>

#include <QSet>
#include <QTreeWidget>

#include "VirtCount.hpp"
#include "VirtList.hpp"

class QMenu;
class QSettings;

class VirtTable : public VirtList<QTreeWidget> {
public:
	VirtTable();

	/** Which columns are shown, and how wide. */
	void restore(const QSettings &settings);
	void save(QSettings *settings) const;

	/** A menu to choose columns by, which belongs to the table. */
	QMenu *columnMenu();

	/** Make the row of a vCPU or machine the current one. Return: false if it has none. */
	bool select(const VirtSubject &wanted);

	/**
	 * The row of a vCPU or machine with this name, or id as "d1v0" or "d1".
	 * @stream: VIRT_NONE: the first that has one. Return: its stream is VIRT_NONE without any.
	 */
	VirtSubject named(int stream, const QString &text);

	/** Show what has been counted. */
	void adopt(const VirtCount &count);

	/** The part of a cell that is seen: neither below the names nor beyond the edge. */
	QRect seenPart(const QRect &cell, int column) const;

	void scrollTo(const QModelIndex &index, ScrollHint hint = EnsureVisible) override;

	/** What a row is about. */
	static VirtSubject subject(const QTreeWidgetItem *item);

	/** Its name, as it is shown. */
	static QString nameOf(const QTreeWidgetItem *item);

	/** The columns and rows that are shown, in their order, with tabs between them. */
	QString asText() const;

protected:
	void resizeEvent(QResizeEvent *event) override;
	void scrollContentsBy(int dx, int dy) override;

private:
	void buildHeader();
	void buildNames();
	void placeNames();
	void choose(int column, bool isShown);
	void hideColumns();
	void rebuild(const std::vector<VirtStream> &streams);
	void hideEmptyColumns(const std::vector<VirtStream> &streams);

	std::vector<uint64_t>	_serials;	/* of the models that it shows */
	QTreeView		*_names;	/* first column, if it is scrolled away */
	QSet<int>		_unwanted;	/* columns that the user does not want */
	QSet<int>		_empty;		/* of states that no vCPU ever has */
};

#endif
