// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtSteal.cpp
 * @brief	The table of steal: each row is a victim that waits for a pCPU, each column a
 *		culprit that has it, or a kind of culprits.
 */
#include <algorithm>
#include <utility>
#include <vector>

#include <QCheckBox>
#include <QHeaderView>
#include <QSignalBlocker>
#include <QTableWidget>
#include <QVBoxLayout>

#include "VirtFlow.hpp"
#include "VirtHosts.hpp"
#include "VirtList.hpp"
#include "VirtSteal.hpp"
#include "virt_colors.h"
#include "virt_needs.h"
#include "virt_steal.h"
#include "virt_text.h"

namespace {

constexpr size_t MOST_COLUMNS = 24;	/* shown separately */
constexpr int FIRST_COLUMN = 1;		/* behind the sum */
constexpr size_t MOST_CULPRITS = 64;	/* of one wait */

/** White for nothing, up to the colour of PREEMPTED for the most. */
QColor heat(int64_t ns, int64_t most)
{
	virt_color full = virt_state_look(VIRT_PREEMPTED)->color;
	double share = most > 0 ? static_cast<double>(ns) / static_cast<double>(most) : 0;
	auto mix = [share] (int part) { return 255 - static_cast<int>(share * (255 - part)); };

	return QColor(mix(full.red), mix(full.green), mix(full.blue));
}

/** Did a vCPU or task of a column have the pCPU in a wait? @matrix: NULL: columns are kinds */
bool hasTaken(const VirtStream &stream, const virt_matrix *matrix, size_t column,
	      const virt_moment &wait)
{
	const virt_model *model = stream.model.get();
	virt_culprit culprits[MOST_CULPRITS];
	size_t n = std::min(virt_vcpu_culprits(model, wait.vcpu, wait.start_ns, wait.end_ns,
					       culprits, MOST_CULPRITS), MOST_CULPRITS);
	int64_t ns[VIRT_STEAL_N_KINDS];

	if (!matrix) {
		virt_steal_split(model, wait.vcpu, wait.start_ns, wait.end_ns, culprits, n, ns);
		return ns[column] != 0;
	}
	return std::any_of(culprits, culprits + n, [&] (const virt_culprit &culprit) {
		return virt_matrix_column(matrix, model, culprit.vcpu) == column;
	});
}

} // namespace

VirtSteal::VirtSteal(std::function<void(const VirtFocus &)> chosen)
: _chosen(std::move(chosen)),
  _host(new VirtHosts),
  _byVcpu(new QCheckBox("vCPU by vCPU")),
  _byKind(new QCheckBox("By kind")),
  _table(new VirtList<QTableWidget>)
{
	auto layout = new QVBoxLayout(this);
	auto head = new VirtFlow(nullptr, 0);

	_byVcpu->setToolTip("Each vCPU by itself, instead of machines");
	_byKind->setToolTip("Other machines, the host's tasks, the own machine, its own limit or "
			    "nobody, instead of culprits");
	_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
	_table->setSelectionMode(QAbstractItemView::SingleSelection);
	_table->setToolTip("Row: who waited. Column: who ran instead. Click: the moments");
	head->addWidget(_byVcpu);
	head->addWidget(_byKind);
	head->addWidget(_host);
	layout->setContentsMargins(0, 0, 0, 0);
	layout->setSpacing(2);
	layout->addLayout(head);
	layout->addWidget(_table, 1);
	connect(_byVcpu, &QCheckBox::toggled, this, [this] { fill(); });
	connect(_byKind, &QCheckBox::toggled, this, [this] { fill(); });
	connect(_host, QOverload<int>::of(&QComboBox::currentIndexChanged), this,
		[this] { fill(); });
	connect(_table, &QTableWidget::cellClicked, this,
		[this] (int row, int column) { choose(row, column); });
}

void VirtSteal::follow(const std::shared_ptr<VirtCount> &count)
{
	if (_count == count)
		return;
	_count = count;
	_host->fill(_count->streams);
	fill();
}

void VirtSteal::forget()
{
	_count.reset();
	_stream = {};
	fill();
}

QString VirtSteal::nameOf(const virt_matrix_side &side) const
{
	const virt_machine *machine = virt_model_machine(_stream.model.get(), side.machine);

	if (side.vcpu == VIRT_NONE && machine)
		return virtShown(machine->name);
	return virtShown(virt_text_vcpu(_stream.model.get(), side.vcpu));
}

void VirtSteal::fillRow(int row, const QString &name, const int64_t *ns, int64_t sum, int64_t most)
{
	const virt_model *model = _stream.model.get();
	auto put = [&] (int column, virt_number number, int64_t value, const QColor &color) {
		auto item = new QTableWidgetItem(!virt_model_knows(model, number) ? "-" :
						 value ? virtDuration(value) : "");

		item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
		item->setBackground(color);
		item->setForeground(Qt::black);
		_table->setItem(row, column, item);
	};

	_table->setVerticalHeaderItem(row, new QTableWidgetItem(name));
	put(0, VIRT_NUMBER_PREEMPTED, sum, Qt::white);
	for (size_t i = 0; i < columns(); i++)
		put(FIRST_COLUMN + static_cast<int>(i), VIRT_NUMBER_CULPRITS, ns[i],
		    heat(most ? ns[i] : 0, most));
}

void VirtSteal::takeCulprits()
{
	for (size_t i = 0; i < _matrix->n_columns; i++)
		_titles << nameOf(_matrix->columns[i]);
	_keys = _titles;
	_cells.assign(_matrix->ns, _matrix->ns + _matrix->n_rows * _matrix->n_columns);
}

void VirtSteal::takeKinds()
{
	const virt_window *window = _count->windows[static_cast<size_t>(_host->currentIndex())];
	const virt_model *model = _stream.model.get();

	for (int kind = 0; kind < VIRT_STEAL_N_KINDS; kind++) {
		_titles << virt_steal_kind_name(static_cast<virt_steal_kind>(kind));
		_keys << virt_steal_kind_key(static_cast<virt_steal_kind>(kind));
	}
	for (size_t row = 0; row < _matrix->n_rows; row++) {
		const virt_matrix_side &side = _matrix->rows[row];
		const virt_machine *machine = virt_model_machine(model, side.machine);
		size_t first = _cells.size();

		_cells.resize(first + VIRT_STEAL_N_KINDS);
		for (int32_t i = 0; machine && i < machine->n_vcpus; i++) {
			int32_t vcpu = machine->vcpus[i];
			int64_t ns[VIRT_STEAL_N_KINDS];

			if (side.vcpu != VIRT_NONE && side.vcpu != vcpu)
				continue;
			virt_steal_split(model, vcpu, window->from_ns, window->to_ns,
					 window->vcpus[vcpu].culprits,
					 window->vcpus[vcpu].n_culprits, ns);
			for (size_t kind = 0; kind < VIRT_STEAL_N_KINDS; kind++)
				_cells[first + kind] += ns[kind];
		}
	}
}

void VirtSteal::fill()
{
	int stream = _host->currentIndex();
	std::vector<int64_t> sums;
	int64_t most = 0;
	int row = 0;

	_matrix.reset();
	_titles.clear();
	_keys.clear();
	_cells.clear();
	if (_count && stream >= 0)
		_matrix.reset(virt_matrix_new(_count->streams[static_cast<size_t>(stream)]
					      .model.get(),
					      _count->windows[static_cast<size_t>(stream)],
					      !_byVcpu->isChecked(), MOST_COLUMNS), Free());
	_table->setRowCount(0);
	_table->setColumnCount(0);
	if (!_matrix)
		return;
	_stream = _count->streams[static_cast<size_t>(stream)];
	if (_byKind->isChecked())
		takeKinds();
	else
		takeCulprits();
	sums.resize(columns());
	for (size_t i = 0; i < _cells.size(); i++) {
		sums[i % columns()] += _cells[i];
		most = std::max(most, _cells[i]);
	}
	_table->setColumnCount(FIRST_COLUMN + _titles.size());
	_table->setHorizontalHeaderLabels(QStringList("Stolen") + _titles);
	_table->setRowCount(static_cast<int>(_matrix->n_rows) + 1);
	for (size_t i = 0; i < _matrix->n_rows; i++)
		fillRow(row++, nameOf(_matrix->rows[i]), &_cells[i * columns()],
			_matrix->rows[i].ns, most);
	fillRow(row, "All", sums.data(), _matrix->total_ns, 0);
	/* who has taken nothing needs no column */
	for (int i = 0; i < static_cast<int>(sums.size()); i++)
		_table->setColumnHidden(FIRST_COLUMN + i, !sums[static_cast<size_t>(i)]);
	_table->resizeColumnsToContents();
	_table->resizeRowsToContents();
}

/** The waits that a cell adds up. */
void VirtSteal::choose(int row, int column)
{
	auto cause = static_cast<size_t>(column - FIRST_COLUMN);
	bool isAll = column < FIRST_COLUMN, isRow = row < static_cast<int>(_matrix->n_rows);
	std::shared_ptr<virt_matrix> matrix = _matrix;
	bool byKind = _byKind->isChecked();
	VirtFocus focus = {};

	if (!_table->item(row, column) || _table->item(row, column)->text().isEmpty())
		return;
	focus.kinds = 1u << VIRT_WORST_STEAL;
	focus.mostNs = INT64_MAX;
	focus.subject = { isRow ? _stream.id : VIRT_NONE, 0, VIRT_NONE, 0 };
	if (isRow) {
		const virt_matrix_side &side = matrix->rows[row];

		focus.subject.machine = side.machine;
		focus.subject.vcpu = side.vcpu;
	}
	focus.title = QString("Steal of %1%2").arg(_table->verticalHeaderItem(row)->text(),
			isAll ? QString() :
				" by " + _table->horizontalHeaderItem(column)->text());
	focus.wanted = [matrix, isAll, byKind, cause, id = _stream.id]
		       (const VirtStream &stream, const virt_finding &finding) {
		return stream.id == id && (isAll || hasTaken(stream, byKind ? nullptr :
							     matrix.get(), cause,
							     finding.moment));
	};
	_chosen(focus);
}

QString VirtSteal::asCsv() const
{
	const virt_model *model = _stream.model.get();
	QString text = "stolen_from,stolen_ns";
	auto number = [model] (virt_number of, int64_t ns) {
		return virt_model_knows(model, of) ? QString(",%1").arg(ns) : QString(",");
	};

	if (!_matrix)
		return QString();
	for (const QString &key : _keys)
		text += ',' + virtCsv(key.toUtf8()) + "_ns";
	text += '\n';
	for (size_t row = 0; row < _matrix->n_rows; row++) {
		text += virtCsv(nameOf(_matrix->rows[row]).toUtf8()) +
			number(VIRT_NUMBER_PREEMPTED, _matrix->rows[row].ns);
		for (size_t i = 0; i < columns(); i++)
			text += number(VIRT_NUMBER_CULPRITS, _cells[row * columns() + i]);
		text += '\n';
	}
	return text;
}
