/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtDeliveries.hpp
 * @brief	Find deliveries of interrupts into guests, for the markers.
 *
 * Only the files of an aligned pair show deliveries. A thread reads the files. The host's model
 * receives the deliveries, together with those of its other guests. Deliveries are removed together
 * with the clock that they were found with.
 */
#ifndef KSHARK_VIRT_VIRTDELIVERIES_HPP
#define KSHARK_VIRT_VIRTDELIVERIES_HPP

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <QString>

#include "VirtKs.hpp"
#include "VirtWorker.hpp"

class VirtDeliveries {
public:
	/** @changed is called in the thread of @worker's owner. */
	VirtDeliveries(VirtWorker *worker, std::function<void()> changed);

	/** A guest is well aligned, or not. */
	void judged(int guest, bool isAligned);

	/** Something may have changed; not while KernelShark loads. */
	void look();

private:
	using Key = std::vector<int64_t>;

	struct Job;
	struct HandOver;

	/** Of a guest: what it was found with. */
	struct Found {
		std::string		hostFile, guestFile;
		Key			key;
		int			host;
		std::shared_ptr<Job>	job;
	};

	bool state(int guest, Found &found) const;
	void read(int guest, const Found &found);
	void drop(int guest);
	void report(const QString &problem) const;
	void handOver(int host, const VirtModelRef &model, const Key &signature);

	VirtWorker		*_worker;
	std::function<void()>	_changed;
	std::map<int, Found>	_found;		/* by guest */
	std::map<int, Key>	_given;		/* by host: its model, and the jobs of its guests */
	int64_t			_lastJob = 0;
};

#endif
