// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtWhoseBox.cpp
 * @brief	The box that chooses the subject of the page "Why".
 */
#include <algorithm>

#include <QAbstractItemView>
#include <QSignalBlocker>

#include "VirtTasks.hpp"
#include "VirtWhoseBox.hpp"

namespace {

/** Of a guest, of those whose graphs are not seen. */
constexpr int MOST_TASKS = 12;

} // namespace

VirtWhoseBox::VirtWhoseBox(const VirtPlots &plots)
: _plots(plots)
{
	setToolTip(virtTip("Explain the time of the vCPU that is selected in the table, of a pCPU,"
			   " or of a task of a guest whose trace is open"));
	virtNarrowBox(this);
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
	bool many = listed.streams.size() > 1, same;
	QStringList names = { "Selected vCPU" };
	/* a list of lists, which Qt's own kind would make one of */
	std::vector<QVariant> all = { QVariantList() };

	for (const VirtStream &stream : listed.streams) {
		for (int guest : VirtLives::guestsOf(stream)) {
			for (int pid : tasksOf(stream, guest, listed, lives)) {
				names << virtFileOf(guest) + ": " + virtTaskName(guest, pid);
				all.emplace_back(QVariantList{ stream.id, VIRT_NONE, guest, pid });
			}
			/* that one has nothing of this window */
			if (last.toList().value(2, VIRT_NONE) == guest &&
			    std::find(all.begin(), all.end(), last) == all.end()) {
				names << lastName;
				all.push_back(last);
			}
		}
		for (int pcpu = 0; pcpu < virt_model_n_pcpus(stream.model.get()); pcpu++) {
			names << (many ? virtFileOf(stream.id) + ": " : QString()) +
				 QString("pCPU %1").arg(pcpu);
			all.emplace_back(QVariantList{ stream.id, pcpu, VIRT_NONE, 0 });
		}
	}
	same = count() == names.size();
	for (int i = 0; same && i < names.size(); i++)
		same = itemData(i) == all[static_cast<size_t>(i)] && itemText(i) == names[i];
	/* a list that is open is not taken away */
	if (same || view()->isVisible())
		return;
	clear();
	for (int i = 0; i < names.size(); i++)
		addItem(names[i], all[static_cast<size_t>(i)]);
	/* none is behind the last one: then it is the first */
	setCurrentIndex(static_cast<int>((std::find(all.begin(), all.end(), last) - all.begin()) %
					 static_cast<std::ptrdiff_t>(all.size())));
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
