/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_registry.h
 * @brief	Keep the model of each data stream, for all plugins of a process.
 *
 * The plugin that loads a stream sets its model. A plugin that draws or counts takes a reference
 * for as long as it reads the model. A model that is replaced in the meantime lives on until its
 * last reference is given back. All functions may be called from any thread.
 *
 * A model's times are the stream's own, without the calibration that KernelShark adds to its rows.
 */
#ifndef KSHARK_VIRT_VIRT_REGISTRY_H
#define KSHARK_VIRT_VIRT_REGISTRY_H

#include <stdint.h>

#include "virt_devices.h"
#include "virt_inside.h"
#include "virt_model.h"
#include "virt_worst.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A finished model that several users share. */
struct virt_shared;

/**
 * virt_registry_set - from now on, this is the model of a stream
 * @stream_id: the stream; not negative
 * @model: a finished model, which belongs to the registry from here on, even after an error; NULL
 *	   if the stream has none any more
 *
 * Return: 0, -EINVAL or -ENOMEM; after an error the stream has the model that it had before.
 */
int virt_registry_set(int stream_id, struct virt_model *model);

/**
 * virt_registry_promise - a stream's model can be made when it is first needed
 * @make: makes it, or returns NULL; called once at most, by the first virt_registry_get() and in
 *	  its thread, while all others wait; must not call the registry
 * @drop: frees @arg, after @make or when another word about the stream replaces the promise
 *
 * Return: as virt_registry_set(); after an error @drop has been called.
 */
int virt_registry_promise(int stream_id, struct virt_model *(*make)(void *arg),
			  void (*drop)(void *arg), void *arg);

/** virt_registry_get - take a reference to a stream's model. Return: NULL if it has none. */
struct virt_shared *virt_registry_get(int stream_id);

/**
 * virt_registry_set_inside - from now on, this is what is known of the inside of a guest's stream
 * @inside: the reference belongs to the registry from here on, even after an error; NULL: nothing
 *
 * Return: 0, -EINVAL or -ENOMEM; after an error nothing is changed.
 */
int virt_registry_set_inside(int stream_id, struct virt_inside *inside);

/** virt_registry_inside - take a reference to it. Return: NULL if nothing is known. */
struct virt_inside *virt_registry_inside(int stream_id);

/** virt_registry_has_host - is a guest's stream made of its host's trace? */
bool virt_registry_has_host(int stream_id);

/** What users of a stream must know about it, beside its model. */
enum virt_note {
	VIRT_NOTE_DAMAGE,	/* its file is damaged */
	VIRT_NOTE_CHANGED,	/* its file is not what was loaded any more */
	VIRT_NOTE_SIDECAR,	/* its sidecar is not used */
	VIRT_NOTE_READING,	/* KernelShark reads it otherwise than it is meant */
	VIRT_NOTE_FACTS,	/* all facts that limit what its numbers mean, a line each; among
				 * them may be those of the other kinds */
	VIRT_NOTE_CLOCK,	/* the frequency of its cycles, and its source */
	VIRT_NOTE_JUMP,		/* the offsets in the file jump: until an alignment replaces them */
	VIRT_N_NOTES
};

/**
 * virt_registry_set_note - from now on, this is what there is to know
 * @text: is copied; NULL: nothing
 *
 * Return: 0, -EINVAL or -ENOMEM; after an error nothing is changed.
 */
int virt_registry_set_note(int stream_id, enum virt_note note, const char *text);

/** virt_registry_note - Return: a malloc'ed text; NULL if there is none, or without memory. */
char *virt_registry_note(int stream_id, enum virt_note note);

struct kshark_entry;

/** Collect the records of a stream's rows once more. Return: 0 or a negative errno. */
typedef int (*virt_again_fn)(int stream_id, struct kshark_entry **rows, size_t n_rows);

/** virt_registry_set_again - from now on, this makes models anew; NULL: nothing does. */
void virt_registry_set_again(virt_again_fn again);

/**
 * virt_registry_again - make a stream's model anew, as its records have other times now
 *
 * Return: 0, also if the stream has no such model; or a negative errno.
 */
int virt_registry_again(int stream_id, struct kshark_entry **rows, size_t n_rows);

/** virt_shared_ref - one more reference to what one has already. Return: @shared. */
struct virt_shared *virt_shared_ref(struct virt_shared *shared);

/** virt_shared_put - give a reference back; NULL is allowed. */
void virt_shared_put(struct virt_shared *shared);

/** virt_shared_model - the model itself, valid as long as the reference. */
const struct virt_model *virt_shared_model(const struct virt_shared *shared);

/**
 * virt_shared_set_irqs - from now on, the index has these deliveries of interrupts
 * @irqs: as for virt_worst_new(), on the model's axis; they take the place of all before
 *
 * Indices that callers have got before are made anew here, in the caller's thread, before
 * others get to see them. The old ones live on as long as the model, and come back with their
 * deliveries.
 *
 * Return: 0; or -ENOMEM, and nothing is changed.
 */
int virt_shared_set_irqs(struct virt_shared *shared, const struct virt_irq_delivery *irqs,
			 size_t n_irqs);

/** virt_shared_set_devices - as virt_model_set_devices() (virt_devices.h). */
void virt_shared_set_devices(struct virt_shared *shared, struct virt_devices *devices);

/**
 * virt_shared_worst - the index of the model's worst moments
 * @by_pcpu: as for virt_worst_new()
 *
 * Made by the first call, in its thread, while all others wait; it lives as long as the model.
 * After virt_shared_set_irqs() it is another one, so a hit belongs to the one that it was found by
 * (virt_shared_worst_serial()).
 *
 * Return: the index, valid as long as the reference; NULL without memory.
 */
const struct virt_worst *virt_shared_worst(struct virt_shared *shared, bool by_pcpu);

/** virt_shared_serial - a number that no other model of this process ever had. */
uint64_t virt_shared_serial(const struct virt_shared *shared);

/** virt_shared_worst_serial - such a number of the model and the deliveries that it has now. */
uint64_t virt_shared_worst_serial(struct virt_shared *shared);

#ifdef __cplusplus
}
#endif
#endif
