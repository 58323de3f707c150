// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_registry.c
 * @brief	Keep the models of streams, with counted references.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "virt_registry.h"

/** What is known of a stream: a model, or how to make it. */
struct stream {
	struct virt_shared	*shared;
	struct virt_model	*(*make)(void *arg);
	void			(*drop)(void *arg);
	void			*arg;
	/* these two stay when the model changes */
	char			*notes[VIRT_N_NOTES];
	struct virt_inside	*inside;
};

/** A model's worst moments with certain deliveries; freed with the model, as it may be in use. */
struct edition {
	struct edition		*before;
	struct virt_worst	*worst[2];	/* by vCPU, by pCPU; NULL: not made yet */
	uint64_t		serial;
	size_t			n_irqs;
	struct virt_irq_delivery irqs[];
};

struct virt_shared {
	struct virt_model	*model;
	uint64_t		serial;
	pthread_mutex_t		lock;		/* of what follows */
	struct edition		*editions;	/* the last one that was made; at last, that of no
						 * deliveries */
	struct edition		*now;		/* one of them */
	atomic_int		refs;
};

/* The one state that all plugins share: this is what the registry is for. */
static struct {
	pthread_mutex_t		lock;
	struct stream		*streams;
	int			n_streams;
	virt_again_fn		again;
} registry = { .lock = PTHREAD_MUTEX_INITIALIZER };

/** Room for a stream; with the lock held. */
static int make_room(int stream_id)
{
	if (stream_id < registry.n_streams)
		return 0;
	return ARRAY_REACH(registry.streams, stream_id, registry.n_streams);
}

/** No stream, no memory: the library may be unloaded next. With the lock held. */
static void drop_if_empty(void)
{
	for (int i = 0; i < registry.n_streams; i++) {
		const struct stream *stream = &registry.streams[i];

		if (stream->shared || stream->make || stream->inside)
			return;
		for (int note = 0; note < VIRT_N_NOTES; note++)
			if (stream->notes[note])
				return;
	}
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
		memcpy(registry.streams[stream_id].notes, before.notes, sizeof(before.notes));
		registry.streams[stream_id].inside = before.inside;
		drop_if_empty();
	}
	pthread_mutex_unlock(&registry.lock);
	stream_release(&before);
	return ret;
}

void virt_registry_set_again(virt_again_fn again)
{
	pthread_mutex_lock(&registry.lock);
	registry.again = again;
	pthread_mutex_unlock(&registry.lock);
}

int virt_registry_again(int stream_id, struct kshark_entry **rows, size_t n_rows)
{
	virt_again_fn again;

	pthread_mutex_lock(&registry.lock);
	again = registry.again;
	pthread_mutex_unlock(&registry.lock);
	return again ? again(stream_id, rows, n_rows) : 0;
}

static uint64_t next_serial(void)
{
	static atomic_uint_least64_t last_serial;

	return atomic_fetch_add(&last_serial, 1) + 1;
}

static struct edition *edition_new(const struct virt_irq_delivery *irqs, size_t n)
{
	struct edition *edition;

	if (n > (SIZE_MAX - sizeof(*edition)) / sizeof(*irqs))
		return NULL;
	edition = calloc(1, sizeof(*edition) + n * sizeof(*irqs));
	if (!edition)
		return NULL;
	edition->serial = next_serial();
	edition->n_irqs = n;
	for (size_t i = 0; i < n; i++)
		edition->irqs[i] = irqs[i];
	return edition;
}

static void edition_free(struct edition *edition)
{
	for (int i = 0; i < 2; i++)
		virt_worst_free(edition->worst[i]);
	free(edition);
}

/** A model that becomes shared; it is freed without memory for that. */
static struct virt_shared *share(struct virt_model *model)
{
	struct virt_shared *shared = model ? malloc(sizeof(*shared)) : NULL;
	struct edition *edition = shared ? edition_new(NULL, 0) : NULL;

	if (!edition) {
		free(shared);
		virt_model_free(model);
		return NULL;
	}
	*shared = (struct virt_shared){ .model = model, .editions = edition, .now = edition };
	pthread_mutex_init(&shared->lock, NULL);
	shared->serial = next_serial();
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
	stream->shared = share(promise.make(promise.arg));
	stream->make = NULL;
	stream->drop = NULL;
	stream->arg = NULL;
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

int virt_registry_set_inside(int stream_id, struct virt_inside *inside)
{
	int ret = -EINVAL;

	pthread_mutex_lock(&registry.lock);
	if (stream_id >= 0)
		ret = make_room(stream_id);
	if (!ret) {
		struct virt_inside *before = registry.streams[stream_id].inside;

		registry.streams[stream_id].inside = inside;
		inside = before;
		drop_if_empty();
	}
	pthread_mutex_unlock(&registry.lock);
	virt_inside_put(inside);
	return ret;
}

struct virt_inside *virt_registry_inside(int stream_id)
{
	struct virt_inside *inside = NULL;

	pthread_mutex_lock(&registry.lock);
	if (stream_id >= 0 && stream_id < registry.n_streams)
		inside = registry.streams[stream_id].inside;
	if (inside)
		virt_inside_ref(inside);
	pthread_mutex_unlock(&registry.lock);
	return inside;
}

bool virt_registry_has_host(int stream_id)
{
	struct virt_inside *inside = virt_registry_inside(stream_id);
	bool has_host = inside && virt_inside_host(inside);

	virt_inside_put(inside);
	return has_host;
}

int virt_registry_set_note(int stream_id, enum virt_note note, const char *text)
{
	char *copy = text ? strdup(text) : NULL;
	int ret;

	if (stream_id < 0 || (unsigned int)note >= VIRT_N_NOTES || (text && !copy)) {
		free(copy);
		return text && !copy ? -ENOMEM : -EINVAL;
	}
	pthread_mutex_lock(&registry.lock);
	ret = make_room(stream_id);
	if (!ret) {
		char *before = registry.streams[stream_id].notes[note];

		registry.streams[stream_id].notes[note] = copy;
		copy = before;
		drop_if_empty();
	}
	pthread_mutex_unlock(&registry.lock);
	free(copy);
	return ret;
}

char *virt_registry_note(int stream_id, enum virt_note note)
{
	const char *text = NULL;
	char *copy;

	pthread_mutex_lock(&registry.lock);
	if (stream_id >= 0 && stream_id < registry.n_streams &&
	    (unsigned int)note < VIRT_N_NOTES)
		text = registry.streams[stream_id].notes[note];
	copy = text ? strdup(text) : NULL;
	pthread_mutex_unlock(&registry.lock);
	return copy;
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
	while (shared->editions) {
		struct edition *edition = shared->editions;

		shared->editions = edition->before;
		edition_free(edition);
	}
	pthread_mutex_destroy(&shared->lock);
	virt_model_free(shared->model);
	free(shared);
}

const struct virt_model *virt_shared_model(const struct virt_shared *shared)
{
	return shared->model;
}

static bool has_irqs(const struct edition *edition, const struct virt_irq_delivery *irqs, size_t n)
{
	if (edition->n_irqs != n)
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct virt_irq_delivery *irq = &edition->irqs[i];

		if (irq->inject_ns != irqs[i].inject_ns || irq->handler_ns != irqs[i].handler_ns ||
		    irq->vcpu != irqs[i].vcpu || irq->vector != irqs[i].vector ||
		    irq->event != irqs[i].event || irq->result != irqs[i].result)
			return false;
	}
	return true;
}

/** Go back to an edition with such deliveries. @made: which indices there are now */
static bool go_back(struct virt_shared *shared, const struct virt_irq_delivery *irqs, size_t n,
		    bool made[2])
{
	struct edition *edition;

	pthread_mutex_lock(&shared->lock);
	for (edition = shared->editions; edition; edition = edition->before)
		if (has_irqs(edition, irqs, n))
			break;
	for (int i = 0; i < 2; i++)
		made[i] = shared->now->worst[i];
	if (edition)
		shared->now = edition;
	pthread_mutex_unlock(&shared->lock);
	return edition;
}

int virt_shared_set_irqs(struct virt_shared *shared, const struct virt_irq_delivery *irqs,
			 size_t n_irqs)
{
	struct edition *edition;
	bool made[2];

	if (go_back(shared, irqs, n_irqs, made))
		return 0;
	edition = edition_new(irqs, n_irqs);
	if (!edition)
		return -ENOMEM;
	for (int i = 0; i < 2; i++) {
		if (!made[i])
			continue;
		edition->worst[i] = virt_worst_new(shared->model, i, irqs, n_irqs);
		if (!edition->worst[i]) {
			edition_free(edition);
			return -ENOMEM;
		}
	}
	pthread_mutex_lock(&shared->lock);
	edition->before = shared->editions;
	shared->editions = edition;
	shared->now = edition;
	pthread_mutex_unlock(&shared->lock);
	return 0;
}

void virt_shared_set_devices(struct virt_shared *shared, struct virt_devices *devices)
{
	virt_model_set_devices(shared->model, devices);
}

const struct virt_worst *virt_shared_worst(struct virt_shared *shared, bool by_pcpu)
{
	struct edition *now;
	struct virt_worst *worst;

	pthread_mutex_lock(&shared->lock);
	now = shared->now;
	if (!now->worst[by_pcpu])
		now->worst[by_pcpu] = virt_worst_new(shared->model, by_pcpu, now->irqs,
						     now->n_irqs);
	worst = now->worst[by_pcpu];
	pthread_mutex_unlock(&shared->lock);
	return worst;
}

uint64_t virt_shared_serial(const struct virt_shared *shared)
{
	return shared->serial;
}

uint64_t virt_shared_worst_serial(struct virt_shared *shared)
{
	uint64_t serial;

	pthread_mutex_lock(&shared->lock);
	serial = shared->now->serial;
	pthread_mutex_unlock(&shared->lock);
	return serial;
}
