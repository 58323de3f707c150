/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtTable.hpp
 * @brief	The dock's table: numbers of each machine and vCPU in the visible window.
 */
#ifndef KSHARK_VIRT_VIRTTABLE_HPP
#define KSHARK_VIRT_VIRTTABLE_HPP

#include <cstdint>
#include <vector>

#include <QTreeWidget>

#include "VirtCount.hpp"

class VirtTable : public QTreeWidget {
public:
	VirtTable();

	/** Show what has been counted. */
	void adopt(const VirtCount &count);

	/** What a row is about. */
	static VirtSubject subject(const QTreeWidgetItem *item);

	/** Its name, as it is shown. */
	static QString nameOf(const QTreeWidgetItem *item);

private:
	void buildHeader();
	void rebuild(const std::vector<VirtStream> &streams);
	void hideEmptyColumns(const std::vector<VirtStream> &streams);

	std::vector<uint64_t>	_serials;	/* of the models that it shows */
};

#endif
