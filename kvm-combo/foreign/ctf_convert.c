// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	ctf_convert.c
 * @brief	A graph of libbabeltrace2: traces of CTF, merged by time, into our sink.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <babeltrace2/babeltrace.h>

#include "ctf_convert.h"
#include "ctf_merge.h"
#include "ctf_sink.h"

/** libbabeltrace2 says nothing by itself; its errors are asked for. */
#define QUIET	BT_LOGGING_LEVEL_NONE

struct ctf_library {
	const bt_plugin	*ctf;
	const bt_component_class_source *fs;
};

/** A conversion. */
struct conversion {
	const struct ctf_library *library;
	const struct ctf_folder *folder;
	struct ctf_sink	*sink;
	uint64_t	version;	/* of messages */
	bt_graph	*graph;
	const bt_component_source **sources;
	int		n_sources;
	struct ctf_merge merge;
};

/* --- the library ----------------------------------------------------------------------------- */

/**
 * The reader of CTF, by its file beside the library. The library itself would load all plugins in
 * this directory to find one; another of them needs four more libraries.
 */
static const bt_plugin *plugin_beside(void)
{
	const bt_plugin_set *set = NULL;
	const bt_plugin *plugin = NULL;
	char *path = NULL;
	const char *end;
	Dl_info info;

	if (!dladdr(&bt_plugin_find, &info) || !info.dli_fname)
		return NULL;
	end = strrchr(info.dli_fname, '/');
	if (!end || asprintf(&path, "%.*s/babeltrace2/plugins/babeltrace-plugin-ctf.so",
			     (int)(end - info.dli_fname), info.dli_fname) < 0)
		return NULL;
	if (bt_plugin_find_all_from_file(path, BT_FALSE, &set) ==
	    BT_PLUGIN_FIND_ALL_FROM_FILE_STATUS_OK) {
		plugin = bt_plugin_set_borrow_plugin_by_index_const(set, 0);
		bt_plugin_get_ref(plugin);
		bt_plugin_set_put_ref(set);
	}
	bt_current_thread_clear_error();
	free(path);
	return plugin;
}

static const bt_plugin *find_plugin(void)
{
	const bt_plugin *plugin = plugin_beside();

	if (!plugin && bt_plugin_find("ctf", BT_FALSE, BT_FALSE, BT_TRUE, BT_TRUE, BT_FALSE,
				      &plugin) != BT_PLUGIN_FIND_STATUS_OK)
		return NULL;
	return plugin;
}

struct ctf_library *ctf_library_load(char *problem, size_t size)
{
	struct ctf_library *library = calloc(1, sizeof(*library));

	if (!library) {
		snprintf(problem, size, "not enough memory");
		return NULL;
	}
	library->ctf = find_plugin();
	if (library->ctf)
		library->fs = bt_plugin_borrow_source_component_class_by_name_const(library->ctf,
										    "fs");
	if (library->fs)
		return library;
	snprintf(problem, size, "the plugin 'ctf' of libbabeltrace2 is not installed. Install "
		 "babeltrace2");
	ctf_library_free(library);
	return NULL;
}

void ctf_library_free(struct ctf_library *library)
{
	if (!library)
		return;
	bt_plugin_put_ref(library->ctf);
	free(library);
}

/** The error of libbabeltrace2: its first cause, which is the innermost one. */
static void take_error(char *text, size_t size)
{
	const bt_error *error = bt_current_thread_take_error();
	char *addresses;

	snprintf(text, size, "for an unknown reason");
	if (!error)
		return;
	if (bt_error_get_cause_count(error))
		snprintf(text, size, "%.300s",
			 bt_error_cause_get_message(bt_error_borrow_cause_by_index(error, 0)));
	bt_error_release(error);
	/* addresses in this process are of no use to anybody */
	addresses = strstr(text, "-addr=");
	while (addresses && addresses > text && strncmp(addresses, ": ", 2) != 0)
		addresses--;
	if (addresses)
		*addresses = '\0';
	for (size_t n = strlen(text); n && strchr(".\n", text[n - 1]); n--)
		text[n - 1] = '\0';
}

/* --- sources --------------------------------------------------------------------------------- */

/** Paths of traces that are parts of one. */
struct group {
	char		*name;		/* NULL: of one trace alone */
	bt_value	*inputs;
};

static const bt_component_class *as_class(const bt_component_class_source *fs)
{
	return bt_component_class_source_as_component_class_const(fs);
}

/** The name by which libbabeltrace2 joins folders to one trace. Return: malloc'ed, or NULL. */
static char *ask_group(const struct ctf_library *library, const char *path)
{
	bt_value *params = bt_value_map_create();
	bt_query_executor *query = NULL;
	const bt_value *answer = NULL, *group = NULL;
	char *name = NULL;

	if (params && !bt_value_map_insert_string_entry(params, "input", path) &&
	    !bt_value_map_insert_string_entry(params, "type", "directory"))
		query = bt_query_executor_create(as_class(library->fs), "babeltrace.support-info",
						 params);
	if (query && bt_query_executor_query(query, &answer) == BT_QUERY_EXECUTOR_QUERY_STATUS_OK &&
	    bt_value_is_map(answer))
		group = bt_value_map_borrow_entry_value_const(answer, "group");
	if (group && bt_value_is_string(group))
		name = strdup(bt_value_string_get(group));
	bt_current_thread_clear_error();
	bt_value_put_ref(answer);
	bt_query_executor_put_ref(query);
	bt_value_put_ref(params);
	return name;
}

/** Put each trace into its group. Return: number of groups, or -ENOMEM. */
static int make_groups(const struct conversion *conversion, struct group *groups)
{
	const struct ctf_folder *folder = conversion->folder;
	int n = 0;

	for (size_t i = 0; i < folder->n; i++) {
		char *name = ask_group(conversion->library, folder->traces[i]);
		int at = 0;

		while (at < n && !(name && groups[at].name && !strcmp(groups[at].name, name)))
			at++;
		if (at == n) {
			groups[n++] = (struct group){ name, bt_value_array_create() };
			name = NULL;
		}
		free(name);
		if (!groups[at].inputs || bt_value_array_append_string_element(groups[at].inputs,
									     folder->traces[i]))
			return -ENOMEM;
	}
	return n;
}

static bt_value *params_of(const struct group *group)
{
	bt_value *params = bt_value_map_create();

	if (params && !bt_value_map_insert_entry(params, "inputs", group->inputs))
		return params;
	bt_value_put_ref(params);
	return NULL;
}

static bool add_source(struct conversion *conversion, const struct group *group)
{
	const bt_component_source **source = &conversion->sources[conversion->n_sources];
	bt_value *params = params_of(group);
	char name[32];
	bool ok;

	snprintf(name, sizeof(name), "trace%d", conversion->n_sources);
	ok = params && bt_graph_add_source_component(conversion->graph, conversion->library->fs,
						     name, params, QUIET, source) ==
		       BT_GRAPH_ADD_COMPONENT_STATUS_OK;
	bt_value_put_ref(params);
	if (!ok)
		return false;
	conversion->n_sources++;
	conversion->merge.n_ports += bt_component_source_get_output_port_count(*source);
	return true;
}

/* --- the graph ------------------------------------------------------------------------------- */

/** The version of messages that the trace needs: 1 for CTF 2, where libbabeltrace2 has it. */
static uint64_t message_version(const struct conversion *conversion, const struct group *groups,
				int n)
{
	bt_component_descriptor_set *set = bt_component_descriptor_set_create();
	uint64_t version = 0;

	for (int i = 0; set && i < n; i++) {
		bt_value *params = params_of(&groups[i]);

		if (params)
			bt_component_descriptor_set_add_descriptor(set, as_class(
				conversion->library->fs), params);
		bt_value_put_ref(params);
	}
	if (!set || bt_get_greatest_operative_mip_version(set, QUIET, &version) !=
		    BT_GET_GREATEST_OPERATIVE_MIP_VERSION_STATUS_OK)
		version = 0;
	bt_current_thread_clear_error();
	bt_component_descriptor_set_put_ref(set);
	return version;
}

/** Return: false with an error of libbabeltrace2. */
static bool connect(const struct conversion *conversion, const bt_component_sink *sink)
{
	uint64_t n_inputs = 0;

	for (int i = 0; i < conversion->n_sources; i++) {
		const bt_component_source *source = conversion->sources[i];
		uint64_t n = bt_component_source_get_output_port_count(source);

		for (uint64_t port = 0; port < n; port++)
			if (bt_graph_connect_ports(conversion->graph,
			    bt_component_source_borrow_output_port_by_index_const(source, port),
			    bt_component_sink_borrow_input_port_by_index_const(sink, n_inputs++),
			    NULL) != BT_GRAPH_CONNECT_PORTS_STATUS_OK)
				return false;
	}
	return true;
}

/** Return: false with an error of libbabeltrace2. */
static bool make_graph(struct conversion *conversion, const struct group *groups, int n)
{
	const bt_component_sink *sink;

	conversion->graph = bt_graph_create(conversion->version);
	conversion->sources = calloc((size_t)n + 1, sizeof(*conversion->sources));
	if (!conversion->graph || !conversion->sources)
		return false;
	for (int i = 0; i < n; i++)
		if (!add_source(conversion, &groups[i]))
			return false;
	return ctf_merge_add(&conversion->merge, conversion->graph, &sink) &&
	       connect(conversion, sink);
}

/* --- all of it ------------------------------------------------------------------------------- */

static int fail(struct foreign_outcome *outcome, int ret, const struct ctf_sink *sink)
{
	const char *text = sink ? ctf_sink_problem(sink) : NULL;

	snprintf(outcome->problem, sizeof(outcome->problem), "%s",
		 text ? text : ret == -EFBIG ?
		 "its records take too much room. If that is right, allow more with --max-input" :
		 ret == -ENOSPC ? "no room is left for its records. Set TMPDIR to a directory with "
		 "more room" : ret == -ENODATA ? "there is no stream of events in it" :
		 strerror(-ret));
	return ret;
}

/** KernelShark must not get a trace without rows. Return: -ENODATA. */
static int no_event(struct foreign_outcome *outcome, const struct ctf_counts *counts)
{
	if (counts->without_cpu)
		snprintf(outcome->problem, sizeof(outcome->problem), "it does not record the CPUs "
			 "of its %llu events, without which they are of no use here",
			 (unsigned long long)counts->without_cpu);
	else
		snprintf(outcome->problem, sizeof(outcome->problem), "there is no event in it");
	return -ENODATA;
}

/** Run the graph, and end the file. */
static int run(struct conversion *conversion, struct foreign_outcome *outcome)
{
	const struct ctf_counts *counts = ctf_sink_counts(conversion->sink);
	bt_graph_run_status status;
	char error[400];
	int ret;

	do
		status = bt_graph_run(conversion->graph);
	while (status == BT_GRAPH_RUN_STATUS_AGAIN);
	if (conversion->merge.error)
		return fail(outcome, conversion->merge.error, conversion->sink);
	if (status != BT_GRAPH_RUN_STATUS_OK) {
		take_error(error, sizeof(error));
		if (conversion->merge.is_backwards)
			snprintf(error, sizeof(error), "an event is earlier than the one before");
		if (!counts->events) {
			snprintf(outcome->problem, sizeof(outcome->problem), "libbabeltrace2 "
				 "cannot read it: %s. 'babeltrace2 FOLDER' shows more", error);
			return -EBADMSG;
		}
		snprintf(outcome->damage, sizeof(outcome->damage), "is damaged, and is read up to "
			 "there: %s", error);
	}
	ret = ctf_sink_finish(conversion->sink);
	if (!ret && !counts->events)
		return no_event(outcome, counts);
	outcome->events = counts->events;
	outcome->without_cpu = counts->without_cpu;
	outcome->fields = counts->fields;
	outcome->no_context = counts->no_context;
	return ret ? fail(outcome, ret, conversion->sink) : 0;
}

static int take(void *sink, const bt_message *message)
{
	return ctf_sink_take(sink, message);
}

int ctf_convert(const struct ctf_library *library, const struct ctf_folder *folder, int fd,
		int spool, uint64_t most_bytes, struct foreign_outcome *outcome)
{
	struct conversion conversion = { .library = library, .folder = folder };
	struct group *groups = calloc(folder->n + 1, sizeof(*groups));
	int n, ret = -ENOMEM;
	char error[400];

	n = groups ? make_groups(&conversion, groups) : -ENOMEM;
	if (n >= 0) {
		conversion.version = message_version(&conversion, groups, n);
		conversion.sink = ctf_sink_new(fd, spool, most_bytes, conversion.version);
		conversion.merge = (struct ctf_merge){ .take = take, .arg = conversion.sink };
	}
	if (!conversion.sink) {
		fail(outcome, ret, NULL);
	} else if (make_graph(&conversion, groups, n)) {
		ret = run(&conversion, outcome);
	} else {
		ret = -EBADMSG;
		take_error(error, sizeof(error));
		snprintf(outcome->problem, sizeof(outcome->problem), "libbabeltrace2 cannot read "
			 "it: %s. 'babeltrace2 FOLDER' shows more", error);
	}
	bt_current_thread_clear_error();
	bt_graph_put_ref(conversion.graph);
	free(conversion.sources);
	for (size_t i = 0; groups && i < folder->n; i++) {
		free(groups[i].name);
		bt_value_put_ref(groups[i].inputs);
	}
	free(groups);
	ctf_sink_free(conversion.sink);
	return ret;
}
