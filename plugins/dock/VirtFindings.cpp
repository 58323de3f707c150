// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtFindings.cpp
 * @brief	The dock's list of the worst moments, and the walk along it.
 *
 * A walk zooms in on each moment. The list keeps the window in which the walk began until something
 * other than the walk sets another window.
 */
#include <algorithm>
#include <initializer_list>
#include <tuple>

#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSettings>
#include <QShortcut>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QToolButton>
#include <QTreeWidget>
#include <QVBoxLayout>

#include "VirtCommand.hpp"
#include "VirtDock.hpp"
#include "VirtFindings.hpp"
#include "VirtFlow.hpp"
#include "VirtList.hpp"
#include "VirtMarkers.hpp"
#include "VirtNames.hpp"
#include "virt_colors.h"
#include "virt_pairing.h"
#include "virt_text.h"

namespace {

constexpr int DEFAULT_NUMBER = 40, MOST = 1000;
constexpr size_t MOST_LOOKED = 100000;	/* moments whose texts are looked at by a filter */
constexpr int LEAST_FILTER_WIDTH = 70;
constexpr int MOST_TITLE = 200;		/* pixels: a dock of 260 has room for it */
constexpr int64_t AROUND_NS = 50000;	/* what is shown before and after what has no length */

enum { COLUMN_KIND, COLUMN_VCPU, COLUMN_COST, COLUMN_CAUSE, COLUMN_TIME, COLUMN_PCPU, N_COLUMNS };

struct {
	const char	*title, *meaning;
} const columns[N_COLUMNS] = {
	{ "Kind", "Kind of the moment" },
	{ "vCPU", "The vCPU that lost the time" },
	{ "Cost", "Its cost" },
	{ "Cause", "Reason of an exit; who had the pCPU; where a migration went from and to" },
	{ "At [s]", "Time of its beginning" },
	{ "pCPU", "The pCPU where it was, or that the vCPU waited for" },
};

enum { ROLE_SORT = Qt::UserRole, ROLE_ROW };

/** Numbers are sorted as numbers, names as texts. */
class Item : public QTreeWidgetItem {
public:
	using QTreeWidgetItem::QTreeWidgetItem;

	bool operator<(const QTreeWidgetItem &other) const override
	{
		int column = treeWidget() ? treeWidget()->sortColumn() : 0;
		QVariant mine = data(column, ROLE_SORT), its = other.data(column, ROLE_SORT);

		return mine.isValid() ? mine.toLongLong() < its.toLongLong() :
					text(column) < other.text(column);
	}
};

bool isWorse(const virt_worst_hit &a, const virt_worst_hit &b)
{
	if (a.cost_ns != b.cost_ns)
		return a.cost_ns > b.cost_ns;
	if (a.time_ns != b.time_ns)
		return a.time_ns < b.time_ns;
	if (a.vcpu != b.vcpu)
		return a.vcpu < b.vcpu;
	return a.kind != b.kind ? a.kind < b.kind : a.index < b.index;
}

/** All hits of a query that the user has chosen, the worst first. */
std::vector<virt_worst_hit> hitsOfFocus(const virt_worst *worst, const virt_worst_query &query,
					const VirtFocus &focus)
{
	struct Found {
		std::vector<virt_worst_hit>	hits;
		const VirtFocus			&focus;
	} found = { {}, focus };

	virt_worst_each(worst, &query, [] (void *arg, const virt_worst_hit *hit) {
		auto all = static_cast<Found *>(arg);

		if (hit->cost_ns <= all->focus.mostNs && (hit->whole || !all->focus.isWhole))
			all->hits.push_back(*hit);
		return 0;
	}, &found);
	std::sort(found.hits.begin(), found.hits.end(), isWorse);
	return found.hits;
}

} // namespace

VirtFindings::VirtFindings(VirtDock *dock)
: _dock(dock)
{
	_listed.subject.stream = VIRT_NONE;
	buildUi();
	restore();
}

/* ---- the widgets ---- */

void VirtFindings::buildUi()
{
	auto layout = new QVBoxLayout(this);
	auto head = new VirtFlow(nullptr, 0);
	auto buttons = new QHBoxLayout;
	auto previous = new QPushButton("Previous worst"), next = new QPushButton("Next worst");

	_filter = new QLineEdit;
	_filter->setPlaceholderText("Filter");
	_filter->setClearButtonEnabled(true);
	_filter->setMinimumWidth(LEAST_FILTER_WIDTH);
	_filter->setToolTip("List only what has these words: kind, vCPU, cause");
	_number = new QSpinBox;
	_number->setRange(1, MOST);
	_number->setToolTip("Number of moments to list, costliest first, of the kinds that are"
			    " ticked below");
	_only = new QCheckBox("Selected vCPU only");
	_only->setToolTip("Only moments of the machine or vCPU that is selected in the table");
	_focusButton = new QToolButton;
	_focusButton->setToolTip("List all worst moments again");
	_focusButton->hide();
	for (QWidget *widget : std::initializer_list<QWidget *>{ _filter, _number, _only,
								 _focusButton })
		head->addWidget(widget);
	_list = new VirtList<QTreeWidget>;
	_list->setColumnCount(N_COLUMNS);
	_list->setRootIsDecorated(false);
	_list->setAlternatingRowColors(true);
	_list->setUniformRowHeights(true);
	_list->setSortingEnabled(true);
	_list->header()->setStretchLastSection(false);
	for (int i = 0; i < N_COLUMNS; i++) {
		_list->headerItem()->setText(i, columns[i].title);
		_list->headerItem()->setToolTip(i, virtTip(columns[i].meaning));
	}
	_place = new QLabel;
	_place->setTextFormat(Qt::PlainText);
	_place->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
	previous->setToolTip("Zoom to the moment above the selected one in the list, mark it and"
			     " describe it");
	next->setToolTip("Zoom to the moment below the selected one in the list, mark it and"
			 " describe it");
	buttons->addWidget(previous);
	buttons->addWidget(next);
	buttons->addWidget(_place, 1);
	layout->setContentsMargins(0, 0, 0, 0);
	layout->setSpacing(2);
	layout->addLayout(head);
	layout->addWidget(_list, 1);
	layout->addLayout(buttons);
	connect(_filter, &QLineEdit::textChanged, this, [this] { look(); });
	connect(_number, QOverload<int>::of(&QSpinBox::valueChanged), this, [this] {
		save();
		look();
	});
	connect(_only, &QCheckBox::toggled, this, [this] {
		save();
		look();
	});
	connect(_focusButton, &QToolButton::clicked, this, [this] { focus(VirtFocus()); });
	connect(_list->header(), &QHeaderView::sortIndicatorChanged, this, [this] {
		save();
		fillPlace();
	});
	connect(_list, &QTreeWidget::itemClicked, this,
		[this] (QTreeWidgetItem *item) { go(_list->indexOfTopLevelItem(item)); });
	connect(_list, &QTreeWidget::itemActivated, this,
		[this] (QTreeWidgetItem *item) { go(_list->indexOfTopLevelItem(item)); });
	connect(new QShortcut(QKeySequence::Copy, _list, nullptr, nullptr, Qt::WidgetShortcut),
		&QShortcut::activated, this,
		[this] { QApplication::clipboard()->setText(asText()); });
	connect(previous, &QPushButton::clicked, this, [this] { step(false); });
	connect(next, &QPushButton::clicked, this, [this] { step(true); });
}

void VirtFindings::restore()
{
	QSettings settings(virtSettingsFile(), QSettings::IniFormat);
	const QSignalBlocker blockers[] = {
		QSignalBlocker(_number), QSignalBlocker(_only), QSignalBlocker(_list->header()),
	};

	_number->setValue(settings.value("findings/number", DEFAULT_NUMBER).toInt());
	_only->setChecked(settings.value("findings/only", true).toBool());
	_list->sortByColumn(qBound(0, settings.value("findings/sort", COLUMN_COST).toInt(),
				   N_COLUMNS - 1),
			    settings.value("findings/ascending", false).toBool() ?
			    Qt::AscendingOrder : Qt::DescendingOrder);
}

void VirtFindings::save()
{
	QSettings settings(virtSettingsFile(), QSettings::IniFormat);

	settings.setValue("findings/number", _number->value());
	settings.setValue("findings/only", _only->isChecked());
	settings.setValue("findings/sort", _list->header()->sortIndicatorSection());
	settings.setValue("findings/ascending",
			  _list->header()->sortIndicatorOrder() == Qt::AscendingOrder);
}

/* ---- what is listed ---- */

bool VirtFindings::isWalking() const
{
	return _set.first < _set.second && _dock->view().isStill(_set);
}

void VirtFindings::follow(const VirtListed &listed)
{
	std::pair<int64_t, int64_t> old = { _listed.from, _listed.to };
	bool stays = isWalking() && !listed.isSelection && !_listed.isSelection;

	/* a walk that was left is over, though the same window may be seen again */
	if (!isWalking())
		_set = { 0, 0 };
	_listed = listed;
	_visible = { listed.from, listed.to };
	if (stays)
		std::tie(_listed.from, _listed.to) = old;
	/* it was counted elsewhere */
	else if (old != _visible)
		_focus.count = 0;
	_only->setText(listed.name.isEmpty() ? "Selected vCPU only" :
					       "Only " + virtLabel(listed.name));
	look();
}

void VirtFindings::focus(const VirtFocus &focus)
{
	/* its moments were counted in what is visible: this ends a walk */
	if (!focus.title.isEmpty()) {
		_set = { 0, 0 };
		std::tie(_listed.from, _listed.to) = _visible;
	}
	_focus = focus;
	_focusSerial++;
	_focusButton->setText(virtLabel(fontMetrics().elidedText(focus.title, Qt::ElideRight,
								 MOST_TITLE)) +
			      " " + QChar(0x2715));
	_focusButton->setToolTip(virtTip(focus.title + ": click to list all worst moments again"));
	_focusButton->setVisible(!focus.title.isEmpty());
	look();
}

/** Whatever decides about the list. */
std::vector<int64_t> VirtFindings::key(const VirtListed &listed) const
{
	std::vector<int64_t> all = {
		listed.from, listed.to, _number->value(), _only->isChecked(), _focusSerial,
		static_cast<int64_t>(VirtMarkers::rulesSerial()),
		static_cast<int64_t>(qHash(_filter->text())),
		static_cast<int64_t>(virt_pairing_serial()),
	};

	if (_only->isChecked())
		for (int part : { listed.subject.stream, listed.subject.machine,
				  listed.subject.vcpu })
			all.push_back(part);
	for (const VirtStream &stream : listed.streams)
		for (int64_t part : { static_cast<int64_t>(stream.id), stream.offset,
				      static_cast<int64_t>(stream.model.worstSerial()) })
			all.push_back(part);
	return all;
}

/** List anew if anything has changed. */
void VirtFindings::look()
{
	std::vector<int64_t> now = key(_listed);
	VirtNames names;

	if (now == _key)
		return;
	_key = now;
	_rows.clear();
	_isCut = false;
	for (const VirtStream &stream : _listed.streams)
		collect(names, stream, &_rows);
	std::stable_sort(_rows.begin(), _rows.end(), [] (const Row &a, const Row &b) {
		return a.hit.cost_ns != b.hit.cost_ns ? a.hit.cost_ns > b.hit.cost_ns :
		       a.hit.time_ns + a.stream.offset < b.hit.time_ns + b.stream.offset;
	});
	if (_rows.size() > static_cast<size_t>(_number->value()))
		_rows.resize(static_cast<size_t>(_number->value()));
	fill();
}

/** Those that may be listed, the worst first: not many more than are, unless texts decide. */
std::vector<virt_worst_hit> VirtFindings::hitsOf(const virt_worst *worst,
						 const virt_worst_query &query)
{
	bool isFocused = !_focus.title.isEmpty(), looks = isFocused || !_filter->text().isEmpty();
	std::vector<virt_worst_hit> hits;
	ssize_t found;

	if (isFocused) {
		hits = hitsOfFocus(worst, query, _focus);
	} else {
		hits.resize(looks ? MOST_LOOKED + 1 : static_cast<size_t>(_number->value()));
		found = virt_worst_top(worst, &query, hits.data(), hits.size());
		hits.resize(found > 0 ? static_cast<size_t>(found) : 0);
	}
	if (hits.size() > MOST_LOOKED) {
		hits.resize(MOST_LOOKED);
		_isCut = true;
	}
	return hits;
}

namespace {

QString kindOf(const virt_finding &finding)
{
	return virt_worst_look(finding.moment.kind)->title;
}

/** In the words of a list that may have moments of several traces. */
void putWords(const VirtNames &names, VirtFindings::Row *row)
{
	const virt_moment &moment = row->finding.moment;
	virt_name_parts parts = names.parts(row->stream.id, std::max(moment.vcpu, 0));
	char text[VIRT_TEXT_SIZE];

	if (moment.vcpu >= 0)
		row->vcpu = names.vcpu(row->stream.id, moment.vcpu);
	row->cause = virtShown(virt_text_cause(text, sizeof(text), row->stream.model.get(), &parts,
					       &row->finding));
	if (moment.pcpu >= 0)
		row->pcpu = *parts.before ?
			    virtShown(virt_text_pcpu(text, sizeof(text), &parts, moment.pcpu)) :
			    QString::number(moment.pcpu);
}

} // namespace

/** The worst ones of a stream, as many as are listed. */
void VirtFindings::collect(const VirtNames &names, const VirtStream &stream,
			   std::vector<Row> *rows)
{
	bool isFocused = !_focus.title.isEmpty(), looks = isFocused || !_filter->text().isEmpty();
	const virt_worst *worst = stream.model.worst(false);
	size_t n = static_cast<size_t>(_number->value()), more = rows->size() + n;
	VirtSubject subject = _listed.subject;
	std::vector<virt_worst_hit> hits;
	std::vector<int32_t> of;
	virt_worst_query query = {};

	if (isFocused)
		subject = _focus.subject;
	else if (!_only->isChecked())
		subject.stream = VIRT_NONE;
	if (!worst || (subject.stream != VIRT_NONE && subject.stream != stream.id))
		return;
	if (subject.stream != VIRT_NONE) {
		of = subject.vcpus(stream.model.get());
		query.of = of.data();
		query.n_of = of.size();
	}
	query.from_ns = _listed.from - stream.offset;
	query.to_ns = _listed.to - stream.offset;
	query.kinds = isFocused ? _focus.kinds : VirtMarkers::kinds();
	for (int kind = 0; kind < VIRT_WORST_N_KINDS; kind++)
		query.min_ns[kind] = isFocused ? _focus.leastNs : VirtMarkers::leastNs(kind);
	hits = hitsOf(worst, query);
	for (size_t i = 0; i < hits.size() && rows->size() < more; i++) {
		Row row = { stream, hits[i], {}, {}, {}, {} };

		if (!virt_finding_make(stream.model.get(), worst, &hits[i], &row.finding))
			continue;
		putWords(names, &row);
		if (!looks || wants(row))
			rows->push_back(row);
	}
}

/** All words of the filter must be there. */
bool VirtFindings::wants(const Row &row) const
{
	QString all = kindOf(row.finding) + ' ' + row.vcpu + ' ' + row.cause;

	if (!_focus.title.isEmpty() && _focus.wanted && !_focus.wanted(row.stream, row.finding))
		return false;
	for (const QString &word : _filter->text().split(' ', Qt::SkipEmptyParts))
		if (!all.contains(word, Qt::CaseInsensitive))
			return false;
	return true;
}

void VirtFindings::fill()
{
	QList<QTreeWidgetItem *> items;

	for (size_t i = 0; i < _rows.size(); i++) {
		const Row &row = _rows[i];
		int64_t time = row.finding.time_ns + row.stream.offset;
		int16_t pcpu = row.finding.moment.pcpu;
		auto item = new Item;

		item->setData(COLUMN_KIND, ROLE_ROW, static_cast<int>(i));
		item->setIcon(COLUMN_KIND, VirtMarkers::icon(row.hit.kind));
		item->setText(COLUMN_KIND, kindOf(row.finding));
		item->setText(COLUMN_VCPU, row.vcpu);
		item->setText(COLUMN_COST, (row.hit.whole ? QString() :
					    QString(QChar(0x2265)) + " ") +
					   virtDuration(row.hit.cost_ns));
		item->setData(COLUMN_COST, ROLE_SORT, static_cast<qlonglong>(row.hit.cost_ns));
		item->setText(COLUMN_CAUSE, row.cause);
		item->setText(COLUMN_TIME, virtSeconds(time));
		item->setData(COLUMN_TIME, ROLE_SORT, static_cast<qlonglong>(time));
		item->setText(COLUMN_PCPU, row.pcpu);
		item->setData(COLUMN_PCPU, ROLE_SORT, static_cast<qlonglong>(pcpu));
		for (int column : { COLUMN_COST, COLUMN_TIME, COLUMN_PCPU })
			item->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
		if (_listed.streams.size() > 1)
			item->setToolTip(COLUMN_VCPU, virtTip(virtFileOf(row.stream.id)));
		items << item;
	}
	_list->setSortingEnabled(false);
	_list->clear();
	_list->addTopLevelItems(items);
	_list->setSortingEnabled(true);
	for (int i = 0; i < N_COLUMNS; i++)
		_list->resizeColumnToContents(i);
	selectCurrent();
}

/* ---- walking ---- */

const VirtFindings::Row &VirtFindings::rowOf(int line) const
{
	return _rows[_list->topLevelItem(line)->data(COLUMN_KIND, ROLE_ROW).toUInt()];
}

/** The line of what has been selected last; or -1. */
int VirtFindings::current() const
{
	for (int i = 0; i < _list->topLevelItemCount(); i++) {
		const Row &row = rowOf(i);
		virt_worst_hit selected = VirtMarkers::selected(row.stream.model);

		if (virt_marker_same(&row.hit, &selected))
			return i;
	}
	return -1;
}

void VirtFindings::selectCurrent()
{
	int line = current();

	if (line >= 0)
		_list->setCurrentItem(_list->topLevelItem(line));
	else
		_list->setCurrentItem(nullptr);
	fillPlace();
}

void VirtFindings::fillPlace()
{
	int line = current(), n = _list->topLevelItemCount();
	QString text = line >= 0 ? QString("%1 of %2").arg(line + 1).arg(n) :
		       n ? QString(n == 1 ? "%1 moment" : "%1 moments").arg(n) :
		       QString("None of these kinds here");

	if (isWalking() && !_listed.isSelection)
		text += ", " + _dock->view().span(_listed.from, _listed.to);
	if (line < 0 && _focus.count > static_cast<uint64_t>(n))
		text += QString(" of %1").arg(_focus.count);
	/* those that have all been listed were not cut off */
	if (_isCut && n < _number->value())
		text += QString("; only the %1 costliest were looked at").arg(MOST_LOOKED);
	_place->setText(text);
	_place->setToolTip(virtTip(text));
}

void VirtFindings::go(int line)
{
	const Row row = rowOf(line);
	const virt_moment &moment = row.finding.moment;
	int64_t length = std::max(moment.end_ns, moment.cost_to_ns) - moment.start_ns;
	int64_t from = moment.start_ns + row.stream.offset;
	int64_t before = length ? 0 : AROUND_NS;
	VirtView &view = _dock->view();

	if (virtMustWait())
		return;
	view.showAround(from - before, from + length + before);
	/* events go on while KernelShark draws graphs that come */
	_set = view.visible();
	_dock->bring(row.stream, moment);
	VirtMarkers::show(row.stream, row.hit);
	_set = view.visible();
	selectCurrent();
}

void VirtFindings::step(bool forward)
{
	int n = _list->topLevelItemCount(), line = current();

	line = line >= 0 ? line + (forward ? 1 : -1) : forward ? 0 : n - 1;
	if (line < 0 || line >= n)
		_place->setText(forward ? "Last one" : "First one");
	else
		go(line);
}

/* ---- copies ---- */

QString VirtFindings::options() const
{
	QString text = QString(" --worst %1").arg(_number->value());
	QStringList kinds;

	for (int kind = 0; kind < VIRT_WORST_N_KINDS; kind++)
		if (VirtMarkers::kinds() >> kind & 1)
			kinds << virt_worst_kind_name(static_cast<virt_worst_kind>(kind));
	if (kinds.size() < VIRT_WORST_N_KINDS && !kinds.isEmpty())
		text += " --kind " + kinds.join(',');
	for (const VirtStream &stream : _listed.streams)
		if (_only->isChecked() && stream.id == _listed.subject.stream)
			text += virtVcpuOption(stream, _listed.subject);
	return text;
}

QString VirtFindings::command() const
{
	return virtReportCommand(_listed.streams, _listed.from, _listed.to, options(),
				 _only->isChecked() ? _listed.subject.stream : VIRT_NONE);
}

QString VirtFindings::asText() const
{
	QString text;
	QStringList cells;

	for (const auto &column : columns)
		cells << column.title;
	text = cells.join('\t') + '\n';
	for (int i = 0; i < _list->topLevelItemCount(); i++) {
		cells.clear();
		for (int column = 0; column < N_COLUMNS; column++)
			cells << _list->topLevelItem(i)->text(column);
		text += cells.join('\t') + '\n';
	}
	return text;
}

/** The first columns of "report --worst --format csv", in the order of the list. */
QString VirtFindings::asCsv() const
{
	static const VirtCsvColumn<Row> csv[] = {
		{ "file", [] (const Row &it) { return virtCsv(virtPathOf(it.stream.id)); } },
		{ "kind", [] (const Row &it) {
			return QString(virt_worst_kind_name(it.finding.moment.kind));
		} },
		{ "time_ns", [] (const Row &it) { return QString::number(it.finding.time_ns); } },
		{ "cost_ns", [] (const Row &it) {
			return QString::number(it.finding.moment.cost_ns);
		} },
		{ "vcpu", [] (const Row &it) { return virtCsv(it.finding.vcpu); } },
		{ "pcpu", [] (const Row &it) {
			return it.finding.moment.pcpu >= 0 ?
			       QString::number(it.finding.moment.pcpu) : QString();
		} },
		{ "start_ns", [] (const Row &it) {
			return QString::number(it.finding.moment.start_ns);
		} },
		{ "end_ns", [] (const Row &it) {
			return QString::number(it.finding.moment.end_ns);
		} },
		{ "complete", [] (const Row &it) {
			return QString::number(it.finding.moment.complete);
		} },
		{ "entry_ns", [] (const Row &it) {
			return it.finding.moment.entry_ns != VIRT_NO_TIME ?
			       QString::number(it.finding.moment.entry_ns) : QString();
		} },
		{ "what", [] (const Row &it) { return virtCsv(it.finding.what); } },
	};
	QString text = virtCsvLine(csv);

	for (int i = 0; i < _list->topLevelItemCount(); i++)
		text += virtCsvLine(csv, &rowOf(i));
	return text;
}
