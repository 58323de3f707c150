// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	KvmComboDialog.cpp
 * @brief	The dialog "Virtual machine combos".
 */
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include <QCheckBox>
#include <QDialogButtonBox>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QTreeWidget>
#include <QVBoxLayout>

#include <libkshark.h>

#include "KvmComboDialog.hpp"
#include "VirtKs.hpp"

namespace {

enum Column { COLUMN_NAME, COLUMN_THREAD, COLUMN_SHARE, COLUMN_GUEST, COLUMN_SOURCE, N_COLUMNS };

const char *const titles[N_COLUMNS] = {
	"Machine, vCPU", "Host thread", "pCPU share", "Guest CPU", "Paired by"
};

const char *const sources[] = { "a guess", "its hypercalls", "the traces", "your choice" };

/** A guest's CPU as the data of a choice. */
qlonglong cpuData(int stream, int cpu)
{
	return stream == VIRT_NONE ? -1 : static_cast<qlonglong>(stream) << 32 | cpu;
}

QString threadName(const KvmVcpu &vcpu)
{
	char *comm = kshark_comm_from_pid(vcpu.stream, vcpu.pid);
	QString name = virtShown(comm) + '-' + QString::number(vcpu.pid);

	free(comm);
	return name;
}

} // namespace

KvmComboDialog::KvmComboDialog(QWidget *parent, KvmCombos &combos)
: QDialog(parent),
  _combos(combos)
{
	setWindowTitle("Virtual machine combos");
	buildUi();
	/* Files may have been appended or closed since the last frame. */
	_combos.findPairs();
	fill();
	resize(760, 420);
}

void KvmComboDialog::buildUi()
{
	auto layout = new QVBoxLayout(this);
	auto head = new QLabel("Each vCPU is shown with the host's graph of its thread below, and"
			       " above it the graph of the guest's CPU if its trace is open.");
	auto buttons = new QDialogButtonBox(QDialogButtonBox::Apply | QDialogButtonBox::Cancel);
	QPushButton *forget = buttons->addButton("Forget choices", QDialogButtonBox::ResetRole);
	QPushButton *ok = buttons->button(QDialogButtonBox::Apply);

	_tree = new QTreeWidget;
	_notes = new QLabel;
	_automatic = new QCheckBox("Show them by themselves when traces are opened");
	_fades = new QCheckBox("Fade the guest's graph while its vCPU does not execute it");

	_tree->setColumnCount(N_COLUMNS);
	for (int i = 0; i < N_COLUMNS; i++)
		_tree->headerItem()->setText(i, titles[i]);
	_tree->headerItem()->setToolTip(COLUMN_SHARE, virtTip("Share of the known time that the"
							      " vCPU is on a physical CPU"));
	_tree->setAllColumnsShowFocus(true);
	/* The choices are widgets: Tab leads to them. */
	_tree->setTabKeyNavigation(false);
	_notes->setWordWrap(true);
	_automatic->setChecked(_combos.isAutomatic());
	_fades->setChecked(KvmCombos::fades());
	head->setWordWrap(true);
	ok->setDefault(true);
	forget->setToolTip(virtTip("Pair vCPUs and CPUs by the traces and by guessing again"));
	forget->setAutoDefault(false);

	layout->addWidget(head);
	layout->addWidget(_tree, 1);
	layout->addWidget(_notes);
	layout->addWidget(_automatic);
	layout->addWidget(_fades);
	layout->addWidget(buttons);
	connect(ok, &QPushButton::clicked, this, [this] { apply(); });
	connect(buttons, &QDialogButtonBox::rejected, this, [this] { close(); });
	connect(forget, &QPushButton::clicked, this, [this] { forgetChoices(); });
}

void KvmComboDialog::fill()
{
	std::vector<KvmVcpu> vcpus = _combos.vcpus();
	QTreeWidgetItem *machine = nullptr;

	_rows.clear();
	_tree->clear();
	for (size_t i = 0; i < vcpus.size(); i++) {
		if (!i || vcpus[i].stream != vcpus[i - 1].stream ||
		    vcpus[i].machine != vcpus[i - 1].machine)
			machine = addMachine(vcpus, i);
		addVcpu(machine, vcpus[i]);
	}
	for (const Row &row : _rows)
		row.item->setCheckState(COLUMN_NAME, row.wasShown ? Qt::Checked : Qt::Unchecked);
	for (int i = 0; i < N_COLUMNS; i++)
		_tree->resizeColumnToContents(i);
	if (_tree->topLevelItem(0))
		_tree->setCurrentItem(_tree->topLevelItem(0));
	_tree->setFocus();
	_notes->setTextFormat(Qt::PlainText);
	_notes->setText(_combos.notes().join("\n"));
	_notes->setVisible(!_notes->text().isEmpty());
}

/** A machine, with a choice that sets those of all its vCPUs. */
QTreeWidgetItem *KvmComboDialog::addMachine(const std::vector<KvmVcpu> &vcpus, size_t first)
{
	auto item = new QTreeWidgetItem(_tree);
	auto choice = new QComboBox;
	int stream = vcpus[first].stream, before = VIRT_NONE;

	item->setText(COLUMN_NAME, QString("%1 (%2)").arg(vcpus[first].machineName,
							  virtFileOf(stream)));
	item->setFlags(item->flags() | Qt::ItemIsUserCheckable | Qt::ItemIsAutoTristate);
	item->setExpanded(true);
	choice->addItem("all vCPUs: ...", QVariant());
	choice->addItem("no guest's trace", VIRT_NONE);
	for (const KvmGuestCpu &cpu : _combos.guestCpus(stream))
		if (cpu.stream != before) {
			before = cpu.stream;
			choice->addItem(virtFileOf(cpu.stream), cpu.stream);
		}
	choice->setToolTip(virtTip("Pair all vCPUs with the CPUs of this file, in their order"));
	connect(choice, QOverload<int>::of(&QComboBox::activated), this, [this, item, choice] {
		if (choice->currentData().isValid())
			chooseGuest(item, choice->currentData().toInt());
	});
	_tree->setItemWidget(item, COLUMN_GUEST, choice);
	return item;
}

void KvmComboDialog::addVcpu(QTreeWidgetItem *machine, const KvmVcpu &vcpu)
{
	auto item = new QTreeWidgetItem(machine);
	auto choice = new QComboBox;
	bool isPaired = vcpu.pair.guest_stream != VIRT_NONE;

	item->setText(COLUMN_NAME, vcpu.name);
	item->setText(COLUMN_THREAD, threadName(vcpu));
	item->setText(COLUMN_SHARE, QString("%1 %").arg(vcpu.share * 100, 0, 'f', 2));
	item->setTextAlignment(COLUMN_SHARE, Qt::AlignRight | Qt::AlignVCenter);
	if (isPaired || vcpu.pair.source == VIRT_PAIR_CHOSEN)
		item->setText(COLUMN_SOURCE, sources[vcpu.pair.source]);
	item->setFlags((item->flags() | Qt::ItemIsUserCheckable) & ~Qt::ItemIsDropEnabled);

	choice->addItem("none", cpuData(VIRT_NONE, 0));
	for (const KvmGuestCpu &cpu : _combos.guestCpus(vcpu.stream))
		choice->addItem(virtFileOf(cpu.stream) + QString(": CPU %1").arg(cpu.cpu),
				cpuData(cpu.stream, cpu.cpu));
	choice->setCurrentIndex(std::max(0, choice->findData(cpuData(vcpu.pair.guest_stream,
								    vcpu.pair.guest_cpu))));
	_tree->setItemWidget(item, COLUMN_GUEST, choice);
	_rows.push_back({ vcpu, item, choice, _combos.isShown(vcpu) });
}

/** Pair all vCPUs of a machine with the CPUs of a stream, in their order. */
void KvmComboDialog::chooseGuest(QTreeWidgetItem *machine, int stream)
{
	int cpu = 0;

	for (Row &row : _rows)
		if (row.item->parent() == machine)
			row.choice->setCurrentIndex(
				std::max(0, row.choice->findData(cpuData(stream, cpu++))));
}

/** Two vCPUs cannot be the same CPU. Return: what is wrong, or nothing. */
QString KvmComboDialog::clash() const
{
	std::map<qlonglong, const Row *> taken;

	for (const Row &row : _rows) {
		qlonglong data = row.choice->currentData().toLongLong();

		if (data < 0)
			continue;
		if (taken.count(data))
			return QString("%1 is chosen for both %2 and %3.")
				.arg(row.choice->currentText(), taken[data]->vcpu.name,
				     row.vcpu.name);
		taken[data] = &row;
	}
	return QString();
}

/** What differs from what the traces and guessing say is the user's choice. */
void KvmComboDialog::savePairs()
{
	std::map<std::pair<int, int>, virt_pair> found;

	_combos.findPairsWithoutChoices();
	for (const KvmVcpu &vcpu : _combos.vcpus())
		found[{ vcpu.stream, vcpu.pid }] = vcpu.pair;
	for (const Row &row : _rows) {
		qlonglong data = row.choice->currentData().toLongLong();
		const virt_pair &old = found[{ row.vcpu.stream, row.vcpu.pid }];
		virt_pair pair = {
			row.vcpu.stream, row.vcpu.pid,
			data < 0 ? VIRT_NONE : static_cast<int>(data >> 32),
			data < 0 ? VIRT_NONE : static_cast<int32_t>(data & 0x7fffffff),
			VIRT_PAIR_CHOSEN,
		};

		if (pair.guest_stream != old.guest_stream || pair.guest_cpu != old.guest_cpu)
			virt_pairing_set(&pair);
	}
	_combos.saveChoices();
}

void KvmComboDialog::forgetChoices()
{
	_combos.findPairsWithoutChoices();
	_combos.saveChoices();
	fill();
}

void KvmComboDialog::apply()
{
	QString wrong = clash();
	std::vector<KvmVcpu> shown;
	std::set<std::pair<int, int>> ticked;

	if (!wrong.isEmpty()) {
		_notes->setTextFormat(Qt::RichText);
		_notes->setText("<b>" + wrong.toHtmlEscaped() + "</b>");
		_notes->setVisible(true);
		return;
	}
	savePairs();
	for (const Row &row : _rows) {
		bool isTicked = row.item->checkState(COLUMN_NAME) == Qt::Checked;

		/* who leaves one unticked says nothing about it */
		if (isTicked || row.wasShown)
			_combos.setWanted(row.vcpu, isTicked);
		if (isTicked)
			ticked.insert({ row.vcpu.stream, row.vcpu.pid });
	}
	for (const KvmVcpu &vcpu : _combos.vcpus())
		if (ticked.count({ vcpu.stream, vcpu.pid }))
			shown.push_back(vcpu);
	_combos.setAutomatic(_automatic->isChecked());
	_combos.setFades(_fades->isChecked());
	_combos.show(shown, true);
	close();
}
