/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtBox.hpp
 * @brief	A box of the dock whose list changes while the window is open.
 */
#ifndef KSHARK_VIRT_VIRTBOX_HPP
#define KSHARK_VIRT_VIRTBOX_HPP

#include <functional>
#include <utility>
#include <vector>

#include <QComboBox>
#include <QString>
#include <QVariant>

class VirtBox : public QComboBox {
public:
	/** Name and data of each row. */
	using Rows = std::vector<std::pair<QString, QVariant>>;

	explicit VirtBox(const QString &tip);

	/** What to do after an open list was closed that could not change: make the rows again. */
	void onClosed(std::function<void()> again) { _again = std::move(again); }

	void hidePopup() override;

protected:
	/**
	 * Show these rows. The user reads a list that is open: it stays as it is, and the function
	 * of onClosed() is called after it closes.
	 * Return: is it another list? Then no row is chosen yet. No signal is sent.
	 */
	bool setRows(const Rows &rows);

private:
	std::function<void()>	_again;
	bool			_isLate = false;	/* there are other rows than these */
};

#endif
