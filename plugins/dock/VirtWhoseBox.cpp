// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtWhoseBox.cpp
 * @brief	The box that chooses the subject of the page "Why".
 */
#include <algorithm>

#include <QSignalBlocker>

#include "VirtTasks.hpp"
#include "VirtWhoseBox.hpp"

namespace {

/** Of a guest, of those whose graphs are not seen. */
constexpr int MOST_TASKS = 12;

} // namespace

VirtWhoseBox::VirtWhoseBox(const VirtPlots &plots)
: VirtBox("Explain the time of the vCPU that is selected in the table, of a pCPU,"
	  " or of a task of a guest whose trace is open"),
  _plots(plots)
{
}

/** Tasks of a guest whose graphs are seen, and those that have most of the window. */
std::vector<int> VirtWhoseBox::tasksOf(const VirtStream &stream, int guest,
				       const VirtListed &listed, VirtLives &lives) const
{
	std::vector<int> pids = _plots.tasksOf(guest);
	auto known = lives.of(stream, false);
	int index = known ? known->guestOf(guest) : -1;
	int32_t busiest[MOST_TASKS];
	ssize_t n = index < 0 ? 0 :
		    virt_guest_busiest(&known->guests.all[index], listed.from - stream.offset,
				       listed.to - stream.offset, busiest, MOST_TASKS);

	for (ssize_t i = 0; i < n; i++) {
		int pid = known->guests.all[index].tasks[busiest[i]].pid;

		if (std::find(pids.begin(), pids.end(), pid) == pids.end())
			pids.push_back(pid);
	}
	pids.erase(std::remove(pids.begin(), pids.end(), 0), pids.end());
	return pids;
}

void VirtWhoseBox::fill(const VirtListed &listed, VirtLives &lives)
{
	const QSignalBlocker blocker(this);
	QVariant last = currentData();
	QString lastName = currentText();
	bool many = listed.streams.size() > 1;
	/* a list of lists, which Qt's own kind would make one of */
	Rows rows = { { "Selected vCPU", QVariantList() } };
	auto indexOf = [&rows] (const QVariant &data) {
		return std::find_if(rows.begin(), rows.end(), [&data] (const auto &row) {
			return row.second == data;
		}) - rows.begin();
	};
	auto has = [&] (const QVariant &data) {
		return indexOf(data) < static_cast<std::ptrdiff_t>(rows.size());
	};

	for (const VirtStream &stream : listed.streams) {
		for (int guest : VirtLives::guestsOf(stream)) {
			QString file = virtFileOf(guest) + ": ";

			for (int pid : tasksOf(stream, guest, listed, lives))
				rows.emplace_back(file + virtTaskName(guest, pid),
						  QVariantList{ stream.id, VIRT_NONE, guest, pid });
			/* that one has nothing of this window */
			if (last.toList().value(2, VIRT_NONE) == guest && !has(last))
				rows.emplace_back(lastName, last);
		}
		for (int pcpu = 0; pcpu < virt_model_n_pcpus(stream.model.get()); pcpu++)
			rows.emplace_back((many ? virtFileOf(stream.id) + ": " : QString()) +
					  QString("pCPU %1").arg(pcpu),
					  QVariantList{ stream.id, pcpu, VIRT_NONE, 0 });
	}
	if (setRows(rows))
		setCurrentIndex(has(last) ? static_cast<int>(indexOf(last)) : 0);
}

VirtWhose VirtWhoseBox::chosen() const
{
	QVariantList data = currentData().toList();
	VirtWhose whose;

	if (data.size() != 4)
		return whose;
	whose.stream = data[0].toInt();
	whose.pcpu = data[1].toInt();
	whose.guest = data[2].toInt();
	whose.pid = data[3].toInt();
	return whose;
}

/** What is not listed yet stays if fill() finds that it can be there. */
void VirtWhoseBox::choose(const VirtWhose &whose)
{
	const QSignalBlocker blocker(this);
	QVariant data = QVariantList{ whose.stream, whose.pcpu, whose.guest, whose.pid };
	int at = whose.stream == VIRT_NONE ? 0 : -1;

	for (int i = 0; i < count() && at < 0; i++)
		if (itemData(i) == data)
			at = i;
	if (at < 0) {
		addItem(whose.guest == VIRT_NONE ? QString("pCPU %1").arg(whose.pcpu) :
			virtFileOf(whose.guest) + ": " + virtTaskName(whose.guest, whose.pid),
			data);
		at = count() - 1;
	}
	setCurrentIndex(at);
}
