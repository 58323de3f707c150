/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtClocks.hpp
 * @brief	The dock's part about clocks: the time that is added to each stream, and why.
 *
 * All lasting data is in the streams themselves (ks_clock.h), so sessions keep it.
 */
#ifndef KSHARK_VIRT_VIRTCLOCKS_HPP
#define KSHARK_VIRT_VIRTCLOCKS_HPP

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <QMainWindow>
#include <QString>
#include <QStringList>
#include <QTimer>
#include <QWidget>

#include <libkshark-model.h>

#include "VirtDeliveries.hpp"
#include "VirtKs.hpp"
#include "VirtWarning.hpp"
#include "VirtWorker.hpp"
#include "ks_clock.h"
#include "virt_align.h"
#include "virt_pairing.h"

class QComboBox;
class QLabel;
class QPushButton;
class VirtOffsetBox;

class VirtClocks : public QWidget {
public:
	/** @warn: is called with all warnings when they have changed */
	VirtClocks(QMainWindow *window,
		   std::function<void(const std::vector<VirtWarning> &)> warn);
	~VirtClocks() override;

	/** A graph has been drawn; called often. */
	void graphDrawn(kshark_trace_histo *histo);

private:
	using Parts = std::vector<int64_t>;

	struct Align;
	struct Judge;
	class StillLabel;

	/** What is remembered of a stream as long as it shows the same file. */
	struct Known {
		std::string		file;
		std::vector<Parts>	before;		/* what "Undo" goes back to */
		bool			asked = false;	/* its sidecar has been looked at */
		QString			message;	/* of the last attempt */
		bool			isOfSidecar = false;	/* which was to use the sidecar */
		QString			quality;	/* how it is aligned now */
		bool			bad = false;	/* that is to be seen */
		std::vector<virt_pair>	offer;		/* that explain its rows better */
		Parts			judged;		/* what the quality is of */
		bool			byHand = false;	/* the last change was of the offset */
	};

	static constexpr int LOOK_MS = 30;	/* after a drawing */

	void buildUi();
	void frameDone();
	void findStreams();
	void preferGuest();
	void settle();
	bool applyStored();
	void beginAlign();
	void cancelAlign();
	void dropOutdated();
	void start(const std::shared_ptr<Align> &job);
	void adopt();

	/* VirtClockQuality.cpp */
	void judgeNext();
	void judge(int streamId, int host, const VirtModelRef &model);
	void adoptQuality(const std::shared_ptr<Judge> &job);
	QString adoptOffer(const Judge &job, std::vector<virt_pair> &offer) const;
	void takeOffers(int streamId);
	void warn();

	void undo();
	void store();
	void setOffset(int64_t ns);
	bool change(int streamId, const Parts &parts, bool remember);
	void redraw(bool whole);
	void showStream();
	QString describe(int streamId) const;
	int current() const;

	QMainWindow		*_window;
	std::function<void(const std::vector<VirtWarning> &)> _warn;
	QStringList		_warned;	/* last */
	kshark_trace_histo	*_histo = nullptr;
	QTimer			_timer;
	VirtWorker		_worker;
	VirtDeliveries		_deliveries;
	std::map<int, Known>	_known;
	kshark_entry		**_settled = nullptr;	/* rows that have been looked at */
	size_t			_nSettled = 0;
	std::shared_ptr<Align>	_aligning;
	std::shared_ptr<Judge>	_judging;

	QComboBox		*_streams = nullptr;
	bool			_chosen = false;	/* by the user */
	VirtOffsetBox		*_offset = nullptr;
	StillLabel		*_text = nullptr;
	QPushButton		*_align = nullptr, *_undo = nullptr, *_store = nullptr;
};

#endif
