// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtStrips.cpp
 * @brief	Make the overlay of one of KernelShark's graphs from the results of virt_shading.c.
 */
#include <algorithm>
#include <memory>
#include <utility>

#include "VirtFont.hpp"
#include "VirtOverlays.hpp"
#include "VirtStrips.hpp"
#include "VirtVeil.hpp"
#include "virt_colors.h"
#include "virt_text.h"

namespace {

constexpr int MARK_DISTANCE = 10;	/* between two marks of migrations ... */
constexpr int LEAST_TASK = 40;		/* columns; less has no room for its name */
constexpr int MANY_MARKS_DISTANCE = 48;	/* ... if there are many: room for a number, too */

VirtStrip::Label pcpuLabel(const VirtStrip &strip, int64_t from, int64_t to,
			   const std::string &text, const std::string &shorter)
{
	const virt_shade_window &window = strip.window;

	return { strip.area.x0 + static_cast<int>((from - window.from_ns) / window.column_ns),
		 strip.area.x0 + static_cast<int>((to - window.from_ns) / window.column_ns),
		 text, shorter, false, true };
}

/** A vCPU on a pCPU: its name, and the tasks that it executes there, as far as there is room. */
void addVcpuOnPcpu(VirtStrip &strip, const VirtNames &names, const VirtTasks &tasks, int32_t vcpu,
		   int64_t from, int64_t to)
{
	int64_t column = strip.window.column_ns;
	std::string name = names.vcpu(strip.streamId, vcpu).toStdString();
	std::vector<VirtTasks::Part> parts =
		tasks.parts(strip.streamId, virt_model_vcpu(strip.model.get(), vcpu)->host_pid,
			    from + strip.offset, to + strip.offset, LEAST_TASK * column,
			    static_cast<size_t>((to - from) / column) + 1);

	for (const VirtTasks::Part &part : parts)
		strip.labels.push_back(pcpuLabel(strip, part.from - strip.offset,
						 part.to - strip.offset,
						 name + ": " + part.task.toStdString(), name));
	if (parts.empty())
		strip.labels.push_back(pcpuLabel(strip, from, to, name, ""));
}

/** The owner of a stretch of a pCPU. */
void addPcpuLabels(VirtStrip &strip, const VirtNames &names, const VirtTasks &tasks)
{
	const virt_shade_window &window = strip.window;
	int64_t end = window.from_ns + window.column_ns * window.n_columns;
	virt_occupant_range range =
		virt_pcpu_occupants(strip.model.get(), strip.id, window.from_ns, end);

	if (range.n > static_cast<size_t>(window.n_columns))
		return;
	for (size_t i = 0; i < range.n; i++) {
		const virt_occupant *occupant = &range.first[i];
		int64_t from = std::max(occupant->start_ns, window.from_ns);
		int64_t to = std::min(i + 1 < range.n ? occupant[1].start_ns : range.end_ns, end);

		if (virt_model_vcpu(strip.model.get(), occupant->vcpu) && to > from)
			addVcpuOnPcpu(strip, names, tasks, occupant->vcpu, from, to);
	}
}

/** Who had the pCPU of a preempted vCPU, most time first; those with less than 1 % are left out. */
std::string preemptedBy(const VirtStrip &strip, const VirtNames &names,
			const virt_interval *interval, int64_t end)
{
	constexpr size_t most = 3;
	const virt_model *model = strip.model.get();
	virt_culprit culprits[most];
	size_t n = virt_vcpu_culprits(model, strip.id, interval->start_ns, end, culprits, most);
	std::string text = "preempted";

	for (size_t i = 0; i < std::min(n, most); i++)
		if (culprits[i].ns >= (end - interval->start_ns) / 100 &&
		    culprits[i].vcpu != VIRT_NONE)
			text += (text == "preempted" ? " by " : ", ") +
				names.vcpu(strip.streamId, culprits[i].vcpu).toStdString();
	return text;
}

/** What an interval is: who preempted, or why the exit was. */
VirtStrip::Label vcpuLabel(const VirtStrip &strip, const VirtNames &names,
			   const virt_interval *interval, int64_t end)
{
	const virt_model *model = strip.model.get();
	const virt_look *look = virt_state_look_in(model, static_cast<virt_state>(interval->state));
	VirtStrip::Label label = { 0, 0, look->title, "",
				   virt_color_text_is_dark(look->color), false };

	if (interval->state == VIRT_PREEMPTED) {
		label.shorter = "preempted";
		label.text = preemptedBy(strip, names, interval, end);
	} else if (virt_state_on_pcpu(interval->state) && interval->state != VIRT_GUEST &&
		   interval->detail != VIRT_NONE) {
		label.shorter = virtShown(virt_text_reason(model, interval->detail)).toStdString();
		label.text += ": " + label.shorter;
	}
	return label;
}

/** Names of the stretches that are one interval of a vCPU, as far as can be seen. */
void addVcpuLabels(VirtStrip &strip, const VirtNames &names)
{
	constexpr int least = 2 * VIRT_FONT_SIZE;
	const virt_model *model = strip.model.get();

	for (const virt_shade_run &run : strip.runs) {
		int state = virt_shade_at(&run, 0);
		int64_t end, middle = strip.window.from_ns +
			(2 * run.first + run.n) * strip.window.column_ns / 2;
		const virt_interval *interval;

		if (run.n < least || run.parts[state] < strip.window.n_parts ||
		    state == VIRT_SHADE_NOTHING)
			continue;
		interval = virt_vcpu_at(model, strip.id, middle, &end);
		if (!interval || interval->state != state)
			continue;

		VirtStrip::Label label = vcpuLabel(strip, names, interval, end);

		label.x0 = strip.area.x0 + run.first;
		label.x1 = label.x0 + run.n;
		if (state == VIRT_HYPERVISOR && strip.isCombo)
			label.dark = virt_color_text_is_dark(virt_exit_class_color(
				virt_model_reason_class(model, interval->detail)));
		strip.labels.push_back(label);
	}
}

/** The marks of migrations, beside the markers of moments. */
void addMarks(VirtStrip &strip)
{
	constexpr int size = VirtStrip::MARK_SIZE;
	const virt_shade_room room = { MARK_DISTANCE, MANY_MARKS_DISTANCE, MARK_DISTANCE,
				       strip.pins.data(), strip.pins.size() };
	std::vector<virt_shade_mark> marks(strip.window.n_columns / MARK_DISTANCE + 1);
	int n = virt_shade_migrations(strip.model.get(), strip.id, &strip.window, &room,
				      marks.data(), static_cast<int>(marks.size()));

	for (int i = 0; i < n; i++) {
		const virt_migration *migration = marks[i].migration;
		VirtStrip::Mark mark = { marks[i], "", {}, strip.area.x0 + marks[i].column, 0 };

		mark.y = strip.isCombo ? strip.base - 2 * size : strip.base + 3;
		mark.label = marks[i].n > 1 ? std::to_string(marks[i].n) + "x" :
			std::to_string(migration->from) + " > " + std::to_string(migration->to);
		mark.area = { mark.x - size - 1, mark.y - 1, mark.x + size + 2,
			      mark.y + 2 * size + 1 };
		strip.marks.push_back(mark);
	}
}

/** KernelShark shows the thread as busy while it waits. */
void addVeil(VirtStrip &strip, const int64_t (*ns)[VIRT_N_STATES])
{
	virt_shade_window window = strip.window;
	int n;

	window.n_parts = VIRT_VEIL_STEPS;
	strip.veil.resize(window.n_columns);
	n = virt_veil(ns, nullptr, VIRT_VEIL_OFF_PCPU, &window, strip.veil.data());
	strip.veil.resize(std::max(n, 0));
}

/**
 * Nor does KernelShark know where records are lost, or the trace of a pCPU has ended. Of a trace
 * that is not split, what is not known has bars of its own.
 */
void addPcpuVeil(VirtStrip &strip)
{
	if (virt_model_is_unsplit(strip.model.get()))
		return;
	for (const virt_shade_run &run : strip.runs) {
		int steps = run.parts[VIRT_UNKNOWN] * VIRT_VEIL_STEPS / strip.window.n_parts;

		if (run.parts[VIRT_UNKNOWN])
			strip.veil.push_back({ run.first, run.n,
					       static_cast<uint8_t>(std::max(steps, 1)) });
	}
}

/** What the columns of a vCPU's graph show. Return: number of runs. */
int addVcpuRuns(VirtStrip &strip)
{
	std::unique_ptr<int64_t[][VIRT_N_STATES]>
		ns(new int64_t[strip.window.n_columns][VIRT_N_STATES]);

	virt_shade_times(strip.model.get(), strip.id, &strip.window, ns.get());
	addVeil(strip, ns.get());
	return virt_shade_runs(&strip.window, ns.get(), strip.runs.data());
}

/** What the graph's columns show. */
void addRuns(VirtStrip &strip)
{
	const virt_model *model = strip.model.get();
	int n;

	strip.runs.resize(strip.window.n_columns);
	n = strip.isPcpu ? virt_shade_pcpu(model, strip.id, &strip.window, strip.runs.data()) :
			   addVcpuRuns(strip);
	strip.runs.resize(std::max(n, 0));
	if (strip.isPcpu)
		addPcpuVeil(strip);
	if (!strip.isCombo || strip.isPcpu)
		return;
	strip.exits.resize(strip.window.n_columns);
	n = virt_shade_exits(model, strip.id, &strip.window, strip.runs.data(),
			     static_cast<int>(strip.runs.size()), strip.exits.data());
	strip.exits.resize(n);
}

} // namespace

bool virtMakeStrip(VirtGraph &&graph, const VirtNames &names, const VirtTasks &tasks,
		   std::vector<virt_shade_taken> &&pins, VirtStrip &strip)
{
	static_cast<VirtGraph &>(strip) = std::move(graph);
	if (strip.isPcpu ? strip.id >= virt_model_n_pcpus(strip.model.get()) :
			   !virt_model_vcpu(strip.model.get(), strip.id))
		return false;
	strip.area = { strip.x0, strip.top, strip.x0 + strip.window.n_columns, strip.bottom };
	strip.window.n_parts = strip.bottom - strip.top;
	/* in a combo they are elsewhere */
	if (!strip.isCombo)
		strip.pins = std::move(pins);
	addRuns(strip);
	if (VirtOverlays::isShown(VIRT_OVERLAY_LABELS))
		strip.isPcpu ? addPcpuLabels(strip, names, tasks) : addVcpuLabels(strip, names);
	if (!strip.isPcpu && VirtOverlays::isShown(VIRT_OVERLAY_MIGRATIONS))
		addMarks(strip);
	return true;
}
