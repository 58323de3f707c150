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

/** What is known of a stream: a model, or how to make it. */
struct stream {
	struct virt_shared	*shared;
	struct virt_model	*(*make)(void *arg);
	void			(*drop)(void *arg);
	void			*arg;
};

struct virt_shared {
	struct virt_model	*model;
	pthread_mutex_t		lock;		/* of what follows */
	struct virt_worst	*worst[2];	/* by vCPU, by pCPU; NULL: not made yet */
	uint64_t		serial;
	atomic_int		refs;
};

/* The one state that all plugins share: this is what the registry is for. */
static struct {
	pthread_mutex_t		lock;
	struct stream		*streams;
	int			n_streams;
} registry = { .lock = PTHREAD_MUTEX_INITIALIZER };

/** Room for a stream; with the lock held. */
static int make_room(int stream_id)
{
	struct stream *streams;
	int n = stream_id + 8;

	if (stream_id < registry.n_streams)
		return 0;
	streams = realloc(registry.streams, n * sizeof(*streams));
	if (!streams)
		return -ENOMEM;
	for (int i = registry.n_streams; i < n; i++)
		streams[i] = (struct stream){ 0 };
	registry.streams = streams;
	registry.n_streams = n;
	return 0;
}

/** No stream, no memory: the library may be unloaded next. With the lock held. */
static void drop_if_empty(void)
{
	for (int i = 0; i < registry.n_streams; i++)
		if (registry.streams[i].shared || registry.streams[i].make)
			return;
	free(registry.streams);
	registry.streams = NULL;
	registry.n_streams = 0;
}

static void stream_release(const struct stream *stream)
{
	virt_shared_put(stream->shared);
	if (stream->drop)
		stream->drop(stream->arg);
}

/** From now on, @stream is what is known. Return: 0; or -errno, and then it is released. */
static int replace(int stream_id, const struct stream *stream)
{
	struct stream before = *stream;
	int ret;

	pthread_mutex_lock(&registry.lock);
	ret = make_room(stream_id);
	if (!ret) {
		before = registry.streams[stream_id];
		registry.streams[stream_id] = *stream;
		drop_if_empty();
	}
	pthread_mutex_unlock(&registry.lock);
	stream_release(&before);
	return ret;
}

/** A model that becomes shared; it is freed without memory for that. */
static struct virt_shared *share(struct virt_model *model)
{
	static atomic_uint_least64_t last_serial;
	struct virt_shared *shared = model ? malloc(sizeof(*shared)) : NULL;

	if (!shared) {
		virt_model_free(model);
		return NULL;
	}
	*shared = (struct virt_shared){ .model = model };
	pthread_mutex_init(&shared->lock, NULL);
	shared->serial = atomic_fetch_add(&last_serial, 1) + 1;
	atomic_init(&shared->refs, 1);
	return shared;
}

int virt_registry_set(int stream_id, struct virt_model *model)
{
	struct stream stream = { 0 };

	if (stream_id < 0) {
		virt_model_free(model);
		return -EINVAL;
	}
	if (model) {
		stream.shared = share(model);
		if (!stream.shared)
			return -ENOMEM;
	}
	return replace(stream_id, &stream);
}

int virt_registry_promise(int stream_id, struct virt_model *(*make)(void *arg),
			  void (*drop)(void *arg), void *arg)
{
	const struct stream stream = { .make = make, .drop = drop, .arg = arg };

	if (stream_id < 0 || !make) {
		stream_release(&stream);
		return -EINVAL;
	}
	return replace(stream_id, &stream);
}

/** Keep a promise, if there is one; with the lock held, so that all others wait for it. */
static void keep_promise(struct stream *stream)
{
	struct stream promise = *stream;

	if (!promise.make)
		return;
	*stream = (struct stream){ .shared = share(promise.make(promise.arg)) };
	stream_release(&promise);
}

struct virt_shared *virt_registry_get(int stream_id)
{
	struct virt_shared *shared = NULL;

	pthread_mutex_lock(&registry.lock);
	if (stream_id >= 0 && stream_id < registry.n_streams) {
		keep_promise(&registry.streams[stream_id]);
		shared = registry.streams[stream_id].shared;
	}
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
	for (int i = 0; i < 2; i++)
		virt_worst_free(shared->worst[i]);
	pthread_mutex_destroy(&shared->lock);
	virt_model_free(shared->model);
	free(shared);
}

const struct virt_model *virt_shared_model(const struct virt_shared *shared)
{
	return shared->model;
}

const struct virt_worst *virt_shared_worst(struct virt_shared *shared, bool by_pcpu)
{
	struct virt_worst **worst = &shared->worst[by_pcpu];

	pthread_mutex_lock(&shared->lock);
	if (!*worst)
		*worst = virt_worst_new(shared->model, by_pcpu, NULL, 0);
	pthread_mutex_unlock(&shared->lock);
	return *worst;
}

uint64_t virt_shared_serial(const struct virt_shared *shared)
{
	return shared->serial;
}
