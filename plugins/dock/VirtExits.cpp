// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtExits.cpp
 * @brief	The dock's page that puts the VM exits of two machines or vCPUs beside each other.
 *
 * A thread counts them; virt_exit_pairs.h puts them beside each other.
 */
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QSignalBlocker>
#include <QTreeWidget>
#include <QVBoxLayout>

#include "VirtExits.hpp"
#include "VirtList.hpp"
#include "VirtNames.hpp"
#include "virt_statistics.h"

namespace {

struct Measure {
	const char	*title, *key, *meaning;
};

Measure measureOf(int measure)
{
	static const Measure sums[] = {
		{ "Number", "count", "VM exits that begin in the window" },
		{ "Time", "total_ns", "Their total cost, of those whose end the trace shows" },
		{ "Share", "time_percent", "Their part of the time of all VM exits, in %" },
	};
	static const virt_stat stats[] = { VIRT_STAT_P50, VIRT_STAT_P99, VIRT_STAT_MAX };

	static_assert(std::size(sums) + std::size(stats) == VIRT_EXIT_N_MEASURES, "all");
	if (measure < static_cast<int>(std::size(sums)))
		return sums[measure];

	const virt_statistic *stat = virt_stat_look(stats[measure - std::size(sums)]);

	return { stat->name, stat->key, stat->meaning };
}

/* of each measure: the first one's, the second one's, the second one's less the first one's */
enum { FIRST, SECOND, LESS, N_COLUMNS_OF };
const char *const columnTitles[N_COLUMNS_OF] = { "%1 A", "%1 B", "B \u2212 A" };
const char *const columnKeys[N_COLUMNS_OF] = { "a_%1", "b_%1", "b_less_a_%1" };
constexpr int COLUMN_REASON = 0;
constexpr int N_COLUMNS = 1 + N_COLUMNS_OF * VIRT_EXIT_N_MEASURES;

constexpr const char *ALL = "all";

int columnOf(int measure, int which)
{
	return 1 + measure * N_COLUMNS_OF + which;
}

const virt_exit_value &valueOf(const virt_exit_pair &pair, int measure, int which)
{
	return which == LESS ? pair.less[measure] : pair.values[which][measure];
}

/** A number that is known; differences have a sign. */
QString textOf(double value, int measure, bool isLess)
{
	QString sign = !isLess || std::abs(value) < 1e-9 ? "" : value < 0 ? "\u2212" : "+";
	double size = isLess ? std::abs(value) : value;

	if (measure == VIRT_EXIT_NUMBER)
		return sign + QString::number(size, 'f', 0);
	if (measure == VIRT_EXIT_SHARE)
		return sign + QString::number(size, 'f', 2) + " %";
	return sign + virtDuration(static_cast<int64_t>(size));
}

/** Sorted by numbers; all reasons together stay first. */
class Item : public QTreeWidgetItem {
public:
	explicit Item(bool isAll) : _isAll(isAll) {}

	void set(int column, const virt_exit_value &value, int measure, bool isLess)
	{
		setText(column, value.known ? textOf(value.value, measure, isLess) : "-");
		setData(column, Qt::UserRole, value.known ? value.value : -1e300);
		setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
	}

	bool operator<(const QTreeWidgetItem &other) const override
	{
		int column = treeWidget() ? treeWidget()->sortColumn() : 0;
		bool isUp = treeWidget() &&
			    treeWidget()->header()->sortIndicatorOrder() == Qt::AscendingOrder;

		if (_isAll || static_cast<const Item &>(other)._isAll)
			return _isAll == isUp;
		if (column == COLUMN_REASON)
			return text(column) < other.text(column);
		return data(column, Qt::UserRole).toDouble() <
		       other.data(column, Qt::UserRole).toDouble();
	}

private:
	bool	_isAll;
};

struct FreeWindow {
	void operator()(virt_window *window) const { virt_window_free(window); }
};

QVariant dataOf(const VirtSubject &subject)
{
	return QVariantList{ subject.stream, subject.machine, subject.vcpu, subject.pid };
}

VirtSubject subjectOf(const QVariant &data)
{
	QVariantList list = data.toList();

	if (list.size() != 4)
		return { VIRT_NONE, VIRT_NONE, VIRT_NONE, 0 };
	return { list[0].toInt(), list[1].toInt(), list[2].toInt(), list[3].toInt() };
}

bool isSame(const VirtSubject &a, const VirtSubject &b)
{
	return a.stream == b.stream && a.machine == b.machine && a.vcpu == b.vcpu;
}

} // namespace

/* ---- what there is to choose from ---- */

VirtSubjectBox::VirtSubjectBox(const QString &tip)
: VirtBox(tip)
{
}

void VirtSubjectBox::fill(const std::vector<VirtStream> &streams)
{
	const QSignalBlocker blocker(this);
	VirtSubject last = chosen();
	VirtNames names;
	Rows rows;

	for (const VirtStream &stream : streams) {
		const virt_model *model = stream.model.get();

		for (int32_t m = 0; m < virt_model_n_machines(model); m++) {
			const virt_machine *machine = virt_model_machine(model, m);

			rows.emplace_back(names.machine(stream.id, m),
					  dataOf({ stream.id, m, VIRT_NONE, 0 }));
			for (int32_t i = 0; i < machine->n_vcpus; i++)
				rows.emplace_back("   " + names.vcpu(stream.id, machine->vcpus[i]),
						  dataOf({ stream.id, m, machine->vcpus[i], 0 }));
		}
	}
	if (setRows(rows))
		choose(last);
}

void VirtSubjectBox::choose(const VirtSubject &subject)
{
	const QSignalBlocker blocker(this);

	for (int i = 0; i < count() && subject.stream != VIRT_NONE; i++)
		if (isSame(subjectOf(itemData(i)), subject))
			setCurrentIndex(i);
}

VirtSubject VirtSubjectBox::chosen() const
{
	return subjectOf(currentData());
}

void VirtSubjectBox::chooseBeside(const VirtSubject &other)
{
	const QSignalBlocker blocker(this);
	int begin = 0;

	for (int i = 0; i < count(); i++)
		if (isSame(subjectOf(itemData(i)), other))
			begin = i;
	/* the same kind of another machine, then any other one */
	for (int pass = 0; pass < 2; pass++) {
		for (int i = 1; i < count(); i++) {
			VirtSubject one = subjectOf(itemData((begin + i) % count()));
			bool isKind = (one.vcpu == VIRT_NONE) == (other.vcpu == VIRT_NONE);

			if (!pass && (!isKind || (one.stream == other.stream &&
						  one.machine == other.machine)))
				continue;
			setCurrentIndex((begin + i) % count());
			return;
		}
	}
}

/* ---- counting ---- */

/** Two subjects of a window. */
struct VirtExits::Job : VirtJob {
	struct Side {
		VirtJob		*job;
		VirtStream	stream;
		VirtSubject	subject;
		QString		name;
		std::unique_ptr<virt_window, FreeWindow> window;
		std::vector<int64_t> costs;
		virt_dist	all = {};
	};

	int64_t		from = 0, to = 0;
	Side		sides[2];
	std::unique_ptr<virt_exit_pair, decltype(&std::free)> pairs{ nullptr, &std::free };
	size_t		n = 0;

	bool isSame(const Job &other) const
	{
		for (int i = 0; i < 2; i++)
			if (!::isSame(sides[i].subject, other.sides[i].subject) ||
			    sides[i].stream.offset != other.sides[i].stream.offset ||
			    sides[i].stream.model.serial() != other.sides[i].stream.model.serial())
				return false;
		return from == other.from && to == other.to;
	}

	static bool isSideStopped(void *side) { return static_cast<Side *>(side)->job->stop; }

	static void takeLength(void *side, virt_length what, int64_t ns)
	{
		if (what == VIRT_LENGTH_EXIT)
			static_cast<Side *>(side)->costs.push_back(ns);
	}

	/** Return: false if stopped, or without memory. */
	bool count(Side *side)
	{
		const virt_model *model = side->stream.model.get();
		std::unique_ptr<bool[]> chosen(new bool[virt_model_n_vcpus(model) + 1]());
		const virt_window_query query = {
			from - side->stream.offset, to - side->stream.offset, VIRT_WINDOW_EXITS,
			chosen.get(), isSideStopped, side, takeLength,
		};

		for (int32_t vcpu : side->subject.vcpus(model))
			chosen[static_cast<size_t>(vcpu)] = true;
		side->job = this;
		side->window.reset(virt_window_new(model, &query));
		virt_dist_make(&side->all, side->costs.data(), side->costs.size());
		return side->window != nullptr;
	}

	static virt_exit_side exitsOf(const Side &side)
	{
		const VirtSubject &subject = side.subject;

		return { side.stream.model.get(), subject.vcpu == VIRT_NONE ?
			 &side.window->machines[subject.machine].all :
			 &side.window->vcpus[subject.vcpu], &side.all };
	}

	void work() override
	{
		virt_exit_pair *made;

		if (!count(&sides[0]) || !count(&sides[1]))
			return;

		const virt_exit_side both[] = { exitsOf(sides[0]), exitsOf(sides[1]) };

		n = virt_exits_compare(both, &made);
		pairs.reset(made);
	}
};

VirtExits::VirtExits()
: _list(new VirtList<QTreeWidget>),
  _latest(this, [this] (const std::shared_ptr<Job> &job) { adopt(job); })
{
	auto layout = new QVBoxLayout(this);
	auto head = new QHBoxLayout;
	static const char *const sides[] = { "A", "B" };

	for (int i = 0; i < 2; i++) {
		_boxes[i] = new VirtSubjectBox(
			i ? "The machine or vCPU that is compared with A" :
			    "The machine or vCPU that is selected, or that you choose here");
		_boxes[i]->setObjectName(QString("exits-") + sides[i]);
		head->addWidget(new QLabel(sides[i]));
		head->addWidget(_boxes[i], 1);
		connect(_boxes[i], QOverload<int>::of(&QComboBox::currentIndexChanged), this,
			[this] { look(); });
		_boxes[i]->onClosed([this] { follow(VirtListed(_listed)); });
	}
	_list->setColumnCount(N_COLUMNS);
	_list->setRootIsDecorated(false);
	_list->setUniformRowHeights(true);
	_list->setAlternatingRowColors(true);
	_list->headerItem()->setText(COLUMN_REASON, "Reason");
	for (int m = 0; m < VIRT_EXIT_N_MEASURES; m++) {
		for (int which = 0; which < N_COLUMNS_OF; which++) {
			int column = columnOf(m, which);
			QString title = QString(columnTitles[which]);

			_list->headerItem()->setText(column, which == LESS ? title :
						     title.arg(measureOf(m).title));
			_list->headerItem()->setToolTip(column, virtTip(
				which == LESS ? QString("%1: B less A").arg(measureOf(m).title) :
						QString(measureOf(m).meaning)));
		}
	}
	_list->header()->setStretchLastSection(false);
	_list->setSortingEnabled(true);
	_list->sortByColumn(columnOf(VIRT_EXIT_TIME, FIRST), Qt::DescendingOrder);
	layout->setContentsMargins(0, 0, 0, 0);
	layout->setSpacing(2);
	layout->addLayout(head);
	layout->addWidget(_list, 1);
}

void VirtExits::follow(const VirtListed &listed)
{
	_listed = listed;
	for (VirtSubjectBox *box : _boxes)
		box->fill(listed.streams);
	/* A is what is selected, until another one is chosen here */
	if (!isSame(listed.subject, _followed)) {
		_followed = listed.subject;
		_boxes[FIRST]->choose(listed.subject);
	}
	if (isSame(_boxes[FIRST]->chosen(), _boxes[SECOND]->chosen()))
		_boxes[SECOND]->chooseBeside(_boxes[FIRST]->chosen());
	look();
}

void VirtExits::forget()
{
	_listed = {};
	_latest.forget();
	_shown.reset();
	_list->clear();
}

/** What is to be shown; nullptr: there is nothing. */
std::shared_ptr<VirtExits::Job> VirtExits::wanted() const
{
	auto job = std::make_shared<Job>();

	for (int i = 0; i < 2; i++) {
		Job::Side &side = job->sides[i];

		side.subject = _boxes[i]->chosen();
		side.name = _boxes[i]->currentText().trimmed();
		for (const VirtStream &stream : _listed.streams)
			if (stream.id == side.subject.stream)
				side.stream = stream;
		if (!side.stream.model)
			return nullptr;
	}
	job->from = _listed.from;
	job->to = _listed.to;
	return job;
}

void VirtExits::look()
{
	_latest.ask(wanted(), _shown);
}

void VirtExits::adopt(const std::shared_ptr<Job> &job)
{
	if (!job->n || _listed.streams.empty())
		return;
	_shown = job;
	fill();
}

/* ---- what is shown ---- */

static QString nameOf(const virt_exit_pair &pair)
{
	return pair.name ? virtShown(pair.name) : QString(ALL);
}

void VirtExits::fill()
{
	bool isFirst = !_list->topLevelItemCount();
	QString current = _list->currentItem() ? _list->currentItem()->text(COLUMN_REASON) :
						 QString();

	_list->setSortingEnabled(false);
	_list->clear();
	for (size_t i = 0; i < _shown->n; i++) {
		const virt_exit_pair &pair = _shown->pairs.get()[i];
		auto item = new Item(!pair.name);

		item->setText(COLUMN_REASON, nameOf(pair));
		for (int m = 0; m < VIRT_EXIT_N_MEASURES; m++)
			for (int which = 0; which < N_COLUMNS_OF; which++)
				item->set(columnOf(m, which), valueOf(pair, m, which), m,
					  which == LESS);
		_list->addTopLevelItem(item);
		if (item->text(COLUMN_REASON) == current)
			_list->setCurrentItem(item);
	}
	_list->setSortingEnabled(true);
	for (int i = 0; i < N_COLUMNS && isFirst; i++)
		_list->resizeColumnToContents(i);
}

QString VirtExits::asCsv() const
{
	QString text = "a,b,reason";

	if (!_shown)
		return QString();
	for (int m = 0; m < VIRT_EXIT_N_MEASURES; m++)
		for (const char *key : columnKeys)
			text += ',' + QString(key).arg(measureOf(m).key);
	text += '\n';
	for (size_t i = 0; i < _shown->n; i++) {
		const virt_exit_pair &pair = _shown->pairs.get()[i];

		for (const Job::Side &side : _shown->sides)
			text += virtCsv(side.name.toUtf8()) + ',';
		text += pair.name ? virtCsv(nameOf(pair).toUtf8()) : QString();
		for (int m = 0; m < VIRT_EXIT_N_MEASURES; m++) {
			for (int which = 0; which < N_COLUMNS_OF; which++) {
				const virt_exit_value &value = valueOf(pair, m, which);

				text += ',' + (value.known ? QString::number(
					value.value, 'f', m == VIRT_EXIT_SHARE ? 2 : 0) :
					QString());
			}
		}
		text += '\n';
	}
	return text;
}
