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

/** All other facts are kept if both files have the same. Return: 0 or -ENOMEM. */
static int join_facts(struct json_object *to, struct json_object *from)
{
	struct json_object_iterator at = json_object_iter_begin(to), end = json_object_iter_end(to);
	const char *differs[64];
	size_t n = 0;
	int ret = add_guests(to, from);

	if (!json_object_equal(member(to, "cgroups"), member(from, "cgroups")))
		drop_cgroups(to);
	for (at = json_object_iter_begin(to); !json_object_iter_equal(&at, &end);
	     json_object_iter_next(&at)) {
		const char *key = json_object_iter_peek_name(&at);

		if (!lasts(key) && strcmp(key, "guests") != 0 && n < ARRAY_SIZE(differs) &&
		    !json_object_equal(member(to, key), member(from, key)))
			differs[n++] = key;
	}
	for (size_t i = 0; i < n; i++)
		json_object_object_del(to, differs[i]);
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

/** The sidecar of the result. Return: as above. */
static int make_facts(const struct trace_args *args, struct json_object **root)
{
	int status = read_facts(args->items[0].path, root);

	for (int i = 1; i < args->n && !status; i++) {
		struct json_object *facts = NULL;

		status = read_facts(args->items[i].path, &facts);
		if (!status && join_facts(*root, facts))
			status = no_memory();
		json_object_put(facts);
	}
	return status;
}

/* ---- records ---- */

static void note(const struct split_dat_options *options, const struct trace_args *args,
		 const struct trace_dat_joined *joined)
{
	if (options->quiet)
		return;
	ksv_note("%s: %llu records of %d files", options->output,
		 (unsigned long long)joined->n_records, args->n);
	if (joined->is_boot_unknown)
		ksv_note("%s: the files do not show whether the host was booted between them: then "
			 "their times do not belong together", options->output);
	if (joined->n_left_out)
		ksv_note("%s: %llu records are left out: when they came, not all of the files were "
			 "being recorded", options->output,
			 (unsigned long long)joined->n_left_out);
	if (joined->has_other_guests)
		ksv_note("%s: names of guests that only later files have are left out",
			 options->output);
}

static int write_records(const struct trace_args *args, struct split_target *target,
			 struct trace_dat_joined *joined)
{
	char **paths = trace_args_paths(args), error[1024];
	int ret;

	if (!paths)
		return KSV_EXIT_FILE;
	ret = trace_dat_join((const char *const *)paths, args->n, target->out->fd, joined, error,
			     sizeof(error));
	free(paths);
	return split_dat_written(target, NULL, ret, error);
}

int merge_dat_join(const struct split_dat_options *options, const struct trace_args *args)
{
	struct trace_dat_joined joined;
	struct json_object *root = NULL;
	struct split_target target;
	int status = split_open(&target, options->command, options->output);

	if (status)
		return status;
	status = write_records(args, &target, &joined);
	if (!status)
		status = make_facts(args, &root);
	if (status) {
		json_object_put(root);
		split_discard(&target);
		return status;
	}
	status = split_close(&target, root);
	if (!status)
		note(options, args, &joined);
	return status;
}
