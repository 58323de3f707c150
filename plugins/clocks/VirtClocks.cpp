// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtClocks.cpp
 * @brief	The dock's part about clocks.
 *
 * The draw handler reports that something may have changed; this part looks for changes after the
 * frame. Aligning and judging run in a thread, on files and copies. Rows change only in the GUI's
 * thread, and only while KernelShark does not load.
 */
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <QComboBox>
#include <QDebug>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include <libkshark.h>

#include "VirtClockJobs.hpp"
#include "VirtClockStreams.hpp"
#include "VirtClocks.hpp"
#include "VirtFlow.hpp"
#include "VirtKs.hpp"
#include "VirtOffsetBox.hpp"
#include "virt_pairing.h"
#include "virt_registry.h"

using namespace VirtClockStreams;

namespace {

constexpr int LOADING_MS = 50;		/* between two looks whether a file is loaded */
constexpr int TEXT_LINES = 5;
constexpr int ALONE_LINES = 2;		/* a file that is alone has a short text */
constexpr int STEPS_SHOWN = 4;
constexpr char ALIGN[] = "Align", CANCEL[] = "Cancel";

/** Where other offsets count. */
QString stepsOf(const int64_t *parts, const char *unit)
{
	QString text;
	int64_t found = parts[KS_CLOCK_FOUND];
	double ppm = static_cast<double>(parts[KS_CLOCK_DRIFT]) / 1e6;
	int n = 0;

	for (size_t i = 0; i < ks_clock_n_steps(parts); i++) {
		virt_clock_step step = ks_clock_step(parts, i);
		int64_t offset = virt_clock_step_offset(found, step.add, ppm);

		if (++n > STEPS_SHOWN)
			continue;
		text += QString("; of CPU %1 %2%3 %4").arg(step.cpu).arg(offset < 0 ? "" : "+")
						     .arg(offset).arg(unit);
		if (step.from != INT64_MIN)
			text += QString(" from guest time %1 on").arg(step.from);
	}
	if (n > STEPS_SHOWN)
		text += QString("; and %1 more changes").arg(n - STEPS_SHOWN);
	return text;
}

/** Has the code that loaded it reported already that its sidecar cannot be used? */
bool isNoted(int streamId)
{
	char *text = virt_registry_note(streamId, VIRT_NOTE_SIDECAR);
	bool noted = text && *text;

	free(text);
	return noted;
}

/** Of a stream that nothing has moved. */
QString recorded(int streamId)
{
	char *text = virt_registry_note(streamId, VIRT_NOTE_CLOCK);
	QString clock = text && *text ? QString(" (%1)").arg(text) : QString();

	free(text);
	return "Clock as recorded" + clock.toHtmlEscaped();
}

QString realFile(int streamId)
{
	return QFileInfo(QString::fromLocal8Bit(fileOf(streamId).c_str())).canonicalFilePath();
}

/** Is a stream made of the trace of another one? Then their times are the same. */
bool isInside(int guest, int host)
{
	std::string path = insideOf(guest);

	return !path.empty() && QFileInfo(QString::fromLocal8Bit(path.c_str()))
				.canonicalFilePath() == realFile(host);
}

/** What these files, which are open, have been loaded as: no two models have the same number. */
std::vector<uint64_t> serials(const std::vector<std::string> &files)
{
	std::vector<uint64_t> numbers;

	for (const VirtStream &stream : virtStreams())
		if (std::count(files.begin(), files.end(), fileOf(stream.id)))
			numbers.push_back(stream.model.serial());
	return numbers;
}

} // namespace

/** A label that mostly keeps its height: what is below does not move when its text comes. */
class VirtClocks::StillLabel : public QLabel {
public:
	int heightForWidth(int width) const override
	{
		return std::max(QLabel::heightForWidth(width), sizeHint().height());
	}
	QSize minimumSizeHint() const override { return { 0, sizeHint().height() }; }
	QSize sizeHint() const override
	{
		return { 0, fontMetrics().lineSpacing() *
			    (_isAlone ? ALONE_LINES : TEXT_LINES) };
	}
	void setAlone(bool isAlone)
	{
		if (isAlone == _isAlone)
			return;
		_isAlone = isAlone;
		updateGeometry();
	}

private:
	bool _isAlone = false;
};

VirtClocks::VirtClocks(QMainWindow *window,
		       std::function<void(const std::vector<VirtWarning> &)> warn)
: _window(window),
  _warn(std::move(warn)),
  _worker(this),
  _deliveries(&_worker, [this] {
	_timer.start(0);
	virtRedrawGraphs(_window);
  })
{
	setObjectName("clocks");
	_timer.setSingleShot(true);
	_timer.setInterval(LOOK_MS);
	connect(&_timer, &QTimer::timeout, this, [this] { frameDone(); });
	buildUi();
	showStream();
}

VirtClocks::~VirtClocks()
{
	_worker.finish();
}

/* ---- the window ---- */

void VirtClocks::buildUi()
{
	auto layout = new QVBoxLayout(this);
	constexpr int inRow = 2;
	auto first = new VirtFlow(nullptr, inRow), second = new VirtFlow(nullptr, 0);
	auto which = new QWidget, offset = new QWidget;
	auto whichLayout = new QHBoxLayout(which), offsetLayout = new QHBoxLayout(offset);

	_streams = new QComboBox;
	_offset = new VirtOffsetBox([this] (int64_t ns) { setOffset(ns); });
	_text = new StillLabel;
	_align = new QPushButton(CANCEL);
	_align->setMinimumWidth(_align->sizeHint().width());
	_align->setText(ALIGN);
	_undo = new QPushButton("Undo");
	_store = new QPushButton("Store");

	_streams->setToolTip("The trace whose clock is shown and changed here");
	virtNarrowBox(_streams);
	_offset->setToolTip("Time offset in ns");
	_align->setToolTip("For the trace of a guest: align its clock with its host's,"
			   " from trace-cmd's own offsets, from the TSC, or from when the"
			   " host executed the guest");
	_undo->setToolTip("Undo: restore the previous times");
	_store->setToolTip("Keep the alignment in a file beside the guest's trace, for the next"
			   " time and for the command kshark-virt");
	_text->setObjectName("clock");
	_text->setTextFormat(Qt::RichText);
	virtWrapLabel(_text);
	_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
	_text->setAlignment(Qt::AlignTop | Qt::AlignLeft);
	connect(_streams, QOverload<int>::of(&QComboBox::activated), this,
		[this] {
			_chosen = true;
			showStream();
		});
	connect(_align, &QPushButton::clicked, this, [this] {
		if (_aligning)
			cancelAlign();
		else
			beginAlign();
	});
	connect(_undo, &QPushButton::clicked, this, [this] { undo(); });
	connect(_store, &QPushButton::clicked, this, [this] { store(); });

	whichLayout->setContentsMargins(0, 0, 0, 0);
	whichLayout->addWidget(new QLabel("Clock of"));
	whichLayout->addWidget(_streams, 1);
	which->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
	offsetLayout->setContentsMargins(0, 0, 0, 0);
	offsetLayout->addWidget(_offset, 1);
	offsetLayout->addWidget(new QLabel("ns"));
	offset->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
	first->addWidget(which);
	first->addWidget(offset);
	second->addWidget(_align);
	second->addWidget(_undo);
	second->addWidget(_store);
	layout->setContentsMargins(0, 0, 0, 0);
	layout->setSpacing(2);
	layout->addLayout(first);
	layout->addLayout(second);
	layout->addWidget(_text);
}

int VirtClocks::current() const
{
	return _streams->count() ? _streams->currentData().toInt() : VIRT_NONE;
}

/** What is to be said about a stream, as HTML. */
QString VirtClocks::describe(int streamId) const
{
	const int64_t *parts = clockOf(streamId);
	QStringList lines;

	if (parts && (parts[KS_CLOCK_FLAGS] & KS_CLOCK_ALIGNED)) {
		bool cycles = parts[KS_CLOCK_FLAGS] & KS_CLOCK_CYCLES;
		const char *unit = cycles ? "cycles" : "ns";
		int host = hostOf(streamId, parts[KS_CLOCK_HOST]);
		int64_t found = parts[KS_CLOCK_HZ] ? 0 : parts[KS_CLOCK_FOUND];
		QString text = QString("Aligned with %1 by %2: host time = guest time %3%4 %5")
			.arg(host == VIRT_NONE ? "a file that is not open" : virtFileOf(host),
			     virt_align_source(parts), parts[KS_CLOCK_FOUND] < 0 ? "" : "+",
			     QString::number(parts[KS_CLOCK_FOUND]), unit);

		if (ks_clock_at(parts))
			text += QString(" at guest time %1 %2").arg(ks_clock_at(parts)).arg(unit);
		text += QString(", known to %1 %2").arg(parts[KS_CLOCK_HI] - parts[KS_CLOCK_LO])
						    .arg(unit);
		if (parts[KS_CLOCK_DRIFT])
			text += QString(", drift %1 ppm")
				.arg(static_cast<double>(parts[KS_CLOCK_DRIFT]) / 1e6, 0, 'f', 6);
		text += stepsOf(parts, unit);
		if (parts[KS_CLOCK_FLAGS] & KS_CLOCK_HIDES)
			text += "; without trace-cmd's own offsets";
		if (parts[KS_CLOCK_HZ])
			text += QString("; cycles shown as ns of a TSC of %1 kHz")
				.arg(parts[KS_CLOCK_HZ] / 1000);
		else if (cycles)
			text += ". Wrong unit: times are TSC cycles, shown as ns."
				" Give the frequency: kshark-virt view --cpu-hz";
		lines << text.toHtmlEscaped();
		if (parts[KS_CLOCK_OFFSET] != found)
			lines << QString("and %1 ns by hand").arg(parts[KS_CLOCK_OFFSET] - found);
	} else if (virtClockParts(streamId)[KS_CLOCK_OFFSET]) {
		lines << "Times of the file, moved by hand";
	} else {
		lines << recorded(streamId);
	}

	auto known = _known.find(streamId);

	if (known != _known.end()) {
		QString quality = known->second.quality.toHtmlEscaped();

		if (!quality.isEmpty())
			lines << (known->second.bad ? "<b>" + quality + "</b>" : quality);
		if (!known->second.message.isEmpty())
			lines << known->second.message.toHtmlEscaped();
	}
	return lines.join("<br>");
}

void VirtClocks::showStream()
{
	int id = current();
	bool busy = _aligning != nullptr, any = id != VIRT_NONE && streamOf(id);
	auto known = _known.find(id);
	QString text = any ? describe(id) : QString("No trace is open");

	if (busy && any && _aligning->streamId == id)
		text = _aligning->stop ? "Cancelling ..." : "Aligning ...";
	if (_text->text() != text) {
		_text->setText(text);
		_text->setToolTip("<qt>" + text + "</qt>");
	}
	_offset->setEnabled(any && !busy);
	if (!_offset->isEdited() || !any)
		_offset->setValue(any ? virtClockParts(id)[KS_CLOCK_OFFSET] : 0);
	_align->setText(busy && !_aligning->stored ? CANCEL : ALIGN);
	_align->setEnabled(busy ? !_aligning->stored && !_aligning->stop :
			   any && isTraceDat(id) && _streams->count() > 1);
	_undo->setEnabled(any && !busy &&
			  (isAligned(id) || (known != _known.end() &&
					     !known->second.before.empty())));
	_store->setEnabled(any && !busy && isAligned(id) &&
			   hostOf(id, clockOf(id)[KS_CLOCK_HOST]) != VIRT_NONE);
	warn();
}

/* ---- following KernelShark ---- */

void VirtClocks::graphDrawn(kshark_trace_histo *histo)
{
	_histo = histo;
	if (!_timer.isActive())
		_timer.start(LOOK_MS);
}

void VirtClocks::frameDone()
{
	if (virtIsLoading()) {
		_timer.start(LOADING_MS);
		return;
	}
	if (!_histo || !_histo->data_size)
		return;
	findStreams();
	preferGuest();
	settle();
	_deliveries.look();
	dropOutdated();
	if (_aligning && _aligning->done)
		adopt();
	if (!_aligning && !applyStored())
		judgeNext();
	showStream();
}

/** Which streams are there? What was known of one that has gone is forgotten. */
void VirtClocks::findStreams()
{
	std::vector<int> ids = virtOpenStreams();
	int shown = current();
	bool same = ids.size() == _known.size();

	for (int id : ids)
		same = same && _known.count(id) && _known[id].file == fileOf(id);
	if (same)
		return;
	if (_aligning && fileOf(_aligning->streamId) != _aligning->file)
		cancelAlign();
	for (auto it = _known.begin(); it != _known.end(); )
		it = it->second.file == fileOf(it->first) ? std::next(it) : _known.erase(it);
	_streams->clear();
	if (!_known.count(shown)) {
		shown = ids.front();
		_chosen = false;
	}
	for (int id : ids) {
		_known[id].file = fileOf(id);
		/* its host may have come */
		_known[id].asked = false;
		/* of a guest that is made of its host's trace, the host's clock is its own */
		if (insideOf(id).empty())
			_streams->addItem(QString("%1: %2").arg(id).arg(virtFileOf(id)), id);
	}
	_streams->setCurrentIndex(_streams->findData(shown));
	_text->setAlone(_streams->count() < 2);
}

/** The first guest is shown as soon as it is known to be one, unless the user has chosen. */
void VirtClocks::preferGuest()
{
	if (_chosen || _offset->isEdited() || _streams->currentIndex() > 0)
		return;
	for (int i = 0; i < _streams->count(); i++) {
		int id = _streams->itemData(i).toInt();

		if (!isTraceDat(id) || (!isAligned(id) && pairedHostOf(id) == VIRT_NONE))
			continue;
		_streams->setCurrentIndex(i);
		return;
	}
}

/** Rows may have been loaded with wrong times, all those before 0: once, after loading. */
void VirtClocks::settle()
{
	kshark_entry **rows = _histo->data;
	size_t n = _histo->data_size;
	ssize_t first = kshark_find_entry_by_time(KS_CLOCK_FIRST, rows, 0, n - 1);
	KsDataStore *data = virtDataStore(_window);

	if (!data || (_settled == rows && _nSettled == n))
		return;
	_settled = rows;
	_nSettled = n;

	bool right = first == BSEARCH_ALL_SMALLER ||
		     rows[first == BSEARCH_ALL_GREATER ? 0 : first]->ts != KS_CLOCK_FIRST;

	/* a session passes a plugin no streams that it was not attached to */
	for (int id : virtOpenStreams()) {
		/* KernelShark loads with the first offset alone */
		right = right && !ks_clock_n_steps(clockOf(id));
		right = right && ks_clock_is_prepared(streamOf(id));
		ks_clock_prepare(streamOf(id));
	}
	if (right)
		return;
	data->unregisterCPUCollections();
	virtDropTaskCollections();
	for (int id : virtOpenStreams())
		ks_clock_settle(streamOf(id), rows, n);
	data->registerCPUCollections();
	redraw(false);
}

/** Begin with the next stream whose sidecar contains an alignment. Return: is there one? */
bool VirtClocks::applyStored()
{
	for (auto &entry : _known) {
		Known &known = entry.second;
		int id = entry.first, host;
		virt_align_host name = {};
		bool isStored;

		if (known.asked || !isTraceDat(id) || clockOf(id) ||
		    virtClockParts(id)[KS_CLOCK_OFFSET])
			continue;
		known.asked = true;
		/* it may have been corrected */
		if (known.isOfSidecar)
			known.message.clear();
		isStored = virt_align_stored_host(known.file.c_str(), &name);
		known.isOfSidecar = name.text[0];
		if (!isStored) {
			if (name.text[0]) {
				known.message = virtShown(name.text);
				if (!isNoted(id))
					qWarning().noquote() << "kshark-virt:" << known.message;
			}
			continue;
		}
		host = hostOf(id, ks_clock_key(name.text));
		if (host == VIRT_NONE) {
			known.message = QString("Its sidecar aligns it with %1, which is not open")
					.arg(virtShown(name.text));
			continue;
		}

		auto job = std::make_shared<Align>();

		known.message.clear();
		known.isOfSidecar = false;
		job->streamId = id;
		job->file = known.file;
		job->hosts = { fileOf(host) };
		job->stored = true;
		start(job);
		return true;
	}
	return false;
}

/* ---- aligning ---- */

void VirtClocks::beginAlign()
{
	auto job = std::make_shared<Align>();
	int id = current(), paired = pairedHostOf(id);

	if (_aligning || !_known.count(id) || virtMustWait())
		return;
	job->streamId = id;
	job->file = fileOf(id);
	job->stored = false;
	if (paired != VIRT_NONE)
		job->hosts.push_back(fileOf(paired));
	for (int cpu = 0; cpu < streamOf(id)->n_cpus; cpu++) {
		virt_pair pair;

		if (!virt_pairing_of_cpu(id, cpu, &pair) || pair.source != VIRT_PAIR_CHOSEN)
			continue;
		job->chosenHost = fileOf(pair.host_stream);
		job->chosenPid = pair.host_pid;
	}
	for (const VirtStream &stream : virtStreams())
		if (fileOf(stream.id) != job->file &&
		    virt_model_n_vcpus(stream.model.get()) > 0 &&
		    !std::count(job->hosts.begin(), job->hosts.end(), fileOf(stream.id)))
			job->hosts.push_back(fileOf(stream.id));
	_known[id].message.clear();
	if (job->hosts.empty()) {
		_known[id].message = "Not aligned: no open file shows virtual machines from"
				     " outside. Append the trace of its host";
		showStream();
		return;
	}
	start(job);
	showStream();
}

/** The thread ends soon, and adopt() comes as always. */
void VirtClocks::cancelAlign()
{
	if (!_aligning)
		return;
	_aligning->stop = true;
	showStream();
}

/** A session shows what was saved, whatever has been begun before it was restored. */
void VirtClocks::dropOutdated()
{
	if (!_aligning || _aligning->outdated || _aligning->models == serials(_aligning->hosts))
		return;
	_aligning->outdated = true;
	cancelAlign();
}

void VirtClocks::start(const std::shared_ptr<Align> &job)
{
	job->models = serials(job->hosts);
	_aligning = job;
	_worker.start(job, [this, job] {
		job->done = true;
		_timer.start(0);
	});
}

/** A thread has come to its end, and KernelShark does not load. */
void VirtClocks::adopt()
{
	std::shared_ptr<Align> job = std::move(_aligning);
	auto known = _known.find(job->streamId);

	_aligning.reset();
	if (known == _known.end() || known->second.file != job->file)
		return;
	if (job->outdated && job->stored) {
		known->second.asked = false;
	} else if (job->outdated) {
		known->second.message = "Not aligned: the traces were reloaded in the meantime";
	} else if (job->stop) {
		known->second.message = "Not aligned: cancelled";
	} else if (job->result.clock.parts) {
		const int64_t *parts = job->result.clock.parts;
		Parts all(parts, parts + job->result.clock.n);

		known->second.message = virtShown(job->result.text);
		change(job->streamId, all, true);
	} else {
		known->second.message = QString("Not aligned: %1")
					.arg(virtShown(job->result.text));
		qWarning().noquote() << "kshark-virt:" << virtFileOf(job->streamId) + ":"
				     << known->second.message;
	}
}

void VirtClocks::undo()
{
	int id = current();
	Parts parts = { 0 };

	if (!_known.count(id) || _aligning || virtMustWait())
		return;

	std::vector<Parts> &before = _known[id].before;

	if (!before.empty()) {
		parts = before.back();
		before.pop_back();
	}
	/* what was not aligned then shall not be by itself now */
	if (parts.size() < KS_CLOCK_TIDS)
		parts = withoutAlignment(parts[KS_CLOCK_OFFSET]);
	_known[id].message.clear();
	_known[id].byHand = false;
	change(id, parts, false);
	showStream();
}

void VirtClocks::store()
{
	int id = current();
	const int64_t *parts = clockOf(id);
	int host = parts ? hostOf(id, parts[KS_CLOCK_HOST]) : VIRT_NONE;
	char error[512];

	if (host == VIRT_NONE || !_known.count(id))
		return;

	/* what kshark-virt view has opened by a link is called by its own name */
	QString hostFile = realFile(host), guestFile = realFile(id);

	if (virt_align_store(hostFile.toLocal8Bit(), guestFile.toLocal8Bit(), parts, error,
			     sizeof(error)))
		_known[id].message = virtShown(error);
	else
		_known[id].message = QString("Stored in %1.meta.json")
				     .arg(virtShown(QFileInfo(guestFile).fileName()));
	showStream();
}

void VirtClocks::setOffset(int64_t ns)
{
	int id = current();

	if (!_known.count(id) || _aligning || virtMustWait()) {
		showStream();
		return;
	}

	Parts parts = virtClockParts(id);
	bool again = _known[id].byHand;

	if (parts.size() < KS_CLOCK_TIDS)
		parts = withoutAlignment(ns);
	parts[KS_CLOCK_OFFSET] = ns;
	/* one way back for many steps */
	change(id, parts, !again);
	_known[id].byHand = true;
	showStream();
}

/** Give a stream, and all others of its file, another clock. Return: false if that failed. */
bool VirtClocks::change(int streamId, const Parts &parts, bool remember)
{
	KsDataStore *data = virtDataStore(_window);
	kshark_entry **rows = _histo ? _histo->data : nullptr;
	size_t n = _histo ? _histo->data_size : 0;
	int ret = 0;

	if (!data || !n)
		return false;

	int64_t bin = static_cast<int64_t>(_histo->bin_size);
	bool whole = _histo->min <= rows[0]->ts + bin && _histo->max >= rows[n - 1]->ts - bin;

	data->unregisterCPUCollections();
	virtDropTaskCollections();
	for (int id : virtOpenStreams()) {
		if (fileOf(id) != fileOf(streamId) && !isInside(id, streamId))
			continue;

		auto copy = static_cast<int64_t *>(malloc(parts.size() * sizeof(int64_t)));

		if (copy)
			std::copy(parts.begin(), parts.end(), copy);
		if (remember)
			_known[id].before.push_back(virtClockParts(id));
		bool hidden = hidesOffsets(id);

		ret = ks_clock_set(streamOf(id), { copy, parts.size() }, rows, n);
		/* a model has the times of records, with trace-cmd's offsets or without */
		if (!ret && hidden != hidesOffsets(id))
			ret = virt_registry_again(id, rows, n);
		if (ret && remember)
			_known[id].before.pop_back();
		_known[id].byHand = false;
		if (ret)
			_known[id].message = QString("Nothing is changed: %1")
				.arg(ret == -ENOTSUP ? "this libtracecmd cannot leave out"
				     " trace-cmd's own offsets" : strerror(-ret));
	}
	data->registerCPUCollections();
	redraw(whole);
	return !ret;
}

/** The rows have other times and other places. @whole: show all of them */
void VirtClocks::redraw(bool whole)
{
	int64_t first = _histo->data[0]->ts, last = _histo->data[_histo->data_size - 1]->ts;

	if (_histo->max < first || _histo->min > last)
		whole = true;
	if (whole && _histo->n_bins)
		ksmodel_set_bining(_histo, _histo->n_bins, first,
				   std::max(last, first + _histo->n_bins));
	if (KsDataStore *data = virtDataStore(_window))
		data->updateWidgets(data);
	virtRedrawGraphs(_window);
}
