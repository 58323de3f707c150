// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_arguments.c
 * @brief	Keep the arguments of VM exits: fill, choose the most frequent ones, query.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "escape.h"
#include "hash_bytes.h"
#include "virt_arguments.h"
#include "virt_private.h"

/* --- filling --------------------------------------------------------------------------------- */

/** No name comes before any other. */
static int compare_names(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : !!a - !!b;
}

/** The number of an argument, which exists from now on. Return: or -ENOMEM. */
static int32_t add_argument(struct virt_arguments *all, const struct virt_argument *argument)
{
	uint64_t words[3] = { (uint64_t)(uint32_t)argument->reason << 16 |
			      (uint64_t)argument->cause << 8 | argument->kind, argument->value,
			      argument->region ? hash_bytes(HASH_BYTES_NONE, argument->region,
							    strlen(argument->region)) : 0 };
	uint64_t key = hash_bytes(HASH_BYTES_NONE, words, sizeof(words));
	int64_t index;

	/* if another argument has the key, the next one is tried */
	for (; (index = key_map_find(&all->map, key)) >= 0; key++)
		if (all->all[index].reason == argument->reason &&
		    all->all[index].cause == argument->cause &&
		    all->all[index].kind == argument->kind &&
		    !compare_names(all->all[index].region, argument->region) &&
		    all->all[index].value == argument->value)
			return (int32_t)index;
	if (all->n == INT32_MAX || key_map_reserve(&all->map) ||
	    ARRAY_GROW(all->all, all->n, all->room))
		return -ENOMEM;
	all->all[all->n] = *argument;
	key_map_add(&all->map, key);
	return all->n++;
}

enum virt_record_kind virt_reason_record(const struct virt_model *model, int32_t reason)
{
	return reason >= 0 && reason < model->n_reasons ?
	       (enum virt_record_kind)model->reasons[reason].argument : VIRT_RECORD_N_KINDS;
}

bool virt_reason_for_memory(const struct virt_model *model, int32_t reason)
{
	return reason >= 0 && reason < model->n_reasons && model->reasons[reason].for_memory;
}

/** What is known of the last exit, which may be nothing yet. Return: NULL without memory. */
static struct virt_argument_of *last_exit(struct virt_vcpu_track *track)
{
	uint32_t n = track->n_arguments;

	if (n && track->arguments[n - 1].interval == track->exit)
		return &track->arguments[n - 1];
	if (ARRAY_GROW(track->arguments, track->n_arguments, track->arguments_room))
		return NULL;
	track->arguments[track->n_arguments++] = (struct virt_argument_of){
		.interval = track->exit, .argument = VIRT_NONE,
	};
	return &track->arguments[n];
}

int virt_model_set_argument(struct virt_model *model, int32_t vcpu, enum exit_argument_kind kind,
			    uint64_t value)
{
	struct virt_argument argument = { .kind = (uint8_t)kind, .value = value };
	struct virt_vcpu_track *track;
	struct virt_argument_of *of;
	int32_t number;

	if (model->finished || !virt_is_vcpu(model, vcpu) ||
	    (unsigned int)kind >= EXIT_ARGUMENT_OTHERS || value > exit_argument_most(kind))
		return -EINVAL;
	if (model->arguments.skip)
		return 0;
	track = &model->vcpus[vcpu];
	if (track->exit >= track->n)
		return 0;
	argument.reason = virt_exit_reason(&track->intervals[track->exit]);
	if (virt_reason_record(model, argument.reason) != exit_argument_record(kind))
		return 0;
	of = last_exit(track);
	if (!of)
		return -ENOMEM;
	if (of->argument != VIRT_NONE)
		return 0;
	number = add_argument(&model->arguments, &argument);
	if (number < 0)
		return -ENOMEM;
	of->argument = number;
	return 0;
}

int virt_model_saw(struct virt_model *model, int32_t vcpu, unsigned int seen)
{
	struct virt_vcpu_track *track;
	struct virt_argument_of *of;

	if (model->finished || !virt_is_vcpu(model, vcpu) || seen >= EXIT_SEEN_SLEEP)
		return -EINVAL;
	track = &model->vcpus[vcpu];
	if (model->arguments.skip || track->exit >= track->n ||
	    !virt_reason_for_memory(model, virt_exit_reason(&track->intervals[track->exit])))
		return 0;
	of = last_exit(track);
	if (!of)
		return -ENOMEM;
	of->seen |= (uint16_t)seen;
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
				.seen = track->arguments[i].seen,
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

/* --- causes ---------------------------------------------------------------------------------- */

/** What the host did during the exit that an interval begins with. */
static enum exit_cause cause_at(const struct virt_model *model,
				const struct virt_vcpu_track *track, uint32_t interval,
				unsigned int seen)
{
	struct virt_exit exit;

	virt_exit_take(model, track, interval, &exit);
	/* what else it did, its records would show */
	if (!exit.complete)
		return EXIT_CAUSE_UNKNOWN;
	if (exit.state_ns[VIRT_BLOCKED] || exit.state_ns[VIRT_WAKING] ||
	    exit.state_ns[VIRT_OFFLINE])
		seen |= EXIT_SEEN_SLEEP;
	return exit_cause_of(seen, virt_model_recorded(model));
}

/** An exit for memory gets an argument with its cause, which may be all that is known of it. */
static int add_cause(struct virt_model *model, const struct virt_vcpu_track *track,
		     struct virt_argument_of *of)
{
	struct virt_argument argument = { .kind = EXIT_ARGUMENT_NONE };

	if (of->argument != VIRT_NONE)
		argument = model->arguments.all[of->argument];
	argument.reason = virt_exit_reason(&track->intervals[of->interval]);
	argument.cause = (uint8_t)cause_at(model, track, of->interval, of->seen);
	if (argument.cause == EXIT_CAUSE_UNKNOWN)
		return 0;
	of->argument = add_argument(&model->arguments, &argument);
	return of->argument < 0 ? -ENOMEM : 0;
}

/**
 * The causes of a vCPU's exits; those of which nothing is known are left out.
 * @quiet: also of exits during which no record shows anything, which is a cause of its own then
 */
static int add_causes(struct virt_model *model, struct virt_vcpu_track *track, bool quiet)
{
	uint64_t recorded = virt_model_recorded(model);
	struct virt_argument_of *all = NULL;
	uint32_t n = 0, room = 0, at = 0;
	int ret = 0;

	for (uint32_t i = 0; i < track->n && !ret; i++) {
		struct virt_argument_of of = { .interval = i, .argument = VIRT_NONE };
		bool is_memory;

		if (!quiet) {
			if (at == track->n_arguments)
				break;
			i = track->arguments[at].interval;
		}
		if (!(track->intervals[i].flags & VIRT_INTERVAL_EXIT))
			continue;
		is_memory = virt_reason_for_memory(model, virt_exit_reason(&track->intervals[i]));
		if (at < track->n_arguments && track->arguments[at].interval == i)
			of = track->arguments[at++];
		if (is_memory && (quiet || of.seen) && exit_causes_recorded(recorded))
			ret = add_cause(model, track, &of);
		if (ret || of.argument == VIRT_NONE)
			continue;
		if (ARRAY_GROW(all, n, room))
			ret = -ENOMEM;
		else
			all[n++] = of;
	}
	if (ret) {
		free(all);
		return ret;
	}
	free(track->arguments);
	track->arguments = all;
	track->n_arguments = n;
	track->arguments_room = room;
	ARRAY_SHRINK(track->arguments, track->n_arguments);
	return 0;
}

static int find_causes(struct virt_model *model)
{
	uint64_t recorded = virt_model_recorded(model);
	bool any = false, quiet = exit_cause_of(0, recorded) != EXIT_CAUSE_UNKNOWN;
	int ret = 0;

	for (int32_t i = 0; i < model->n_reasons; i++)
		any |= model->reasons[i].for_memory;
	for (int32_t v = 0; v < model->n_vcpus && any && !ret; v++)
		ret = add_causes(model, &model->vcpus[v], quiet);
	return ret;
}

/* --- devices --------------------------------------------------------------------------------- */

/** What became of an argument of a machine's exits. */
struct placed {
	int32_t		machine, number;
};

/** The argument with its device, if that is known. Return: its number or -ENOMEM. */
static int32_t place_argument(struct virt_model *model, int32_t machine, int32_t number)
{
	struct virt_argument argument = model->arguments.all[number];

	if (exit_argument_is_named((enum exit_argument_kind)argument.kind, argument.value))
		return number;
	argument.region = virt_region_of(model, machine, &argument);
	return argument.region ? add_argument(&model->arguments, &argument) : number;
}

/** Find the devices of all arguments of machines whose regions are known. Return: 0 or -ENOMEM. */
static int find_devices(struct virt_model *model)
{
	int32_t n = model->arguments.n;
	struct placed *all = malloc(((size_t)n + 1) * sizeof(*all));
	int ret = all ? 0 : -ENOMEM;

	for (int32_t i = 0; i < n && !ret; i++)
		all[i].machine = VIRT_NONE;
	for (int32_t v = 0; v < model->n_vcpus && !ret; v++) {
		struct virt_vcpu_track *track = &model->vcpus[v];
		int32_t machine = track->info.machine;

		if (!model->machines[machine].n_regions)
			continue;
		for (uint32_t i = 0; i < track->n_arguments && !ret; i++) {
			int32_t *number = &track->arguments[i].argument;
			struct placed *placed = *number < 0 ? NULL : &all[*number];

			if (placed && placed->machine != machine)
				*placed = (struct placed){
					machine, place_argument(model, machine, *number),
				};
			if (placed && placed->number < 0)
				ret = -ENOMEM;
			else if (placed)
				*number = placed->number;
		}
	}
	free(all);
	return ret;
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
	if (x->argument->cause != y->argument->cause)
		return x->argument->cause < y->argument->cause ? -1 : 1;
	if (x->argument->kind != y->argument->kind)
		return x->argument->kind < y->argument->kind ? -1 : 1;
	if (x->argument->value != y->argument->value)
		return x->argument->value < y->argument->value ? -1 : 1;
	return compare_names(x->argument->region, y->argument->region);
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
	const char *cause = exit_cause_name((enum exit_cause)argument->cause), *name, *both;
	char text[4 * EXIT_ARGUMENT_NAME], long_text[5 * EXIT_ARGUMENT_NAME];
	size_t n;

	exit_argument_name((enum exit_argument_kind)argument->kind, argument->value, text,
			   EXIT_ARGUMENT_NAME);
	n = strlen(text);
	if (argument->region) {
		memcpy(text + n, " (", 3);
		/* with room for what follows */
		escape_text(text + n + 2, sizeof(text) - n - 4, argument->region);
		memcpy(text + strlen(text), ")", 2);
	}
	name = virt_keep_name(model, text);
	snprintf(long_text, sizeof(long_text), "%s, %s", text, cause ? cause : "");
	/* in a sentence, "others" says no more */
	both = !cause ? name : argument->kind >= EXIT_ARGUMENT_OTHERS ? cause :
	       virt_keep_name(model, long_text);
	if (!name || !both || ARRAY_GROW(kept->all, kept->n, kept->room))
		return NULL;
	kept->all[kept->n] = *argument;
	kept->all[kept->n].name = name;
	kept->all[kept->n].text = both;
	return &kept->all[kept->n++];
}

/** @numbers: receives by number of before that of now. Return: 0 or -ENOMEM. */
static int choose(struct virt_model *model, const struct frequency *frequencies,
		  struct virt_arguments *kept, int32_t *numbers)
{
	int32_t n_of_reason = 0, others[EXIT_CAUSE_N];

	for (int32_t i = 0; i < model->arguments.n && frequencies[i].argument; i++) {
		struct virt_argument argument = *frequencies[i].argument;
		int32_t *number = &numbers[frequencies[i].argument - model->arguments.all];
		int32_t *other = &others[argument.cause];

		if (!i || frequencies[i - 1].argument->reason != argument.reason) {
			n_of_reason = 0;
			for (int cause = 0; cause < EXIT_CAUSE_N; cause++)
				others[cause] = VIRT_NONE;
		}
		if (!frequencies[i].count)
			continue;
		if (++n_of_reason > VIRT_MOST_ARGUMENTS) {
			argument.kind = EXIT_ARGUMENT_OTHERS;
			argument.value = 0;
			argument.region = NULL;
			if (*other != VIRT_NONE) {
				*number = *other;
				continue;
			}
			*other = kept->n;
		}
		*number = kept->n;
		if (!keep(model, kept, &argument))
			return -ENOMEM;
	}
	return 0;
}

int virt_arguments_finish(struct virt_model *model)
{
	struct virt_arguments *all = &model->arguments, kept = { 0 };
	struct frequency *frequencies;
	int32_t *numbers;
	int ret = -ENOMEM;

	if (find_devices(model) || find_causes(model))
		return -ENOMEM;
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

enum exit_cause virt_argument_cause(const struct virt_model *model, int32_t argument)
{
	const struct virt_argument *found = virt_model_argument(model, argument);

	return found ? (enum exit_cause)found->cause : EXIT_CAUSE_UNKNOWN;
}

const char *virt_argument_name(const struct virt_model *model, int32_t argument)
{
	const struct virt_argument *found = virt_model_argument(model, argument);

	return found && found->kind != EXIT_ARGUMENT_NONE ? found->name : NULL;
}

const char *virt_argument_text(const struct virt_model *model, int32_t argument)
{
	const struct virt_argument *found = virt_model_argument(model, argument);

	return found ? found->text : NULL;
}
