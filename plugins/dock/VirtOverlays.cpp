// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtOverlays.cpp
 * @brief	The dock's check boxes for the overlays on KernelShark's graphs.
 */
#include <QCheckBox>

#include "VirtFlow.hpp"
#include "VirtOverlays.hpp"

namespace {

struct OverlayInfo {
	const char	*key;
	const char	*title;
	const char	*meaning;
};

const OverlayInfo overlayInfo[VIRT_N_OVERLAYS] = {
	{ "pcpus", "CPU graphs", "Shade CPU graphs by the state of the vCPU that runs there" },
	{ "vcpus", "vCPU graphs", "Shade task graphs of vCPUs by their states" },
	{ "migrations", "Migrations", "Mark migrations below task graphs of vCPUs" },
	{ "arrows", "Arrows", "Arrows between CPU graphs for migrations, if there is room" },
	{ "wakeups", "Wakers", "Arrows from the vCPU or task that wakes a vCPU to its graph, or"
	  " to that of the pCPU that it runs on, if there is room" },
	{ "selected", "Only selected", "Arrows of the selected vCPU or machine only; none without a"
	  " selection" },
	{ "labels", "Names", "Write names into long stretches" },
	{ "inside", "Guests", "Over the CPU graphs of guests that report their activity through"
	  " hypercalls: their system calls, functions, interrupts and levels of the boot. Levels"
	  " and initcalls also from a guest's own trace; marks at the axis where levels begin" },
	{ "why", "Why", "The result of the page Why, over the graphs of its subject and of the"
	  " culprits" },
};

bool overlayShown[VIRT_N_OVERLAYS] = {
	true, true, true, true, true, true, true, true, true,
};

QString settingOf(int overlay)
{
	return QString("overlays/") + overlayInfo[overlay].key;
}

} // namespace

VirtOverlays::VirtOverlays(const std::function<void()> &changed)
{
	constexpr int inRow = 3;
	auto layout = new VirtFlow(this, inRow);

	for (int i = 0; i < VIRT_N_OVERLAYS; i++) {
		auto check = new QCheckBox(overlayInfo[i].title);

		check->setObjectName(overlayInfo[i].key);
		check->setToolTip(overlayInfo[i].meaning);
		connect(check, &QCheckBox::toggled, this, [i, changed] (bool on) {
			overlayShown[i] = on;
			changed();
		});
		layout->addWidget(check);
		_checks[i] = check;
	}
}

bool VirtOverlays::isShown(VirtOverlay overlay)
{
	return overlayShown[overlay];
}

void VirtOverlays::restore(const QSettings &settings)
{
	for (int i = 0; i < VIRT_N_OVERLAYS; i++) {
		overlayShown[i] = settings.value(settingOf(i), true).toBool();
		_checks[i]->blockSignals(true);
		_checks[i]->setChecked(overlayShown[i]);
		_checks[i]->blockSignals(false);
	}
}

void VirtOverlays::save(QSettings *settings) const
{
	for (int i = 0; i < VIRT_N_OVERLAYS; i++)
		settings->setValue(settingOf(i), overlayShown[i]);
}
