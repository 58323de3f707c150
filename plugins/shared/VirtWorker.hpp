/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtWorker.hpp
 * @brief	The only way to work in the background: a job, a thread, and the step after them.
 *
 * A job works on copies and files, never on rows. While it runs, only its flag is shared.
 */
#ifndef KSHARK_VIRT_VIRTWORKER_HPP
#define KSHARK_VIRT_VIRTWORKER_HPP

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include <QObject>
#include <QRunnable>
#include <QThreadPool>

/** What is done in the thread. */
struct VirtJob {
	std::atomic<bool>	stop{ false };	/* its result is not wanted any more */

	VirtJob() = default;
	VirtJob(const VirtJob &) = delete;
	VirtJob &operator=(const VirtJob &) = delete;
	virtual ~VirtJob() = default;

	virtual void work() = 0;

	/** For functions that ask whether to go on; @arg: jobArg() */
	static bool isStopped(void *arg) { return static_cast<VirtJob *>(arg)->stop; }
	void *jobArg() { return this; }
};

/** A thread that does one job after another. */
class VirtWorker {
public:
	/** @owner: in whose thread a job is finished; as long as it lives */
	explicit VirtWorker(QObject *owner) : _owner(owner) { _pool.setMaxThreadCount(1); }
	~VirtWorker() { finish(); }

	/** Let @job work; then call @done, which keeps what it needs of it, in @owner's thread. */
	template <typename F> void start(const std::shared_ptr<VirtJob> &job, F done)
	{
		for (size_t i = _jobs.size(); i--; )
			if (_jobs[i].expired())
				_jobs.erase(_jobs.begin() + static_cast<std::ptrdiff_t>(i));
		_jobs.push_back(job);
		_pool.start(newTask([owner = _owner, job, done] {
			/* a job that is not waited for any more need not begin */
			if (!job->stop)
				job->work();
			/* finish() waits for this */
			QMetaObject::invokeMethod(owner, done, Qt::QueuedConnection);
		}));
	}

	/** Ask all jobs to stop, and wait until they have. */
	void finish()
	{
		for (const std::weak_ptr<VirtJob> &weak : _jobs)
			if (std::shared_ptr<VirtJob> job = weak.lock())
				job->stop = true;
		_pool.waitForDone();
	}

private:
	/** Qt itself takes functions only since 5.15. */
	template <typename F> class Task : public QRunnable {
	public:
		explicit Task(F function) : _function(std::move(function)) {}
		void run() override { _function(); }

	private:
		F	_function;
	};

	template <typename F> static QRunnable *newTask(F function)
	{
		return new Task<F>(std::move(function));
	}

	QObject				*_owner;
	QThreadPool			_pool;
	std::vector<std::weak_ptr<VirtJob>>	_jobs;
};

#endif
