// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtBookmarks.cpp
 * @brief	The dock's page with bookmarks.
 */
#include <algorithm>
#include <utility>

#include <QPainter>
#include <QPushButton>
#include <QShortcut>
#include <QSignalBlocker>
#include <QStyledItemDelegate>
#include <QTreeWidget>
#include <QVBoxLayout>

#include "VirtBookmarks.hpp"
#include "VirtFlow.hpp"
#include "VirtKs.hpp"
#include "VirtList.hpp"
#include "virt_colors.h"
#include "virt_session.h"

namespace {

enum { COLUMN_TIME, COLUMN_LENGTH, COLUMN_NOTE, N_COLUMNS };

const char *const titles[N_COLUMNS] = { "Time [s]", "Length", "Note" };

constexpr int BAR = 3;	/* height of that over a long one's time: states keep their colours */

/** Whatever has been typed, as much as a session keeps. */
QString noteOf(QString text)
{
	text = text.simplified();
	while (text.toUtf8().size() > VIRT_SESSION_NOTE)
		text.chop(1);
	return text;
}

/** A note is shown escaped, and edited as it is. */
class NoteDelegate : public QStyledItemDelegate {
public:
	using QStyledItemDelegate::QStyledItemDelegate;

	QString displayText(const QVariant &value, const QLocale &) const override
	{
		return virtShown(value.toString());
	}
};

} // namespace

QString VirtBookmark::words() const
{
	QString text = note.isEmpty() ? "Bookmark" : "Bookmark: " + virtShown(note);

	return from == to ? text : text + ", " + virtDuration(to - from);
}

VirtBookmarks::VirtBookmarks(Reactions reactions)
: _reactions(std::move(reactions)),
  _list(new VirtList<QTreeWidget>),
  _remove(new QPushButton("Delete"))
{
	auto layout = new QVBoxLayout(this);
	auto buttons = new VirtFlow(nullptr, 0);
	auto add = new QPushButton("Add");
	auto erase = new QShortcut(QKeySequence::Delete, _list);

	erase->setContext(Qt::WidgetShortcut);
	add->setToolTip("The time from A to B that is selected, else the time in the middle of the"
			" graphs (B: the time at the pointer)");
	_remove->setToolTip("Delete the bookmark of this row (Del)");
	_list->setColumnCount(N_COLUMNS);
	_list->setRootIsDecorated(false);
	_list->setUniformRowHeights(true);
	_list->setAlternatingRowColors(true);
	_list->setEditTriggers(QAbstractItemView::NoEditTriggers);
	_list->setToolTip("Click: show this time. Double click: change the note");
	_list->setItemDelegateForColumn(COLUMN_NOTE, new NoteDelegate(_list));
	for (int i = 0; i < N_COLUMNS; i++)
		_list->headerItem()->setText(i, titles[i]);
	buttons->addWidget(add);
	buttons->addWidget(_remove);
	layout->setContentsMargins(0, 0, 0, 0);
	layout->setSpacing(2);
	layout->addWidget(_list, 1);
	layout->addLayout(buttons);
	connect(add, &QPushButton::clicked, this, [this] { _reactions.wanted(); });
	connect(_remove, &QPushButton::clicked, this, [this] { remove(); });
	connect(erase, &QShortcut::activated, this, [this] { remove(); });
	connect(_list, &QTreeWidget::itemClicked, this,
		[this] (QTreeWidgetItem *item) { choose(item); });
	connect(_list, &QTreeWidget::itemDoubleClicked, this,
		[this] (QTreeWidgetItem *item) { edit(item); });
	connect(_list, &QTreeWidget::itemChanged, this,
		[this] (QTreeWidgetItem *item, int column) { take(item, column); });
	connect(_list, &QTreeWidget::currentItemChanged, this,
		[this] (const QTreeWidgetItem *item) { _remove->setEnabled(item); });
	fill(-1);
}

void VirtBookmarks::fill(int current)
{
	const QSignalBlocker blocker(_list);

	_list->clear();
	for (const VirtBookmark &one : _all) {
		auto item = new QTreeWidgetItem(_list);

		item->setFlags(item->flags() | Qt::ItemIsEditable);
		item->setText(COLUMN_TIME, virtSeconds(one.from));
		item->setText(COLUMN_LENGTH, one.from == one.to ? QString() :
					     virtDuration(one.to - one.from));
		item->setText(COLUMN_NOTE, one.note);
		item->setTextAlignment(COLUMN_LENGTH, Qt::AlignRight | Qt::AlignVCenter);
	}
	for (int i = 0; i < COLUMN_NOTE; i++)
		_list->resizeColumnToContents(i);
	if (current >= 0)
		_list->setCurrentItem(_list->topLevelItem(current));
	_remove->setEnabled(_list->currentItem());
}

void VirtBookmarks::set(std::vector<VirtBookmark> all)
{
	_all = std::move(all);
	fill(-1);
}

bool VirtBookmarks::add(int64_t from, int64_t to)
{
	auto place = std::find_if(_all.begin(), _all.end(), [=] (const VirtBookmark &one) {
		return std::make_pair(one.from, one.to) >= std::make_pair(from, to);
	});
	int row = static_cast<int>(place - _all.begin());

	if (from < -VIRT_SESSION_MOST_NS || to > VIRT_SESSION_MOST_NS)
		return false;
	/* the same once more: its note */
	if (place == _all.end() || place->from != from || place->to != to) {
		if (_all.size() >= VIRT_SESSION_MARKS)
			return false;
		_all.insert(place, { from, to, QString() });
		fill(row);
		_reactions.changed();
	}
	if (isVisible())
		edit(_list->topLevelItem(row));
	return true;
}

void VirtBookmarks::edit(QTreeWidgetItem *item)
{
	_list->setCurrentItem(item);
	_list->scrollToItem(item);
	_list->setFocus();
	_list->editItem(item, COLUMN_NOTE);
}

void VirtBookmarks::take(QTreeWidgetItem *item, int column)
{
	int row = _list->indexOfTopLevelItem(item);
	const QSignalBlocker blocker(_list);

	if (column != COLUMN_NOTE || row < 0 || static_cast<size_t>(row) >= _all.size())
		return;
	_all[row].note = noteOf(item->text(COLUMN_NOTE));
	item->setText(COLUMN_NOTE, _all[row].note);
	_reactions.changed();
}

void VirtBookmarks::choose(const QTreeWidgetItem *item)
{
	int row = _list->indexOfTopLevelItem(const_cast<QTreeWidgetItem *>(item));

	if (row >= 0 && static_cast<size_t>(row) < _all.size())
		_reactions.chosen(_all[row]);
}

void VirtBookmarks::remove()
{
	int row = _list->indexOfTopLevelItem(_list->currentItem());

	if (row < 0 || static_cast<size_t>(row) >= _all.size())
		return;
	_all.erase(_all.begin() + row);
	fill(std::min(row, static_cast<int>(_all.size()) - 1));
	_reactions.changed();
}

QString VirtBookmarks::asText() const
{
	QString text = QString(titles[0]) + '\t' + titles[1] + '\t' + titles[2] + '\n';

	for (const VirtBookmark &one : _all)
		text += virtSeconds(one.from) + '\t' +
			(one.from == one.to ? QString() : virtDuration(one.to - one.from)) + '\t' +
			virtShown(one.note) + '\n';
	return text;
}

void VirtBookmarks::paint(QPainter *painter, const QRect &area, int64_t from, int64_t to) const
{
	QColor color(VIRT_BOOKMARK_COLOR.red, VIRT_BOOKMARK_COLOR.green, VIRT_BOOKMARK_COLOR.blue);
	auto column = [&] (int64_t ns) {
		double part = static_cast<double>(ns - from) / static_cast<double>(to - from);

		return area.left() + static_cast<int>(part * area.width());
	};

	for (const VirtBookmark &one : _all) {
		if (from >= to || one.to < from || one.from >= to)
			continue;

		int left = column(std::max(one.from, from)), right = column(std::min(one.to, to));

		if (right > left)
			painter->fillRect(left, area.top(), right - left, BAR, color);
		painter->setPen(color);
		if (one.from >= from)
			painter->drawLine(left, area.top(), left, area.bottom());
		if (one.to < to && right > left)
			painter->drawLine(right, area.top(), right, area.bottom());
	}
}
