// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	KvmCombo.cpp
 * @brief	Fade and hatch graphs of combos. plugin-virt draws the strips, on all graphs.
 *
 * A guest cannot see when it does not run: its graph shows its task going on. So the guest's graph
 * fades wherever its vCPU does not execute it, and is hatched where its trace shows nothing.
 */
#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <KsPlotTools.hpp>
#include <KsPlugins.hpp>

#include "KvmCombos.hpp"
#include "VirtKs.hpp"
#include "VirtTasks.hpp"
#include "VirtVeil.hpp"
#include "ks_coverage.h"
#include "ks_rows.h"
#include "ks_stream.h"
#include "kvm_combo.h"

namespace {

/** All of one graph that is faded. */
class Veil : public KsPlot::PlotObject {
public:
	Veil(int x0, int y0, int y1, std::vector<virt_veil_run> &&runs)
	: _x0(x0), _y0(y0), _y1(y1), _runs(std::move(runs)) {}

private:
	void _draw(const KsPlot::Color &, float) const override
	{
		glDisable(GL_POLYGON_SMOOTH);
		virtDrawVeil(_runs, _x0, _y0, _y1);
		glEnable(GL_POLYGON_SMOOTH);
	}

	int				_x0, _y0, _y1;
	std::vector<virt_veil_run>	_runs;
};

/** Of a guest's tasks, in a window. */
constexpr size_t MOST_RUNS = 50000;

/** The times of one graph that its trace does not cover, hatched over KernelShark's lines. */
class Hatch : public KsPlot::PlotObject {
public:
	Hatch(int x0, int y0, int y1, std::vector<ks_gap> &&gaps)
	: _x0(x0), _y0(y0), _y1(y1), _gaps(std::move(gaps)) {}

private:
	void _draw(const KsPlot::Color &, float) const override
	{
		const virt_look *look = virt_state_look(VIRT_UNKNOWN);

		glBegin(GL_QUADS);
		for (const ks_gap &gap : _gaps) {
			VirtRect rect = { _x0 + gap.first, _y0, _x0 + gap.first + gap.n, _y1 };

			virtSetColor(look->color);
			virtAddRect(rect);
			virtSetColor(look->hatch);
			virtAddHatch(rect);
		}
		glEnd();
	}

	int			_x0, _y0, _y1;
	std::vector<ks_gap>	_gaps;
};

/** Looked for once for all frames; nullptr without memory. */
const ks_coverage *coverageOf(const kshark_trace_histo *histo, int streamId)
{
	struct Known {
		ks_rows				rows;
		std::shared_ptr<ks_coverage>	found;
	};
	static std::map<int, Known> known;
	Known &last = known[streamId];
	ks_rows now = ks_rows_of(histo, streamId);

	if (!now.n)
		return nullptr;
	if (!last.found || !ks_rows_same(&last.rows, &now)) {
		last.rows = now;
		last.found.reset(ks_coverage_new(histo->data, histo->data_size, streamId),
				 ks_coverage_free);
	}
	return last.found.get();
}

/** Over what the graph draws, if there is anything. */
template<class Shape, class Part> void pushOver(KsCppArgV *argv, std::vector<Part> parts)
{
	KsPlot::Graph *graph = argv->_graph;

	if (!parts.empty())
		argv->_shapes->push_front(new Shape(graph->bin(0)._base.x(),
						    graph->base() - graph->height() * 7 / 10 - 2,
						    graph->base(), std::move(parts)));
}

void hatchGuest(KsCppArgV *argv, int streamId, int cpu)
{
	const ks_coverage *coverage = coverageOf(argv->_histo, streamId);
	KsPlot::Graph *graph = argv->_graph;
	std::vector<ks_gap> gaps(graph->size());
	virt_pair pair;

	if (!coverage || !virt_pairing_of_cpu(streamId, cpu, &pair))
		return;
	gaps.resize(ks_coverage_gaps(coverage, cpu, argv->_histo->min, argv->_histo->bin_size,
				     graph->size(), gaps.data()));
	pushOver<Hatch>(argv, std::move(gaps));
}

/** Where nothing is known of a vCPU, looked for once; nullptr: wherever it is UNKNOWN. */
const virt_lost *lostOf(int streamId, const VirtModelRef &model, int32_t vcpu)
{
	struct Lost {
		uint64_t			serial = 0;
		std::shared_ptr<virt_lost>	found;
	};
	static std::map<std::pair<int, int32_t>, Lost> known;

	if (!virt_model_is_unsplit(model.get()))
		return nullptr;

	Lost &lost = known[{ streamId, vcpu }];

	if (lost.serial != model.serial()) {
		lost.serial = model.serial();
		lost.found.reset(virt_lost_new(model.get(), vcpu), virt_lost_free);
	}
	return lost.found.get();
}

void fadeGuest(KsCppArgV *argv, int streamId, int cpu)
{
	KsPlot::Graph *graph = argv->_graph;
	virt_pair pair;

	if (!virt_pairing_of_cpu(streamId, cpu, &pair))
		return;

	VirtModelRef model(pair.host_stream);
	int32_t vcpu = model ? virt_model_find_vcpu(model.get(), pair.host_pid) : VIRT_NONE;
	virt_shade_window window = {
		.from_ns = argv->_histo->min - ks_stream_offset(pair.host_stream),
		.column_ns = static_cast<int64_t>(argv->_histo->bin_size),
		.n_columns = graph->size(),
		.n_parts = VIRT_VEIL_STEPS,
	};
	std::vector<virt_veil_run> runs(graph->size());
	int n;

	if (vcpu == VIRT_NONE)
		return;

	std::unique_ptr<int64_t[][VIRT_N_STATES]>
		ns(new int64_t[window.n_columns][VIRT_N_STATES]);

	virt_shade_times(model.get(), vcpu, &window, ns.get());
	n = virt_veil(ns.get(), lostOf(pair.host_stream, model, vcpu), VIRT_VEIL_OFF_GUEST, &window,
		      runs.data());
	runs.resize(std::max(n, 0));
	pushOver<Veil>(argv, std::move(runs));
}

int cpusOf(int streamId)
{
	kshark_context *kshark_ctx = nullptr;
	const kshark_data_stream *stream = kshark_instance(&kshark_ctx) ?
					   kshark_get_data_stream(kshark_ctx, streamId) : nullptr;

	return stream ? stream->n_cpus : 0;
}

/** The same of a guest's task, on any of its CPUs: what they execute while it has them. */
void fadeTask(KsCppArgV *argv, int streamId, int pid)
{
	const KsPlot::Graph *graph = argv->_graph;
	int64_t from = argv->_histo->min, to = from + static_cast<int64_t>(argv->_histo->bin_size) *
						      graph->size();
	auto tasks = virtTasksOf(argv->_histo, streamId);
	std::vector<virt_veil_run> runs(graph->size());
	size_t steps = 0, n_runs;
	virt_pair pair;
	int n;

	std::unique_ptr<int64_t[][VIRT_N_STATES]> ns(new int64_t[graph->size()][VIRT_N_STATES]());
	virt_shade_window window = {
		.from_ns = from,
		.column_ns = static_cast<int64_t>(argv->_histo->bin_size),
		.n_columns = graph->size(),
		.n_parts = VIRT_VEIL_STEPS,
	};

	for (int cpu = 0; tasks && cpu < cpusOf(streamId); cpu++) {
		if (!virt_pairing_of_cpu(streamId, cpu, &pair))
			continue;

		const ks_task_run *all = ks_tasks_runs(tasks.get(), cpu, &n_runs);
		int64_t offset = ks_stream_offset(pair.host_stream);
		VirtModelRef model(pair.host_stream);
		int32_t vcpu = model ? virt_model_find_vcpu(model.get(), pair.host_pid) : VIRT_NONE;
		size_t i = n_runs ? ks_tasks_at(all, n_runs, from) : 0;

		window.from_ns = from - offset;
		for (i = i == n_runs ? 0 : i; i + 1 < n_runs && all[i].from_ns < to; i++) {
			/* with more runs, a column's share says little, and takes long */
			if (++steps > MOST_RUNS)
				return;
			if (all[i].pid == pid && vcpu != VIRT_NONE)
				virt_veil_add(model.get(), vcpu, all[i].from_ns - offset,
					      all[i + 1].from_ns - offset, &window, ns.get());
		}
	}
	n = virt_veil(ns.get(), nullptr, VIRT_VEIL_OFF_GUEST, &window, runs.data());
	runs.resize(std::max(n, 0));
	pushOver<Veil>(argv, std::move(runs));
}

} // namespace

void kvm_combo_draw(struct kshark_cpp_argv *argv_c, int streamId, int value, int drawAction)
{
	KsCppArgV *argv = KS_ARGV_TO_CPP(argv_c);
	KvmCombos *combos = KvmCombos::instance();

	if (!argv->_graph || argv->_graph->size() < 1 || argv->_histo->bin_size < 1)
		return;
	if (combos)
		combos->graphDrawn(argv->_histo, streamId, value, drawAction,
				   argv->_graph->base() - argv->_graph->height(),
				   argv->_graph->base());
	if (!(drawAction & KSHARK_CPU_DRAW)) {
		if (value && KvmCombos::fades())
			fadeTask(argv, streamId, value);
		return;
	}
	/* drawn in the opposite order */
	hatchGuest(argv, streamId, value);
	if ((drawAction & KSHARK_GUEST_DRAW) && KvmCombos::fades())
		fadeGuest(argv, streamId, value);
}
