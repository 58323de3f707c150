// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtBoot.cpp
 * @brief	Read the boots of guests from their own traces.
 */
#include <QDebug>

#include <libkshark.h>

#include "VirtBoot.hpp"
#include "VirtClockStreams.hpp"
#include "VirtKs.hpp"
#include "ks_stream.h"
#include "virt_boot.h"
#include "virt_registry.h"

using namespace VirtClockStreams;

/** A file that is read. */
struct VirtBoot::Job : VirtJob {
	std::string		file;
	std::vector<int64_t>	clock;
	int64_t			offset = 0;
	virt_inside		*inside = nullptr;
	QString			problem;

	~Job() override { virt_inside_put(inside); }

	void work() override
	{
		char error[512] = "";
		virt_boot_source source = {};

		source.file = { file.c_str(), { clock.data(), clock.size() }, offset };
		source.stop = isStopped;
		source.arg = jobArg();
		if (virt_boot_read(&source, &inside, error, sizeof(error)) && !stop)
			problem = virtShown(error);
	}
};

namespace {

/** A stream with vCPUs is a host: its own boot is of no interest here. */
bool isGuestWithBoot(int id)
{
	kshark_data_stream *stream = streamOf(id);

	return stream && isTraceDat(id) && !VirtModelRef(id) &&
	       kshark_find_event_id(stream, "initcall/initcall_level") >= 0;
}

} // namespace

VirtBoot::VirtBoot(QObject *owner, std::function<void()> changed)
: _worker(owner), _changed(std::move(changed))
{
}

VirtBoot::~VirtBoot()
{
	for (const auto &entry : _known)
		drop(entry.first, entry.second);
}

/**
 * Another one may have lanes of its own for a stream with this number.
 *
 * Return: are there lanes no longer that could be seen?
 */
bool VirtBoot::drop(int stream, const Known &known)
{
	virt_inside *now = virt_registry_inside(stream);
	bool isOurs = known.inside && now == known.inside;

	if (known.job)
		known.job->stop = true;
	if (isOurs)
		virt_registry_set_inside(stream, nullptr);
	virt_inside_put(now);
	virt_inside_put(known.inside);
	return isOurs;
}

void VirtBoot::look()
{
	std::map<int, Known> wanted;
	bool gone = false;

	for (int id : virtOpenStreams()) {
		if (!isGuestWithBoot(id))
			continue;
		wanted[id].file = fileOf(id);
		wanted[id].clock = virtClockParts(id);
	}
	for (auto it = _known.begin(); it != _known.end(); ) {
		auto still = wanted.find(it->first);

		if (still != wanted.end() && still->second.file == it->second.file &&
		    still->second.clock == it->second.clock) {
			wanted.erase(still);
			++it;
			continue;
		}
		gone |= drop(it->first, it->second);
		it = _known.erase(it);
	}
	if (gone)
		_changed();
	for (const auto &entry : wanted)
		read(entry.first, entry.second);
}

void VirtBoot::read(int stream, const Known &wanted)
{
	auto job = std::make_shared<Job>();

	job->file = wanted.file;
	job->clock = wanted.clock;
	job->offset = ks_stream_offset(stream);
	_known[stream] = wanted;
	_known[stream].job = job;
	_worker.start(job, [this, stream, job] { take(stream, job); });
}

void VirtBoot::take(int stream, const std::shared_ptr<Job> &job)
{
	auto known = _known.find(stream);

	if (known == _known.end() || known->second.job != job)
		return;
	if (!job->problem.isEmpty())
		qWarning().noquote() << "kshark-virt:" << job->problem;
	known->second.job.reset();
	if (!job->inside || virt_registry_set_inside(stream, virt_inside_ref(job->inside)))
		return;
	known->second.inside = virt_inside_ref(job->inside);
	_changed();
}
