/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtLatest.hpp
 * @brief	Work in the background for a page that shows one result, that of the latest job.
 */
#ifndef KSHARK_VIRT_VIRTLATEST_HPP
#define KSHARK_VIRT_VIRTLATEST_HPP

#include <functional>
#include <memory>
#include <utility>

#include "VirtWorker.hpp"

/** Its jobs, one after another. @Job: a VirtJob with isSame(const Job &) */
template <typename Job> class VirtLatest {
public:
	/** @done: takes the result of a job that is still wanted */
	VirtLatest(QObject *owner, std::function<void(const std::shared_ptr<Job> &)> done)
	: _done(std::move(done)), _worker(owner)
	{
	}

	/**
	 * Begin with @job, unless it runs or is the one that is @shown; another one that runs stops
	 * before. nullptr: nothing is wanted.
	 */
	void ask(const std::shared_ptr<Job> &job, const std::shared_ptr<Job> &shown)
	{
		_next.reset();
		if (!job || (_running && !_running->stop && _running->isSame(*job)) ||
		    (!_running && shown && shown->isSame(*job)))
			return;
		if (!_running) {
			start(job);
			return;
		}
		_running->stop = true;
		_next = job;
	}

	/** No result is wanted any more. */
	void forget()
	{
		_next.reset();
		if (_running)
			_running->stop = true;
	}

private:
	void start(const std::shared_ptr<Job> &job)
	{
		_running = job;
		_worker.start(job, [this, job] { adopt(job); });
	}

	void adopt(const std::shared_ptr<Job> &job)
	{
		std::shared_ptr<Job> next = std::move(_next);

		_running.reset();
		_next.reset();
		if (!job->stop)
			_done(job);
		if (next)
			start(next);
	}

	std::function<void(const std::shared_ptr<Job> &)>	_done;
	std::shared_ptr<Job>					_running, _next;
	VirtWorker						_worker;
};

#endif
