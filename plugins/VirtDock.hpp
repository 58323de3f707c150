/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtDock.hpp
 * @brief	The Virtualization dock: numbers of the visible window, legend, overlays.
 *
 * Plain Qt. Of KernelShark it uses exported functions only and never the layout of a class that is
 * not in libkshark-dev.
 */
#ifndef KSHARK_VIRT_VIRTDOCK_HPP
#define KSHARK_VIRT_VIRTDOCK_HPP

#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include <QDockWidget>
#include <QMainWindow>
#include <QPointer>
#include <QSettings>
#include <QThreadPool>
#include <QTimer>

#include <libkshark-model.h>

#include "VirtKs.hpp"
#include "virt_stats.h"

class QCheckBox;
class QLabel;
class QPushButton;
class QTreeWidget;
class QTreeWidgetItem;
class VirtClocks;

/** What is drawn over KernelShark's graphs. */
enum VirtOverlay {
	VIRT_OVERLAY_PCPUS,
	VIRT_OVERLAY_VCPUS,
	VIRT_OVERLAY_MIGRATIONS,
	VIRT_OVERLAY_ARROWS,
	VIRT_OVERLAY_LABELS,
	VIRT_N_OVERLAYS
};

class VirtDock : public QDockWidget {
public:
	explicit VirtDock(QMainWindow *window);
	~VirtDock() override;

	/** The dock of this process, made if there is a main window; or nullptr. */
	static VirtDock *instance();

	/** Is an overlay to be drawn? */
	static bool isShown(VirtOverlay overlay);

	/** A graph has been drawn; called often. @base: its base line in the widget. */
	void graphDrawn(kshark_trace_histo *histo, int streamId, bool isTask, int id, int base);

	/** A user has asked about something: say it, and set the markers around it. */
	void tell(const QString &text, int64_t fromNs, int64_t toNs);

private:
	friend class VirtMarkers;
	struct Job;

	void buildUi();
	QWidget *buildLegend();
	QWidget *buildExitLegend();
	QWidget *buildOverlays();
	void restoreSettings();
	void saveSettings();
	void addMenuEntry();
	void schedule();
	void refresh();
	void adopt(const std::shared_ptr<Job> &job);
	void rebuildTree(const std::vector<VirtStream> &streams);
	void fillItem(QTreeWidgetItem *item, const VirtStream &stream, const virt_stats &stats,
		      double seconds);
	void hideEmptyColumns(const std::vector<VirtStream> &streams);
	void showDetails();
	void clicked(QTreeWidgetItem *item);
	void goToWorst(QTreeWidgetItem *item, bool zoom);
	void mark(int64_t fromNs, int64_t toNs);
	void setWindow(int64_t fromNs, int64_t toNs);
	void redrawGraphs();
	std::pair<int64_t, int64_t> visible() const;

	QMainWindow		*_window;
	kshark_trace_histo	*_histo = nullptr;
	QTimer			_timer;
	QThreadPool		_pool;
	std::shared_ptr<Job>	_running, _shown;
	QString			_told;		/* last, and for which window it is shown */
	std::pair<int64_t, int64_t>	_toldWindow = { 0, 0 };
	bool			_again = false;
	bool			_everShown = false;
	std::vector<uint64_t>	_serials;	/* of the models in the tree */

	VirtClocks		*_clocks = nullptr;
	QTreeWidget		*_tree = nullptr;
	QLabel			*_head = nullptr, *_details = nullptr;
	QPushButton		*_markWorst = nullptr, *_zoomWorst = nullptr;

	std::set<std::pair<int, int>>	_tasks, _tasksBefore;	/* drawn: stream, pid */
	std::pair<int, int>		_reveal = { -1, -1 };
};

#endif
