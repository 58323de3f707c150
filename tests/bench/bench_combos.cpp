// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	bench_combos.cpp
 * @brief	What plugins take to work out the shapes of host/guest combos for a redraw.
 *
 * Usage: bench_combos HOST GUEST PID,CPU[,PID,CPU...] PLUGIN...
 *
 * Loads both traces with these plugins, as KernelShark does, and calls their draw functions for
 * the graphs of all combos: of the threads PID of the host and the CPUs of the guest. Prints the
 * best time, for the whole trace and for parts of it. One process measures one set of plugins.
 */
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include <KsPlotTools.hpp>
#include <KsPlugins.hpp>
#include <libkshark.h>
#include <libkshark-model.h>
#include <libkshark-plugin.h>

#include "virt_pairing.h"

namespace {

constexpr int COLUMNS = 1600, ROUNDS = 15;

struct Combo {
	int	pid, cpu;
};

double nowMs()
{
	using namespace std::chrono;

	return duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
}

int openStream(kshark_context *kshark, const char *file, int n, char **plugins)
{
	int sd = kshark_open(kshark, file);
	kshark_data_stream *stream = kshark_get_data_stream(kshark, sd);

	if (!stream)
		return -1;
	for (int i = 0; i < n; i++) {
		std::string name = "plugin" + std::to_string(i);
		kshark_plugin_list *plugin = kshark_find_plugin(kshark->plugins, plugins[i]);

		if (!plugin)
			plugin = kshark_register_plugin(kshark, name.c_str(), plugins[i]);
		if (!plugin || !plugin->process_interface)
			return -1;
		kshark_register_plugin_to_stream(stream, plugin->process_interface, true);
	}
	kshark_handle_all_dpis(stream, KSHARK_PLUGIN_INIT);
	return sd;
}

/** All draw functions of a stream on one graph. */
void draw(kshark_context *kshark, kshark_trace_histo *histo, KsPlot::Graph *graph, int sd,
	  int value, int action, KsPlot::PlotObjList *shapes)
{
	KsCppArgV argv = { histo, graph, shapes };
	kshark_data_stream *stream = kshark_get_data_stream(kshark, sd);

	for (kshark_draw_handler *handler = stream->draw_handlers; handler;
	     handler = handler->next)
		handler->draw_func(argv.toC(), sd, value, action);
}

double redraw(kshark_context *kshark, kshark_trace_histo *histo, const std::vector<Combo> &combos,
	      KsPlot::ColorTable *colors)
{
	std::vector<std::unique_ptr<KsPlot::Graph>> graphs;
	double best = 1e9;

	for (const Combo &combo : combos) {
		graphs.emplace_back(new KsPlot::Graph(histo, colors, colors));
		graphs.back()->fillTaskGraph(0, combo.pid);
		graphs.emplace_back(new KsPlot::Graph(histo, colors, colors));
		graphs.back()->fillCPUGraph(1, combo.cpu);
	}
	for (size_t i = 0; i < graphs.size(); i++) {
		graphs[i]->setHeight(30);
		graphs[i]->setBase(100 + 50 * static_cast<int>(i));
	}
	for (int round = 0; round < ROUNDS; round++) {
		KsPlot::PlotObjList shapes;
		double start = nowMs();

		for (size_t i = 0; i < combos.size(); i++) {
			draw(kshark, histo, graphs[2 * i].get(), 0, combos[i].pid,
			     KSHARK_TASK_DRAW | KSHARK_HOST_DRAW, &shapes);
			draw(kshark, histo, graphs[2 * i + 1].get(), 1, combos[i].cpu,
			     KSHARK_CPU_DRAW | KSHARK_GUEST_DRAW, &shapes);
		}
		best = std::min(best, nowMs() - start);
		for (KsPlot::PlotObject *shape : shapes)
			delete shape;
	}
	return best;
}

std::vector<Combo> parse(const char *text)
{
	std::vector<Combo> combos;
	int pid, cpu, n;

	while (sscanf(text, "%d,%d%n", &pid, &cpu, &n) == 2) {
		virt_pair pair = { 0, pid, 1, cpu, VIRT_PAIR_CHOSEN };

		combos.push_back({ pid, cpu });
		virt_pairing_set(&pair);
		text += n + (text[n] == ',');
	}
	return combos;
}

} // namespace

int main(int argc, char **argv)
{
	kshark_context *kshark = nullptr;
	kshark_entry **rows = nullptr;
	kshark_trace_histo histo;
	std::vector<Combo> combos;
	ssize_t n;

	if (argc < 5 || (combos = parse(argv[3])).empty()) {
		fprintf(stderr, "usage: bench_combos HOST GUEST PID,CPU[,PID,CPU...] PLUGIN...\n");
		return 2;
	}
	if (!kshark_instance(&kshark) || openStream(kshark, argv[1], argc - 4, argv + 4) != 0 ||
	    openStream(kshark, argv[2], argc - 4, argv + 4) != 1) {
		fprintf(stderr, "cannot open them, or not with these plugins\n");
		return 3;
	}
	n = kshark_load_all_entries(kshark, &rows);
	if (n < 2)
		return 3;
	KsPlot::ColorTable colors = KsPlot::taskColorTable();
	int64_t first = rows[0]->ts, last = rows[n - 1]->ts;

	for (int64_t part = 1; part <= 10000; part *= 10) {
		ksmodel_init(&histo);
		ksmodel_set_bining(&histo, COLUMNS, first + (last - first) / 2,
				   first + (last - first) / 2 + (last - first) / 2 / part);
		ksmodel_fill(&histo, rows, n);
		printf("rows=%zd combos=%zu part=1/%lld redraw_ms=%.3f\n", n, combos.size(),
		       static_cast<long long>(2 * part), redraw(kshark, &histo, combos, &colors));
		ksmodel_clear(&histo);
	}
	/* plugins and rows are the process's, until it ends */
	fflush(stdout);
	_Exit(0);
}
