// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtSearch.cpp
 * @brief	Search for a state or a VM exit, in the background.
 *
 * The search continues from the last match while the window that was set for that match is visible.
 * Otherwise it starts at the edge of the visible window.
 */
#include <algorithm>
#include <initializer_list>
#include <set>

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSettings>
#include <QShortcut>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QVBoxLayout>

#include "VirtDock.hpp"
#include "VirtFlow.hpp"
#include "VirtMarkers.hpp"
#include "VirtNames.hpp"
#include "VirtSearch.hpp"
#include "virt_colors.h"
#include "virt_lanes.h"
#include "virt_text.h"

namespace {

constexpr int64_t MOST_COUNTED = 100000;
constexpr int MOST = 999999999, DEFAULT_LEAST = 1, DEFAULT_UNIT = 2;
constexpr int LEAST_FILTER_WIDTH = 110, MOST_REASON_WIDTH = 240;

struct {
	const char	*name;
	int64_t		ns;
} const units[] = {
	{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 },
};

/** The number of a reason in a model; VIRT_NONE: it has none of this name. */
int32_t findReason(const virt_model *model, const QByteArray &name)
{
	const char *reason;

	for (int32_t i = 0; (reason = virt_model_reason(model, i)); i++)
		if (name == reason)
			return i;
	return VIRT_NONE;
}

/** The kind of moments that it is one of; VIRT_WORST_N_KINDS: of none. */
virt_worst_kind kindOf(int what)
{
	return what == VIRT_SEARCH_EXITS ? VIRT_WORST_EXIT :
	       what == VIRT_PREEMPTED ? VIRT_WORST_STEAL :
	       what == VIRT_WAKING ? VIRT_WORST_WAKE : VIRT_WORST_N_KINDS;
}

/** Is it still there, with the same rows at the same times? */
bool isAsBefore(const VirtStream &stream)
{
	for (const VirtStream &other : virtStreams())
		if (other.id == stream.id && other.model.serial() == stream.model.serial() &&
		    other.offset == stream.offset)
			return true;
	return false;
}

QString totalOf(const VirtSearchJob &job)
{
	return job.n <= MOST_COUNTED ? QString::number(job.n) :
				       QString("more than %1").arg(MOST_COUNTED);
}

} // namespace

/* ---- in the thread ---- */

virt_search VirtSearchJob::query(const Part &one)
{
	virt_search search = {};

	search.what = what;
	search.reason = one.reason;
	search.min_ns = least;
	search.of = one.of.data();
	search.n_of = one.of.size();
	search.stop = isStopped;
	search.arg = jobArg();
	return search;
}

virt_search_place VirtSearchJob::placeIn(const VirtStream &stream, const VirtPlace &place)
{
	virt_search_place within = place.within;

	if (stream.id == place.stream)
		return within;
	within = stream.id < place.stream ? VIRT_SEARCH_END : VIRT_SEARCH_BEGIN;
	within.time_ns = place.time - stream.offset;
	return within;
}

bool VirtSearchJob::isNearer(size_t i, const virt_search_hit &other) const
{
	int64_t time = other.place.time_ns + parts[i].stream.offset;
	int64_t best = hit.place.time_ns + parts[part].stream.offset;

	/* streams come in order of their ids; of equal times the first is the next one */
	return !isFound || (forward ? time < best : time >= best);
}

void VirtSearchJob::count()
{
	if (parts.empty())
		return;

	VirtPlace place = { hit.place.time_ns + parts[part].stream.offset, parts[part].stream.id,
			    hit.place };

	for (const Part &one : parts) {
		virt_search search = query(one);
		virt_search_place within = isFound ? placeIn(one.stream, place) : VIRT_SEARCH_END;
		int64_t some = 0;
		int64_t all = virt_search_count(one.stream.model.get(), &search, &within,
						MOST_COUNTED + 1 - n, &some);

		n += std::max<int64_t>(all, 0);
		before += some;
	}
}

void VirtSearchJob::find()
{
	for (size_t i = 0; i < parts.size(); i++) {
		const virt_model *model = parts[i].stream.model.get();
		virt_search search = query(parts[i]);
		virt_search_place place = placeIn(parts[i].stream, from);
		virt_search_hit one;
		int ret = forward ? virt_search_next(model, &search, &place, &one) :
				    virt_search_prev(model, &search, &place, &one);

		if (ret > 0 && isNearer(i, one)) {
			isFound = true;
			part = i;
			hit = one;
		}
	}
}

void VirtSearchJob::work()
{
	if (isCounting)
		count();
	else
		find();
}

/* ---- the widgets ---- */

VirtSearch::VirtSearch(QMainWindow *window, VirtDock *dock, std::function<void()> appear)
: _window(window),
  _dock(dock),
  _appear(std::move(appear)),
  _worker(this)
{
	buildUi();
	restore();
	chosen();
}

VirtSearch::~VirtSearch()
{
	_worker.finish();
}

void VirtSearch::begin()
{
	_what->setFocus(Qt::ShortcutFocusReason);
}

void VirtSearch::buildUi()
{
	auto layout = new QVBoxLayout(this);
	auto head = new VirtFlow(nullptr, 0);
	auto buttons = new QHBoxLayout;
	auto previous = new QPushButton("Find previous"), next = new QPushButton("Find next");

	_what = new QComboBox;
	for (int state = 0; state < VIRT_N_STATES; state++)
		if (state != VIRT_UNKNOWN)
			_what->addItem(virt_state_look(static_cast<virt_state>(state))->title,
				       state);
	_what->addItem("VM exit", VIRT_SEARCH_EXITS);
	_what->setToolTip("State to search for. Unknown time is never matched");
	_reason = new QComboBox;
	_reason->setMaximumWidth(MOST_REASON_WIDTH);
	_reason->addItem("any reason");
	_reason->setToolTip("Reason of the VM exit");
	_least = new QSpinBox;
	_least->setRange(0, MOST);
	_least->setPrefix("at least ");
	_unit = new QComboBox;
	for (const auto &unit : units)
		_unit->addItem(unit.name);
	_least->setToolTip("Duration; for a VM exit, its cost");
	_filter = new QLineEdit;
	_filter->setPlaceholderText("Any vCPU");
	_filter->setClearButtonEnabled(true);
	_filter->setMinimumWidth(LEAST_FILTER_WIDTH);
	_filter->setToolTip("Only vCPUs whose names have these words");
	for (QWidget *widget : std::initializer_list<QWidget *>{ _what, _reason, _least, _unit,
								 _filter })
		head->addWidget(widget);
	_place = new QLabel;
	_place->setTextFormat(Qt::PlainText);
	virtWrapLabel(_place);
	previous->setToolTip("Previous match: zoom to it, mark and describe it (Shift+F3)");
	next->setToolTip("Next match: zoom to it, mark and describe it (F3)");
	buttons->addWidget(previous);
	buttons->addWidget(next);
	buttons->addStretch(1);
	layout->setContentsMargins(0, 0, 0, 0);
	layout->setSpacing(2);
	layout->addLayout(head);
	layout->addLayout(buttons);
	layout->addWidget(_place);
	layout->addStretch(1);
	for (QComboBox *box : { _what, _reason, _unit })
		connect(box, QOverload<int>::of(&QComboBox::activated), this,
			[this] { changed(); });
	connect(_least, QOverload<int>::of(&QSpinBox::valueChanged), this, [this] { changed(); });
	connect(_filter, &QLineEdit::textChanged, this, [this] { chosen(); });
	connect(_filter, &QLineEdit::returnPressed, this, [this] { step(true); });
	connect(previous, &QPushButton::clicked, this, [this] { step(false); });
	connect(next, &QPushButton::clicked, this, [this] { step(true); });
	/* those of a page that is not seen would be dead */
	for (bool forward : { false, true })
		connect(new QShortcut(forward ? QKeySequence(Qt::Key_F3) :
						QKeySequence(Qt::SHIFT | Qt::Key_F3),
				      _window, nullptr, nullptr, Qt::ApplicationShortcut),
			&QShortcut::activated, this, [this, forward] {
				_appear();
				step(forward);
			});
}

void VirtSearch::restore()
{
	QSettings settings(virtSettingsFile(), QSettings::IniFormat);
	const QSignalBlocker blocker(_least);
	int what = _what->findData(settings.value("search/what", VIRT_PREEMPTED).toInt());

	_what->setCurrentIndex(std::max(what, 0));
	_least->setValue(settings.value("search/least", DEFAULT_LEAST).toInt());
	_unit->setCurrentIndex(qBound(0, settings.value("search/unit", DEFAULT_UNIT).toInt(),
				      _unit->count() - 1));
}

void VirtSearch::save()
{
	QSettings settings(virtSettingsFile(), QSettings::IniFormat);

	settings.setValue("search/what", _what->currentData().toInt());
	settings.setValue("search/least", _least->value());
	settings.setValue("search/unit", _unit->currentIndex());
}

/** Something else is to be found. */
void VirtSearch::chosen()
{
	_reason->setVisible(_what->currentData().toInt() == VIRT_SEARCH_EXITS);
	if (_running)
		_running->stop = true;
	_running.reset();
	_place->clear();
}

void VirtSearch::changed()
{
	save();
	chosen();
}

void VirtSearch::follow(const std::vector<VirtStream> &streams)
{
	QByteArray old = _reason->currentData().toByteArray();
	std::vector<uint64_t> serials;
	std::set<QByteArray> names;
	const char *name;

	for (const VirtStream &stream : streams)
		serials.push_back(stream.model.serial());
	if (serials == _serials)
		return;
	_serials = serials;
	chosen();
	for (const VirtStream &stream : streams)
		for (int32_t i = 0; (name = virt_model_reason(stream.model.get(), i)); i++)
			names.insert(name);
	_reason->clear();
	_reason->addItem("any reason");
	for (const QByteArray &reason : names)
		_reason->addItem(virtShown(reason.constData()), reason);
	_reason->setCurrentIndex(std::max(0, _reason->findData(old)));
}

/* ---- searching ---- */

void VirtSearch::step(bool forward)
{
	auto job = std::make_shared<VirtSearchJob>();
	QByteArray reason = _reason->currentData().toByteArray();
	QByteArray filter = _filter->text().trimmed().toUtf8();
	auto [from, to] = _dock->view().visible();
	VirtNames names;

	if (virtMustWait() || from >= to)
		return;
	job->what = _what->currentData().toInt();
	job->least = _least->value() * units[_unit->currentIndex()].ns;
	job->forward = forward;
	job->from = _last;
	if (_set.first >= _set.second || !_dock->view().isStill(_set))
		job->from = { forward ? from - 1 : to, forward ? INT32_MAX : VIRT_NONE, {} };
	for (const VirtStream &stream : virtStreams()) {
		VirtSearchJob::Part part = { stream, {}, VIRT_NONE };

		if (job->what == VIRT_SEARCH_EXITS && !reason.isEmpty())
			part.reason = findReason(stream.model.get(), reason);
		if (job->what == VIRT_SEARCH_EXITS && !reason.isEmpty() &&
		    part.reason == VIRT_NONE)
			continue;
		for (int32_t i = 0; i < virt_model_n_vcpus(stream.model.get()); i++)
			if (filter.isEmpty() ||
			    virt_lane_matches(names.vcpu(stream.id, i).toUtf8().constData(),
					      filter.constData()))
				part.of.push_back(i);
		/* to the search, no list is one of all */
		if (!part.of.empty())
			job->parts.push_back(part);
	}
	std::sort(job->parts.begin(), job->parts.end(),
		  [] (const auto &a, const auto &b) { return a.stream.id < b.stream.id; });
	if (_running)
		_running->stop = true;
	_place->setText("Searching ...");
	start(job);
}

void VirtSearch::start(const std::shared_ptr<VirtSearchJob> &job)
{
	_running = job;
	_worker.start(job, [this, job] {
		if (_running == job)
			adopt(*job);
	});
}

/** First what has been found, then, as that may take longer, how many there are. */
void VirtSearch::adopt(const VirtSearchJob &job)
{
	_running.reset();
	/* streams come and go during the search */
	if (virtIsLoading() || (job.isFound && !isAsBefore(job.parts[job.part].stream))) {
		_place->setText(job.isCounting ? "" :
				"Not finished: a trace was loaded. Search again");
		return;
	}
	if (job.isCounting) {
		_place->setText(textOf(job));
		return;
	}
	if (job.isFound) {
		_place->setText(textOf(job));
		go(job);
	}

	auto counted = std::make_shared<VirtSearchJob>();

	counted->parts = job.parts;
	counted->what = job.what;
	counted->least = job.least;
	counted->forward = job.forward;
	counted->isFound = job.isFound;
	counted->part = job.part;
	counted->hit = job.hit;
	counted->isCounting = true;
	start(counted);
}

QString VirtSearch::textOf(const VirtSearchJob &job)
{
	QString text;

	if (!job.isFound) {
		text = job.forward ? "No later match" : "No earlier match";
		return text + (job.n ? "; " + totalOf(job) + " in all" : "; there is none");
	}

	const VirtStream &stream = job.parts[job.part].stream;

	if (job.isCounting)
		text = (job.n <= MOST_COUNTED ? QString::number(job.before + 1) : "One") +
		       " of " + totalOf(job) + ": ";
	return text + QString("%1%2 at %3 s, %4").arg(job.hit.whole ? "" :
		QString(QChar(0x2265)) + " ", virtDuration(job.hit.ns),
		virtSeconds(job.hit.place.time_ns + stream.offset),
		VirtNames().vcpu(stream.id, job.hit.place.vcpu));
}

/** As it is gone to a moment of the list of the worst. */
void VirtSearch::go(const VirtSearchJob &job)
{
	const VirtStream &stream = job.parts[job.part].stream;
	const virt_search_hit &hit = job.hit;
	virt_worst_hit worst = {};
	virt_moment moment = {};
	bool isMoment;

	worst.time_ns = hit.place.time_ns;
	worst.cost_ns = hit.ns;
	worst.vcpu = hit.place.vcpu;
	worst.index = hit.place.index;
	worst.kind = kindOf(job.what);
	worst.whole = hit.whole;
	isMoment = worst.kind != VIRT_WORST_N_KINDS && stream.model.worst(false) &&
		   virt_worst_describe(stream.model.worst(false), &worst, &moment);
	if (!isMoment) {
		moment.kind = VIRT_WORST_N_KINDS;
		moment.vcpu = hit.place.vcpu;
		moment.pcpu = hit.interval.pcpu;
	}
	_last = { hit.place.time_ns + stream.offset, stream.id, hit.place };
	_dock->view().showAround(_last.time, hit.end_ns + stream.offset);
	_dock->bring(stream, moment);
	if (isMoment)
		VirtMarkers::show(stream, worst);
	else
		_dock->showFact(virtIntervalFact(stream, { hit.place.vcpu, hit.end_ns,
							   hit.interval }));
	_set = _dock->view().visible();
}
