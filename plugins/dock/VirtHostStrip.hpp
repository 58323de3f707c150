/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtHostStrip.hpp
 * @brief	What hosts did in the visible window, by samples of their kernels' counters.
 */
#ifndef KSHARK_VIRT_VIRTHOSTSTRIP_HPP
#define KSHARK_VIRT_VIRTHOSTSTRIP_HPP

#include <cstdint>
#include <memory>
#include <vector>

#include <QWidget>

#include "VirtKs.hpp"
#include "host_samples.h"

/**
 * A row for each host that has samples beside its trace: the time of its pCPUs by kind, stacked,
 * and its used memory as a line. Without such a host, it is hidden and has no height.
 */
class VirtHostStrip : public QWidget {
public:
	explicit VirtHostStrip(QWidget *parent);

	/** Look for samples. Return: has the height changed? */
	bool load(const std::vector<VirtStream> &streams);

	/** Show [from, to) in @columns columns from the left one on. */
	void follow(int64_t from, int64_t to, int left, int columns);

	/** What it needs. */
	int fullHeight() const;

protected:
	void paintEvent(QPaintEvent *event) override;
	bool event(QEvent *event) override;

private:
	struct Free {
		void operator()(host_samples *samples) const
		{
			host_samples_free(samples);
			delete samples;
		}
	};

	struct Host {
		int64_t		offset;		/* added to the times of samples */
		QString		name;
		std::unique_ptr<host_samples, Free> samples;
	};

	void paintHost(QPainter *painter, const Host &host, const QRect &area) const;
	QString tip(const Host &host, int64_t ns) const;

	std::vector<Host>	_hosts;
	int64_t			_from = 0, _to = 0;
	int			_left = 0, _columns = 0;
};

#endif
