// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	recording_folder.c
 * @brief	Read and write recording.json in the folder of a recording. No other code does this.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "array.h"
#include "escape.h"
#include "json_read.h"
#include "recording_folder.h"

static const char *const hypervisors[RECORDING_N_HYPERVISORS] = {
	[RECORDING_KVM] = "kvm",
	[RECORDING_XEN] = "xen",
};

static const char *const states[RECORDING_N_STATES] = {
	[RECORDING_RUNNING] = "recording",
	[RECORDING_COMPLETE] = "complete",
	[RECORDING_STOPPED] = "stopped",
	[RECORDING_FAILED] = "failed",
};

static const char *const roles[RECORDING_N_ROLES] = {
	[RECORDING_HOST] = "host",
	[RECORDING_GUEST] = "guest",
};

/* --- in memory ------------------------------------------------------------------------------- */

int recording_text(char **text, const char *value)
{
	char *copy = value ? strdup(value) : NULL;

	if (value && !copy)
		return -ENOMEM;
	free(*text);
	*text = copy;
	return 0;
}

/** Room for one more, all zero. Value: NULL without memory. */
#define ADD_ITEM(recording, list) __extension__ ({						\
	__typeof__((recording)->list) item_ = NULL;						\
												\
	if (!ARRAY_GROW((recording)->list, (recording)->n_##list, (recording)->room_##list)) {	\
		item_ = &(recording)->list[(recording)->n_##list++];				\
		memset(item_, 0, sizeof(*item_));						\
	}											\
	item_;											\
})

int recording_add_argument(struct recording *recording, const char *argument)
{
	char **item = ADD_ITEM(recording, command);

	return item ? recording_text(item, argument ? argument : "") : -ENOMEM;
}

int recording_add_program(struct recording *recording, const char *name, const char *version)
{
	struct recording_program *item = ADD_ITEM(recording, programs);

	return !item || recording_text(&item->name, name) ||
	       recording_text(&item->version, version) ? -ENOMEM : 0;
}

int recording_add_file(struct recording *recording, const struct recording_file *file)
{
	struct recording_file *item = ADD_ITEM(recording, files);

	if (!item)
		return -ENOMEM;
	item->role = file->role;
	item->records = file->records;
	item->lost = file->lost;
	return recording_text(&item->name, file->name) ||
	       recording_text(&item->guest, file->guest) ||
	       recording_text(&item->clock, file->clock) ? -ENOMEM : 0;
}

int recording_add_guest(struct recording *recording, const struct recording_guest *guest)
{
	struct recording_guest *item = ADD_ITEM(recording, guests);

	return !item || recording_text(&item->name, guest->name) ||
	       recording_text(&item->uuid, guest->uuid) ||
	       recording_text(&item->how, guest->how) ||
	       recording_text(&item->why, guest->why) ? -ENOMEM : 0;
}

int recording_add_trigger(struct recording *recording, const struct recording_trigger *trigger)
{
	struct recording_trigger *item = ADD_ITEM(&recording->flight, triggers);

	if (!item)
		return -ENOMEM;
	item->moments = trigger->moments;
	item->time_ns = trigger->time_ns;
	item->cost_ns = trigger->cost_ns;
	return recording_text(&item->condition, trigger->condition) ||
	       recording_text(&item->vcpu, trigger->vcpu) ? -ENOMEM : 0;
}

int recording_add_log(struct recording *recording, const struct recording_log *log)
{
	struct recording_log *item = ADD_ITEM(&recording->flight, logs);

	if (!item)
		return -ENOMEM;
	item->lines = log->lines;
	return recording_text(&item->machine, log->machine) ||
	       recording_text(&item->log, log->log) ||
	       recording_text(&item->pattern, log->pattern) ||
	       recording_text(&item->text, log->text) ? -ENOMEM : 0;
}

static void free_log(struct recording_log *log)
{
	free(log->machine);
	free(log->log);
	free(log->pattern);
	free(log->text);
}

static void free_flight(struct recording_flight *flight)
{
	for (int i = 0; i < flight->n_logs; i++)
		free_log(&flight->logs[i]);
	free(flight->logs);
	for (int i = 0; i < flight->n_triggers; i++) {
		free(flight->triggers[i].condition);
		free(flight->triggers[i].vcpu);
	}
	free(flight->triggers);
	free(flight->cause);
}

void recording_free(struct recording *recording)
{
	free_flight(&recording->flight);
	for (int i = 0; i < recording->n_command; i++)
		free(recording->command[i]);
	for (int i = 0; i < recording->n_programs; i++) {
		free(recording->programs[i].name);
		free(recording->programs[i].version);
	}
	for (int i = 0; i < recording->n_files; i++) {
		free(recording->files[i].name);
		free(recording->files[i].guest);
		free(recording->files[i].clock);
	}
	for (int i = 0; i < recording->n_guests; i++) {
		free(recording->guests[i].name);
		free(recording->guests[i].uuid);
		free(recording->guests[i].how);
		free(recording->guests[i].why);
	}
	free(recording->reason);
	free(recording->begin);
	free(recording->end);
	free(recording->events);
	free(recording->command);
	free(recording->programs);
	free(recording->files);
	free(recording->guests);
	free(recording->folder);
	*recording = (struct recording){ 0 };
}

/* --- what has to be true of one -------------------------------------------------------------- */

bool recording_plain_name(const char *name)
{
	return name && *name && !strchr(name, '/') && strcmp(name, ".") != 0 &&
	       strcmp(name, "..") != 0 && strcmp(name, RECORDING_FILE) != 0 &&
	       strlen(name) <= NAME_MAX;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/** A name that two files have. Return: 0 or -ENOMEM. */
static int find_twice(const struct recording *recording, const char **twice)
{
	int n = recording->n_files;
	const char **names = calloc((size_t)n + 1, sizeof(*names));

	*twice = NULL;
	if (!names)
		return -ENOMEM;
	for (int i = 0; i < n; i++)
		names[i] = recording->files[i].name;
	qsort(names, (size_t)n, sizeof(*names), compare_names);
	for (int i = 1; i < n && !*twice; i++)
		*twice = strcmp(names[i - 1], names[i]) ? NULL : names[i];
	free(names);
	return 0;
}

/** Return: 0, or a negative errno and a text in @error. */
static int check(const char *path, const struct recording *recording, char *error, size_t size)
{
	const char *twice;
	int n_hosts = 0;

	for (int i = 0; i < recording->n_files; i++) {
		const struct recording_file *file = &recording->files[i];

		n_hosts += file->role == RECORDING_HOST;
		if (recording_plain_name(file->name))
			continue;
		text_format(error, size, "%s: files: '%s' is not the name of a file in the folder: "
			    "correct it, or give the traces one by one", path,
			    file->name ? file->name : "");
		return -EINVAL;
	}
	if (find_twice(recording, &twice)) {
		text_format(error, size, "%s: not enough memory", path);
		return -ENOMEM;
	}
	if (twice)
		text_format(error, size, "%s: files: '%s' is listed twice: correct it, or give the "
			    "traces one by one", path, twice);
	else if (n_hosts > 1)
		text_format(error, size, "%s: files: %d have the role host, but only one can: "
			    "correct it, or give the traces one by one", path, n_hosts);
	return twice || n_hosts > 1 ? -EINVAL : 0;
}

/* --- writing --------------------------------------------------------------------------------- */

static int put_text(struct json_object *object, const char *key, const char *text)
{
	return text ? json_add(object, key, json_text_new(text)) : 0;
}

static int put_number(struct json_object *object, const char *key, int64_t number)
{
	return number == RECORDING_UNKNOWN ? 0 :
	       json_add(object, key, json_object_new_int64(number));
}

/** An object, or array, that is in another one. Return: NULL without memory. */
static struct json_object *put_inside(struct json_object *object, const char *key,
				      struct json_object *inside)
{
	return json_add(object, key, inside) ? NULL : inside;
}

static int put_command(struct json_object *root, const struct recording *recording)
{
	struct json_object *list = put_inside(root, "command", json_object_new_array());
	int ret = list ? 0 : -ENOMEM;

	for (int i = 0; i < recording->n_command && !ret; i++)
		ret = put_text(list, NULL, recording->command[i]);
	return ret;
}

static int put_programs(struct json_object *root, const struct recording *recording)
{
	struct json_object *versions = put_inside(root, "versions", json_object_new_object());
	int ret = versions ? 0 : -ENOMEM;

	for (int i = 0; i < recording->n_programs && !ret; i++)
		if (recording->programs[i].name)
			ret = put_text(versions, recording->programs[i].name,
				       recording->programs[i].version);
	return ret;
}

static int put_file(struct json_object *list, const struct recording_file *file)
{
	struct json_object *object = put_inside(list, NULL, json_object_new_object());

	return !object || put_text(object, "name", file->name) ||
	       put_text(object, "role", roles[file->role]) ||
	       put_text(object, "guest", file->guest) ||
	       put_text(object, "clock", file->clock) ||
	       put_number(object, "records", file->records) ||
	       put_number(object, "lost", file->lost) ? -ENOMEM : 0;
}

static int put_guest(struct json_object *list, const struct recording_guest *guest)
{
	struct json_object *object = put_inside(list, NULL, json_object_new_object());

	return !object || put_text(object, "name", guest->name) ||
	       put_text(object, "uuid", guest->uuid) || put_text(object, "how", guest->how) ||
	       put_text(object, "why", guest->why) ? -ENOMEM : 0;
}

static int put_trigger(struct json_object *list, const struct recording_trigger *trigger)
{
	struct json_object *object = put_inside(list, NULL, json_object_new_object());

	return !object || put_text(object, "condition", trigger->condition) ||
	       put_number(object, "moments", trigger->moments) ||
	       put_text(object, "vcpu", trigger->vcpu) ||
	       json_add(object, "time_ns", json_object_new_int64(trigger->time_ns)) ||
	       put_number(object, "cost_ns", trigger->cost_ns) ? -ENOMEM : 0;
}

static int put_log(struct json_object *list, const struct recording_log *log)
{
	struct json_object *object = put_inside(list, NULL, json_object_new_object());

	return !object || put_text(object, "machine", log->machine) ||
	       put_text(object, "log", log->log) || put_text(object, "pattern", log->pattern) ||
	       put_number(object, "lines", log->lines) ||
	       put_text(object, "text", log->text) ? -ENOMEM : 0;
}

static int put_flight(struct json_object *root, const struct recording_flight *flight)
{
	struct json_object *object, *list;
	int ret;

	if (!flight->asked_ns)
		return 0;
	object = put_inside(root, "flight", json_object_new_object());
	if (!object || put_number(object, "asked_ns", flight->asked_ns) ||
	    put_number(object, "kept_ns", flight->kept_ns) ||
	    put_number(object, "paused_ns", flight->paused_ns) ||
	    put_text(object, "cause", flight->cause))
		return -ENOMEM;
	list = put_inside(object, "triggers", json_object_new_array());
	ret = list ? 0 : -ENOMEM;
	for (int i = 0; i < flight->n_triggers && !ret; i++)
		ret = put_trigger(list, &flight->triggers[i]);
	if (ret || !flight->n_logs)
		return ret;
	list = put_inside(object, "logs", json_object_new_array());
	ret = list ? 0 : -ENOMEM;
	for (int i = 0; i < flight->n_logs && !ret; i++)
		ret = put_log(list, &flight->logs[i]);
	return ret;
}

static int put_lists(struct json_object *root, const struct recording *recording)
{
	struct json_object *files = put_inside(root, "files", json_object_new_array());
	struct json_object *guests = put_inside(root, "guests", json_object_new_array());
	int ret = files && guests ? 0 : -ENOMEM;

	for (int i = 0; i < recording->n_files && !ret; i++)
		ret = put_file(files, &recording->files[i]);
	for (int i = 0; i < recording->n_guests && !ret; i++)
		ret = put_guest(guests, &recording->guests[i]);
	return ret;
}

/** How long a cycle of the host's TSC is: ns = cycles * mult >> shift. */
static int put_scale(struct json_object *root, const struct recording *recording)
{
	struct json_object *object;

	if (!recording->tsc_mult)
		return 0;
	object = put_inside(root, "tsc_to_ns", json_object_new_object());
	return !object || put_number(object, "mult", recording->tsc_mult) ||
	       put_number(object, "shift", recording->tsc_shift) ? -ENOMEM : 0;
}

/** Return: NULL without memory. */
static struct json_object *object_of(const struct recording *recording)
{
	struct json_object *root = json_object_new_object();

	if (root && !put_number(root, "recording_version", RECORDING_VERSION) &&
	    !put_text(root, "hypervisor", hypervisors[recording->hypervisor]) &&
	    !put_text(root, "state", states[recording->state]) &&
	    !put_text(root, "reason", recording->reason) &&
	    !put_text(root, "begin", recording->begin) &&
	    !put_text(root, "end", recording->end) && !put_command(root, recording) &&
	    !put_programs(root, recording) && !put_text(root, "events", recording->events) &&
	    !put_scale(root, recording) && !put_flight(root, &recording->flight) &&
	    !put_lists(root, recording))
		return root;
	json_object_put(root);
	return NULL;
}

int recording_write(const char *folder, const struct recording *recording, char *error,
		    size_t size)
{
	char *path = recording_path(folder, RECORDING_FILE);
	struct json_object *root = path ? object_of(recording) : NULL;
	int ret = -ENOMEM;

	if (root)
		ret = check(path, recording, error, size);
	else
		text_format(error, size, "%s: not enough memory", folder);
	if (!ret)
		ret = json_write_file(path, root, error, size);
	json_object_put(root);
	free(path);
	return ret;
}

/* --- reading --------------------------------------------------------------------------------- */

char *recording_path(const char *folder, const char *name)
{
	size_t n = strlen(folder);
	char *path;

	return asprintf(&path, "%s%s%s", folder, n && folder[n - 1] == '/' ? "" : "/", name) < 0 ?
	       NULL : path;
}

static bool is_folder(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/** Is it called recording.json, wherever it is? */
static const char *name_in(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	return strcmp(name, RECORDING_FILE) ? NULL : name;
}

bool recording_is(const char *path)
{
	struct stat st;
	bool is;

	if (!is_folder(path))
		return name_in(path) && !lstat(path, &st);
	path = recording_path(path, RECORDING_FILE);
	is = path && !lstat(path, &st);
	free((char *)(uintptr_t)path);
	return is;
}

/** The index of a member's word in a table, or -1. */
static int word_member(struct json_object *object, const char *key, const char *const *words, int n)
{
	struct json_object *value = json_member(object, key, json_type_string);

	for (int i = 0; value && i < n; i++)
		if (!strcmp(json_object_get_string(value), words[i]))
			return i;
	return -1;
}

/** What is neither one nor the other is not guessed. */
static int take_words(const char *path, struct json_object *root, struct recording *recording,
		      char *error, size_t size)
{
	int hypervisor = word_member(root, "hypervisor", hypervisors, RECORDING_N_HYPERVISORS);
	int state = word_member(root, "state", states, RECORDING_N_STATES);
	int64_t version = json_number_member(root, "recording_version", 0);

	if (version > RECORDING_VERSION)
		text_format(error, size, "%s: has version %lld, and this kshark-virt supports %d: "
			    "use a newer one, or give the traces one by one",
			    path, (long long)version, RECORDING_VERSION);
	else if (version < 1)
		text_format(error, size, "%s: has no recording_version: kshark-virt record did not "
			    "write it. Give the traces one by one", path);
	else if (hypervisor < 0 || state < 0)
		text_format(error, size, "%s: its \"%s\" is not a valid value: correct it, or give "
			    "the traces one by one", path,
			    hypervisor < 0 ? "hypervisor" : "state");
	else
		goto good;
	return -EINVAL;
good:
	recording->hypervisor = (enum recording_hypervisor)hypervisor;
	recording->state = (enum recording_state)state;
	return 0;
}

/** An array, and how much of it is read; no more than RECORDING_MAX_ITEMS are in it. */
static int list_member(const char *path, struct json_object *root, const char *key,
		       struct json_object **list, size_t *n, char *error, size_t size)
{
	*list = json_member(root, key, json_type_array);
	*n = *list ? json_object_array_length(*list) : 0;
	if (*n <= RECORDING_MAX_ITEMS)
		return 0;
	text_format(error, size, "%s: %s: %zu items, and at most %d are allowed: correct it, or "
		    "give the traces one by one", path, key, *n, RECORDING_MAX_ITEMS);
	return -E2BIG;
}

static int64_t count_member(struct json_object *object, const char *key)
{
	int64_t count = json_number_member(object, key, RECORDING_UNKNOWN);

	return count < 0 ? RECORDING_UNKNOWN : count;
}

static int take_file(const char *path, size_t number, struct json_object *object,
		     struct recording *recording, char *error, size_t size)
{
	struct recording_file file = {
		.records = count_member(object, "records"), .lost = count_member(object, "lost"),
	};
	int role = word_member(object, "role", roles, RECORDING_N_ROLES);
	int ret;

	if (role < 0) {
		text_format(error, size, "%s: files: number %zu has no role, host or guest: "
			    "correct it, or give the traces one by one", path, number + 1);
		return -EINVAL;
	}
	file.role = (enum recording_role)role;
	ret = json_text_member(object, "name", &file.name);
	if (!ret)
		ret = json_text_member(object, "guest", &file.guest);
	if (!ret)
		ret = json_text_member(object, "clock", &file.clock);
	if (!ret)
		ret = recording_add_file(recording, &file);
	free(file.name);
	free(file.guest);
	free(file.clock);
	return ret;
}

/** One without a name is nobody. */
static int take_guest(struct json_object *object, struct recording *recording)
{
	struct recording_guest guest = { 0 };
	int ret = json_text_member(object, "name", &guest.name);

	if (!ret)
		ret = json_text_member(object, "uuid", &guest.uuid);
	if (!ret)
		ret = json_text_member(object, "how", &guest.how);
	if (!ret)
		ret = json_text_member(object, "why", &guest.why);
	if (!ret && guest.name)
		ret = recording_add_guest(recording, &guest);
	free(guest.name);
	free(guest.uuid);
	free(guest.how);
	free(guest.why);
	return ret;
}

static int take_lists(const char *path, struct json_object *root, struct recording *recording,
		      char *error, size_t size)
{
	struct json_object *list;
	size_t n;
	int ret = list_member(path, root, "command", &list, &n, error, size);

	for (size_t i = 0; i < n && !ret; i++) {
		struct json_object *argument = json_object_array_get_idx(list, i);

		if (json_object_is_type(argument, json_type_string))
			ret = recording_add_argument(recording, json_object_get_string(argument));
	}
	if (!ret)
		ret = list_member(path, root, "files", &list, &n, error, size);
	for (size_t i = 0; i < n && !ret; i++)
		ret = take_file(path, i, json_object_array_get_idx(list, i), recording, error,
				size);
	if (!ret)
		ret = list_member(path, root, "guests", &list, &n, error, size);
	for (size_t i = 0; i < n && !ret; i++)
		ret = take_guest(json_object_array_get_idx(list, i), recording);
	return ret;
}

static int take_trigger(struct json_object *object, struct recording *recording)
{
	struct recording_trigger trigger = {
		.moments = count_member(object, "moments"),
		.time_ns = json_number_member(object, "time_ns", 0),
		.cost_ns = count_member(object, "cost_ns"),
	};
	int ret = json_text_member(object, "condition", &trigger.condition);

	if (!ret)
		ret = json_text_member(object, "vcpu", &trigger.vcpu);
	if (!ret && trigger.condition)
		ret = recording_add_trigger(recording, &trigger);
	free(trigger.condition);
	free(trigger.vcpu);
	return ret;
}

static int take_log(struct json_object *object, struct recording *recording)
{
	struct recording_log log = { .lines = count_member(object, "lines") };
	int ret = json_text_member(object, "machine", &log.machine);

	if (!ret)
		ret = json_text_member(object, "log", &log.log);
	if (!ret)
		ret = json_text_member(object, "pattern", &log.pattern);
	if (!ret)
		ret = json_text_member(object, "text", &log.text);
	if (!ret && log.log)
		ret = recording_add_log(recording, &log);
	free_log(&log);
	return ret;
}

static int take_flight(const char *path, struct json_object *root, struct recording *recording,
		       char *error, size_t size)
{
	struct json_object *object = json_member(root, "flight", json_type_object), *list;
	struct recording_flight *flight = &recording->flight;
	size_t n;
	int ret;

	flight->asked_ns = json_number_member(object, "asked_ns", 0);
	if (flight->asked_ns < 0)
		flight->asked_ns = 0;
	flight->kept_ns = count_member(object, "kept_ns");
	flight->paused_ns = json_number_member(object, "paused_ns", 0);
	ret = json_text_member(object, "cause", &flight->cause);
	if (!ret)
		ret = list_member(path, object, "triggers", &list, &n, error, size);
	for (size_t i = 0; !ret && i < n; i++)
		ret = take_trigger(json_object_array_get_idx(list, i), recording);
	if (!ret)
		ret = list_member(path, object, "logs", &list, &n, error, size);
	for (size_t i = 0; !ret && i < n; i++)
		ret = take_log(json_object_array_get_idx(list, i), recording);
	return ret;
}

static int take_programs(struct json_object *root, struct recording *recording)
{
	struct json_object *versions = json_member(root, "versions", json_type_object);
	int ret = 0;

	if (!versions)
		return 0;
	json_object_object_foreach(versions, name, version) {
		if (!ret && json_object_is_type(version, json_type_string) &&
		    recording->n_programs < RECORDING_MAX_ITEMS)
			ret = recording_add_program(recording, name,
						    json_object_get_string(version));
	}
	return ret;
}

/** What cannot be is not known. */
static void take_scale(struct json_object *root, struct recording *recording)
{
	struct json_object *object = json_member(root, "tsc_to_ns", json_type_object);
	int64_t mult = object ? json_number_member(object, "mult", 0) : 0;
	int64_t shift = object ? json_number_member(object, "shift", -1) : -1;

	if (mult > 0 && mult <= UINT32_MAX && shift >= 0 && shift < 64) {
		recording->tsc_mult = (uint32_t)mult;
		recording->tsc_shift = (uint32_t)shift;
	}
}

static int take_texts(struct json_object *root, struct recording *recording)
{
	return json_text_member(root, "reason", &recording->reason) ||
	       json_text_member(root, "begin", &recording->begin) ||
	       json_text_member(root, "end", &recording->end) ||
	       json_text_member(root, "events", &recording->events) ? -ENOMEM : 0;
}

static int take_all(const char *path, struct json_object *root, struct recording *recording,
		    char *error, size_t size)
{
	int ret;

	*recording = (struct recording){ 0 };
	ret = take_words(path, root, recording, error, size);
	if (!ret) {
		take_scale(root, recording);
		ret = take_texts(root, recording);
	}
	if (!ret)
		ret = take_programs(root, recording);
	if (!ret)
		ret = take_lists(path, root, recording, error, size);
	if (!ret)
		ret = take_flight(path, root, recording, error, size);
	if (!ret)
		ret = check(path, recording, error, size);
	if (ret == -ENOMEM)
		text_format(error, size, "%s: not enough memory", path);
	if (ret)
		recording_free(recording);
	return ret;
}

int recording_parse(const char *path, const char *text, size_t length,
		    struct recording *recording, char *error, size_t size)
{
	struct json_object *root;
	int ret = json_read_text(path, text, length, &root, error, size);

	*recording = (struct recording){ 0 };
	if (!ret)
		ret = take_all(path, root, recording, error, size);
	json_object_put(root);
	return ret;
}

/** Of the folder of which this is the recording.json. Return: NULL without memory. */
static char *folder_of(const char *path)
{
	const char *name = name_in(path);

	if (!name || name == path)
		return strdup(name ? "." : path);
	return strndup(path, name - path > 1 ? (size_t)(name - path) - 1 : 1);
}

int recording_read(const char *path, struct recording *recording, char *error, size_t size)
{
	char *folder = is_folder(path) ? strdup(path) : folder_of(path);
	char *file = folder ? recording_path(folder, RECORDING_FILE) : NULL;
	struct json_object *root = NULL;
	int ret = -ENOMEM;

	*recording = (struct recording){ 0 };
	if (file)
		ret = json_read_file(file, &root, error, size);
	else
		text_format(error, size, "%s: not enough memory", path);
	if (!ret)
		ret = take_all(file, root, recording, error, size);
	json_object_put(root);
	free(file);
	if (ret)
		free(folder);
	else
		recording->folder = folder;
	return ret;
}
