// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtReopen.cpp
 * @brief	The view that the window begins with, and the command that opens it again.
 */
#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "VirtCommand.hpp"
#include "VirtKs.hpp"
#include "VirtPlots.hpp"
#include "VirtReopen.hpp"
#include "VirtView.hpp"
#include "ks_stream.h"
#include "virt_pairing.h"
#include "xen_window.h"

namespace {

/** Times are of the first file. */
int64_t offsetOfFirst()
{
	std::vector<int> ids = virtOpenStreams();

	return ids.empty() ? 0 : ks_stream_offset(ids.front());
}

/** "cpu0-3", "task7-9": numbers that follow each other are one word. */
void addWords(QStringList *words, const char *kind, const std::vector<int> &ids)
{
	for (size_t i = 0, end; i < ids.size(); i = end) {
		for (end = i + 1; end < ids.size() && ids[end] == ids[end - 1] + 1; end++)
			;
		*words << QString(kind) + QString::number(ids[i]) +
			  (end > i + 1 ? QString("-%1").arg(ids[end - 1]) : QString());
	}
}

QString span(const char *option, int64_t from, int64_t to)
{
	auto text = [] (int64_t ns) {
		return ns == VIEW_STATE_NO_TIME ? QString() : QString("%1ns").arg(ns);
	};

	return ' ' + QString(option) + ' ' + text(from) +
	       (to == VIEW_STATE_NO_TIME ? QString() : ".." + text(to));
}

/** A window of a xentrace file: options and the path of the trace. */
bool windowOf(const QByteArray &path, QString *options, QByteArray *trace)
{
	xen_window window = {};
	char error[512];
	bool is = xen_window_is(path.constData()) &&
		  !xen_window_read(path.constData(), &window, error, sizeof(error));

	if (is) {
		*options = QString(" --from %1ns --to %2ns").arg(window.from_ns).arg(window.to_ns);
		*trace = window.trace;
	}
	xen_window_free(&window);
	return is;
}

/** The host of a guest's stream, by any of its CPUs. */
int hostOf(int guest)
{
	virt_pair pair;

	/* a nested guest's host is the guest around it */
	for (const VirtStream &stream : virtStreams())
		for (int other : virtGuestsOf(stream))
			if (other == guest)
				return stream.id;
	return virt_pairing_of_cpu(guest, 0, &pair) ? pair.host_stream : VIRT_NONE;
}

} // namespace

VirtReopen::VirtReopen()
{
	QByteArray text = qgetenv(VIEW_STATE);
	char error[256] = "";

	view_state_init(&_state);
	if (text.isEmpty())
		return;
	if (view_state_read(text.constData(), &_state, error, sizeof(error)))
		_problem = virtShown(error);
	else
		_isWanted = true;
}

VirtReopen::~VirtReopen()
{
	view_state_free(&_state);
}

bool VirtReopen::isDue() const
{
	return _isWanted && virtOpenStreams().size() >= _state.n_files;
}

/** Those of the command come in their order, and what it makes comes last. */
std::vector<VirtReopen::File> VirtReopen::files() const
{
	std::vector<File> files;

	for (int id : virtOpenStreams()) {
		File file = { id, virtPathOf(id) };

		for (size_t i = 0; i < _state.n_files; i++)
			if (file.path == _state.files[i].opened) {
				file.path = _state.files[i].given;
				break;
			}
		files.push_back(file);
	}
	std::stable_partition(files.begin(), files.end(),
			      [] (const File &file) { return !file.path.isEmpty(); });
	return files;
}

/** -1: the id of none, as for one that is not open. */
int VirtReopen::streamOf(int32_t file) const
{
	std::vector<int> ids = virtOpenStreams();

	return file >= 0 && static_cast<size_t>(file) < ids.size() ? ids[file] : VIRT_NONE;
}

int VirtReopen::selectedStream() const
{
	return streamOf(_state.select_file);
}

void VirtReopen::take(VirtView *view, VirtSeen *seen)
{
	int64_t offset = offsetOfFirst();
	const int64_t marks[] = { _state.a_ns, _state.b_ns };

	_isWanted = false;
	for (int i = 0; i < 2; i++)
		if (marks[i] != VIEW_STATE_NO_TIME)
			view->markOne(i, marks[i] + offset);
	if (_state.from_ns != VIEW_STATE_NO_TIME)
		view->show(_state.from_ns + offset, _state.to_ns + offset);
	seen->page = QString::fromUtf8(_state.page ? _state.page : "");
	seen->isAToB = _state.a_to_b;
	seen->scrolled = _state.scroll;
}

/** Of a guest's task, pairs may become known later. */
VirtWhose VirtReopen::why(QString *problem) const
{
	std::vector<VirtStream> all = virtStreams();
	VirtWhose whose;

	if (_state.why_pcpu >= 0) {
		int id = _state.why_file >= 0 ? streamOf(_state.why_file) :
			 all.empty() ? VIRT_NONE : all.front().id;
		VirtModelRef model(id);

		if (model && _state.why_pcpu < virt_model_n_pcpus(model.get())) {
			whose.stream = id;
			whose.pcpu = _state.why_pcpu;
		} else {
			*problem = QString("--select pcpu%1: there is no such pCPU")
				   .arg(_state.why_pcpu);
		}
	} else if (_state.why_task >= 0) {
		for (int id : virtOpenStreams())
			if (whose.stream == VIRT_NONE &&
			    (_state.why_file < 0 || id == streamOf(_state.why_file))) {
				whose.stream = hostOf(id);
				whose.guest = whose.stream == VIRT_NONE ? VIRT_NONE : id;
			}
		whose.pid = _state.why_task;
		if (whose.stream == VIRT_NONE)
			*problem = QString("--select task%1: the file is not of a guest whose"
					   " host is open").arg(_state.why_task);
	}
	return whose;
}

void VirtReopen::bringGraphs(VirtPlots *plots) const
{
	std::map<int, std::pair<std::vector<int>, std::vector<int>>> wanted;

	for (size_t i = 0; i < _state.n_graphs; i++) {
		const view_state_graph &graph = _state.graphs[i];
		auto &lists = wanted[streamOf(graph.file)];

		if (graph.cpu >= 0)
			lists.first.push_back(graph.cpu);
		if (graph.task >= 0)
			lists.second.push_back(graph.task);
	}
	wanted.erase(VIRT_NONE);
	for (const auto &stream : wanted)
		plots->set(stream.first, stream.second.first, stream.second.second);
}

QString VirtReopen::command(const VirtView &view, const VirtPlots &plots, const VirtSeen &seen,
			    const VirtMarks &marks) const
{
	std::vector<File> all = files();
	int64_t offset = offsetOfFirst();
	auto [from, to] = view.visible();
	QString line = virtEnvironment() + "kshark-virt view", options;
	auto numberOf = [&all] (int id) {
		auto found = std::find_if(all.begin(), all.end(),
					  [id] (const File &file) { return file.id == id; });

		return all.size() > 1 ? QString("%1:").arg(found - all.begin() + 1) : QString();
	};

	for (size_t i = 0; i < _state.n_words; i++)
		line += ' ' + virtQuoted(_state.words[i].text);
	/* of several files, each window is its own file, in the user's cache */
	if (all.size() == 1 && windowOf(all[0].path, &options, &all[0].path))
		line += options;
	if (!plots.hasCombos())
		line += " --no-combos";
	line += span("--show", std::max(from, view.rows().first) - offset,
		     std::min(to, view.rows().second) - offset);
	if (marks.ns[0] != VIEW_STATE_NO_TIME || marks.ns[1] != VIEW_STATE_NO_TIME) {
		int64_t ns[2];

		for (int i = 0; i < 2; i++)
			ns[i] = marks.ns[i] == VIEW_STATE_NO_TIME ? marks.ns[i] :
				marks.ns[i] - offset;
		line += span("--mark", ns[0], ns[1]);
	}
	if (seen.isAToB)
		line += " --a-to-b";
	if (!seen.page.isEmpty())
		line += " --page " + seen.page.toLower();
	if (seen.selected.stream != VIRT_NONE)
		line += " --select " + numberOf(seen.selected.stream) +
			virtIdOf(seen.selected);
	if (seen.why.pcpu != VIRT_NONE)
		line += QString(" --select %1pcpu%2").arg(numberOf(seen.why.stream))
			.arg(seen.why.pcpu);
	if (seen.why.guest != VIRT_NONE)
		line += QString(" --select %1task%2").arg(numberOf(seen.why.guest))
			.arg(seen.why.pid);
	for (const File &file : all) {
		QStringList words;

		addWords(&words, "cpu", plots.cpus(file.id));
		addWords(&words, "task", plots.tasks(file.id));
		line += " --graphs " + numberOf(file.id) +
			(words.isEmpty() ? QString("none") : words.join(','));
	}
	if (seen.scrolled > 0)
		line += QString(" --scroll %1").arg(seen.scrolled);
	for (const File &file : all)
		if (!file.path.isEmpty())
			line += ' ' + virtQuoted(file.path);
	if (_state.n_extra)
		line += " --";
	for (size_t i = 0; i < _state.n_extra; i++)
		line += ' ' + virtQuoted(_state.extra[i].text);
	return line;
}
