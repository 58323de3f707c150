// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	merge_dat_join.c
 * @brief	Join separate recordings of one host by trace-cmd.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json_read.h"
#include "sidecar.h"
#include "split_dat.h"
#include "trace_dat_join.h"

/** Real time and clock of two files of one boot may differ by this: a boot takes longer. */
#define SAME_BOOT_NS	2000000000

/** The sidecars of all files. */
struct facts {
	struct json_object *root;	/* of the result */
	bool		has_moments;	/* each file has the real time of a moment */
	int64_t		zero_ns;	/* by the first file: real time at time 0 of the clock */
	int64_t		apart_ns;	/* at most, of the same by another one */
};

static int no_memory(void)
{
	ksv_error("not enough memory");
	return KSV_EXIT_FILE;
}

/* ---- sidecars ---- */

static struct json_object *member(struct json_object *object, const char *key)
{
	struct json_object *value = NULL;

	return json_object_object_get_ex(object, key, &value) ? value : NULL;
}

/** The process of a guest, or 0. */
static int64_t process_of(struct json_object *guest)
{
	return json_number_member(guest, "pid", 0);
}

static bool has_guest(struct json_object *guests, struct json_object *guest)
{
	for (size_t i = 0; i < json_object_array_length(guests); i++) {
		struct json_object *known = json_object_array_get_idx(guests, i);

		if (json_object_equal(known, guest) ||
		    (process_of(guest) && process_of(known) == process_of(guest)))
			return true;
	}
	return false;
}

/** Guests that only @from has. Return: 0 or -ENOMEM. */
static int add_guests(struct json_object *to, struct json_object *from)
{
	struct json_object *guests = json_member(to, "guests", json_type_array);
	size_t n;
	struct json_object *more = json_list_member(from, "guests", &n);
	int ret = 0;

	if (n && !guests) {
		guests = json_object_new_array();
		ret = json_add(to, "guests", guests);
	}
	for (size_t i = 0; i < n && !ret; i++) {
		struct json_object *guest = json_object_array_get_idx(more, i);

		if (has_guest(guests, guest))
			continue;
		if (json_object_array_add(guests, json_object_get(guest))) {
			json_object_put(guest);
			ret = -ENOMEM;
		}
	}
	return ret;
}

/** Facts about a host that last: those of the first file that has them count. */
static bool lasts(const char *key)
{
	static const char *const names[] = { "cpu_khz", "idle_states", "governors", "moment" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(key, names[i]))
			return true;
	return false;
}

/** The cgroups of a recording, with their quotas at its ends, are not those of all. */
static void drop_cgroups(struct json_object *root)
{
	size_t n, n_vcpus;
	struct json_object *guests = json_list_member(root, "guests", &n);

	json_object_object_del(root, "cgroups");
	for (size_t i = 0; i < n; i++) {
		struct json_object *vcpus = json_list_member(json_object_array_get_idx(guests, i),
							     "vcpus", &n_vcpus);

		for (size_t k = 0; k < n_vcpus; k++) {
			struct json_object *vcpu = json_object_array_get_idx(vcpus, k);

			if (json_object_is_type(vcpu, json_type_object))
				json_object_object_del(vcpu, "cgroup");
		}
	}
}

/** All others are kept if both files have the same. */
static void drop_differing(struct json_object *to, struct json_object *from)
{
	json_object_object_foreach(to, key, value)
		if (!lasts(key) && strcmp(key, "guests") != 0 &&
		    !json_object_equal(value, member(from, key)))
			json_object_object_del(to, key);
}

/** Return: 0 or -ENOMEM. */
static int join_facts(struct json_object *to, struct json_object *from)
{
	int ret = add_guests(to, from);

	if (!json_object_equal(member(to, "cgroups"), member(from, "cgroups")))
		drop_cgroups(to);
	drop_differing(to, from);
	json_object_object_foreach(from, key, value)
		if (lasts(key) && !member(to, key) && !ret)
			ret = json_add(to, key, json_object_get(value));
	return ret;
}

/** @root: receives the object, or an empty one. Return: KSV_EXIT_OK, or after a message. */
static int read_facts(const char *path, struct json_object **root)
{
	char *sidecar;
	int status = split_dat_facts(path, &sidecar, root);

	free(sidecar);
	if (status)
		return status;
	if (!*root)
		*root = json_object_new_object();
	return *root ? KSV_EXIT_OK : no_memory();
}

/** Compare the boots of files. @facts: of all before, @root: of the next one */
static void add_moment(struct facts *facts, struct json_object *root)
{
	struct json_object *moment = json_member(root, "moment", json_type_object);
	int64_t realtime_ns = json_number_member(moment, "realtime_ns", -1);
	int64_t trace_ns = json_number_member(moment, "trace_ns", -1);
	int64_t zero_ns = realtime_ns - trace_ns, apart_ns;

	if (realtime_ns < 0 || trace_ns < 0) {
		facts->has_moments = false;
		return;
	}
	if (!facts->root)
		facts->zero_ns = zero_ns;
	if (__builtin_sub_overflow(zero_ns, facts->zero_ns, &apart_ns) || apart_ns == INT64_MIN)
		apart_ns = INT64_MAX;
	if (llabs(apart_ns) > facts->apart_ns)
		facts->apart_ns = llabs(apart_ns);
}

/** @paths: in order of time. Return: as above. */
static int make_facts(const char *const *paths, int n, struct facts *facts)
{
	int status = KSV_EXIT_OK;

	*facts = (struct facts){ .has_moments = true };
	for (int i = 0; i < n && !status; i++) {
		struct json_object *root;

		status = read_facts(paths[i], &root);
		if (status)
			break;
		add_moment(facts, root);
		if (!facts->root) {
			facts->root = root;
			continue;
		}
		if (join_facts(facts->root, root))
			status = no_memory();
		json_object_put(root);
	}
	return status;
}

/* ---- records ---- */

static void note_boot(const char *output, const struct trace_dat_joined *joined,
		      const struct facts *facts)
{
	if (facts->has_moments && facts->apart_ns > SAME_BOOT_NS)
		ksv_note("%s: by the sidecars, the files' clocks began up to %.0f s apart: the "
			 "host was booted or suspended between the files, or its real time was "
			 "set. If it was booted, their times do not belong together", output,
			 (double)facts->apart_ns / 1e9);
	else if (!facts->has_moments && joined->is_boot_unknown)
		ksv_note("%s: the files do not show whether the host was booted between them: if "
			 "it was, their times do not belong together", output);
}

static void note(const struct split_dat_options *options, int n_files,
		 const struct trace_dat_joined *joined, const struct facts *facts)
{
	if (options->quiet)
		return;
	ksv_note("%s: %llu records of %d files", options->output,
		 (unsigned long long)joined->n_records, n_files);
	note_boot(options->output, joined, facts);
	if (joined->n_left_out)
		ksv_note("%s: %llu records are left out: when they came, not all of the files were "
			 "being recorded", options->output,
			 (unsigned long long)joined->n_left_out);
	if (joined->has_other_guests)
		ksv_note("%s: names of guests that only later files have are left out",
			 options->output);
}

int merge_dat_join(const struct split_dat_options *options, const struct trace_args *args)
{
	const char **paths = (const char **)trace_args_paths(args);
	struct trace_dat_joined joined;
	struct facts facts = { 0 };
	struct split_target target;
	char error[1024];
	int status = paths ? split_open(&target, options->command, options->output) : KSV_EXIT_FILE;

	if (status) {
		free(paths);
		return status;
	}
	status = split_dat_written(&target, NULL,
				   trace_dat_join(paths, args->n, target.out->fd, &joined, error,
						  sizeof(error)), error);
	if (!status)
		status = make_facts(paths, args->n, &facts);
	free(paths);
	if (status) {
		json_object_put(facts.root);
		split_discard(&target);
		return status;
	}
	status = split_close(&target, facts.root);
	if (!status)
		note(options, args->n, &joined, &facts);
	return status;
}
