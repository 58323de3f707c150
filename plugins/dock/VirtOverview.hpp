/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtOverview.hpp
 * @brief	The overview: a lane for each vCPU of all machines in the visible window.
 */
#ifndef KSHARK_VIRT_VIRTOVERVIEW_HPP
#define KSHARK_VIRT_VIRTOVERVIEW_HPP

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <QAbstractScrollArea>
#include <QDockWidget>

#include "VirtKs.hpp"
#include "virt_lanes.h"

class QComboBox;
class QLabel;
class QLineEdit;
class VirtDock;
class VirtHostStrip;
class VirtMinimap;
class VirtTicks;
class VirtView;

/** A vCPU, and where on its lane; times are its model's. */
struct VirtChosen {
	VirtStream	stream;
	int32_t		vcpu;
	int64_t		fromNs, toNs;	/* the column */
	int		state;		/* that is drawn there; VIRT_SHADE_NOTHING: no time */
};

/**
 * The lanes themselves, with a time axis and a map of the whole trace above them that do not
 * scroll. Only those lanes that are seen are worked out, once per window.
 */
class VirtLanes : public QAbstractScrollArea {
public:
	/** What happens when ... */
	struct Reactions {
		/* others are wanted or selected, or there are others */
		std::function<void()>	changed;
		/* a place has been clicked on, once or twice */
		std::function<void(const VirtChosen &chosen, bool again)> chosen;
	};

	/** @view: stays; below @graphs' columns, lanes have the same ones */
	VirtLanes(VirtView *view, const QWidget *graphs, Reactions reactions);

	/** What they need for all of their rows. */
	int fullHeight() const;

	/** The window that is seen. Return: are they other machines and vCPUs than before? */
	bool follow(const std::vector<VirtStream> &streams, int64_t from, int64_t to);

	/** What is drawn over all lanes: @area has the time that is seen. */
	void setOver(std::function<void(QPainter *painter, const QRect &area)> over)
	{
		_over = std::move(over);
	}

	void setOrder(virt_lane_order order);
	void setFilter(const QString &filter);
	void selectAll();

	/** Numbers of vCPUs: of all lanes, of those that are shown, of those selected. */
	struct Numbers { size_t all, shown, selected; };
	Numbers numbers() const;

	/** Global indices of the selected vCPUs, from the top, by stream. */
	std::map<int, std::vector<int32_t>> selected() const;

	QSize sizeHint() const override { return { 0, 0 }; }

protected:
	void paintEvent(QPaintEvent *event) override;
	void resizeEvent(QResizeEvent *event) override;
	void mousePressEvent(QMouseEvent *event) override;
	void mouseDoubleClickEvent(QMouseEvent *event) override;
	void keyPressEvent(QKeyEvent *event) override;
	bool viewportEvent(QEvent *event) override;

private:
	/** What is below the mouse. */
	struct Place {
		size_t	row;
		int	column, state;
	};

	void rebuild();
	void arrange();
	void choose(size_t row, Qt::KeyboardModifiers keys);
	bool find(const QPoint &at, Place *place);
	void fold(size_t row, bool folded);
	int rowHeight() const;
	int badnessWidth() const;
	bool placeAsGraphs(int *left, int *width) const;
	QRect bar() const;
	void placeHead();
	int headHeight() const;
	void makeRoom();
	virt_shade_window window(const VirtStream &stream) const;
	const VirtStream *streamOf(const virt_lane &lane) const;
	const std::vector<virt_shade_run> &shape(size_t lane);
	void paintLane(QPainter *painter, size_t row, int y);
	void paintBar(QPainter *painter, size_t lane, const QRect &area);
	QString badness(const virt_lane &lane) const;
	VirtChosen chosen(const Place &place) const;
	QString tip(const Place &place) const;

	VirtView			*_view;
	const QWidget			*_graphs;
	VirtMinimap			*_map;
	VirtTicks			*_ticks;
	VirtHostStrip			*_host;
	Reactions			_reactions;
	std::function<void(QPainter *, const QRect &)> _over;
	std::vector<VirtStream>		_streams;
	std::vector<uint64_t>		_serials;	/* what the lanes are of */
	int64_t				_from = 0, _to = 0;
	std::vector<virt_lane>		_lanes;
	std::vector<std::string>	_names;		/* that they point to */
	std::vector<size_t>		_rows;		/* lanes that are shown, from the top */
	std::set<size_t>		_selected;	/* lanes */
	std::map<size_t, std::vector<virt_shade_run>> _shapes;	/* of lanes, as wide as they are */
	size_t				_current = 0;	/* row */
	int				_nameWidth = 0;
	QRect				_bar;		/* that the shapes are made for */
	virt_lane_order			_order = VIRT_LANES_BY_MACHINE;
	std::string			_filter;
};

/** The dock around it, above the graphs if the user does not move it. */
class VirtOverview : public QDockWidget {
public:
	VirtOverview(QMainWindow *window, VirtDock *dock);

	/** The height in which all lanes are seen; and some of them. */
	int fullHeight() const;

	void follow(const std::vector<VirtStream> &streams, int64_t from, int64_t to);

	/** Draw the lanes anew. */
	void redraw() { _lanes->viewport()->update(); }

private:
	QWidget *head();
	void showNumbers();
	void plot(bool only);

	VirtDock	*_dock;
	VirtLanes	*_lanes;
	QLineEdit	*_filter;
	QComboBox	*_order;
	QLabel		*_note;
};

#endif
