/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtSteal.hpp
 * @brief	The dock's page on steal: which culprit takes the pCPU of which victim.
 */
#ifndef KSHARK_VIRT_VIRTSTEAL_HPP
#define KSHARK_VIRT_VIRTSTEAL_HPP

#include <functional>
#include <memory>
#include <vector>

#include <QStringList>
#include <QWidget>

#include "VirtCount.hpp"
#include "VirtFindings.hpp"
#include "virt_matrix.h"

class QCheckBox;
class QTableWidget;
class VirtHosts;

class VirtSteal : public QWidget {
public:
	/** @chosen: the moments of a cell are wanted */
	explicit VirtSteal(std::function<void(const VirtFocus &)> chosen);

	/** Show what has been counted. */
	void follow(const std::shared_ptr<VirtCount> &count);

	/** Let go of it: its traces may not be open any more. */
	void forget();

	/** As a table in ns; what is not known is empty. */
	QString asCsv() const;

private:
	struct Free {
		void operator()(virt_matrix *matrix) const { virt_matrix_free(matrix); }
	};

	void fill();
	void fillRow(int row, const QString &name, const int64_t *ns, int64_t sum, int64_t most);
	QString nameOf(const virt_matrix_side &side) const;

	/** Columns: culprits, or kinds of culprits. */
	void takeCulprits();
	void takeKinds();
	size_t columns() const { return static_cast<size_t>(_titles.size()); }
	void choose(int row, int column);

	std::function<void(const VirtFocus &)> _chosen;
	VirtHosts			*_host;
	QCheckBox			*_byVcpu, *_byKind;
	QTableWidget			*_table;
	std::shared_ptr<VirtCount>	_count;
	VirtStream			_stream = {};
	std::shared_ptr<virt_matrix>	_matrix;
	QStringList			_titles;	/* of the columns of _cells */
	QStringList			_keys;		/* the same in CSV */
	std::vector<int64_t>		_cells;		/* row by row */
};

#endif
