/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtSearch.hpp
 * @brief	The dock's page that finds the next state or VM exit of at least a given length.
 */
#ifndef KSHARK_VIRT_VIRTSEARCH_HPP
#define KSHARK_VIRT_VIRTSEARCH_HPP

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <QWidget>

#include "VirtKs.hpp"
#include "VirtWorker.hpp"
#include "virt_search.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QSpinBox;
class VirtDock;

/** Where one is among all streams: those that come first there are the first of the same ns. */
struct VirtPlace {
	int64_t			time = 0;	/* as KernelShark shows it */
	int			stream = 0;	/* id */
	virt_search_place	within = {};	/* its time is the stream's own */
};

/** A search, in a thread. */
struct VirtSearchJob : VirtJob {
	/** A stream, and what of it is searched. */
	struct Part {
		VirtStream		stream;
		std::vector<int32_t>	of;
		int32_t			reason;
	};

	std::vector<Part>	parts;
	int			what = 0;
	int64_t			least = 0;
	bool			forward = true;
	bool			isCounting = false;	/* found; how many are there? */
	VirtPlace		from;

	bool			isFound = false;
	size_t			part = 0;	/* where */
	virt_search_hit		hit = {};
	int64_t			n = 0, before = 0;	/* how many there are, and before it */

	void work() override;

private:
	virt_search query(const Part &one);
	static virt_search_place placeIn(const VirtStream &stream, const VirtPlace &place);
	bool isNearer(size_t i, const virt_search_hit &other) const;
	void find();
	void count();
};

class VirtSearch : public QWidget {
public:
	/** @appear: the user searches by the keyboard, show this page and the dock */
	VirtSearch(QMainWindow *window, VirtDock *dock, std::function<void()> appear);
	~VirtSearch() override;

	/** Put the keyboard's focus on the first field. */
	void begin();

	/** These streams are open; their exit reasons can be chosen. */
	void follow(const std::vector<VirtStream> &streams);

private:
	void buildUi();
	void restore();
	void save();
	void chosen();
	void changed();
	void step(bool forward);
	void start(const std::shared_ptr<VirtSearchJob> &job);
	void adopt(const VirtSearchJob &job);
	static QString textOf(const VirtSearchJob &job);
	void go(const VirtSearchJob &job);

	QMainWindow		*_window;
	VirtDock		*_dock;
	std::function<void()>	_appear;
	VirtWorker		_worker;
	std::shared_ptr<VirtSearchJob>	_running;
	QComboBox		*_what, *_reason, *_unit;
	QSpinBox		*_least;
	QLineEdit		*_filter;
	QLabel			*_place;
	std::vector<uint64_t>	_serials;	/* of the models whose reasons are there */
	VirtPlace		_last;		/* what has been found last, and where it is seen */
	std::pair<int64_t, int64_t> _set = { 0, 0 };
};

#endif
