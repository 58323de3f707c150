/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	guest_lives.h
 * @brief	Collect the activity of guests' tasks from the guests' own traces: virt_guest.h.
 */
#ifndef KSHARK_VIRT_GUEST_LIVES_H
#define KSHARK_VIRT_GUEST_LIVES_H

#include "guest_clock.h"
#include "host_trace.h"
#include "virt_guest.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Where the trace of a guest is, and how it belongs to its host's. */
struct guest_lives_source {
	struct kvm_trace	*trace;
	const int		*tids;	/* threads or vCPUs of the host, its CPUs; or below 1 */
	int			n_tids;
	/** From its times to the model's; NULL: they are the same. */
	int64_t			(*model_time)(void *arg, int64_t time);
	/** Asked now and then whether to give up; or NULL. */
	bool			(*stop)(void *arg);
	/** Takes each record, too, with its time in the model. Return: 0 or -ENOMEM. Or NULL. */
	int			(*take)(void *arg, const struct kvm_trace_record *record,
					int64_t time);
	struct guest_cgroups	*cgroups;	/* receives those of the tasks; or NULL */
	void			*arg;
};

/**
 * guest_lives_read - read the trace of a guest
 * @guest: receives all of it; to be given to virt_guest_free() in any case
 *
 * Return: 0, -ENOMEM or -ECANCELED.
 */
int guest_lives_read(struct virt_guest *guest, const struct virt_model *model,
		     const struct guest_lives_source *source);

/**
 * guest_lives_read_host - the same of a KVM host's own tasks: virt_guests.host
 * @source: of the host, without @tids
 *
 * Its CPUs are no vCPUs of the model, and its tasks get no names: the model has them.
 *
 * Return: 0, -ENOMEM or -ECANCELED.
 */
int guest_lives_read_host(struct virt_guest *host, const struct virt_model *model,
			  const struct guest_lives_source *source);

/**
 * A host's own tasks as its records come, for days: guest_lives_read_host() of a trace that does
 * not end. What has ended sleeps is not kept.
 */
struct guest_lives_now;

/** guest_lives_now_new - @n_cpus: that have records. Return: NULL without memory. */
struct guest_lives_now *guest_lives_now_new(int n_cpus);
void guest_lives_now_free(struct guest_lives_now *now);

/** guest_lives_now_take - the next record of all CPUs, in order of time. Return: 0 or -ENOMEM. */
int guest_lives_now_take(struct guest_lives_now *now, const struct kvm_event *event);

/**
 * guest_lives_now_show - what is known by now
 * @end_ns: up to when all records were taken
 * @host: to be given to guest_lives_now_hide() in any case, before the next record
 *
 * Return: 0 or -ENOMEM.
 */
int guest_lives_now_show(struct guest_lives_now *now, int64_t end_ns, struct virt_guest *host);
void guest_lives_now_hide(struct virt_guest *host);

/** guest_lives_now_forget - nothing before this time is wanted any more. Return: 0 or -ENOMEM. */
int guest_lives_now_forget(struct guest_lives_now *now, int64_t before_ns);

/** All guests of a host, and where they come from, in the same order. All zero is none. */
struct guest_lives {
	struct virt_guests	guests;
	struct guest_lives_source *sources;
	int			**tids;		/* of @sources, without CPUs that are wrong */
	int			n_tids;
	struct virt_guest	host;		/* of guest_lives_add_host() */
};

/**
 * guest_lives_of - those of all guests of a host
 * @host, @traces: of them, aligned with it; stay
 * @clocks: of the host's own, which come first
 * @outer: of each, the index of the guest that it is in; -1: it is one of the host's own. NULL:
 * all are. Guests come before those that are in them
 * @lives: receives them; to be given to guest_lives_free() in any case
 *
 * Return: 0 or -ENOMEM.
 */
int guest_lives_of(struct guest_lives *lives, const struct host_trace *host,
		   const struct virt_model *model, struct kvm_trace *const *traces,
		   const struct guest_clock *clocks, const int *outer, int n);

/** guest_lives_add_host - guest_lives_read_host(), where that can be. Return: as that. */
int guest_lives_add_host(struct guest_lives *lives, const struct host_trace *host,
			 const struct virt_model *model);

/** Waits for locks that a trace shows. All zero is none. */
struct guest_locks {
	struct virt_lock_wait *all;	/* of malloc(): after an error, to be freed */
	size_t			n;
};

/** guest_locks_read - of host_locks_read(), and return as that */
int guest_locks_read(struct guest_locks *waits, struct kvm_trace *trace,
		     int64_t (*time)(const void *arg, int64_t time_ns), const void *arg);

/** guest_locks_put - virt_guest_set_locks(), if there are any; then @waits is none */
int guest_locks_put(struct virt_guest *guest, struct guest_locks *waits);

/**
 * guest_lives_add_locks - the waits for locks of all, by their traces, which are read once more
 *
 * Traces must be those of kvm_trace_open_apart(). If the host's trace has such waits, its own tasks
 * are read as well. Return: 0 or -ENOMEM, or as host_locks_read().
 */
int guest_lives_add_locks(struct guest_lives *lives, const struct host_trace *host,
			  const struct virt_model *model);

void guest_lives_free(struct guest_lives *lives);

/** guest_lives_is_host - is it the name of a task of the host, "host:dd-7"? */
bool guest_lives_is_host(const char *text);

/**
 * guest_lives_find - a task by what it is called
 * @text: "web:nginx-412", "web:412", "g1:nginx-412"; or "web:nginx", if there is only one; of the
 * host, if guest_lives_add_host() has read it: "host:dd-7"
 * @number: receives its number
 *
 * Return: how many are called so; 0: none.
 */
int guest_lives_find(const struct virt_guests *guests, const struct virt_model *model,
		     const char *text, int32_t *number);

#ifdef __cplusplus
}
#endif
#endif
