// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtPlots.cpp
 * @brief	KernelShark's graphs, as lists.
 */
#include <algorithm>

#include <QCryptographicHash>
#include <QSettings>
#include <QStringList>

#include "VirtKs.hpp"
#include "VirtPlots.hpp"
#include "virt_lanes.h"

namespace {

bool has(const std::vector<int> &ids, int id)
{
	return std::count(ids.begin(), ids.end(), id);
}

QVector<int> arrange(const virt_plots &plots)
{
	QVector<int> ids(static_cast<int>(plots.n_first + plots.n_shown + plots.n_last));

	ids.resize(static_cast<int>(virt_plots_arrange(&plots, ids.data())));
	return ids;
}

/*
 * A session of KernelShark's keeps graphs and their order, not which of them are pinned, and a
 * plugin cannot add to it: that is in our settings, a line for each file, the last one first.
 */
constexpr char PINS[] = "overview/pins";
constexpr int MOST_FILES = 50;

QString fileKey(int stream)
{
	return QCryptographicHash::hash(virtPathOf(stream), QCryptographicHash::Md5).toHex();
}

std::vector<int> readPins(int stream)
{
	QSettings settings(virtSettingsFile(), QSettings::IniFormat);
	std::vector<int> pids;

	for (const QString &line : settings.value(PINS).toStringList()) {
		QStringList words = line.split(' ');

		if (words.takeFirst() == fileKey(stream))
			for (const QString &word : words)
				pids.push_back(word.toInt());
	}
	return pids;
}

void writePins(int stream, const std::vector<int> &pids)
{
	QSettings settings(virtSettingsFile(), QSettings::IniFormat);
	QString line = fileKey(stream);
	QStringList lines;

	for (const QString &other : settings.value(PINS).toStringList())
		if (!other.startsWith(line + ' '))
			lines.append(other);
	for (int pid : pids)
		line += ' ' + QString::number(pid);
	if (!pids.empty())
		lines.prepend(line);
	settings.setValue(PINS, QStringList(lines.mid(0, MOST_FILES)));
}

/** Those of graphs that are not shown now stay. */
void addPins(int stream, const std::vector<int> &pids)
{
	std::vector<int> all = readPins(stream);

	for (int pid : pids)
		if (!has(all, pid))
			all.push_back(pid);
	writePins(stream, all);
}

} // namespace

void VirtPlots::frameBegins()
{
	for (auto &lists : _lists) {
		lists.second.cpus.clear();
		lists.second.tasks.clear();
	}
	_tasks.clear();
	_cpus.clear();
	_hasCombos = false;
}

void VirtPlots::graphDrawn(int stream, bool isCpu, int id, bool isCombo)
{
	_hasCombos |= isCombo;
	(isCpu ? _cpus : _tasks).insert({ stream, id });
	if (!isCombo)
		(isCpu ? _lists[stream].cpus : _lists[stream].tasks).push_back(id);
}

std::vector<int> VirtPlots::tasksOf(int stream) const
{
	std::vector<int> pids;

	for (auto task = _tasks.lower_bound({ stream, 0 });
	     task != _tasks.end() && task->first == stream; ++task)
		pids.push_back(task->second);
	return pids;
}

std::vector<int> VirtPlots::cpus(int stream) const
{
	auto found = _lists.find(stream);

	return found == _lists.end() ? std::vector<int>() : found->second.cpus;
}

std::vector<int> VirtPlots::tasks(int stream) const
{
	auto found = _lists.find(stream);

	return found == _lists.end() ? std::vector<int>() : found->second.tasks;
}

/** Another trace may have the stream's number now. What is pinned in it, and shown, is so again. */
VirtPlots::Lists &VirtPlots::listsOf(int stream)
{
	Lists &lists = _lists[stream];
	uint64_t model = VirtModelRef(stream).serial();

	if (lists.model != model) {
		lists.model = model;
		lists.kept.clear();
		for (int pid : readPins(stream))
			if (has(lists.tasks, pid))
				lists.kept.push_back(pid);
		lists.top.clear();
		lists.cameTasks.clear();
		lists.cameCpus.clear();
	}
	return lists;
}

bool VirtPlots::isBrought(int stream, int pid) const
{
	auto found = _lists.find(stream);

	return found != _lists.end() && has(found->second.cameTasks, pid);
}

void VirtPlots::showTasks(int stream, Lists &lists, const std::vector<int> &first,
			  const std::vector<int> &gone)
{
	auto graph = reinterpret_cast<KsTraceGraph *>(virtChild(_window, "KsTraceGraph"));
	std::vector<int> top = lists.kept;
	QVector<int> ids;

	top.insert(top.end(), first.begin(), first.end());
	ids = arrange({ top.data(), top.size(), lists.tasks.data(), lists.tasks.size(),
			gone.data(), gone.size(), nullptr, 0 });
	if (graph && !virtIsLoading())
		graph->taskReDraw(stream, ids);
}

/** Its pCPU at one end, or where it belongs. */
void VirtPlots::showCpus(int stream, Lists &lists, const VirtWish &rows)
{
	auto graph = reinterpret_cast<KsTraceGraph *>(virtChild(_window, "KsTraceGraph"));
	bool isNew = rows.pcpu >= 0 && !has(lists.cpus, rows.pcpu);
	size_t first = rows.pcpu >= 0 && rows.place == VIRT_CPU_FIRST;
	size_t last = rows.pcpu >= 0 && rows.place != VIRT_CPU_FIRST;
	std::vector<int> cpus = lists.cpus;
	QVector<int> ids;

	std::sort(cpus.begin(), cpus.end());
	ids = arrange({ &rows.pcpu, first, cpus.data(), cpus.size(), lists.cameCpus.data(),
			lists.cameCpus.size(), &rows.pcpu, last });
	if (rows.place == VIRT_CPU_IN_ORDER)
		std::sort(ids.begin(), ids.end());
	lists.cameCpus.clear();
	if (isNew)
		lists.cameCpus.push_back(rows.pcpu);
	if (graph && !virtIsLoading() &&
	    std::vector<int>(ids.begin(), ids.end()) != lists.cpus)
		graph->cpuReDraw(stream, ids);
}

void VirtPlots::bring(const VirtWish &rows)
{
	Lists &lists = listsOf(rows.stream);
	std::vector<int> gone = lists.cameTasks, before = lists.tasks;

	lists.cameTasks.clear();
	lists.top = rows.pids;
	for (int pid : rows.pids)
		if (!has(lists.kept, pid) && (!has(before, pid) || has(gone, pid)))
			lists.cameTasks.push_back(pid);
	/* each call draws anew, and begins the lists anew */
	showCpus(rows.stream, lists, rows);
	lists.tasks = before;
	showTasks(rows.stream, lists, rows.pids, gone);
}

int VirtPlots::keep()
{
	int n = 0;

	for (auto &entry : _lists) {
		Lists &lists = listsOf(entry.first);

		for (int pid : lists.top)
			if (!has(lists.kept, pid))
				lists.kept.push_back(pid);
		if (!lists.top.empty())
			addPins(entry.first, lists.kept);
		n += static_cast<int>(lists.top.size());
		lists.top.clear();
		lists.cameTasks.clear();
		lists.cameCpus.clear();
	}
	return n;
}

void VirtPlots::add(int stream, const std::vector<int> &pids)
{
	Lists &lists = listsOf(stream);

	lists.tasks.insert(lists.tasks.end(), pids.begin(), pids.end());
	showTasks(stream, lists, {}, {});
}

void VirtPlots::only(int stream, const std::vector<int> &pids)
{
	Lists &lists = listsOf(stream);

	/* those that are not shown now, too */
	if (!readPins(stream).empty())
		writePins(stream, {});
	lists.kept.clear();
	lists.top.clear();
	lists.cameTasks.clear();
	lists.tasks = pids;
	showTasks(stream, lists, {}, {});
}

void VirtPlots::set(int stream, const std::vector<int> &cpus, const std::vector<int> &tasks)
{
	auto graph = reinterpret_cast<KsTraceGraph *>(virtChild(_window, "KsTraceGraph"));

	if (!graph || virtIsLoading())
		return;
	/* each call draws anew, and begins the lists anew */
	if (cpus != this->cpus(stream))
		graph->cpuReDraw(stream, QVector<int>(cpus.begin(), cpus.end()));
	if (tasks != this->tasks(stream))
		graph->taskReDraw(stream, QVector<int>(tasks.begin(), tasks.end()));
}
