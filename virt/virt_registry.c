// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_registry.c
 * @brief	Models by stream, counted references.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "virt_registry.h"

struct virt_shared {
	struct virt_model	*model;
	uint64_t		serial;
	atomic_int		refs;
};

/* The one state that all plugins share: this is what the registry is for. */
static struct {
	pthread_mutex_t		lock;
	struct virt_shared	**streams;
	int			n_streams;
	uint64_t		last_serial;
} registry = { .lock = PTHREAD_MUTEX_INITIALIZER };

/** Room for a stream; with the lock held. */
static int make_room(int stream_id)
{
	struct virt_shared **streams;
	int n = stream_id + 8;

	if (stream_id < registry.n_streams)
		return 0;
	streams = realloc(registry.streams, n * sizeof(*streams));
	if (!streams)
		return -ENOMEM;
	for (int i = registry.n_streams; i < n; i++)
		streams[i] = NULL;
	registry.streams = streams;
	registry.n_streams = n;
	return 0;
}

int virt_registry_set(int stream_id, struct virt_model *model)
{
	struct virt_shared *shared = NULL, *before = NULL;
	int ret = stream_id < 0 ? -EINVAL : 0;

	if (!ret && model) {
		shared = malloc(sizeof(*shared));
		ret = shared ? 0 : -ENOMEM;
	}
	if (ret) {
		virt_model_free(model);
		return ret;
	}
	pthread_mutex_lock(&registry.lock);
	ret = model ? make_room(stream_id) : 0;
	if (shared) {
		shared->model = model;
		shared->serial = ++registry.last_serial;
		atomic_init(&shared->refs, 1);
	}
	if (!ret && stream_id < registry.n_streams) {
		before = registry.streams[stream_id];
		registry.streams[stream_id] = shared;
	}
	pthread_mutex_unlock(&registry.lock);
	virt_shared_put(ret ? shared : before);
	return ret;
}

struct virt_shared *virt_registry_get(int stream_id)
{
	struct virt_shared *shared = NULL;

	pthread_mutex_lock(&registry.lock);
	if (stream_id >= 0 && stream_id < registry.n_streams)
		shared = registry.streams[stream_id];
	if (shared)
		virt_shared_ref(shared);
	pthread_mutex_unlock(&registry.lock);
	return shared;
}

struct virt_shared *virt_shared_ref(struct virt_shared *shared)
{
	atomic_fetch_add_explicit(&shared->refs, 1, memory_order_relaxed);
	return shared;
}

void virt_shared_put(struct virt_shared *shared)
{
	if (!shared || atomic_fetch_sub_explicit(&shared->refs, 1, memory_order_acq_rel) > 1)
		return;
	virt_model_free(shared->model);
	free(shared);
}

const struct virt_model *virt_shared_model(const struct virt_shared *shared)
{
	return shared->model;
}

uint64_t virt_shared_serial(const struct virt_shared *shared)
{
	return shared->serial;
}
