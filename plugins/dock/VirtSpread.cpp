// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtSpread.cpp
 * @brief	The dock's page on distributions of the costs of moments.
 *
 * A thread counts them (virt_spread.h); this page shows the result.
 */
#include <algorithm>
#include <initializer_list>
#include <utility>

#include <QCheckBox>
#include <QHeaderView>
#include <QPainter>
#include <QSet>
#include <QSignalBlocker>
#include <QStyledItemDelegate>
#include <QTreeWidget>
#include <QVBoxLayout>

#include "VirtFlow.hpp"
#include "VirtHosts.hpp"
#include "VirtList.hpp"
#include "VirtMarkers.hpp"
#include "VirtSpread.hpp"
#include "VirtStatsText.hpp"
#include "virt_colors.h"
#include "virt_delivered.h"
#include "virt_needs.h"
#include "virt_text.h"

namespace {

enum {
	COLUMN_WHAT, COLUMN_BARS, COLUMN_NUMBER, COLUMN_SUM, COLUMN_STATS,
	COLUMN_INJECTED = COLUMN_STATS + VIRT_N_SHOWN_STATS,
	COLUMN_NOT_SEEN, COLUMN_NOT_JUDGED, N_COLUMNS
};

/** All columns but those of VIRT_SHOWN_STATS. */
struct {
	const char	*title, *meaning;
} const columns[N_COLUMNS - VIRT_N_SHOWN_STATS] = {
	{ "What", "Moments that lie in the window; of interrupts, those whose handlers are seen" },
	{ "Spread", "Number of moments by cost, on the same logarithmic scale in all rows" },
	{ "Number", "Moments that the trace shows from beginning to end" },
	{ "Sum", "Their total cost" },
	{ "Injected", "Interrupts that the host injected" },
	{ "Not seen", "Injected interrupts whose handler the guest has not recorded" },
	{ "Not judged", "Injected interrupts whose handling is unknown: records are lost, or the"
			" guest's trace does not cover that time" },
};

/** A number of injected interrupts, empty for other moments. */
QString ofInjected(uint64_t injected, uint64_t number)
{
	return injected ? QString::number(number) : QString();
}

/* in this order: those with few rows first */
const virt_worst_kind kinds[] = {
	VIRT_WORST_WAKE, VIRT_WORST_STEAL, VIRT_WORST_MIGRATION, VIRT_WORST_EXIT, VIRT_WORST_IRQ,
};

constexpr int BARS_WIDTH = 110, BAR_MARGIN = 2;

enum { ROLE_ROW = Qt::UserRole };

struct Free {
	void operator()(virt_spread *spread) const { virt_spread_free(spread); }
};

/** The bars of a row, small. */
class BarsDelegate : public QStyledItemDelegate {
public:
	BarsDelegate(QObject *parent, std::function<const virt_spread_row *(size_t)> rowOf)
	: QStyledItemDelegate(parent), _rowOf(std::move(rowOf)) {}

	void setBars(const VirtBars &bars) { _bars = bars; }

	void paint(QPainter *painter, const QStyleOptionViewItem &option,
		   const QModelIndex &index) const override
	{
		const virt_spread_row *row = _rowOf(index.data(ROLE_ROW).toUInt());

		QStyledItemDelegate::paint(painter, option, index);
		if (!row || !row->dist.count || _bars.first == _bars.second)
			return;
		painter->save();
		virtDrawBars(painter, option.rect.adjusted(BAR_MARGIN, BAR_MARGIN, -BAR_MARGIN,
							   -BAR_MARGIN), *row, _bars);
		painter->restore();
	}

private:
	std::function<const virt_spread_row *(size_t)>	_rowOf;
	VirtBars					_bars = { 0, 0 };
};

} // namespace

/** A window of a host, or of a part of it. */
struct VirtSpread::Job : VirtJob {
	VirtStream			stream;
	VirtSubject			subject;	/* stream -1: all of the host */
	QString				name;
	int64_t				from, to;
	uint64_t			serial;
	std::shared_ptr<virt_spread>	spread;

	bool isSame(const Job &other) const
	{
		return stream.id == other.stream.id && stream.offset == other.stream.offset &&
		       subject.stream == other.subject.stream && from == other.from &&
		       subject.machine == other.subject.machine && to == other.to &&
		       subject.vcpu == other.subject.vcpu && serial == other.serial;
	}

	void work() override
	{
		const virt_worst *worst = stream.model.worst(false);
		std::vector<int32_t> of;
		virt_worst_query query = {};

		query.from_ns = from - stream.offset;
		query.to_ns = to - stream.offset;
		query.kinds = VIRT_WORST_ALL_KINDS;
		if (subject.stream != VIRT_NONE) {
			of = subject.vcpus(stream.model.get());
			query.of = of.data();
			query.n_of = of.size();
		}
		if (worst)
			spread.reset(virt_spread_new(worst, &query, isStopped, jobArg()), Free());
	}
};

VirtSpread::VirtSpread(std::function<void(const VirtFocus &)> chosen)
: _chosen(std::move(chosen)),
  _latest(this, [this] (const std::shared_ptr<Job> &job) { adopt(job); })
{
	buildUi();
}

void VirtSpread::buildUi()
{
	auto layout = new QVBoxLayout(this);
	auto head = new VirtFlow(nullptr, 0);

	_host = new VirtHosts;
	_only = new QCheckBox("Selected vCPU only");
	_only->setToolTip("Only values of the machine or vCPU that is selected in the table");
	_only->setChecked(true);
	_list = new VirtList<QTreeWidget>;
	_list->setColumnCount(N_COLUMNS);
	_list->setAlternatingRowColors(true);
	_list->setUniformRowHeights(true);
	_list->setIndentation(12);
	_list->setItemDelegateForColumn(COLUMN_BARS, new BarsDelegate(_list, [this] (size_t row) {
		return _shown && row < _shown->spread->n ? &_shown->spread->rows[row] : nullptr;
	}));
	_list->header()->setStretchLastSection(false);
	for (int i = 0; i < N_COLUMNS; i++) {
		const auto &column = columns[i < COLUMN_STATS ? i : i - VIRT_N_SHOWN_STATS];
		const virt_statistic *stat = i >= COLUMN_STATS && i < COLUMN_INJECTED ?
			virt_stat_look(VIRT_SHOWN_STATS[i - COLUMN_STATS]) : nullptr;

		_list->headerItem()->setText(i, stat ? stat->name : column.title);
		_list->headerItem()->setToolTip(i, virtTip(stat ? stat->meaning : column.meaning));
	}
	_histogram = new VirtHistogram([this] (int bar) { choose(bar); });
	head->addWidget(_only);
	head->addWidget(_host);
	layout->setContentsMargins(0, 0, 0, 0);
	layout->setSpacing(2);
	layout->addLayout(head);
	layout->addWidget(_list, 2);
	layout->addWidget(_histogram, 1);
	connect(_only, &QCheckBox::toggled, this, [this] { look(); });
	connect(_host, QOverload<int>::of(&QComboBox::currentIndexChanged), this,
		[this] { look(); });
	connect(_list, &QTreeWidget::currentItemChanged, this, [this] { showCurrent(); });
}

/* ---- counting ---- */

void VirtSpread::follow(const VirtListed &listed)
{
	_listed = listed;
	_only->setText(listed.name.isEmpty() ? "Selected vCPU only" :
					       "Only " + virtLabel(listed.name));
	_host->fill(_listed.streams);
	look();
}

void VirtSpread::forget()
{
	const QSignalBlocker blocker(_list);

	_listed = {};
	_latest.forget();
	_shown.reset();
	_list->clear();
	_histogram->clear();
}

/** What is to be shown; nullptr: there is nothing. */
std::shared_ptr<VirtSpread::Job> VirtSpread::wanted() const
{
	bool isOnly = _only->isChecked() && _listed.subject.stream != VIRT_NONE;
	int id = isOnly ? _listed.subject.stream : _host->id();
	auto job = std::make_shared<Job>();

	for (const VirtStream &stream : _listed.streams) {
		if (stream.id != id)
			continue;
		job->stream = stream;
		job->subject = { VIRT_NONE, 0, VIRT_NONE, 0 };
		if (isOnly) {
			job->subject = _listed.subject;
			job->name = _listed.name;
		}
		job->from = _listed.from;
		job->to = _listed.to;
		job->serial = stream.model.worstSerial();
		return job;
	}
	return nullptr;
}

void VirtSpread::look()
{
	_latest.ask(wanted(), _shown);
}

void VirtSpread::adopt(const std::shared_ptr<Job> &job)
{
	if (!job->spread || _listed.streams.empty())
		return;
	_shown = job;
	fill();
}

/* ---- what is shown ---- */

QString VirtSpread::nameOf(const Job &job, const virt_spread_row &row)
{
	const char *name;

	if (row.all)
		return virt_worst_look(row.kind)->title;
	if (row.kind == VIRT_WORST_EXIT)
		return virtShown(virt_text_reason(job.stream.model.get(), row.what));
	name = virt_vector_name(job.stream.model.get(), VIRT_NONE, row.what);
	return QString("0x%1 %2").arg(row.what, 2, 16, QChar('0')).arg(name ? name : "").trimmed();
}

QTreeWidgetItem *VirtSpread::add(QTreeWidgetItem *parent, size_t row)
{
	const virt_spread_row &spread = _shown->spread->rows[row];
	auto item = parent ? new QTreeWidgetItem(parent) : new QTreeWidgetItem(_list);
	const virt_dist &dist = spread.dist;
	uint64_t injected = virt_delivered_injected(spread.results);

	for (int i = 0; i < N_COLUMNS; i++) {
		item->setData(i, ROLE_ROW, static_cast<uint>(row));
		if (i != COLUMN_WHAT)
			item->setTextAlignment(i, Qt::AlignRight | Qt::AlignVCenter);
	}
	item->setText(COLUMN_WHAT, nameOf(*_shown, spread));
	item->setToolTip(COLUMN_WHAT, spread.all ?
			 virtTip(virt_worst_look(spread.kind)->meaning) : "");
	if (spread.all)
		item->setIcon(COLUMN_WHAT, VirtMarkers::icon(spread.kind));
	if (!virt_model_knows(_shown->stream.model.get(), virt_number_of_worst(spread.kind))) {
		for (int i = COLUMN_NUMBER; i < COLUMN_INJECTED; i++)
			item->setText(i, "-");
		return item;
	}
	item->setText(COLUMN_NUMBER, QString::number(dist.count));
	if (spread.count > dist.count)
		item->setToolTip(COLUMN_NUMBER, virtTip(
			QString("and %1 that the trace does not show from beginning to end")
			.arg(spread.count - dist.count)));
	if (dist.count) {
		item->setText(COLUMN_SUM, virtDuration(dist.ns));
		for (int i = 0; i < VIRT_N_SHOWN_STATS; i++)
			item->setText(COLUMN_STATS + i,
				      virtDuration(virt_dist_stat(&dist, VIRT_SHOWN_STATS[i])));
	}
	if (!injected)
		return item;
	item->setText(COLUMN_INJECTED, QString::number(injected));
	item->setText(COLUMN_NOT_SEEN, QString::number(spread.results[VIRT_DELIVERY_NOT_SEEN]));
	item->setText(COLUMN_NOT_JUDGED,
		      QString::number(spread.results[VIRT_DELIVERY_UNJUDGED]));
	return item;
}

void VirtSpread::fill()
{
	const virt_spread *spread = _shown->spread.get();
	QTreeWidgetItem *current = _list->currentItem(), *found = nullptr, *parent = nullptr;
	QString chosen = current ? current->text(COLUMN_WHAT) : QString();
	const QSignalBlocker blocker(_list);
	VirtBars bars = { 0, 0 };
	bool hasIrqs = false, isFirst;
	QSet<QString> folded;

	for (int i = 0; i < _list->topLevelItemCount(); i++)
		if (!_list->topLevelItem(i)->isExpanded())
			folded.insert(_list->topLevelItem(i)->text(COLUMN_WHAT));
	isFirst = !_list->topLevelItemCount();
	_list->clear();
	for (size_t i = 0; i < spread->n; i++)
		bars = virtBarsOf(bars, virtBarsOf(spread->rows[i]));
	static_cast<BarsDelegate *>(_list->itemDelegateForColumn(COLUMN_BARS))->setBars(bars);
	for (virt_worst_kind kind : kinds) {
		for (size_t i = 0; i < spread->n; i++) {
			const virt_spread_row &row = spread->rows[i];
			QTreeWidgetItem *item;

			if (row.kind != kind)
				continue;
			item = add(row.all ? nullptr : parent, i);
			if (row.all)
				parent = item;
			/* what was chosen last; else the first one with something to see */
			if (!found || item->text(COLUMN_WHAT) == chosen ||
			    (chosen.isEmpty() && row.dist.count &&
			     found->text(COLUMN_NUMBER) == "0"))
				found = item;
			hasIrqs |= !item->text(COLUMN_INJECTED).isEmpty();
		}
	}
	for (int i = 0; i < _list->topLevelItemCount(); i++)
		_list->topLevelItem(i)->setExpanded(
			!folded.contains(_list->topLevelItem(i)->text(COLUMN_WHAT)));
	for (int i = 0; i < N_COLUMNS && isFirst; i++)
		_list->resizeColumnToContents(i);
	if (isFirst)
		_list->header()->resizeSection(COLUMN_BARS, BARS_WIDTH);
	for (int i = COLUMN_INJECTED; i < N_COLUMNS; i++)
		_list->setColumnHidden(i, !hasIrqs);
	_list->setCurrentItem(found);
	showCurrent();
}

void VirtSpread::showCurrent()
{
	const QTreeWidgetItem *item = _list->currentItem();
	size_t i = item ? item->data(COLUMN_WHAT, ROLE_ROW).toUInt() : 0;
	QString title;

	if (!item || !_shown || i >= _shown->spread->n) {
		_histogram->clear();
		return;
	}
	const virt_spread_row &row = _shown->spread->rows[i];

	title = nameOf(*_shown, row);
	if (!_shown->name.isEmpty())
		title += " of " + _shown->name;
	title += QString(": %1").arg(row.dist.count);
	if (row.dist.count)
		title += QString(", %1, total %2")
			.arg(virtShownStats(row.dist), virtDuration(row.dist.ns));
	_histogram->show(title, row);
}

/** The moments of a bar. */
void VirtSpread::choose(int bar)
{
	const QTreeWidgetItem *item = _list->currentItem();
	size_t i = item ? item->data(COLUMN_WHAT, ROLE_ROW).toUInt() : 0;
	VirtFocus focus = {};

	if (!item || !_shown || i >= _shown->spread->n)
		return;
	const virt_spread_row &row = _shown->spread->rows[i];

	focus.kinds = 1u << row.kind;
	focus.subject = _shown->subject;
	focus.leastNs = virt_spread_least(bar);
	focus.mostNs = virt_spread_least(bar + 1) - 1;
	focus.title = QString("%1, %2 to %3").arg(
		nameOf(*_shown, row) + (_shown->name.isEmpty() ? QString() : " of " + _shown->name),
		virtDuration(focus.leastNs), virtDuration(focus.mostNs + 1));
	focus.wanted = [id = _shown->stream.id, kind = row.kind, all = row.all, what = row.what]
		       (const VirtStream &stream, const virt_finding &finding) {
		int32_t its = kind == VIRT_WORST_EXIT ? finding.moment.reason :
						       finding.moment.vector;

		return stream.id == id && (all || its == what);
	};
	focus.isWhole = true;
	focus.count = row.bars[bar];
	_chosen(focus);
}

namespace {

struct Line {
	const virt_spread_row	&row;
	QString			what;
	uint64_t		injected;
};

template<virt_stat STAT> VirtCsvColumn<Line> csvOf()
{
	return { virt_stat_look(STAT)->key, [] (const Line &it) {
		return QString::number(virt_dist_stat(&it.row.dist, STAT));
	} };
}

} // namespace

QString VirtSpread::asCsv(const VirtListed &listed)
{
	static const VirtCsvColumn<Line> csv[] = {
		{ "kind", [] (const Line &it) {
			return QString(virt_worst_kind_name(it.row.kind));
		} },
		{ "what", [] (const Line &it) { return it.what; } },
		{ "count", [] (const Line &it) { return QString::number(it.row.dist.count); } },
		{ "total_ns", [] (const Line &it) { return QString::number(it.row.dist.ns); } },
		csvOf<VIRT_SHOWN_STATS[0]>(), csvOf<VIRT_SHOWN_STATS[1]>(),
		csvOf<VIRT_SHOWN_STATS[2]>(),
		{ "injected", [] (const Line &it) {
			return ofInjected(it.injected, it.injected);
		} },
		{ "not_seen", [] (const Line &it) {
			return ofInjected(it.injected, it.row.results[VIRT_DELIVERY_NOT_SEEN]);
		} },
		{ "not_judged", [] (const Line &it) {
			return ofInjected(it.injected, it.row.results[VIRT_DELIVERY_UNJUDGED]);
		} },
	};
	std::shared_ptr<Job> job;
	QString text = virtCsvLine(csv);

	_listed = listed;
	_host->fill(_listed.streams);
	job = wanted();
	/* while another page is on, nothing is counted */
	if (job && _shown && _shown->isSame(*job))
		job = _shown;
	else if (job)
		job->work();
	for (size_t i = 0; job && job->spread && i < job->spread->n; i++) {
		const virt_spread_row &row = job->spread->rows[i];
		Line line = {
			row, row.all ? QString() : virtCsv(nameOf(*job, row).toUtf8()),
			virt_delivered_injected(row.results),
		};

		text += virtCsvLine(csv, &line);
	}
	return text;
}
