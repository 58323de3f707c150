// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	KvmCombos.cpp
 * @brief	Pairs and combos of the open streams.
 *
 * The draw handler reports the visible graphs. After each frame, the code checks whether streams
 * have come or gone. Then it finds the pairs anew and shows the combos, unless another part, such
 * as a session, has brought others.
 */
#include <algorithm>
#include <cstring>

#include <QAction>
#include <QCryptographicHash>
#include <QDebug>
#include <QFileInfo>
#include <QMenu>
#include <QMenuBar>
#include <QScrollArea>
#include <QScrollBar>
#include <QSettings>
#include <QStatusBar>

#include <libkshark.h>
#include <libkshark-tepdata.h>

#include "KvmComboDialog.hpp"
#include "KvmCombos.hpp"
#include "VirtKs.hpp"
#include "VirtNames.hpp"
#include "ks_stream.h"
#include "kvm_combo.h"
#include "kvm_pairs.h"

namespace {

constexpr size_t MOST_BY_ITSELF = 32;	/* combos; more are left to the dialog */
constexpr int MOST_PLACES = 3;		/* vCPUs on which a guest's guest runs, in its combo */
constexpr int LEAST_SHARE = 10;		/* 1 / LEAST_SHARE of its time is too little to count */
constexpr int MARGIN = 12;		/* around what is scrolled to */
constexpr int LOADING_MS = 50;		/* between two looks whether a file is loaded */

QPointer<KvmCombos> theCombos;

kshark_data_stream *streamOf(int streamId)
{
	kshark_context *kshark = nullptr;

	return kshark_instance(&kshark) ? kshark_get_data_stream(kshark, streamId) : nullptr;
}

/** A name for the choices between two files, whatever they are called from. */
QString choiceKey(int host, int guest)
{
	QByteArray names;

	for (int id : { host, guest }) {
		kshark_data_stream *stream = streamOf(id);
		QFileInfo info(stream && stream->file ? stream->file : "");

		names += info.canonicalFilePath().toUtf8() + '\n';
	}
	return "pairs/" + QCryptographicHash::hash(names, QCryptographicHash::Sha1).toHex();
}

/** How long a vCPU has run on each pCPU, longest first; those left out that hardly count. */
std::vector<std::pair<int64_t, int>> placesOf(const virt_model *model, int32_t vcpu)
{
	virt_interval_range range = virt_vcpu_intervals(model, vcpu, INT64_MIN, INT64_MAX);
	std::vector<std::pair<int64_t, int>> places(virt_model_n_pcpus(model));
	int64_t all = 0;

	for (size_t cpu = 0; cpu < places.size(); cpu++)
		places[cpu].second = static_cast<int>(cpu);
	for (size_t i = 0; i < range.n; i++) {
		const virt_interval &interval = range.first[i];
		int64_t end = i + 1 < range.n ? range.first[i + 1].start_ns : range.end_ns;

		if (!virt_state_on_pcpu(interval.state) || interval.pcpu < 0)
			continue;
		places[interval.pcpu].first += end - interval.start_ns;
		all += end - interval.start_ns;
	}
	places.erase(std::remove_if(places.begin(), places.end(), [all](const auto &place) {
		return place.first <= all / LEAST_SHARE;
	}), places.end());
	std::stable_sort(places.begin(), places.end(), [](const auto &a, const auto &b) {
		return a.first > b.first;
	});
	return places;
}

/** The graphs of a vCPU's combo, from the innermost guest outwards: stream, action, id. */
std::vector<std::vector<int>> graphsOf(const KvmVcpu &vcpu)
{
	std::vector<std::vector<int>> graphs;
	VirtModelRef model(vcpu.stream);
	size_t most;
	virt_pair outer;

	if (vcpu.pair.guest_stream != VIRT_NONE)
		graphs.push_back({ vcpu.pair.guest_stream, KSHARK_CPU_DRAW | KSHARK_GUEST_DRAW,
				   vcpu.pair.guest_cpu });
	graphs.push_back({ vcpu.stream, KSHARK_TASK_DRAW | KSHARK_HOST_DRAW, vcpu.pid });

	/* Is the host a guest itself? Then what it runs on are vCPUs: they go below. */
	most = graphs.size() + MOST_PLACES;
	for (const auto &place : placesOf(model.get(),
					  virt_model_find_vcpu(model.get(), vcpu.pid)))
		if (graphs.size() < most &&
		    virt_pairing_of_cpu(vcpu.stream, place.second, &outer))
			graphs.push_back({ outer.host_stream, KSHARK_TASK_DRAW | KSHARK_HOST_DRAW,
					   outer.host_pid });
	return graphs;
}

} // namespace

bool KvmCombos::_fades = true;

KvmCombos *KvmCombos::instance()
{
	/* A restored session loads plugins without asking them for their menus. */
	if (!theCombos)
		kvm_combo_gui_init(virtMainWindow());
	return theCombos;
}

void kvm_combo_gui_init(void *main_window)
{
	auto window = static_cast<QMainWindow *>(main_window);

	virtGuardGraphs(window);
	if (!theCombos && window)
		theCombos = new KvmCombos(window);
}

KvmCombos::KvmCombos(QMainWindow *window)
: QObject(window),
  _window(window)
{
	QSettings settings(virtSettingsFile(), QSettings::IniFormat);

	_automatic = settings.value("combos/automatic", true).toBool() &&
		     qgetenv("KSHARK_VIRT_COMBOS") != "0";
	_fades = settings.value("combos/fade", true).toBool();
	_timer.setSingleShot(true);
	connect(&_timer, &QTimer::timeout, this, [this] { frameDone(); });

	for (QMenu *menu : _window->menuBar()->findChildren<QMenu *>())
		if (menu->menuAction()->text() == "Plots")
			connect(menu->addAction("Virtual machine combos"), &QAction::triggered,
				this, [this] { showDialog(); });
	hideStockMenu();
	_window->installEventFilter(this);
}

bool KvmCombos::eventFilter(QObject *object, QEvent *event)
{
	if (virtIsLoaded(object, event, VIRT_LOADED_GRAPHS) && _timer.isActive()) {
		_timer.stop();
		frameDone();
	}
	return false;
}

/** Its dialog knows nothing of ours, and crashes beside streams that are not trace.dat files. */
void KvmCombos::hideStockMenu()
{
	for (QAction *action : _window->menuBar()->findChildren<QAction *>())
		if (action->text() == "KVM Combo plots")
			action->setVisible(false);
	for (QAction *action : _window->findChildren<QAction *>())
		if (action->text() == "KVM Combo plots")
			action->setVisible(false);
}

void KvmCombos::showDialog()
{
	if (!_dialog) {
		_dialog = new KvmComboDialog(_window, *this);
		_dialog->setAttribute(Qt::WA_DeleteOnClose);
	}
	_dialog->show();
	_dialog->raise();
	_dialog->activateWindow();
}

void KvmCombos::setAutomatic(bool automatic)
{
	_automatic = automatic;
	QSettings(virtSettingsFile(), QSettings::IniFormat)
		.setValue("combos/automatic", automatic);
}

void KvmCombos::setFades(bool fades)
{
	_fades = fades;
	QSettings(virtSettingsFile(), QSettings::IniFormat).setValue("combos/fade", fades);
}

bool KvmCombos::isShown(const KvmVcpu &vcpu) const
{
	std::vector<std::vector<int>> graphs = graphsOf(vcpu);

	return std::all_of(graphs.begin(), graphs.end(), [this] (const std::vector<int> &graph) {
		return _seen.count(graph);
	});
}

bool KvmCombos::isWanted(const KvmVcpu &vcpu) const
{
	return !_unwanted.count({ vcpu.stream, vcpu.pid });
}

void KvmCombos::setWanted(const KvmVcpu &vcpu, bool wanted)
{
	if (wanted)
		_unwanted.erase({ vcpu.stream, vcpu.pid });
	else
		_unwanted.insert({ vcpu.stream, vcpu.pid });
}

/* ---- the open streams ---- */

std::vector<KvmVcpu> KvmCombos::vcpus() const
{
	std::vector<KvmVcpu> all;
	VirtNames names;

	for (const VirtStream &stream : virtStreams()) {
		const virt_model *model = stream.model.get();
		kshark_data_stream *data = streamOf(stream.id);

		for (int32_t m = 0; m < virt_model_n_machines(model); m++) {
			const virt_machine *machine = virt_model_machine(model, m);

			for (int32_t i = 0; i < machine->n_vcpus; i++) {
				const virt_vcpu *vcpu = virt_model_vcpu(model, machine->vcpus[i]);
				KvmVcpu found = { stream.id, m, names.machine(stream.id, m),
						  names.vcpu(stream.id, machine->vcpus[i]),
						  vcpu->host_pid, 0,
						  data && kshark_is_tep(data), {} };
				int64_t on = 0, known, unsplit[VIRT_N_STATES];
				virt_totals totals;

				virt_vcpu_totals(model, machine->vcpus[i], INT64_MIN, INT64_MAX,
						 &totals);
				virt_vcpu_unsplit(model, machine->vcpus[i], INT64_MIN, INT64_MAX,
						  unsplit);
				known = unsplit[VIRT_UNKNOWN];
				for (int state = 0; state < VIRT_UNKNOWN; state++) {
					known += totals.ns[state];
					on += virt_state_on_pcpu(state) ? totals.ns[state] : 0;
				}
				found.share = known ? static_cast<double>(on) /
						      static_cast<double>(known) : 0;
				if (!virt_pairing_of_vcpu(stream.id, vcpu->host_pid, &found.pair))
					found.pair = { stream.id, vcpu->host_pid, VIRT_NONE,
						       VIRT_NONE, VIRT_PAIR_GUESSED };
				all.push_back(found);
			}
		}
	}
	return all;
}

std::vector<KvmGuestCpu> KvmCombos::guestCpus(int otherThan) const
{
	std::vector<KvmGuestCpu> cpus;

	for (int id : virtOpenStreams()) {
		kshark_data_stream *stream = streamOf(id);

		if (!stream || id == otherThan || !ks_stream_has_cpus(stream))
			continue;
		for (int cpu = 0; cpu < stream->n_cpus; cpu++)
			cpus.push_back({ id, cpu });
	}
	return cpus;
}

void KvmCombos::findPairsWithoutChoices()
{
	virt_pairing_drop_source(VIRT_PAIR_CHOSEN);
	kvm_pairs_recorded();
	if (_histo && _histo->data_size)
		kvm_pairs_guess(_histo->data, _histo->data_size);
}

void KvmCombos::findPairs()
{
	findPairsWithoutChoices();
	loadChoices();
	_pairs = virt_pairing_serial();
}

/** A choice "no CPU of that guest" is kept as CPU -1; it says nothing about other guests. */
void KvmCombos::loadChoices()
{
	QSettings settings(virtSettingsFile(), QSettings::IniFormat);

	for (int host : virtOpenStreams())
		for (int guest : virtOpenStreams())
			for (const QString &text :
			     settings.value(choiceKey(host, guest)).toStringList()) {
				virt_pair pair = {
					host, text.section(':', 0, 0).toInt(), guest,
					text.section(':', 1, 1).toInt(), VIRT_PAIR_CHOSEN,
				};
				kshark_data_stream *stream = streamOf(guest);
				virt_pair found;

				if (pair.guest_cpu < 0) {
					if (!virt_pairing_of_vcpu(host, pair.host_pid, &found) ||
					    found.guest_stream != guest)
						continue;
					pair.guest_stream = VIRT_NONE;
				} else if (!stream || pair.guest_cpu >= stream->n_cpus) {
					continue;
				}
				virt_pairing_set(&pair);
			}
}

void KvmCombos::saveChoices()
{
	QSettings settings(virtSettingsFile(), QSettings::IniFormat);
	std::vector<KvmVcpu> all = vcpus();

	for (int host : virtOpenStreams())
		for (int guest : virtOpenStreams()) {
			QStringList list;

			if (host == guest)
				continue;
			for (const KvmVcpu &vcpu : all)
				if (vcpu.stream == host && vcpu.pair.source == VIRT_PAIR_CHOSEN &&
				    (vcpu.pair.guest_stream == guest ||
				     vcpu.pair.guest_stream == VIRT_NONE))
					list << QString("%1:%2").arg(vcpu.pid)
						.arg(vcpu.pair.guest_cpu);
			if (list.isEmpty())
				settings.remove(choiceKey(host, guest));
			else
				settings.setValue(choiceKey(host, guest), list);
		}
	_pairs = virt_pairing_serial();
}

QStringList KvmCombos::notes() const
{
	std::vector<KvmVcpu> all = vcpus();
	std::set<int> hosts, paired;
	std::set<Key> guessed;
	QStringList list;

	for (const KvmVcpu &vcpu : all) {
		hosts.insert(vcpu.stream);
		if (vcpu.pair.guest_stream == VIRT_NONE)
			continue;
		paired.insert(vcpu.pair.guest_stream);
		if (vcpu.isKvm && vcpu.pair.source == VIRT_PAIR_GUESSED)
			guessed.insert({ vcpu.pair.guest_stream, vcpu.stream });
	}
	if (hosts.empty())
		return { "No host trace is open. Append the trace of the host: one with KVM's"
			 " events, or one of xentrace." };
	for (const Key &pair : guessed)
		list << QString("%1 was not recorded together with %2: which vCPU is which CPU is"
				" a guess, please check it.")
			.arg(virtFileOf(pair.first), virtFileOf(pair.second));
	for (int id : virtOpenStreams()) {
		kshark_data_stream *stream = streamOf(id);
		int unpaired = 0;

		if (!stream || hosts.count(id) || !ks_stream_has_cpus(stream))
			continue;
		if (virt_registry_has_host(id))
			continue;
		if (!paired.count(id)) {
			list << QString("%1: it is unknown which machine this is. Choose its"
					" CPUs in Plots > Virtual machine combos.")
				.arg(virtFileOf(id));
			continue;
		}
		for (int cpu = 0; cpu < stream->n_cpus; cpu++)
			unpaired += !virt_pairing_of_cpu(id, cpu, nullptr);
		if (unpaired)
			list << virtFileOf(id) +
				QString(": %1 of its %2 CPUs have no vCPU on the host.")
				.arg(unpaired).arg(stream->n_cpus);
	}
	for (size_t i = 0; i < all.size(); ) {
		size_t end = i, n = 0;

		for (; end < all.size() && all[end].stream == all[i].stream &&
		       all[end].machine == all[i].machine; end++)
			n += all[end].pair.guest_stream == VIRT_NONE;
		if (n && n < end - i)
			list << all[i].machineName +
				QString(": %1 of its %2 vCPUs have no CPU in the guest's trace.")
				.arg(n).arg(end - i);
		i = end;
	}
	return list;
}

/* ---- showing ---- */

void KvmCombos::graphDrawn(kshark_trace_histo *histo, int streamId, int id, int drawAction,
			   int top, int base)
{
	_histo = histo;
	if (drawAction & (KSHARK_HOST_DRAW | KSHARK_GUEST_DRAW)) {
		_top = _drawn.empty() ? top : std::min(_top, top);
		_base = _drawn.empty() ? base : std::max(_base, base);
		_drawn.insert({ streamId, drawAction, id });
	} else if (drawAction & KSHARK_TASK_DRAW) {
		_tasks.insert({ streamId, id });
	}
	if (!_timer.isActive())
		_timer.start(0);
}

void KvmCombos::show(const std::vector<KvmVcpu> &vcpus, bool isReveal)
{
	VirtOneResize once(_window);
	QWidget *graph = virtChild(_window, "KsTraceGraph");
	QVector<int> combos;
	int n = 0;

	if (!graph)
		return;
	_mine.clear();
	for (const KvmVcpu &vcpu : vcpus) {
		std::vector<std::vector<int>> graphs = graphsOf(vcpu);

		combos << static_cast<int>(graphs.size());
		for (const std::vector<int> &g : graphs) {
			combos << g[0] << g[1] << g[2];
			_mine.insert(g);
		}
		n++;
	}
	_reveal = isReveal && n > 0;
	if (!_reveal)
		_revealed = -1;
	dropTaskPlots();
	reinterpret_cast<KsTraceGraph *>(graph)->comboReDraw(n, combos);
}

/** What is in a combo now need not be seen a second time. */
void KvmCombos::dropTaskPlots()
{
	auto graph = reinterpret_cast<KsTraceGraph *>(virtChild(_window, "KsTraceGraph"));
	std::set<Key> tasks;

	/* each one draws anew */
	tasks.swap(_seenTasks);
	for (const Key &task : tasks)
		if (_mine.count({ task.first, KSHARK_TASK_DRAW | KSHARK_HOST_DRAW, task.second }))
			graph->removeTaskPlot(task.first, task.second);
}

/** A file has been appended: all rows have other places then. */
void KvmCombos::dropOldCollections()
{
	if (!_histo || (_rows == _histo->data && _nRows == _histo->data_size))
		return;
	_rows = _histo->data;
	_nRows = _histo->data_size;
	virtDropTaskCollections();
	virtRedrawGraphs(_window);
}

/** A frame is complete. */
void KvmCombos::frameDone()
{
	bool foreign = !std::includes(_mine.begin(), _mine.end(), _drawn.begin(), _drawn.end());
	bool seen = !_drawn.empty();
	std::vector<std::string> signature;
	std::vector<std::vector<int64_t>> clocks;

	if (virtIsLoading()) {
		_timer.start(LOADING_MS);
		return;
	}
	_seen.swap(_drawn);
	_drawn.clear();
	_seenTasks.swap(_tasks);
	_tasks.clear();
	dropOldCollections();
	for (int id : virtOpenStreams()) {
		kshark_data_stream *stream = streamOf(id);
		VirtModelRef model(id);

		signature.push_back(std::to_string(id) + " " + std::to_string(model.serial()) +
				    " " + (stream && stream->file ? stream->file : ""));
		clocks.push_back(virtClockParts(id));
	}
	if (signature != _signature) {
		_signature = signature;
		_clocks = clocks;
		hideStockMenu();
		findPairs();
		if (_automatic && !foreign)
			showByItself();
		showNotes();
	} else if (clocks != _clocks) {
		_clocks = clocks;
		clocksChanged(foreign);
	} else if (_pairs != virt_pairing_serial()) {
		/* the user has taken what the dock offers */
		saveChoices();
		if (_automatic && !foreign)
			showByItself();
		showNotes();
	} else if (seen) {
		reveal();
	}
}

/** Rows lie elsewhere now, so that other CPUs may go together. */
void KvmCombos::clocksChanged(bool foreign)
{
	auto keys = [this] {
		std::set<std::vector<int>> found;

		for (const KvmVcpu &vcpu : vcpus())
			found.insert({ vcpu.stream, vcpu.pid, vcpu.pair.guest_stream,
				       vcpu.pair.guest_cpu });
		return found;
	};
	std::set<std::vector<int>> before = keys();

	findPairs();
	if (_automatic && !foreign && keys() != before)
		showByItself();
	showNotes();
}

/** All pairs; of KVM's hosts also the threads of vCPUs without a guest. */
void KvmCombos::showByItself()
{
	std::vector<KvmVcpu> shown;

	for (bool isPaired : { true, false })
		for (const KvmVcpu &vcpu : vcpus())
			if ((vcpu.pair.guest_stream != VIRT_NONE) == isPaired &&
			    (isPaired || vcpu.isKvm) && isWanted(vcpu) &&
			    shown.size() < MOST_BY_ITSELF)
				shown.push_back(vcpu);
	if (!shown.empty())
		show(shown, false);
}

/** Say what does not fit together, where it is seen without a dialog. */
void KvmCombos::showNotes()
{
	QStringList list = virtOpenStreams().size() > 1 ? notes() : QStringList();

	for (const QString &note : list)
		qWarning().noquote() << "kshark-virt:" << note;
	if (!list.isEmpty())
		_window->statusBar()->showMessage(list.join("  "));
	else if (_window->findChild<QStatusBar *>())
		_window->statusBar()->clearMessage();
}

/**
 * Scroll to combos that the user has asked for, which are below all other graphs; again when their
 * place changes. A window begins with the first graph.
 */
void KvmCombos::reveal()
{
	QScrollArea *area = nullptr;

	for (QWidget *up = virtChild(_window, "KsGLWidget"); up && !area; up = up->parentWidget())
		area = qobject_cast<QScrollArea *>(up);
	if (!area)
		return;

	QScrollBar *bar = area->verticalScrollBar();
	std::pair<int, int> place = { area->viewport()->height(), _top };

	/* Keep the place if the user has scrolled since. */
	if (_reveal || (_revealed == bar->value() && _place != place)) {
		if (_top < bar->value() || _base > bar->value() + place.first)
			bar->setValue(_top - MARGIN);
		_revealed = bar->value();
	}
	_reveal = false;
	_place = place;
}
