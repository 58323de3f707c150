// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtTable.cpp
 * @brief	The dock's table: numbers of each machine and vCPU in the visible window.
 */
#include <algorithm>

#include <QAction>
#include <QHeaderView>
#include <QMenu>
#include <QPainter>
#include <QScrollBar>
#include <QSettings>
#include <QStyledItemDelegate>

#include "VirtLegend.hpp"
#include "VirtNames.hpp"
#include "VirtStatsText.hpp"
#include "VirtCommand.hpp"
#include "VirtTable.hpp"
#include "virt_colors.h"
#include "virt_needs.h"

namespace {

constexpr int BAR_WIDTH = 110;

/** The columns. The states follow the bar, in their order; statistics are VIRT_SHOWN_STATS. */
enum Column {
	COLUMN_NAME,
	COLUMN_BAR,
	COLUMN_STATES,
	COLUMN_RUNS = COLUMN_STATES + VIRT_N_STATES,
	COLUMN_RUN_LENGTH,
	COLUMN_EXITS,
	COLUMN_REASONS,
	COLUMN_CULPRITS,
	COLUMN_WAKES,
	COLUMN_MIGRATIONS = COLUMN_WAKES + VIRT_N_SHOWN_STATS,
	N_COLUMNS
};

struct ColumnInfo {
	const char	*title;
	const char	*meaning;
};

/** All columns but those of the states and of the wake-ups, which have names of their own. */
const ColumnInfo columns[N_COLUMNS - VIRT_N_STATES - VIRT_N_SHOWN_STATS] = {
	{ "vCPU", "Machine and vCPU. Click: show its graph. Double click: zoom to its longest wait"
		  " for a pCPU. Right click here: which columns are shown" },
	{ "States", "Share of each state in the visible window" },
	{ "Runs", "Stretches on a pCPU that begin in the window; + 1: one goes on when it begins" },
	{ "Mean run", "Mean length of the runs that begin in the window, to their ends" },
	{ "Exits/s", "VM exits per second" },
	{ "Top exits", "Exit reasons that took most time, with their counts" },
	{ "Culprits", "vCPUs and tasks that had the pCPU while it was preempted; nobody: an idle or"
		      " unknown pCPU" },
	{ "Migrations", "Times it resumed on another pCPU" },
};

const ColumnInfo &infoOf(int column)
{
	int own = column < COLUMN_STATES ? column :
		  column < COLUMN_WAKES ? column - VIRT_N_STATES :
		  column - VIRT_N_STATES - VIRT_N_SHOWN_STATS;

	return columns[own];
}

/** A column of wake-ups: the statistic that it has; or nullptr. */
const virt_statistic *statOf(int column)
{
	return column >= COLUMN_WAKES && column < COLUMN_MIGRATIONS ?
	       virt_stat_look(VIRT_SHOWN_STATS[column - COLUMN_WAKES]) : nullptr;
}

QString titleOf(int column)
{
	const virt_statistic *stat = statOf(column);

	return stat ? QString("Wake ") + stat->name : infoOf(column).title;
}

QString meaningOf(int column)
{
	const virt_statistic *stat = statOf(column);

	return stat ? QString("Latency of the wake-ups that begin in the window: ") +
		      stat->meaning : infoOf(column).meaning;
}

/** What an item stands for. */
enum Role {
	ROLE_SORT = Qt::UserRole,	/* number to sort by, in each column */
	ROLE_STREAM,			/* in column 0 */
	ROLE_VCPU,			/* global index; VIRT_NONE for a machine */
	ROLE_PID,
	ROLE_MACHINE,
	ROLE_SHARES,			/* in the column with the bar */
};

class Item : public QTreeWidgetItem {
public:
	using QTreeWidgetItem::QTreeWidgetItem;

	bool operator<(const QTreeWidgetItem &other) const override
	{
		int column = treeWidget() ? treeWidget()->sortColumn() : 0;

		return data(column, ROLE_SORT).toDouble() <
		       other.data(column, ROLE_SORT).toDouble();
	}

	void set(int column, const QString &text, double sort)
	{
		setText(column, text);
		setData(column, ROLE_SORT, sort);
	}

	/** The same for a number that the trace may not show: that is less than any other. */
	void set(int column, bool isKnown, const QString &text, double sort)
	{
		set(column, isKnown ? text : "-", isKnown ? sort : -1);
	}
};

/**
 * A cell that names cover a part of, or that the edge of the table cuts, is drawn in the rest: its
 * text ends in dots, where a number would look like another one.
 */
class CellDelegate : public QStyledItemDelegate {
public:
	explicit CellDelegate(VirtTable *table) : QStyledItemDelegate(table), _table(table) {}

	void paint(QPainter *painter, const QStyleOptionViewItem &option,
		   const QModelIndex &index) const override
	{
		QStyleOptionViewItem seen = option;

		seen.rect = seenPart(option, index);
		if (seen.rect.width() > 0)
			QStyledItemDelegate::paint(painter, seen, index);
	}

protected:
	QRect seenPart(const QStyleOptionViewItem &option, const QModelIndex &index) const
	{
		return _table->seenPart(option.rect, index.column());
	}

private:
	VirtTable	*_table;
};

/** The bar with the shares of the states. */
class BarDelegate : public CellDelegate {
public:
	using CellDelegate::CellDelegate;

	void paint(QPainter *painter, const QStyleOptionViewItem &option,
		   const QModelIndex &index) const override
	{
		QVariantList shares = index.data(ROLE_SHARES).toList();
		QRectF all = QRectF(seenPart(option, index)).adjusted(3, 3, -3, -3);
		double x = all.left();

		CellDelegate::paint(painter, option, index);
		if (shares.isEmpty() || all.width() < 1)
			return;
		painter->save();
		painter->fillRect(all, Qt::white);
		for (int i = 0; i < shares.size(); i++) {
			double width = shares[i].toDouble() * all.width();

			painter->fillRect(QRectF(x, all.top(), width, all.height()),
					  virtStateBrush(i));
			x += width;
		}
		painter->setPen(QColor(0xa0, 0xa0, 0xa0));
		painter->drawRect(all);
		painter->restore();
	}
};

/** A state that may have been another one has its share at most. */
QString stateText(const virt_model *model, const virt_window_stats &stats, int state)
{
	bool isMost = virt_model_includes(model, static_cast<virt_state>(state)) ||
		      (state < VIRT_UNKNOWN && stats.unsplit_ns[state]);

	if (!stats.states[state].ns)
		return QString();
	return (isMost ? QString(QChar(0x2264)) + " " : QString()) +
	       virtPercent(virtShare(stats, state));
}

/** What else there is to say about the share of a state. */
QString stateTip(const virt_model *model, const virt_window_stats &stats, int which)
{
	auto state = static_cast<virt_state>(which);
	unsigned int in = virt_model_includes(model, state);
	char text[VIRT_ADVICE_SIZE];

	if (in)
		return QString("Includes %1, whose records are not in the trace")
			.arg(virt_state_names(in, " and ", text, sizeof(text)));
	if (!virtKnowsState(model, which))
		return virt_model_advice(model, virt_number_of_state(state), text, sizeof(text));
	return stats.unsplit_ns[which] ?
	       QString("Not split: ") + virt_state_look_in(model, state)->meaning : QString();
}

void fillItem(Item *item, const virt_model *model, const virt_window_stats &stats, double seconds)
{
	const virt_dist &runs = stats.runs.whole, &wakes = stats.states[VIRT_WAKING].whole;
	double all = static_cast<double>(virt_window_share_base(&stats, VIRT_UNKNOWN));
	double exits = seconds > 0 ? static_cast<double>(stats.exits) / seconds : 0;
	int64_t run = virt_mean(runs.ns, runs.count);
	QVariantList bar;

	for (int state = 0; state < VIRT_N_STATES; state++) {
		double ns = static_cast<double>(stats.states[state].ns);

		bar << (all > 0 ? ns / all : 0);
		item->set(COLUMN_STATES + state, virtKnowsState(model, state),
			  stateText(model, stats, state), virtShare(stats, state));
		item->setToolTip(COLUMN_STATES + state, virtTip(stateTip(model, stats, state)));
	}
	item->setData(COLUMN_BAR, ROLE_SHARES, bar);
	item->setData(COLUMN_BAR, ROLE_SORT, bar[VIRT_GUEST]);
	bool knowsRuns = virt_model_knows(model, VIRT_NUMBER_RUNS);
	bool knowsExits = virt_model_knows(model, VIRT_NUMBER_EXITS);
	bool knowsWakes = virt_model_knows(model, VIRT_NUMBER_WAKING);

	item->set(COLUMN_RUNS, knowsRuns, virtNumber(stats.runs),
		  static_cast<double>(stats.runs.count));
	item->set(COLUMN_RUN_LENGTH, knowsRuns, runs.count ? virtDuration(run) : "",
		  static_cast<double>(run));
	item->set(COLUMN_EXITS, knowsExits,
		  stats.exits ? QString::number(exits, 'f', exits < 10 ? 2 : 0) : "", exits);
	item->set(COLUMN_REASONS, knowsExits, virtExitReasons(model, stats),
		  static_cast<double>(stats.exits));
	item->set(COLUMN_CULPRITS, virt_model_knows(model, VIRT_NUMBER_CULPRITS),
		  virtCulprits(model, stats),
		  static_cast<double>(stats.states[VIRT_PREEMPTED].ns));
	for (int i = 0; i < VIRT_N_SHOWN_STATS; i++) {
		int64_t ns = virt_dist_stat(&wakes, VIRT_SHOWN_STATS[i]);

		item->set(COLUMN_WAKES + i, knowsWakes, wakes.count ? virtDuration(ns) : "",
			  static_cast<double>(ns));
	}
	item->set(COLUMN_MIGRATIONS, virt_model_knows(model, VIRT_NUMBER_MIGRATIONS),
		  QString::number(stats.migrations), static_cast<double>(stats.migrations));
	for (int i = COLUMN_STATES; i < N_COLUMNS; i++)
		if (i != COLUMN_REASONS && i != COLUMN_CULPRITS)
			item->setTextAlignment(i, Qt::AlignRight | Qt::AlignVCenter);
}

} // namespace

VirtTable::VirtTable()
{
	setColumnCount(N_COLUMNS);
	buildHeader();
	setItemDelegate(new CellDelegate(this));
	setItemDelegateForColumn(COLUMN_BAR, new BarDelegate(this));
	setUniformRowHeights(true);
	setAlternatingRowColors(true);
	setSortingEnabled(true);
	sortByColumn(COLUMN_NAME, Qt::AscendingOrder);
	setIndentation(12);
	header()->setStretchLastSection(false);
	header()->resizeSection(COLUMN_BAR, BAR_WIDTH);
	setExpandsOnDoubleClick(false);
	buildNames();
	for (QHeaderView *view : { header(), _names->header() }) {
		view->setContextMenuPolicy(Qt::CustomContextMenu);
		connect(view, &QWidget::customContextMenuRequested, this,
			[this, view] (const QPoint &at) {
			columnMenu()->popup(view->viewport()->mapToGlobal(at));
		});
	}
}

/* ---- names that stay in place ---- */

/** A view of the first column alone, over the table; it is the same model and selection. */
void VirtTable::buildNames()
{
	_names = new QTreeView(this);
	_names->setModel(model());
	_names->setSelectionModel(selectionModel());
	_names->setUniformRowHeights(true);
	_names->setAlternatingRowColors(true);
	_names->setIndentation(indentation());
	_names->setExpandsOnDoubleClick(false);
	_names->setFrameShape(QFrame::NoFrame);
	_names->setFocusProxy(this);
	/* the table scrolls to what is selected */
	_names->setAutoScroll(false);
	_names->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
	_names->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
	_names->setVerticalScrollMode(verticalScrollMode());
	_names->header()->setSectionsClickable(false);
	_names->header()->setStretchLastSection(true);
	for (int i = 1; i < N_COLUMNS; i++)
		_names->hideColumn(i);
	_names->hide();
	connect(_names, &QTreeView::clicked, this, [this] (const QModelIndex &index) {
		emit itemClicked(itemFromIndex(index), COLUMN_NAME);
	});
	connect(_names, &QTreeView::doubleClicked, this, [this] (const QModelIndex &index) {
		emit itemDoubleClicked(itemFromIndex(index), COLUMN_NAME);
	});
	connect(_names, &QTreeView::expanded, this, &QTreeView::expand);
	connect(_names, &QTreeView::collapsed, this, &QTreeView::collapse);
	connect(this, &QTreeView::expanded, _names, &QTreeView::expand);
	connect(this, &QTreeView::collapsed, _names, &QTreeView::collapse);
	/* hidden, it has the height and the range of before */
	connect(_names->verticalScrollBar(), &QScrollBar::valueChanged, this, [this] (int value) {
		if (_names->isVisible())
			verticalScrollBar()->setValue(value);
	});
	connect(verticalScrollBar(), &QScrollBar::valueChanged, _names->verticalScrollBar(),
		&QScrollBar::setValue);
	connect(header(), &QHeaderView::sectionResized, this, [this] { placeNames(); });
	connect(header(), &QHeaderView::sectionMoved, this, [this] { placeNames(); });
}

QRect VirtTable::seenPart(const QRect &cell, int column) const
{
	QRect part = cell;

	if (column == COLUMN_NAME)
		return part;
	if (_names->isVisible())
		part.setLeft(std::max(part.left(), _names->width()));
	part.setRight(std::min(part.right(), viewport()->width() - 1));
	return part;
}

/** Where the first column would be, as wide as it is; the rest of the table has some room, too. */
void VirtTable::placeNames()
{
	int width = std::min(columnWidth(COLUMN_NAME), viewport()->width() * 2 / 3);
	bool isAway = columnViewportPosition(COLUMN_NAME) < 0;

	_names->setVisible(isAway);
	if (!isAway)
		return;
	_names->header()->setFixedHeight(header()->height());
	_names->setGeometry(viewport()->x(), header()->y(), width,
			    header()->height() + viewport()->height());
	_names->verticalScrollBar()->setValue(verticalScrollBar()->value());
	_names->raise();
}

/** Names are seen wherever the table is scrolled to: for one of them it stays there. */
void VirtTable::scrollTo(const QModelIndex &index, ScrollHint hint)
{
	int value = horizontalScrollBar()->value();

	QTreeWidget::scrollTo(index, hint);
	if (index.column() == COLUMN_NAME)
		horizontalScrollBar()->setValue(value);
}

void VirtTable::resizeEvent(QResizeEvent *event)
{
	QTreeWidget::resizeEvent(event);
	placeNames();
}

void VirtTable::scrollContentsBy(int dx, int dy)
{
	QTreeWidget::scrollContentsBy(dx, dy);
	if (!dx)
		return;
	placeNames();
	/* what was cut before is cut elsewhere now */
	viewport()->update();
}

/* ---- columns ---- */

void VirtTable::restore(const QSettings &settings)
{
	QByteArray state = settings.value("dock/header").toByteArray();

	/* of a version with other columns, it would be that of others */
	if (settings.value("dock/columns").toInt() == N_COLUMNS && !state.isEmpty())
		header()->restoreState(state);
	for (const QString &title : settings.value("dock/unwanted_columns").toStringList())
		for (int i = COLUMN_NAME + 1; i < N_COLUMNS; i++)
			if (headerItem()->text(i) == title)
				_unwanted.insert(i);
	hideColumns();
}

void VirtTable::save(QSettings *settings) const
{
	QStringList titles;

	for (int column : _unwanted)
		titles << headerItem()->text(column);
	settings->setValue("dock/header", header()->saveState());
	settings->setValue("dock/columns", N_COLUMNS);
	settings->setValue("dock/unwanted_columns", titles);
}

QMenu *VirtTable::columnMenu()
{
	auto menu = new QMenu(this);

	menu->setAttribute(Qt::WA_DeleteOnClose);
	for (int i = COLUMN_NAME + 1; i < N_COLUMNS; i++) {
		QAction *action = menu->addAction(headerItem()->text(i));

		action->setCheckable(true);
		action->setChecked(!_unwanted.contains(i));
		action->setEnabled(!_empty.contains(i));
		connect(action, &QAction::toggled, this,
			[this, i] (bool isShown) { choose(i, isShown); });
	}
	return menu;
}

void VirtTable::choose(int column, bool isShown)
{
	if (isShown)
		_unwanted.remove(column);
	else
		_unwanted.insert(column);
	hideColumns();
	/* it may have been hidden while it was filled */
	if (isShown && column != COLUMN_BAR)
		resizeColumnToContents(column);
}

void VirtTable::hideColumns()
{
	for (int i = COLUMN_NAME + 1; i < N_COLUMNS; i++)
		setColumnHidden(i, _unwanted.contains(i) || _empty.contains(i));
	placeNames();
}

void VirtTable::buildHeader()
{
	for (int i = 0; i < N_COLUMNS; i++) {
		int state = i - COLUMN_STATES;
		bool isState = state >= 0 && state < VIRT_N_STATES;
		const virt_look *look =
			isState ? virt_state_look(static_cast<virt_state>(state)) : nullptr;

		headerItem()->setText(i, look ? QString(look->title) + " %" : titleOf(i));
		if (look)
			headerItem()->setIcon(i, virtStateIcon(state));
		headerItem()->setToolTip(i, virtTip(look ? look->meaning : meaningOf(i)));
		if (look && look->hatched)
			headerItem()->setToolTip(i, virtTip(QString(look->meaning) + "; share of"
				" the whole window. All other shares are those of the rest"));
	}
}

VirtSubject VirtTable::subject(const QTreeWidgetItem *item)
{
	return { item->data(COLUMN_NAME, ROLE_STREAM).toInt(),
		 item->data(COLUMN_NAME, ROLE_MACHINE).toInt(),
		 item->data(COLUMN_NAME, ROLE_VCPU).toInt(),
		 item->data(COLUMN_NAME, ROLE_PID).toInt() };
}

QString VirtTable::nameOf(const QTreeWidgetItem *item)
{
	return item->text(COLUMN_NAME);
}

QString VirtTable::asText() const
{
	std::vector<int> shown;
	QString text;
	auto line = [&shown, &text] (const QTreeWidgetItem *item) {
		QStringList cells;

		for (int column : shown)
			cells << item->text(column);
		text += cells.join('\t') + '\n';
	};

	for (int i = 0; i < N_COLUMNS; i++)
		if (!isColumnHidden(header()->logicalIndex(i)) &&
		    header()->logicalIndex(i) != COLUMN_BAR)
			shown.push_back(header()->logicalIndex(i));
	line(headerItem());
	for (int i = 0; i < topLevelItemCount(); i++) {
		line(topLevelItem(i));
		for (int child = 0; child < topLevelItem(i)->childCount(); child++)
			line(topLevelItem(i)->child(child));
	}
	return text;
}

bool VirtTable::select(const VirtSubject &wanted)
{
	for (QTreeWidgetItemIterator it(this); *it; ++it) {
		VirtSubject row = subject(*it);

		if (row.stream != wanted.stream || row.vcpu != wanted.vcpu ||
		    (row.vcpu == VIRT_NONE && row.machine != wanted.machine))
			continue;
		setCurrentItem(*it);
		return true;
	}
	return false;
}

VirtSubject VirtTable::named(int stream, const QString &text)
{
	for (bool byName : { true, false })
		for (QTreeWidgetItemIterator it(this); *it; ++it) {
			VirtSubject row = subject(*it);

			if ((stream == VIRT_NONE || row.stream == stream) &&
			    text == (byName ? nameOf(*it) : virtIdOf(row)))
				return row;
		}
	return { VIRT_NONE, VIRT_NONE, VIRT_NONE, 0 };
}

void VirtTable::adopt(const VirtCount &count)
{
	double seconds = static_cast<double>(count.to - count.from) * 1e-9;
	std::vector<uint64_t> serials = count.serials();
	bool rebuilt = _serials != serials;

	if (rebuilt) {
		_serials = serials;
		rebuild(count.streams);
	}
	setUpdatesEnabled(false);
	setSortingEnabled(false);
	for (QTreeWidgetItemIterator it(this); *it; ++it) {
		VirtCount::Found found = count.find(subject(*it));

		if (found.stats && found.stats->states[VIRT_UNKNOWN].ns &&
		    _empty.remove(COLUMN_STATES + VIRT_UNKNOWN)) {
			hideColumns();
			rebuilt = true;
		}
		if (found.stats)
			fillItem(static_cast<Item *>(*it), found.stream->model.get(), *found.stats,
				 seconds);
	}
	setSortingEnabled(true);
	for (int i = 0; i < N_COLUMNS && rebuilt; i++)
		if (i != COLUMN_BAR)
			resizeColumnToContents(i);
	setUpdatesEnabled(true);
}

void VirtTable::rebuild(const std::vector<VirtStream> &streams)
{
	VirtNames names;

	clear();
	for (const VirtStream &stream : streams) {
		const virt_model *model = stream.model.get();

		for (int32_t m = 0; m < virt_model_n_machines(model); m++) {
			const virt_machine *machine = virt_model_machine(model, m);
			auto top = new Item(this);
			top->set(COLUMN_NAME, names.machine(stream.id, m),
				 stream.id * 1e6 + machine->id);
			top->setData(COLUMN_NAME, ROLE_STREAM, stream.id);
			top->setData(COLUMN_NAME, ROLE_VCPU, VIRT_NONE);
			top->setData(COLUMN_NAME, ROLE_MACHINE, m);
			for (int32_t i = 0; i < machine->n_vcpus; i++) {
				const virt_vcpu *vcpu = virt_model_vcpu(model, machine->vcpus[i]);
				auto item = new Item(top);

				item->set(COLUMN_NAME, names.vcpu(stream.id, machine->vcpus[i]),
					  vcpu->id);
				item->setData(COLUMN_NAME, ROLE_STREAM, stream.id);
				item->setData(COLUMN_NAME, ROLE_VCPU, machine->vcpus[i]);
				item->setData(COLUMN_NAME, ROLE_PID, vcpu->host_pid);
				item->setData(COLUMN_NAME, ROLE_MACHINE, m);
			}
			top->setExpanded(true);
		}
	}
	hideEmptyColumns(streams);
}

/** States that no vCPU of any trace ever has need no column; where that is unknown, they do. */
void VirtTable::hideEmptyColumns(const std::vector<VirtStream> &streams)
{
	virt_totals totals;
	int64_t sums[VIRT_N_STATES] = {};

	for (const VirtStream &stream : streams) {
		const virt_model *model = stream.model.get();

		for (int32_t i = 0; i < virt_model_n_vcpus(model); i++) {
			virt_vcpu_totals(model, i, INT64_MIN, INT64_MAX, &totals);
			for (int state = 0; state < VIRT_N_STATES; state++)
				sums[state] += totals.ns[state] + !virtKnowsState(model, state);
		}
	}
	_empty.clear();
	for (int state = 0; state < VIRT_N_STATES; state++)
		if (!sums[state])
			_empty.insert(COLUMN_STATES + state);
	hideColumns();
}
