// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtLives.cpp
 * @brief	Read the activity of the tasks of a host's guests in the background.
 */
#include "VirtClockStreams.hpp"
#include "VirtCommand.hpp"
#include "VirtLives.hpp"
#include "virt_pairing.h"

using namespace VirtClockStreams;

VirtLivesOf::~VirtLivesOf()
{
	virt_lives_free(&guests);
	virt_guest_free(&host);
}

int VirtLivesOf::guestOf(int stream) const
{
	for (size_t i = 0; i < files.guests.size(); i++)
		if (files.guests[i].stream == stream)
			return static_cast<int>(i);
	return -1;
}

/** May its records show waits for locks? These need the activity of the host's tasks. */
static bool hasLocks(int host)
{
	kshark_data_stream *stream = streamOf(host);

	for (const char *event : { "lock/contention_begin", "syscalls/sys_enter_futex",
				   "raw_syscalls/sys_enter" })
		if (stream && isTraceDat(host) && kshark_find_event_id(stream, event) >= 0)
			return true;
	return false;
}

struct VirtLives::Job : VirtJob {
	std::shared_ptr<VirtLivesOf>	lives = std::make_shared<VirtLivesOf>();
	bool				withHost = false;
	QString				problem;

	void work() override
	{
		char error[512] = "";
		auto read = [&] (const virt_lives_source *source) {
			return virt_lives_read(source, lives->model.get(), withHost,
					       &lives->guests, &lives->host, error, sizeof(error));
		};
		int ret = lives->files.with(isStopped, jobArg(), read);

		if (ret)
			problem = virtShown(error);
	}
};

VirtLives::VirtLives(VirtWorker *worker, std::function<void()> changed)
: _worker(worker), _changed(std::move(changed))
{
}

VirtLives::~VirtLives()
{
	forget();
}

std::vector<int> VirtLives::guestsOf(const VirtStream &host)
{
	std::vector<int> guests;

	for (int stream : virtGuestsOf(host))
		if (isTraceDat(stream))
			guests.push_back(stream);
	return guests;
}

VirtLivesFiles VirtLives::filesOf(const VirtStream &host)
{
	VirtLivesFiles files;

	files.host = fileOf(host.id);
	files.hostOffset = host.offset;
	for (int stream : guestsOf(host)) {
		VirtLivesFiles::Guest guest = {
			stream, fileOf(stream), virtClockParts(stream), {}
		};
		const kshark_data_stream *of = streamOf(stream);
		virt_pair pair;

		for (int cpu = 0; of && cpu < of->n_cpus; cpu++) {
			bool known = virt_pairing_of_cpu(stream, cpu, &pair) &&
				     pair.host_stream == host.id;

			guest.tids.push_back(known ? pair.host_pid : VIRT_NONE);
		}
		files.guests.push_back(guest);
	}
	return files;
}

/** Whatever decides about what is read. */
std::vector<int64_t> VirtLives::keyOf(const VirtStream &host, const VirtLivesFiles &files)
{
	std::vector<int64_t> now = {
		host.id, host.offset, static_cast<int64_t>(host.model.serial()),
		static_cast<int64_t>(virt_pairing_serial()),
	};

	for (const VirtLivesFiles::Guest &guest : files.guests) {
		now.push_back(guest.stream);
		now.insert(now.end(), guest.clock.begin(), guest.clock.end());
	}
	return now;
}

std::shared_ptr<const VirtLivesOf> VirtLives::of(const VirtStream &host, bool withHost)
{
	VirtLivesFiles files = filesOf(host);
	std::vector<int64_t> now = keyOf(host, files);
	Known &known = _known[host.id];

	withHost = withHost && isTraceDat(host.id);
	if (files.guests.empty() && !withHost && !known.withHost && !hasLocks(host.id))
		return nullptr;
	if (now == known.key && (known.withHost || !withHost))
		return known.found;
	drop(known);
	known.key = now;
	known.withHost = withHost;
	known.job = std::make_shared<Job>();
	known.job->lives->files = files;
	known.job->lives->model = host.model;
	known.job->withHost = withHost;
	_worker->start(known.job, [this, id = host.id, job = known.job] {
		auto still = _known.find(id);

		if (still == _known.end() || still->second.job != job)
			return;
		still->second.job.reset();
		still->second.problem = job->problem;
		if (job->problem.isEmpty() && !job->stop)
			still->second.found = job->lives;
		_changed();
	});
	return nullptr;
}

bool VirtLives::isReading(int host) const
{
	auto known = _known.find(host);

	return known != _known.end() && known->second.job;
}

QString VirtLives::problem(int host) const
{
	auto known = _known.find(host);

	return known == _known.end() ? QString() : known->second.problem;
}

void VirtLives::drop(Known &known)
{
	if (known.job)
		known.job->stop = true;
	known = Known();
}

void VirtLives::forget()
{
	for (auto &known : _known)
		drop(known.second);
	_known.clear();
}
