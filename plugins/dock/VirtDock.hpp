/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtDock.hpp
 * @brief	What the window has for virtual machines, and how it follows the visible time. This
 *		dock itself has the details, beside the graphs.
 *
 * Plain Qt. It uses only exported functions of KernelShark, and never the layout of a class that is
 * not in libkshark-dev.
 */
#ifndef KSHARK_VIRT_VIRTDOCK_HPP
#define KSHARK_VIRT_VIRTDOCK_HPP

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <QDockWidget>
#include <QMainWindow>
#include <QTimer>

#include <libkshark-model.h>

#include "VirtCount.hpp"
#include "VirtFact.hpp"
#include "VirtLayout.hpp"
#include "VirtPlots.hpp"
#include "VirtReopen.hpp"
#include "VirtSession.hpp"
#include "VirtView.hpp"
#include "VirtWorker.hpp"
#include "virt_worst.h"

class QAction;
class QLabel;
class QPushButton;
class QScrollArea;
class QTreeWidgetItem;
class VirtAxis;
class VirtBookmarks;
class VirtBoot;
class VirtClocks;
class VirtColumn;
class VirtExits;
class VirtTables;
class VirtFindings;
template <typename View> class VirtList;
class VirtNotes;
class VirtOverlays;
class VirtOverview;
class VirtPages;
class VirtPicture;
class VirtSearch;
class VirtSection;
class VirtSelection;
class VirtSpread;
class VirtSteal;
class VirtTable;
class VirtWhy;
struct VirtChosen;
struct VirtWhyTree;
struct virt_shade_hit;

class VirtDock : public QDockWidget {
public:
	/** @isRestored: a session has set the sizes of the window's parts */
	VirtDock(QMainWindow *window, bool isRestored);
	~VirtDock() override;

	/** The dock of this process, made if there is a main window; or nullptr. */
	static VirtDock *instance();

	/** A graph has been drawn; called often. @x0, @base: its first column and base line. */
	void graphDrawn(kshark_trace_histo *histo, int streamId, bool isTask, int id, int x0,
			int base);

	/** A user has asked about something: show it, and set the markers around it. */
	void showFact(const VirtFact &fact);

	/** This vCPU is selected: table, details and pages follow. VIRT_NONE: nothing happens. */
	void select(int streamId, int32_t vcpu);

	/** The selected vCPU; VIRT_NONE in it: none is. */
	VirtSubject selected() const;

	/** Which graphs are seen. */
	VirtPlots &plots() { return _plots; }

	/** The time that they show. */
	VirtView &view() { return _view; }

	/**
	 * A vCPU has been chosen in the overview: bring its graph between that of its pCPU and that
	 * of what took the pCPU, and below them that of the guest's CPU. @again: zoom to what is
	 * there, and describe it.
	 */
	void bring(const VirtChosen &chosen, bool again);

	/** The graph of a moment's vCPU and of its culprit, if it is not seen. */
	void bring(const VirtStream &stream, const virt_moment &moment);

	/** These graphs, and scroll to the first one. */
	void bringRows(const VirtWish &rows);

	/** The pid of a vCPU or task; 0: it has none. */
	static int pidOf(const virt_model *model, int32_t who);

	/** Where marker 0 (A) or 1 (B) is. Return: false if it is not set. */
	bool markerTime(int marker, int64_t *ns) const;

	/** The markers A and B, the earlier one first. Return: false if one is not set. */
	bool markedTime(int64_t *fromNs, int64_t *toNs) const;

	/** Show and mark the state of the selected vCPU after marker B, or before marker A. */
	void showNextState(bool forward);

	/** Show the page "Search", and let the user type there. */
	void search();

	/** Note a time, that at the pointer or the one that is selected, and let the user type. */
	void bookmark();

	/** In order of time. */
	const std::vector<VirtBookmark> &bookmarks() const;

	/** How bookmarks are drawn over other things than graphs. */
	const VirtBookmarks &bookmarksPage() const { return *_bookmarks; }

	/** What the page "Why" shows, as long as it is seen; or nullptr. */
	const VirtWhyTree *why() const;

protected:
	bool eventFilter(QObject *object, QEvent *event) override;
	void resizeEvent(QResizeEvent *event) override;
	void closeEvent(QCloseEvent *event) override;

private:
	friend class VirtMarkers;

	void buildUi();
	void addSections();
	void place();
	void turn(bool on);
	void want(const char *key, bool on);
	void showParts();
	void closed(const char *key);
	void fit();
	void restoreSettings();
	void saveSettings();
	void addMenus();
	void schedule();
	void appear();
	void empty();
	void forget();
	bool prepare(const std::shared_ptr<VirtCount> &job);
	void refresh();
	QWidget *line();
	QWidget *copyButton();
	QWidget *tablePage();
	struct VirtListed listed() const;
	void follow();
	void adopt(const std::shared_ptr<VirtCount> &job);
	VirtCount::Found find(const QTreeWidgetItem *item) const;
	void showDetails();
	void clicked(const QTreeWidgetItem *item);
	void goToWorst(const QTreeWidgetItem *item, bool zoom);
	void mark(int64_t fromNs, int64_t toNs);
	void showSearch();
	void bringGuest(const VirtChosen &chosen);
	int culpritPid(const VirtChosen &chosen, const virt_shade_hit *hit) const;
	void showInterval(const VirtChosen &chosen, const virt_shade_hit &hit);
	VirtBookmarks *newBookmarks();
	std::pair<int64_t, int64_t> here() const;
	void goTo(const VirtBookmark &one);
	void lookAtSession(bool areNew);
	void restore();
	void keep();
	VirtSeen seen() const;
	void chooseWhy();
	QString reportCommand() const;
	QString viewCommand() const;

	QMainWindow		*_window;
	VirtPlots		_plots;
	VirtView		_view;
	QTimer			_timer;
	VirtWorker		_worker;
	std::unique_ptr<VirtBoot> _boot;
	std::shared_ptr<VirtCount>	_running, _shown;
	QString			_factText;		/* last, and for which window it is shown */
	std::pair<int64_t, int64_t>	_factWindow = { 0, 0 };
	/* stream and vCPU whose state showNextState() has shown, and when it begins and ends */
	std::pair<int, int>	_stateOf = { VIRT_NONE, VIRT_NONE };
	std::pair<int64_t, int64_t> _stateSpan = { 0, 0 };
	std::vector<uint64_t>	_serials;	/* of the models that have been seen last */
	bool			_again = false;
	bool			_everShown = false;
	bool			_isOn = false;		/* parts of the window are ours */
	bool			_isFirstTime = false;	/* of this user: colours are explained */

	int			_userWidth = 0;		/* the user has chosen it; 0: not yet */
	int			_userHeight = 0;	/* of the lanes; the same */
	/* for which all fits */
	int			_upperHeight = 0, _lanesHeight = 0, _graphsHeight = 0;
	bool			_isFitLate = false;	/* a file was being loaded */
	VirtSession		_session;
	VirtReopen		_reopen;
	bool			_isReopening = false;	/* its graphs are not there yet */
	bool			_isWhyLate = false;	/* nor what its page "Why" is about */
	VirtSeen		_restored;		/* by a session */
	bool			_isRestoring = false;	/* and is not seen yet */
	QWidget			*_top;			/* notes and what is loaded */
	VirtAxis		*_axis = nullptr;
	VirtBookmarks		*_bookmarks = nullptr;
	VirtNotes		*_notes = nullptr;
	VirtClocks		*_clocks = nullptr;
	VirtColumn		*_column = nullptr;	/* of the details */
	VirtOverlays		*_overlays = nullptr;
	VirtOverview		*_overview = nullptr;
	VirtPages		*_pages = nullptr;
	std::unique_ptr<VirtLayout> _layout;
	QAction			*_on = nullptr;
	VirtTable		*_table = nullptr;
	VirtExits		*_exits = nullptr;
	VirtTables		*_tables = nullptr;
	VirtFindings		*_findings = nullptr;
	VirtPicture		*_picture = nullptr;
	VirtSearch		*_search = nullptr;
	VirtSpread		*_spread = nullptr;
	VirtSteal		*_steal = nullptr;
	VirtSelection		*_selection = nullptr;
	VirtWhy			*_why = nullptr;
	QLabel			*_details = nullptr;
	VirtList<QScrollArea>	*_detailArea = nullptr;
	std::vector<VirtSection *>	_sections;	/* clocks first */
	QPushButton		*_markWorst = nullptr, *_zoomWorst = nullptr;

	std::pair<int, int>		_reveal = { -1, -1 };
};

#endif
