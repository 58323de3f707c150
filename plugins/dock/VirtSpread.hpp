/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtSpread.hpp
 * @brief	The dock's page on distributions of the costs of moments.
 */
#ifndef KSHARK_VIRT_VIRTSPREAD_HPP
#define KSHARK_VIRT_VIRTSPREAD_HPP

#include <functional>
#include <memory>
#include <vector>

#include <QWidget>

#include "VirtFindings.hpp"
#include "VirtHistogram.hpp"
#include "VirtLatest.hpp"

class QCheckBox;
class QTreeWidget;
class QTreeWidgetItem;
class VirtHosts;

class VirtSpread : public QWidget {
public:
	/** @chosen: the moments of a bar are wanted */
	explicit VirtSpread(std::function<void(const VirtFocus &)> chosen);

	/** Count what lies in this window, unless it has been counted. */
	void follow(const VirtListed &listed);

	/** Let go of what was counted: its trace may not be open any more. */
	void forget();

	/** This window, as a table in ns. */
	QString asCsv(const VirtListed &listed);

private:
	struct Job;

	void buildUi();
	void look();
	void adopt(const std::shared_ptr<Job> &job);
	std::shared_ptr<Job> wanted() const;
	void fill();
	QTreeWidgetItem *add(QTreeWidgetItem *parent, size_t row);
	static QString nameOf(const Job &job, const virt_spread_row &row);
	void showCurrent();
	void choose(int bar);

	std::function<void(const VirtFocus &)> _chosen;
	VirtHosts			*_host;
	QCheckBox			*_only;
	QTreeWidget			*_list;
	VirtHistogram			*_histogram;
	VirtListed			_listed = {};
	std::shared_ptr<Job>		_shown;
	VirtLatest<Job>			_latest;
};

#endif
