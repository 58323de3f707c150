/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtExits.hpp
 * @brief	The dock's page that puts the VM exits of two machines or vCPUs beside each other.
 */
#ifndef KSHARK_VIRT_VIRTEXITS_HPP
#define KSHARK_VIRT_VIRTEXITS_HPP

#include <memory>
#include <vector>

#include <QString>
#include <QWidget>

#include "VirtBox.hpp"
#include "VirtCount.hpp"
#include "VirtFindings.hpp"
#include "VirtLatest.hpp"
#include "virt_exit_pairs.h"

class QTreeWidget;

/** A box with all machines and vCPUs. */
class VirtSubjectBox : public VirtBox {
public:
	explicit VirtSubjectBox(const QString &tip);

	/** What there is to choose from; the choice stays. */
	void fill(const std::vector<VirtStream> &streams);

	/** Choose it, if it is there; the stream is VIRT_NONE: nothing happens. */
	void choose(const VirtSubject &subject);

	/** Its stream is VIRT_NONE if there is none. */
	VirtSubject chosen() const;

	/** The first machine after that of @other, else the next vCPU. */
	void chooseBeside(const VirtSubject &other);
};

class VirtExits : public QWidget {
public:
	VirtExits();

	/** Count what lies in this window, unless it has been counted. */
	void follow(const VirtListed &listed);

	/** Let go of what was counted: its trace may not be open any more. */
	void forget();

	/** What is shown, in ns and %. */
	QString asCsv() const;

	/** Is anything shown? */
	bool isShown() const { return _shown != nullptr; }

private:
	struct Job;

	void look();
	std::shared_ptr<Job> wanted() const;
	void adopt(const std::shared_ptr<Job> &job);
	void fill();

	VirtSubjectBox		*_boxes[2];
	QTreeWidget		*_list;
	VirtListed		_listed = {};
	VirtSubject		_followed = { VIRT_NONE, 0, VIRT_NONE, 0 };
	std::shared_ptr<Job>	_shown;
	VirtLatest<Job>		_latest;
};

#endif
