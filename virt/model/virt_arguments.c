// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_arguments.c
 * @brief	Keep the arguments of VM exits: fill, choose the most frequent ones, query.
 */
#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "hash_bytes.h"
#include "virt_arguments.h"
#include "virt_private.h"

/* --- filling --------------------------------------------------------------------------------- */

/** The number of an argument, which exists from now on. Return: or -ENOMEM. */
static int32_t add_argument(struct virt_arguments *all, int32_t reason,
			    enum exit_argument_kind kind, uint64_t value)
{
	uint64_t words[2] = { (uint64_t)(uint32_t)reason << 8 | (uint64_t)kind, value };
	uint64_t key = hash_bytes(HASH_BYTES_NONE, words, sizeof(words));
	int64_t index;

	/* if another argument has the key, the next one is tried */
	for (; (index = key_map_find(&all->map, key)) >= 0; key++)
		if (all->all[index].reason == reason && all->all[index].kind == kind &&
		    all->all[index].value == value)
			return (int32_t)index;
	if (all->n == INT32_MAX || key_map_reserve(&all->map) ||
	    ARRAY_GROW(all->all, all->n, all->room))
		return -ENOMEM;
	all->all[all->n] = (struct virt_argument){
		.reason = reason, .kind = (uint8_t)kind, .value = value,
	};
	key_map_add(&all->map, key);
	return all->n++;
}

enum virt_record_kind virt_reason_record(const struct virt_model *model, int32_t reason)
{
	return reason >= 0 && reason < model->n_reasons ?
	       (enum virt_record_kind)model->reasons[reason].argument : VIRT_RECORD_N_KINDS;
}

int virt_model_set_argument(struct virt_model *model, int32_t vcpu, enum exit_argument_kind kind,
			    uint64_t value)
{
	struct virt_vcpu_track *track;
	int32_t reason, argument;

	if (model->finished || !virt_is_vcpu(model, vcpu) ||
	    (unsigned int)kind >= EXIT_ARGUMENT_OTHERS || value > exit_argument_most(kind))
		return -EINVAL;
	if (model->arguments.skip)
		return 0;
	track = &model->vcpus[vcpu];
	if (track->exit >= track->n || (track->n_arguments &&
	    track->arguments[track->n_arguments - 1].interval == track->exit))
		return 0;
	reason = virt_exit_reason(&track->intervals[track->exit]);
	if (virt_reason_record(model, reason) != exit_argument_record(kind))
		return 0;
	argument = add_argument(&model->arguments, reason, kind, value);
	if (argument < 0 || ARRAY_GROW(track->arguments, track->n_arguments,
				       track->arguments_room))
		return -ENOMEM;
	track->arguments[track->n_arguments++] = (struct virt_argument_of){
		.interval = track->exit, .argument = argument,
	};
	return 0;
}

void virt_model_skip_arguments(struct virt_model *model)
{
	model->arguments.skip = true;
}

int64_t *virt_arguments_times(const struct virt_vcpu_track *track)
{
	int64_t *times = malloc(((size_t)track->n_arguments + 1) * sizeof(*times));

	for (uint32_t i = 0; times && i < track->n_arguments; i++)
		times[i] = track->intervals[track->arguments[i].interval].start_ns;
	return times;
}

void virt_arguments_place(struct virt_vcpu_track *track, const int64_t *times)
{
	uint32_t n = 0, at = 0;

	for (uint32_t i = 0; i < track->n_arguments; i++) {
		while (at < track->n && (track->intervals[at].start_ns < times[i] ||
		       (track->intervals[at].start_ns == times[i] &&
			!(track->intervals[at].flags & VIRT_INTERVAL_EXIT))))
			at++;
		if (at < track->n && track->intervals[at].start_ns == times[i])
			track->arguments[n++] = (struct virt_argument_of){
				.interval = at++, .argument = track->arguments[i].argument,
			};
	}
	track->n_arguments = n;
	track->exit = 0;
}

void virt_arguments_clip(struct virt_vcpu_track *track, uint32_t first)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < track->n_arguments; i++) {
		struct virt_argument_of of = track->arguments[i];

		of.interval -= first;
		/* below 0, it is very large; an exit before the trace is none */
		if (of.interval < track->n &&
		    track->intervals[of.interval].flags & VIRT_INTERVAL_EXIT)
			track->arguments[n++] = of;
	}
	track->n_arguments = n;
	ARRAY_SHRINK(track->arguments, track->n_arguments);
}

/* --- the most frequent ones ------------------------------------------------------------------ */

struct frequency {
	const struct virt_argument *argument;
	uint64_t	count;
};

/** By reason; those of most exits first; what is equal, by kind and value. */
static int compare_frequencies(const void *a, const void *b)
{
	const struct frequency *x = a, *y = b;

	if (x->argument->reason != y->argument->reason)
		return x->argument->reason < y->argument->reason ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	if (x->argument->kind != y->argument->kind)
		return x->argument->kind < y->argument->kind ? -1 : 1;
	return (x->argument->value > y->argument->value) -
	       (x->argument->value < y->argument->value);
}

static void count_arguments(const struct virt_model *model, struct frequency *frequencies)
{
	for (int32_t i = 0; i < model->arguments.n; i++)
		frequencies[i].argument = &model->arguments.all[i];
	for (int32_t v = 0; v < model->n_vcpus; v++)
		for (uint32_t i = 0; i < model->vcpus[v].n_arguments; i++)
			frequencies[model->vcpus[v].arguments[i].argument].count++;
}

/** Return: the kept one with a name; NULL without memory. */
static struct virt_argument *keep(struct virt_model *model, struct virt_arguments *kept,
				  const struct virt_argument *argument)
{
	char text[EXIT_ARGUMENT_NAME];
	const char *name = virt_keep_name(model, exit_argument_name(
		(enum exit_argument_kind)argument->kind, argument->value, text, sizeof(text)));

	if (!name || ARRAY_GROW(kept->all, kept->n, kept->room))
		return NULL;
	kept->all[kept->n] = *argument;
	kept->all[kept->n].name = name;
	return &kept->all[kept->n++];
}

/** @numbers: receives by number of before that of now. Return: 0 or -ENOMEM. */
static int choose(struct virt_model *model, const struct frequency *frequencies,
		  struct virt_arguments *kept, int32_t *numbers)
{
	int32_t n_of_reason = 0;

	for (int32_t i = 0; i < model->arguments.n && frequencies[i].argument; i++) {
		struct virt_argument argument = *frequencies[i].argument;
		bool is_new = !i || frequencies[i - 1].argument->reason != argument.reason;

		n_of_reason = is_new ? 1 : n_of_reason + 1;
		if (n_of_reason > VIRT_MOST_ARGUMENTS) {
			argument.kind = EXIT_ARGUMENT_OTHERS;
			argument.value = 0;
		}
		if (frequencies[i].count && n_of_reason <= VIRT_MOST_ARGUMENTS + 1 &&
		    !keep(model, kept, &argument))
			return -ENOMEM;
		numbers[frequencies[i].argument - model->arguments.all] = kept->n - 1;
	}
	return 0;
}

int virt_arguments_finish(struct virt_model *model)
{
	struct virt_arguments *all = &model->arguments, kept = { 0 };
	struct frequency *frequencies;
	int32_t *numbers;
	int ret = -ENOMEM;

	key_map_destroy(&all->map);
	if (!all->n)
		return 0;
	frequencies = calloc((size_t)all->n, sizeof(*frequencies));
	numbers = calloc((size_t)all->n, sizeof(*numbers));
	if (frequencies && numbers) {
		count_arguments(model, frequencies);
		qsort(frequencies, (size_t)all->n, sizeof(*frequencies), compare_frequencies);
		ret = choose(model, frequencies, &kept, numbers);
	}
	for (int32_t v = 0; v < model->n_vcpus && !ret; v++)
		for (uint32_t i = 0; i < model->vcpus[v].n_arguments; i++) {
			int32_t *number = &model->vcpus[v].arguments[i].argument;

			*number = numbers[*number];
		}
	free(frequencies);
	free(numbers);
	free(ret ? kept.all : all->all);
	if (!ret)
		*all = kept;
	return ret;
}

void virt_arguments_free(struct virt_arguments *all)
{
	free(all->all);
	key_map_destroy(&all->map);
}

/* --- asking ---------------------------------------------------------------------------------- */

int32_t virt_model_n_arguments(const struct virt_model *model)
{
	return model->finished ? model->arguments.n : 0;
}

const struct virt_argument *virt_model_argument(const struct virt_model *model, int32_t argument)
{
	return argument >= 0 && argument < virt_model_n_arguments(model) ?
	       &model->arguments.all[argument] : NULL;
}

int32_t virt_exit_argument(const struct virt_model *model, int32_t vcpu,
			   const struct virt_interval *interval)
{
	const struct virt_vcpu_track *track = virt_get_vcpu(model, vcpu);
	uint32_t at, i;

	if (!track || !track->n_arguments)
		return VIRT_NONE;
	at = (uint32_t)(interval - track->intervals);
	SEARCH_FIRST(i, 0, track->n_arguments, track->arguments[i].interval < at);
	return i < track->n_arguments && track->arguments[i].interval == at ?
	       track->arguments[i].argument : VIRT_NONE;
}

int32_t virt_argument_before(const struct virt_model *model, int32_t vcpu, int64_t time_ns)
{
	const struct virt_vcpu_track *track = virt_get_vcpu(model, vcpu);
	size_t i, at;

	if (!track || !track->n_arguments || time_ns >= model->end_ns)
		return VIRT_NONE;
	i = virt_first_interval_at(track, time_ns + 1);
	/* the last exit that has an argument, if none follows that has not */
	SEARCH_FIRST(at, 0, track->n_arguments, track->arguments[at].interval < i);
	if (!at)
		return VIRT_NONE;
	while (i && i - 1 > track->arguments[at - 1].interval) {
		const struct virt_interval *interval = &track->intervals[--i];

		if (interval->flags & VIRT_INTERVAL_EXIT || interval->state == VIRT_GUEST ||
		    interval->state == VIRT_UNKNOWN)
			return VIRT_NONE;
	}
	return track->arguments[at - 1].argument;
}

const char *virt_argument_name(const struct virt_model *model, int32_t argument)
{
	const struct virt_argument *found = virt_model_argument(model, argument);

	return found ? found->name : NULL;
}
