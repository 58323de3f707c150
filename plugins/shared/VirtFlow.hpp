/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtFlow.hpp
 * @brief	A layout that puts as many widgets into a row as the width has room for.
 */
#ifndef KSHARK_VIRT_VIRTFLOW_HPP
#define KSHARK_VIRT_VIRTFLOW_HPP

#include <vector>

#include <QLayout>

class VirtFlow : public QLayout {
public:
	/** @most: equal columns; 0: one after another, as wide as each one wants to be */
	VirtFlow(QWidget *parent, int most);
	~VirtFlow() override;

	void addItem(QLayoutItem *item) override { _items.push_back(item); }
	int count() const override { return static_cast<int>(_items.size()); }
	QLayoutItem *itemAt(int i) const override;
	QLayoutItem *takeAt(int i) override;

	Qt::Orientations expandingDirections() const override { return {}; }
	bool hasHeightForWidth() const override { return true; }
	int heightForWidth(int width) const override;
	QSize sizeHint() const override;
	QSize minimumSize() const override;
	void setGeometry(const QRect &rect) override;

private:
	QSize widest() const;
	int columns(int width) const;
	int arrange(const QRect &rect, bool isMeasured) const;

	int				_most;
	std::vector<QLayoutItem *>	_items;
};

#endif
