/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	KvmComboDialog.hpp
 * @brief	The dialog "Virtual machine combos": the visible combos, and the vCPU of each CPU.
 */
#ifndef KSHARK_VIRT_KVMCOMBODIALOG_HPP
#define KSHARK_VIRT_KVMCOMBODIALOG_HPP

#include <vector>

#include <QComboBox>
#include <QDialog>

#include "KvmCombos.hpp"

class QCheckBox;
class QLabel;
class QTreeWidget;
class QTreeWidgetItem;

class KvmComboDialog : public QDialog {
public:
	KvmComboDialog(QWidget *parent, KvmCombos &combos);

private:
	/** A vCPU and what shows it. */
	struct Row {
		KvmVcpu		vcpu;
		QTreeWidgetItem	*item;
		QComboBox	*choice;
		bool		wasShown;
	};

	void buildUi();
	void fill();
	QTreeWidgetItem *addMachine(const std::vector<KvmVcpu> &vcpus, size_t first);
	void addVcpu(QTreeWidgetItem *machine, const KvmVcpu &vcpu);
	void chooseGuest(QTreeWidgetItem *machine, int stream);
	QString clash() const;
	void savePairs();
	void forgetChoices();
	void apply();

	KvmCombos		&_combos;
	QTreeWidget		*_tree = nullptr;
	QLabel			*_notes = nullptr;
	QCheckBox		*_automatic = nullptr, *_fades = nullptr;
	std::vector<Row>	_rows;
};

#endif
