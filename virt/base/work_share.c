// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	work_share.c
 * @brief	Do jobs that need nothing of each other, with two threads if a core is free.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "block_pipe.h"
#include "work_share.h"

struct work {
	size_t			n;
	work_share_fn		job;
	atomic_size_t		next;
	atomic_int		error;
};

/** A thread that does jobs. */
struct worker {
	struct work		*work;
	void			*own;
};

static void *run(void *arg)
{
	const struct worker *worker = arg;
	struct work *work = worker->work;
	size_t job;

	while (!work->error && (job = work->next++) < work->n) {
		int ret = work->job(worker->own, job);

		if (ret)
			work->error = ret;
	}
	return NULL;
}

int work_share(size_t n, work_share_fn job, void *own, void *beside)
{
	struct work work = { .n = n, .job = job };
	struct worker here = { &work, own }, there = { &work, beside };
	pthread_t thread;
	bool shares = beside && n > 1 && block_pipe_pays() &&
		      !pthread_create(&thread, NULL, run, &there);

	run(&here);
	if (shares)
		pthread_join(thread, NULL);
	return work.error;
}
