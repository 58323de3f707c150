/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtHosts.hpp
 * @brief	The box that chooses the host of a page of the dock.
 */
#ifndef KSHARK_VIRT_VIRTHOSTS_HPP
#define KSHARK_VIRT_VIRTHOSTS_HPP

#include <algorithm>
#include <vector>

#include <QComboBox>
#include <QSignalBlocker>

#include "VirtKs.hpp"

class VirtHosts : public QComboBox {
public:
	VirtHosts()
	{
		setToolTip("Of which host");
		virtNarrowBox(this);
	}

	/** Hosts to choose from; one needs no choice. */
	void fill(const std::vector<VirtStream> &streams)
	{
		const QSignalBlocker blocker(this);
		int last = id();

		clear();
		for (const VirtStream &stream : streams)
			addItem(virtFileOf(stream.id), stream.id);
		setCurrentIndex(std::max(0, findData(last)));
		setVisible(streams.size() > 1);
	}

	/** The one that is chosen. */
	int id() const { return currentData().toInt(); }
};

#endif
