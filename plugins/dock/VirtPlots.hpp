/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtPlots.hpp
 * @brief	List the graphs that KernelShark shows, and bring other graphs beside each other.
 *
 * KernelShark does not expose its lists of graphs; the draw handler sees the graphs one by one.
 * Only the graphs of streams with that handler are known, and changed.
 */
#ifndef KSHARK_VIRT_VIRTPLOTS_HPP
#define KSHARK_VIRT_VIRTPLOTS_HPP

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <QMainWindow>

/** Where the graph of a pCPU goes: KernelShark has those of tasks below all of those of CPUs. */
enum VirtCpuPlace {
	VIRT_CPU_IN_ORDER,
	VIRT_CPU_FIRST,		/* below the graphs of the stream before */
	VIRT_CPU_LAST,		/* next to those of tasks */
};

/** What the user wants to see of one stream. */
struct VirtWish {
	int			stream;
	std::vector<int>	pids;		/* from the top */
	int			pcpu;		/* or VIRT_NONE */
	VirtCpuPlace		place;		/* of the pCPU's graph */
};

class VirtPlots {
public:
	explicit VirtPlots(QMainWindow *window) : _window(window) {}

	/** KernelShark begins to draw all graphs anew. */
	void frameBegins();
	void graphDrawn(int stream, bool isCpu, int id, bool isCombo);

	/** Is a task seen, by itself or in a combo? Has it been brought by bring()? */
	bool isShown(int stream, int pid) const { return _tasks.count({ stream, pid }); }
	bool isBrought(int stream, int pid) const;

	/** Is the graph of a CPU seen, by itself or in a combo? */
	bool isCpuShown(int stream, int cpu) const { return _cpus.count({ stream, cpu }); }

	/** All tasks of a stream that are seen, by pid. */
	std::vector<int> tasksOf(int stream) const;

	/** Show these graphs, instead of those that were brought last and not kept. */
	void bring(const VirtWish &rows);

	/** What has been brought stays, at the top, in sessions, too. Return: how many graphs. */
	int keep();

	/** The graphs of a stream outside combos, from the top. Is there any combo? */
	std::vector<int> cpus(int stream) const;
	std::vector<int> tasks(int stream) const;
	bool hasCombos() const { return _hasCombos; }

	/** Show these graphs of a stream outside combos, and no others. */
	void set(int stream, const std::vector<int> &cpus, const std::vector<int> &tasks);

	/** Add these tasks, or show none but these. */
	void add(int stream, const std::vector<int> &pids);
	void only(int stream, const std::vector<int> &pids);

private:
	/** The graphs of a stream outside combos, in their order. */
	struct Lists {
		std::vector<int>	cpus, tasks;
		std::vector<int>	kept, top;		/* of tasks; brought last */
		std::vector<int>	cameTasks, cameCpus;	/* brought, and not kept */
		uint64_t		model = 0;		/* of which these are */
	};

	Lists &listsOf(int stream);

	void showTasks(int stream, Lists &lists, const std::vector<int> &first,
		       const std::vector<int> &gone);
	void showCpus(int stream, Lists &lists, const VirtWish &rows);

	QMainWindow			*_window;
	std::map<int, Lists>		_lists;		/* by stream */
	bool				_hasCombos = false;
	std::set<std::pair<int, int>>	_tasks, _cpus;	/* in combos, too: stream, pid or CPU */
};

#endif
