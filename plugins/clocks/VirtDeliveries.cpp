// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtDeliveries.cpp
 * @brief	Find deliveries of interrupts into guests, for the markers.
 */
#include <cstdlib>
#include <cstring>
#include <set>

#include <QDebug>

#include <libkshark.h>

#include "VirtClockStreams.hpp"
#include "VirtDeliveries.hpp"
#include "ks_stream.h"
#include "virt_irqs.h"
#include "virt_pairing.h"

using namespace VirtClockStreams;

namespace {

struct DevicesFree {
	void operator()(virt_devices *devices) const { virt_devices_free(devices); }
};

/** Without memory, none. */
using Devices = std::unique_ptr<virt_devices, DevicesFree>;

} // namespace

/** A pair of files that is read. */
struct VirtDeliveries::Job : VirtJob {
	int64_t				number;
	std::string			hostFile, guestFile;
	std::vector<int64_t>		clock;
	int64_t				hostOffset;
	std::vector<int32_t>		tids;
	VirtModelRef			model;
	bool				done = false;	/* and from then on: */
	std::vector<virt_irq_delivery>	irqs;
	Devices				devices{virt_devices_new()};
	QString				problem;

	void work() override
	{
		char error[512] = "";
		virt_irq_delivery *found = nullptr;
		virt_irqs_source source = {};
		size_t n = 0;
		int ret;

		source.host = hostFile.c_str();
		source.guest = { guestFile.c_str(), { clock.data(), clock.size() }, hostOffset };
		source.model = model.get();
		source.tids = tids.data();
		source.n_tids = static_cast<int>(tids.size());
		source.stop = isStopped;
		source.arg = jobArg();
		ret = stop ? 0 : virt_irqs_read(&source, &found, &n, devices.get(), error,
						sizeof(error));
		if (!ret && n)
			irqs.assign(found, found + n);
		if (ret && !stop)
			problem = error;
		free(found);
	}
};

/** What has been found goes to a host's model; making its index takes time. */
struct VirtDeliveries::HandOver : VirtJob {
	VirtModelRef			model;
	std::vector<virt_irq_delivery>	all;
	Devices				devices{virt_devices_new()};
	int				ret = 0;

	void work() override
	{
		model.setDevices(devices.release());
		ret = model.setIrqs(all.data(), all.size());
	}
};

VirtDeliveries::VirtDeliveries(VirtWorker *worker, std::function<void()> changed)
: _worker(worker), _changed(std::move(changed))
{
}

/** What deliveries to a guest depend on. Return: false if there can be none. */
bool VirtDeliveries::state(int guest, Found &found) const
{
	VirtModelRef model(pairedHostOf(guest));

	found.host = pairedHostOf(guest);
	/* whether such a host's model was made with trace-cmd's offsets is not known any more */
	if (!model || !isTraceDat(guest) || hidesOffsets(found.host))
		return false;
	found.hostFile = fileOf(found.host);
	found.guestFile = fileOf(guest);
	found.key = virtClockParts(guest);
	found.key.push_back(found.host);
	found.key.push_back(ks_stream_offset(found.host));
	found.key.push_back(static_cast<int64_t>(model.serial()));
	found.key.push_back(static_cast<int64_t>(virt_pairing_serial()));
	return true;
}

void VirtDeliveries::drop(int guest)
{
	auto found = _found.find(guest);

	if (found == _found.end())
		return;
	found->second.job->stop = true;
	_found.erase(found);
}

void VirtDeliveries::judged(int guest, bool isAligned)
{
	auto known = _found.find(guest);
	Found now;

	if (!isAligned || !state(guest, now)) {
		drop(guest);
		return;
	}
	if (known != _found.end() && known->second.key == now.key &&
	    known->second.hostFile == now.hostFile && known->second.guestFile == now.guestFile)
		return;
	drop(guest);
	read(guest, now);
}

void VirtDeliveries::read(int guest, const Found &found)
{
	auto job = std::make_shared<Job>();
	kshark_data_stream *stream = streamOf(guest);
	virt_pair pair;

	job->number = ++_lastJob;
	job->hostFile = found.hostFile;
	job->guestFile = found.guestFile;
	job->clock = virtClockParts(guest);
	job->hostOffset = ks_stream_offset(found.host);
	job->model = VirtModelRef(found.host);
	for (int cpu = 0; cpu < stream->n_cpus; cpu++) {
		bool known = virt_pairing_of_cpu(guest, cpu, &pair) &&
			     pair.host_stream == found.host;

		job->tids.push_back(known ? pair.host_pid : VIRT_NONE);
	}
	_found[guest] = found;
	_found[guest].job = job;
	_worker->start(job, [this, job] {
		job->done = true;
		report(job->problem);
	});
}

void VirtDeliveries::look()
{
	std::map<int, Key> wanted;

	for (auto it = _found.begin(); it != _found.end(); ) {
		Found now, &was = it->second;
		int guest = it->first;

		++it;
		if (!state(guest, now) || now.key != was.key || now.hostFile != was.hostFile ||
		    now.guestFile != was.guestFile) {
			drop(guest);
			continue;
		}
		if (!was.job->done || was.job->irqs.empty())
			continue;

		Key &signature = wanted[was.host];

		if (signature.empty())
			signature.push_back(static_cast<int64_t>(was.job->model.serial()));
		signature.push_back(was.job->number);
	}
	for (auto it = _given.begin(); it != _given.end(); ) {
		VirtModelRef model(it->first);
		bool same = model && static_cast<int64_t>(model.serial()) == it->second.front();

		if (same && !wanted.count(it->first))
			handOver(it->first, model, {});
		it = same && wanted.count(it->first) ? std::next(it) : _given.erase(it);
	}
	for (const auto &entry : wanted) {
		if (_given.count(entry.first) && _given[entry.first] == entry.second)
			continue;
		_given[entry.first] = entry.second;
		handOver(entry.first, VirtModelRef(entry.first), entry.second);
	}
}

/** Give a host's model what the jobs in @signature have found. */
void VirtDeliveries::handOver(int host, const VirtModelRef &model, const Key &signature)
{
	auto job = std::make_shared<HandOver>();
	std::set<int32_t> taken;

	job->model = model;
	for (const auto &entry : _found) {
		const Found &found = entry.second;
		std::set<int32_t> its;

		if (signature.empty() || found.host != host || !found.job->done)
			continue;
		/* of a file that is open twice, only the first one counts */
		for (const virt_irq_delivery &irq : found.job->irqs) {
			if (taken.count(irq.vcpu))
				continue;
			job->all.push_back(irq);
			its.insert(irq.vcpu);
		}
		taken.insert(its.begin(), its.end());
		if (job->devices && virt_devices_join(job->devices.get(),
						      found.job->devices.get()))
			job->devices.reset();
	}
	_worker->start(job, [this, job] {
		report(job->ret ? QString(strerror(-job->ret)) : QString());
	});
}

/** A job has come to its end. */
void VirtDeliveries::report(const QString &problem) const
{
	if (!problem.isEmpty())
		qWarning().noquote() << "kshark-virt: no markers of interrupts:" << problem;
	_changed();
}
