/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtFindings.hpp
 * @brief	The dock's list of the worst moments, the same as "kshark-virt report --worst"
 *		prints.
 */
#ifndef KSHARK_VIRT_VIRTFINDINGS_HPP
#define KSHARK_VIRT_VIRTFINDINGS_HPP

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <QWidget>

#include "VirtCount.hpp"
#include "virt_finding.h"

class QCheckBox;
class QLabel;
class QLineEdit;
class QSpinBox;
class QToolButton;
class QTreeWidget;
class VirtDock;
class VirtNames;

/** Only some of the moments, which the user has chosen by a click elsewhere. */
struct VirtFocus {
	QString		title;
	unsigned int	kinds;
	VirtSubject	subject;
	int64_t		leastNs, mostNs;	/* cost, both included */
	bool		isWhole;		/* only what the trace shows whole */
	uint64_t	count;			/* how many they are; 0: not known */
	std::function<bool(const VirtStream &stream, const virt_finding &finding)> wanted;
};

/** What is to be listed. */
struct VirtListed {
	int64_t			from, to;	/* as KernelShark shows it */
	std::vector<VirtStream>	streams;
	VirtSubject		subject;	/* chosen in the table; stream -1: nothing is */
	QString			name;		/* of it */
	bool			isSelection;	/* from marker A to B */
};

class VirtFindings : public QWidget {
public:
	struct Row {
		VirtStream	stream;
		virt_worst_hit	hit;
		virt_finding	finding;
		QString		vcpu, cause, pcpu;	/* as they are listed */
	};

	explicit VirtFindings(VirtDock *dock);

	/** List these, unless they are listed, or moments of before are being walked along. */
	void follow(const VirtListed &listed);

	void focus(const VirtFocus &focus);

	/** A moment has been shown: its line is selected, and the walk goes on from it. */
	void selectCurrent();

	/** As it is seen; as the first columns of the report's CSV. */
	QString asText() const;
	QString asCsv() const;

	/** The command that prints such a list, without filters. */
	QString command() const;

private:
	void buildUi();
	void restore();
	void save();
	bool isWalking() const;
	std::vector<int64_t> key(const VirtListed &listed) const;
	void look();
	void collect(const VirtNames &names, const VirtStream &stream, std::vector<Row> *rows);
	std::vector<virt_worst_hit> hitsOf(const virt_worst *worst, const virt_worst_query &query);
	bool wants(const Row &row) const;
	void fill();
	void fillPlace();
	const Row &rowOf(int line) const;
	int current() const;
	void go(int line);
	void step(bool forward);
	QString options() const;

	VirtDock		*_dock;
	QLineEdit		*_filter;
	QSpinBox		*_number;
	QCheckBox		*_only;
	QToolButton		*_focusButton;
	QTreeWidget		*_list;
	QLabel			*_place;
	VirtListed		_listed = {};
	VirtFocus		_focus = {};
	int64_t			_focusSerial = 0;
	std::vector<int64_t>	_key;
	std::vector<Row>	_rows;
	bool			_isCut = false;	/* not all have been looked at */
	std::pair<int64_t, int64_t> _visible = { 0, 0 };
	std::pair<int64_t, int64_t> _set = { 0, 0 };	/* window that the walk has set last */
};

#endif
