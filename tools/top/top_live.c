// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	top_live.c
 * @brief	Make the intervals of a trace that is still being recorded, in a thread of its own.
 *
 * The lock is held while an interval is handed over. It is never held while records are read or
 * modelled, or while an interval is written: so neither thread waits for the other.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "host_notes.h"
#include "top_live.h"

/** How long it waits for records before it looks whether it is to stop. */
#define READ_MS		100
/** A writer of records is silent for this long only if there are none. */
#define QUIET_NS	2000000000
/** When nothing happens for more intervals than this, they are one. */
#define MAX_GAP		100

/** An interval, and who looks at it. */
struct kept {
	struct top_interval	interval;	/* first: see top_live_put() */
	unsigned int		users;		/* and 1 for the list */
};

struct top_live {
	struct top_live_options	options;
	pthread_t		thread;
	pthread_mutex_t		lock;
	pthread_cond_t		changed;
	/* of all threads, under the lock: */
	struct kept		**kept;		/* a list, of which the first is number @first */
	size_t			n, room;
	uint64_t		first;
	uint64_t		bytes;
	struct top_status	status;
	int64_t			came_ns;	/* when something came last */
	bool			stop;
	struct trace_notes	notes;		/* what is known by now */
	/* of the reading thread alone: */
	int64_t			from_ns;	/* of the next interval */
	bool			begun, settled;
	uint64_t		losses;		/* that have begun */
};

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* --- intervals that are kept ----------------------------------------------------------------- */

/** With the lock held. */
static void release(struct kept *kept)
{
	if (--kept->users)
		return;
	top_interval_free(&kept->interval);
	free(kept);
}

/** With the lock held. */
static void drop_first(struct top_live *live)
{
	live->bytes -= top_interval_bytes(&live->kept[0]->interval);
	release(live->kept[0]);
	live->first++;
	live->n--;
	memmove(live->kept, live->kept + 1, live->n * sizeof(*live->kept));
}

/** Make room, with the lock held. Return: false if it is to stop. */
static bool make_room(struct top_live *live)
{
	while (live->n && live->bytes > live->options.max_bytes) {
		if (live->options.drops)
			drop_first(live);
		else if (live->stop)
			return false;
		else
			pthread_cond_wait(&live->changed, &live->lock);
	}
	return true;
}

/** @interval becomes one of those that are kept. Return: 0 or a negative errno. */
static int keep(struct top_live *live, const struct top_interval *interval)
{
	struct kept *kept = malloc(sizeof(*kept));
	int ret = kept ? 0 : -ENOMEM;

	pthread_mutex_lock(&live->lock);
	if (!ret && !make_room(live))
		ret = -ECANCELED;
	if (!ret && ARRAY_GROW(live->kept, live->n, live->room))
		ret = -ENOMEM;
	if (!ret) {
		*kept = (struct kept){ .interval = *interval, .users = 1 };
		live->kept[live->n++] = kept;
		live->bytes += top_interval_bytes(interval);
		pthread_cond_broadcast(&live->changed);
	}
	pthread_mutex_unlock(&live->lock);
	if (ret)
		free(kept);
	return ret;
}

const struct top_interval *top_live_get(struct top_live *live, uint64_t number)
{
	struct kept *kept = NULL;

	pthread_mutex_lock(&live->lock);
	if (number >= live->first && number - live->first < live->n) {
		kept = live->kept[number - live->first];
		kept->users++;
	}
	pthread_mutex_unlock(&live->lock);
	return kept ? &kept->interval : NULL;
}

void top_live_put(struct top_live *live, const struct top_interval *interval)
{
	if (!interval)
		return;
	pthread_mutex_lock(&live->lock);
	release((struct kept *)(uintptr_t)interval);
	pthread_mutex_unlock(&live->lock);
}

void top_live_taken(struct top_live *live, uint64_t number)
{
	pthread_mutex_lock(&live->lock);
	while (!live->options.drops && live->n && live->first < number)
		drop_first(live);
	pthread_cond_broadcast(&live->changed);
	pthread_mutex_unlock(&live->lock);
}

/* --- making them ----------------------------------------------------------------------------- */

static int64_t plus(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/** Is it damage at the end of input that this command has stopped? */
static bool is_stop_damage(const struct top_live *live, const struct trace_note *note)
{
	return live->stop && note->kind == TRACE_NOTE_DAMAGE;
}

/** Does a note have a number that grows up to the end of the input? */
static bool is_final(const struct trace_note *note)
{
	return note->kind == TRACE_NOTE_DAMAGE || note->kind == TRACE_NOTE_CONTRADICTION ||
	       note->kind == TRACE_NOTE_CHANGED || note->kind == TRACE_NOTE_LOSS;
}

/**
 * Find the notes about the input up to now. A kind of records that is missing now may come later.
 * @model: or NULL, of an input without one
 * @fresh: receives the new notes; or NULL
 */
static void set_notes(struct top_live *live, const struct virt_model *model, bool final,
		      struct trace_notes *fresh)
{
	const struct top_live_options *options = &live->options;
	struct trace_notes now = { 0 }, before;

	options->input->notes(options->self, &now);
	/* of the model, losses that no interval has any more are gone */
	if (model) {
		host_note_losses(model, live->losses, options->name, &now);
		host_note_contradictions(model, options->name, &now);
		host_note_lacks(model, options->name, options->left_out, &now);
	}
	pthread_mutex_lock(&live->lock);
	before = live->notes;
	live->notes = (struct trace_notes){ 0 };
	for (size_t i = 0; i < now.n; i++)
		if ((final || !is_final(&now.all[i])) && !is_stop_damage(live, &now.all[i]))
			trace_notes_copy_one(&live->notes, &now.all[i]);
	for (size_t i = 0; i < live->notes.n && fresh; i++)
		if (!trace_notes_has(&before, live->notes.all[i].text))
			trace_notes_copy_one(fresh, &live->notes.all[i]);
	pthread_mutex_unlock(&live->lock);
	trace_notes_free(&before);
	trace_notes_free(&now);
}

void top_live_notes(struct top_live *live, struct trace_notes *notes)
{
	pthread_mutex_lock(&live->lock);
	trace_notes_copy(notes, &live->notes);
	pthread_mutex_unlock(&live->lock);
}

/** What intervals are made of. */
struct known {
	struct virt_model *model;
	struct host_tasks tasks;	/* if they are asked for */
};

/** @interval is complete, but for its notes. Return: 0 or a negative errno. */
static int hand_over(struct top_live *live, const struct virt_model *model,
		     struct top_interval *interval)
{
	int ret;

	set_notes(live, model, live->options.once, &interval->notes);
	ret = keep(live, interval);
	if (ret)
		top_interval_free(interval);
	return ret;
}

/** The next interval, up to @to_ns. Return: 0 or a negative errno. */
static int live_interval(struct top_live *live, const struct known *known, int64_t to_ns)
{
	struct virt_model *model = known->model;
	struct model_load load = { .model = model };
	struct report report = {
		.load = &load, .from_ns = live->from_ns, .to_ns = to_ns,
		.lost = virt_loss_walk_new(model), .host_tasks = &known->tasks,
	};
	const struct top_live_options *options = &live->options;
	struct top_interval interval;
	int ret;

	if (options->scope & TOP_WHOLE_HOST)
		report.host_samples = options->input->samples(options->self);
	ret = report.lost ? top_interval_make(&interval, &report, options->vcpus,
					      TOP_LIVING | options->scope) : -ENOMEM;

	virt_loss_walk_free(report.lost);
	live->losses += virt_model_count_losses(model, VIRT_NONE, live->from_ns, to_ns).losses;
	if (!ret)
		ret = hand_over(live, model, &interval);
	live->from_ns = to_ns;
	return ret;
}

/** All intervals that an input without a model has by now. Return: 0 or a negative errno. */
static int hand_over_ready(struct top_live *live)
{
	const struct top_live_options *options = &live->options;
	struct top_interval interval;
	int ret;

	while ((ret = options->input->interval(options->self, &interval)) > 0) {
		ret = hand_over(live, NULL, &interval);
		if (ret)
			return ret;
	}
	return ret;
}

static void forget(const struct top_live *live, struct known *known)
{
	if (live->options.scope & TOP_TASKS)
		host_tasks_hide(&known->tasks);
	virt_model_free(known->model);
}

/** @known: to be given to forget(), unless it fails. Return: 0 or a negative errno. */
static int know(struct top_live *live, int64_t end_ns, struct known *known)
{
	const struct top_live_options *options = &live->options;
	int64_t begin_ns = live->from_ns - TOP_BEFORE_NS;
	int ret;

	*known = (struct known){ .model = NULL };
	options->input->forget(options->self, begin_ns);
	ret = options->input->model(options->self, begin_ns, end_ns, &known->model);
	if (ret || !(options->scope & TOP_TASKS))
		return ret;
	ret = options->input->tasks(options->self, end_ns, &known->tasks);
	if (ret)
		forget(live, known);
	return ret;
}

/** All intervals that end before a time, from one model: nothing happens in between. */
static int hand_over_until(struct top_live *live, const struct known *known, int64_t until_ns)
{
	int64_t step = live->options.interval_ns;
	uint64_t n = ((uint64_t)until_ns - (uint64_t)live->from_ns) / (uint64_t)step;
	int ret = 0;

	if (n > MAX_GAP)
		return live_interval(live, known, live->from_ns + (int64_t)n * step);
	while (!ret && n--)
		ret = live_interval(live, known, live->from_ns + step);
	return ret;
}

/** All intervals that are complete by now. Return: 0 or a negative errno. */
static int hand_over_complete(struct top_live *live)
{
	const struct top_live_options *options = &live->options;
	int64_t needs_ns = plus(options->interval_ns, options->hold_ns);
	struct known known;
	int ret;

	while ((ret = options->input->feed(options->self, plus(live->from_ns, needs_ns))) > 0) {
		int64_t known_ns = options->input->next(options->self);

		if (known_ns == INT64_MAX)
			return 0;
		/* if there is more than one interval, the model has nothing new for the others */
		ret = know(live, known_ns, &known);
		if (ret)
			return ret;
		ret = hand_over_until(live, &known, known_ns - options->hold_ns);
		forget(live, &known);
		if (ret)
			return ret;
	}
	return ret;
}

/** The intervals that are left at the end, of which the last one is shorter. */
static int hand_over_rest(struct top_live *live)
{
	const struct top_live_options *options = &live->options;
	struct known known;
	int64_t end_ns;
	int ret;

	if (options->input->interval) {
		set_notes(live, NULL, true, NULL);
		return 0;
	}
	ret = options->input->feed(options->self, INT64_MAX);
	if (ret < 0 || !live->begun)
		return ret;
	end_ns = options->input->last(options->self);
	if (end_ns <= live->from_ns)
		return 0;
	ret = know(live, end_ns, &known);
	if (ret)
		return ret;
	while (!ret && live->from_ns < end_ns) {
		int64_t to_ns = plus(live->from_ns, options->interval_ns);

		ret = live_interval(live, &known, to_ns < end_ns ? to_ns : end_ns);
	}
	if (!ret)
		set_notes(live, known.model, true, NULL);
	forget(live, &known);
	return ret;
}

/* --- the thread ------------------------------------------------------------------------------ */

/** What the other threads see. */
static void update(struct top_live *live, bool came)
{
	const struct top_live_options *options = &live->options;

	pthread_mutex_lock(&live->lock);
	options->input->count(options->self, &live->status.count);
	if (came)
		live->came_ns = now_ns();
	if (live->begun && live->status.state == TOP_WAITING)
		live->status.state = TOP_RUNNING;
	pthread_mutex_unlock(&live->lock);
}

/** What is there by now: has it begun, is anything whole? */
static int go_on(struct top_live *live)
{
	const struct top_live_options *options = &live->options;
	int64_t begin_ns;

	if (!live->begun && options->input->has_begun(options->self, &begin_ns)) {
		live->begun = true;
		live->from_ns = begin_ns;
	}
	if (options->input->interval)
		return hand_over_ready(live);
	return live->begun ? hand_over_complete(live) : 0;
}

/** Nothing has come for a while. */
static int settle(struct top_live *live)
{
	if (live->settled || now_ns() - live->came_ns < QUIET_NS)
		return 0;
	live->settled = true;
	return live->options.input->settle(live->options.self);
}

static bool is_stopped(struct top_live *live)
{
	bool stop;

	pthread_mutex_lock(&live->lock);
	stop = live->stop;
	pthread_mutex_unlock(&live->lock);
	return stop;
}

/** Return: 0 at the end, or a negative errno. */
static int read_all(struct top_live *live)
{
	const struct top_live_options *options = &live->options;
	int ret = 0, came;

	while (!ret && !is_stopped(live)) {
		came = options->input->read(options->self, READ_MS);
		if (came < 0)
			return came == -ENODATA ? 0 : came;
		live->settled &= !came;
		if (!came)
			ret = settle(live);
		if (!ret)
			ret = go_on(live);
		update(live, came);
	}
	return ret;
}

static void *run(void *arg)
{
	struct top_live *live = arg;
	const struct top_live_options *options = &live->options;
	int ret = read_all(live);

	if (!ret)
		ret = options->input->end(options->self);
	if (!ret)
		ret = go_on(live);
	if (!ret)
		ret = hand_over_rest(live);
	update(live, false);
	pthread_mutex_lock(&live->lock);
	live->status.state = ret && ret != -ECANCELED ? TOP_FAILED : TOP_ENDED;
	live->status.error = ret;
	pthread_cond_broadcast(&live->changed);
	pthread_mutex_unlock(&live->lock);
	return NULL;
}

struct top_live *top_live_start(const struct top_live_options *options)
{
	struct top_live *live = calloc(1, sizeof(*live));
	pthread_condattr_t monotonic;
	int ret;

	if (!live)
		return NULL;
	live->options = *options;
	live->came_ns = now_ns();
	pthread_mutex_init(&live->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&live->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	ret = pthread_create(&live->thread, NULL, run, live);
	if (!ret)
		return live;
	free(live);
	errno = ret;
	return NULL;
}

void top_live_stop(struct top_live *live)
{
	pthread_mutex_lock(&live->lock);
	live->stop = true;
	pthread_cond_broadcast(&live->changed);
	pthread_mutex_unlock(&live->lock);
}

void top_live_free(struct top_live *live)
{
	top_live_stop(live);
	pthread_join(live->thread, NULL);
	while (live->n)
		drop_first(live);
	trace_notes_free(&live->notes);
	pthread_cond_destroy(&live->changed);
	pthread_mutex_destroy(&live->lock);
	free(live->kept);
	free(live);
}

void top_live_wait(struct top_live *live, uint64_t number, int timeout_ms,
		   struct top_status *status)
{
	int64_t until = now_ns() + timeout_ms * INT64_C(1000000);
	const struct timespec deadline = {
		.tv_sec = until / 1000000000, .tv_nsec = until % 1000000000,
	};
	int ret = 0;

	pthread_mutex_lock(&live->lock);
	while (!ret && live->first + live->n <= number && live->status.state < TOP_ENDED)
		ret = pthread_cond_timedwait(&live->changed, &live->lock, &deadline);
	*status = live->status;
	status->first = live->first;
	status->n = live->first + live->n;
	status->silent_ns = live->status.state < TOP_ENDED ? now_ns() - live->came_ns : 0;
	pthread_mutex_unlock(&live->lock);
}
