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
#include "json_fields.h"
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

/** While it is read: tsc_shift is missing. */
#define NO_SHIFT	64

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

static const char *hypervisor_word(int i)
{
	return hypervisors[i];
}

static const char *state_word(int i)
{
	return states[i];
}

static const char *role_word(int i)
{
	return roles[i];
}

#define A_COUNT(key, type, member)	\
	JSON_A_NUMBER(key, type, member, RECORDING_UNKNOWN, 0, INT64_MAX)

static const struct json_field argument_fields[] = {
	{ .kind = JSON_TEXT },
	JSON_FIELDS_END
};

static const struct json_field file_fields[] = {
	{ JSON_A_TEXT("name", struct recording_file, name) },
	{ JSON_A_WORD("role", struct recording_file, role, RECORDING_HOST, role_word,
		      RECORDING_N_ROLES), .must = true, .always = true },
	{ JSON_A_TEXT("guest", struct recording_file, guest) },
	{ JSON_A_TEXT("clock", struct recording_file, clock) },
	{ A_COUNT("records", struct recording_file, records) },
	{ A_COUNT("lost", struct recording_file, lost) },
	JSON_FIELDS_END
};

static const struct json_field guest_fields[] = {
	{ JSON_A_TEXT("name", struct recording_guest, name) },
	{ JSON_A_TEXT("uuid", struct recording_guest, uuid) },
	{ JSON_A_TEXT("how", struct recording_guest, how) },
	{ JSON_A_TEXT("why", struct recording_guest, why) },
	JSON_FIELDS_END
};

/** A guest without a name is left out. */
static int check_guest(const void *element)
{
	return !((const struct recording_guest *)element)->name;
}

static bool is_limit(const void *element)
{
	return ((const struct recording_trigger *)element)->of;
}

static const struct json_field trigger_fields[] = {
	{ JSON_A_TEXT("condition", struct recording_trigger, condition) },
	{ A_COUNT("moments", struct recording_trigger, moments) },
	{ JSON_A_TEXT("vcpu", struct recording_trigger, vcpu) },
	{ JSON_A_VALUE("time_ns", struct recording_trigger, time_ns, 0) },
	{ A_COUNT("cost_ns", struct recording_trigger, cost_ns) },
	{ JSON_A_TEXT("of", struct recording_trigger, of) },
	{ .key = "value", .kind = JSON_REAL, JSON_PLACE(struct recording_trigger, value),
	  .when = is_limit },
	{ JSON_A_TEXT("unit", struct recording_trigger, unit) },
	JSON_FIELDS_END
};

static int check_trigger(const void *element)
{
	return !((const struct recording_trigger *)element)->condition;
}

static const struct json_field log_fields[] = {
	{ JSON_A_TEXT("machine", struct recording_log, machine) },
	{ JSON_A_TEXT("log", struct recording_log, log) },
	{ JSON_A_TEXT("pattern", struct recording_log, pattern) },
	{ A_COUNT("lines", struct recording_log, lines) },
	{ JSON_A_TEXT("text", struct recording_log, text) },
	JSON_FIELDS_END
};

static int check_log(const void *element)
{
	return !((const struct recording_log *)element)->log;
}

static const struct json_field flight_fields[] = {
	{ JSON_A_NUMBER("asked_ns", struct recording_flight, asked_ns, 0, 0, INT64_MAX) },
	{ A_COUNT("kept_ns", struct recording_flight, kept_ns) },
	{ JSON_A_NUMBER("paused_ns", struct recording_flight, paused_ns, 0, 0, INT64_MAX),
	  .always = true },
	{ JSON_A_TEXT("cause", struct recording_flight, cause) },
	{ JSON_A_LIST("triggers", struct recording_flight, triggers, n_triggers, room_triggers,
		      trigger_fields), .most = RECORDING_MAX_ITEMS, .check = check_trigger,
	  .always = true },
	{ JSON_A_LIST("logs", struct recording_flight, logs, n_logs, room_logs, log_fields),
	  .most = RECORDING_MAX_ITEMS, .check = check_log },
	JSON_FIELDS_END
};

static bool was_flight(const void *recording)
{
	return ((const struct recording *)recording)->flight.asked_ns;
}

/** How long a cycle of the host's TSC is: ns = cycles * mult >> shift. */
static const struct json_field scale_fields[] = {
	{ JSON_A_NUMBER("mult", struct recording, tsc_mult, 0, 1, UINT32_MAX) },
	{ JSON_A_NUMBER("shift", struct recording, tsc_shift, NO_SHIFT, 0, 63) },
	JSON_FIELDS_END
};

static bool has_scale(const void *recording)
{
	return ((const struct recording *)recording)->tsc_mult;
}

/** Names of programs are keys. */
static int put_programs(struct json_object *root, const char *key, const void *from)
{
	struct json_object *versions = json_object_new_object();
	const struct recording *recording = from;
	int ret = json_add(root, key, versions);

	for (int i = 0; i < recording->n_programs && !ret; i++) {
		const struct recording_program *program = &recording->programs[i];

		if (program->name && program->version)
			ret = json_add(versions, program->name, json_text_new(program->version));
	}
	return ret;
}

static int take_programs(struct json_object *root, const char *key, void *to)
{
	struct json_object *versions = json_member(root, key, json_type_object);
	struct recording *recording = to;
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

static const struct json_field recording_fields[] = {
	{ JSON_A_WORD("hypervisor", struct recording, hypervisor, RECORDING_KVM, hypervisor_word,
		      RECORDING_N_HYPERVISORS), .must = true, .always = true },
	{ JSON_A_WORD("state", struct recording, state, RECORDING_RUNNING, state_word,
		      RECORDING_N_STATES), .must = true, .always = true },
	{ JSON_A_TEXT("reason", struct recording, reason) },
	{ JSON_A_TEXT("begin", struct recording, begin) },
	{ JSON_A_TEXT("end", struct recording, end) },
	{ JSON_A_LIST("command", struct recording, command, n_command, room_command,
		      argument_fields), .most = RECORDING_MAX_ITEMS, .always = true },
	{ .key = "versions", .kind = JSON_OWN, .put = put_programs, .take = take_programs },
	{ JSON_A_TEXT("events", struct recording, events) },
	{ .key = "tsc_to_ns", .kind = JSON_INSIDE, .fields = scale_fields, .when = has_scale },
	{ .key = "flight", .kind = JSON_INSIDE, JSON_PLACE(struct recording, flight),
	  .fields = flight_fields, .when = was_flight },
	{ JSON_A_LIST("files", struct recording, files, n_files, room_files, file_fields),
	  .most = RECORDING_MAX_ITEMS, .always = true },
	{ JSON_A_LIST("guests", struct recording, guests, n_guests, room_guests, guest_fields),
	  .most = RECORDING_MAX_ITEMS, .check = check_guest, .always = true },
	JSON_FIELDS_END
};

int recording_add_argument(struct recording *recording, const char *argument)
{
	if (!argument)
		argument = "";
	return json_list_add(recording_fields, "command", recording, &argument);
}

int recording_add_program(struct recording *recording, const char *name, const char *version)
{
	struct recording_program *item;

	if (ARRAY_GROW(recording->programs, recording->n_programs, recording->room_programs))
		return -ENOMEM;
	item = &recording->programs[recording->n_programs++];
	*item = (struct recording_program){ 0 };
	return recording_text(&item->name, name) || recording_text(&item->version, version) ?
	       -ENOMEM : 0;
}

int recording_add_file(struct recording *recording, const struct recording_file *file)
{
	return json_list_add(recording_fields, "files", recording, file);
}

int recording_add_guest(struct recording *recording, const struct recording_guest *guest)
{
	return json_list_add(recording_fields, "guests", recording, guest);
}

int recording_add_trigger(struct recording *recording, const struct recording_trigger *trigger)
{
	return json_list_add(flight_fields, "triggers", &recording->flight, trigger);
}

int recording_add_log(struct recording *recording, const struct recording_log *log)
{
	return json_list_add(flight_fields, "logs", &recording->flight, log);
}

void recording_free(struct recording *recording)
{
	json_fields_free(recording_fields, recording);
	for (int i = 0; i < recording->n_programs; i++) {
		free(recording->programs[i].name);
		free(recording->programs[i].version);
	}
	free(recording->programs);
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

/** Return: NULL without memory. */
static struct json_object *object_of(const struct recording *recording)
{
	struct json_object *root = json_object_new_object();
	int ret = json_add(root, "recording_version", json_object_new_int(RECORDING_VERSION));

	if (!ret)
		ret = json_fields_write(root, recording_fields, recording);
	if (!ret)
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

/** Return: 0, or -EINVAL and a text in @error. */
static int check_version(const char *path, struct json_object *root, char *error, size_t size)
{
	int64_t version = json_number_member(root, "recording_version", 0);

	if (version > RECORDING_VERSION)
		text_format(error, size, "%s: has version %lld, and this kshark-virt supports %d: "
			    "use a newer one, or give the traces one by one",
			    path, (long long)version, RECORDING_VERSION);
	else if (version < 1)
		text_format(error, size, "%s: has no recording_version: kshark-virt record did not "
			    "write it. Give the traces one by one", path);
	return version < 1 || version > RECORDING_VERSION ? -EINVAL : 0;
}

/** A value that is neither one nor the other is not guessed. */
static void show_wrong(const char *path, const struct json_wrong *wrong, int ret, char *error,
		       size_t size)
{
	if (ret == -E2BIG)
		text_format(error, size, "%s: %s: %zu items, and at most %d are allowed: correct "
			    "it, or give the traces one by one", path, wrong->key, wrong->n,
			    RECORDING_MAX_ITEMS);
	else if (ret == -EINVAL && !strcmp(wrong->key, "files"))
		text_format(error, size, "%s: files: number %zu has no role, host or guest: "
			    "correct it, or give the traces one by one", path, wrong->i + 1);
	else if (ret == -EINVAL)
		text_format(error, size, "%s: its \"%s\" is not a valid value: correct it, or give "
			    "the traces one by one", path, wrong->key);
}

static int take_all(const char *path, struct json_object *root, struct recording *recording,
		    char *error, size_t size)
{
	struct json_wrong wrong;
	int ret;

	*recording = (struct recording){ 0 };
	ret = check_version(path, root, error, size);
	if (!ret) {
		ret = json_fields_read(root, recording_fields, recording, &wrong);
		show_wrong(path, &wrong, ret, error, size);
	}
	/* an impossible scale is unknown */
	if (recording->tsc_shift == NO_SHIFT || !recording->tsc_mult)
		recording->tsc_mult = recording->tsc_shift = 0;
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
