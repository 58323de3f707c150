/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtMarkers.hpp
 * @brief	The dock's part about markers of the worst moments: their choice, and their
 *		descriptions.
 */
#ifndef KSHARK_VIRT_VIRTMARKERS_HPP
#define KSHARK_VIRT_VIRTMARKERS_HPP

#include <cstdint>

#include <QIcon>
#include <QWidget>

#include "VirtFact.hpp"
#include "VirtKs.hpp"
#include "virt_markers.h"

class QCheckBox;
class QComboBox;
class QSpinBox;
class VirtDock;

class VirtMarkers : public QWidget {
public:
	explicit VirtMarkers(VirtDock *dock);

	/** What is to be marked; without kinds: nothing. */
	static const virt_marker_rules &rules();

	/** The kinds that are chosen, also while no markers are shown. */
	static unsigned int kinds();

	/** What a moment of a kind must cost at least, as it is chosen; 0: no matter. */
	static int64_t leastNs(int kind);

	/** What a marker of a kind looks like. */
	static QIcon icon(virt_worst_kind kind);

	/** A number that changes with the rules. */
	static uint64_t rulesSerial();

	/** What a user has chosen last of a model; its kind is none if that is of another one. */
	static virt_worst_hit selected(const VirtModelRef &model);

	/** What a moment is. @before: of the text. Return: false if it is none. */
	static bool describe(const VirtStream &stream, const virt_worst_hit &hit,
			     const QString &before, VirtFact *fact);

	/** A user wants to know about a moment: select, mark and describe it. */
	static QString show(const VirtStream &stream, const virt_worst_hit &hit,
			    const QString &before = QString());

private:
	void buildUi();
	void restore();
	void save();
	void adopt();

	VirtDock	*_dock;
	QCheckBox	*_shown, *_kinds[VIRT_WORST_N_KINDS];
	QSpinBox	*_number, *_us[VIRT_WORST_N_KINDS];
	QComboBox	*_mode;
};

#endif
