// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtBox.cpp
 * @brief	A box of the dock whose list changes while the window is open.
 */
#include <QAbstractItemView>
#include <QSignalBlocker>
#include <QTimer>

#include "VirtBox.hpp"
#include "VirtKs.hpp"

VirtBox::VirtBox(const QString &tip)
{
	setToolTip(virtTip(tip));
	virtNarrowBox(this);
}

bool VirtBox::setRows(const Rows &rows)
{
	const QSignalBlocker blocker(this);
	bool same = count() == static_cast<int>(rows.size());

	for (int i = 0; same && i < count(); i++)
		same = itemText(i) == rows[static_cast<size_t>(i)].first &&
		       itemData(i) == rows[static_cast<size_t>(i)].second;
	_isLate = !same && view()->isVisible();
	if (same || _isLate)
		return false;
	clear();
	for (const auto &[name, data] : rows)
		addItem(name, data);
	return true;
}

void VirtBox::hidePopup()
{
	QComboBox::hidePopup();
	if (!_isLate || !_again)
		return;
	_isLate = false;
	/* Qt closes a list before it takes the row that was clicked */
	QTimer::singleShot(0, this, [this] { _again(); });
}
