/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtOverlays.hpp
 * @brief	The dock's check boxes for the overlays on KernelShark's graphs.
 */
#ifndef KSHARK_VIRT_VIRTOVERLAYS_HPP
#define KSHARK_VIRT_VIRTOVERLAYS_HPP

#include <functional>

#include <QSettings>
#include <QWidget>

class QCheckBox;

/** What is drawn over KernelShark's graphs. */
enum VirtOverlay {
	VIRT_OVERLAY_PCPUS,
	VIRT_OVERLAY_VCPUS,
	VIRT_OVERLAY_MIGRATIONS,
	VIRT_OVERLAY_ARROWS,
	VIRT_OVERLAY_WAKEUPS,
	VIRT_OVERLAY_SELECTED,
	VIRT_OVERLAY_LABELS,
	VIRT_OVERLAY_INSIDE,
	VIRT_OVERLAY_WHY,
	VIRT_N_OVERLAYS
};

class VirtOverlays : public QWidget {
public:
	/** @changed: is called after a user has changed something. */
	explicit VirtOverlays(const std::function<void()> &changed);

	/** Is an overlay to be drawn? */
	static bool isShown(VirtOverlay overlay);

	void restore(const QSettings &settings);
	void save(QSettings *settings) const;

private:
	QCheckBox	*_checks[VIRT_N_OVERLAYS];
};

#endif
