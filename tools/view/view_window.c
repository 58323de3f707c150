// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	view_window.c
 * @brief	A window of a large trace, in place of the trace.
 *
 * KernelShark and its sessions open files. For sessions, these files must stay where they are and
 * not be written again. So the file that represents a window of a xentrace file is in the user's
 * cache. The window of a trace.dat is a temporary part of it, as 'kshark-virt split' writes it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pointer_file.h"
#include "split_dat.h"
#include "trace_dat.h"
#include "view.h"
#include "xen_trace_window.h"
#include "xen_window.h"

/** Only what can be looked at here and there has windows. */
static bool check_kind(const char *path)
{
	if (xentrace_check(path) || xen_window_is(path))
		return true;
	if (trace_dat_is(path))
		ksv_error("%s: a trace.dat beside the trace of another kind of host: --from and "
			  "--to load windows of either kind, not of both", path);
	else
		ksv_error("%s: not a xentrace file or trace.dat: --from and --to load windows of "
			  "these only", path);
	return false;
}

static void set_span(struct xen_trace_span *span, const struct view_window *window)
{
	*span = (struct xen_trace_span){
		.from_ns = window->from.kind == KSV_TIME_NS ? window->from.ns : INT64_MIN,
		.to_ns = window->to.kind == KSV_TIME_NS ? window->to.ns : INT64_MAX,
		.from_is_tsc = window->from.kind == KSV_TIME_TSC, .from_tsc = window->from.tsc,
		.to_is_tsc = window->to.kind == KSV_TIME_TSC, .to_tsc = window->to.tsc,
	};
}

/** What there is of the window in the file. */
static int find_window(const struct view_files *files, const char *path, struct xen_window *window)
{
	struct xen_trace_span span;
	struct xen_trace *trace;
	char error[1024] = "";
	int ret;

	set_span(&span, &files->window);
	errno = 0;
	trace = xen_trace_open_window(path, &files->window.options, &span, error, sizeof(error));
	ret = trace ? 0 : errno ? -errno : -EINVAL;
	xen_trace_close(trace);
	if (ret == -ERANGE)
		ksv_no_window(files->command, path, span.begin_ns, span.end_ns);
	else if (ret)
		ksv_error("%s", *error ? error : strerror(-ret));
	window->from_ns = span.from_ns;
	window->to_ns = span.to_ns;
	window->begin_ns = span.begin_ns;
	window->end_ns = span.end_ns;
	return ret;
}

/** Of which file a window is wanted; that of a window is that of its trace. */
static char *trace_of(const char *path)
{
	struct xen_window window = { 0 };
	char error[512], *trace;
	bool is = xen_window_is(path);

	if (is && xen_window_read(path, &window, error, sizeof(error)))
		ksv_error("%s", error);
	trace = realpath(is && window.trace ? window.trace : path, NULL);
	xen_window_free(&window);
	return trace;
}

int view_hand_over_window(struct view_files *files, const char *path, bool appended, char **handed)
{
	struct xen_window window = { 0 };
	char error[1024] = "there is no place for it: set HOME", *folder = NULL;
	int ret = check_kind(path) ? 0 : -EINVAL;

	if (!ret) {
		window.trace = trace_of(path);
		ret = window.trace ? find_window(files, window.trace, &window) : -ENOMEM;
	}
	if (!ret) {
		folder = pointer_file_cache("windows");
		ret = folder ? xen_window_write(folder, &window, handed, error, sizeof(error)) :
		      -ENOENT;
		if (ret)
			ksv_error("%s: its window cannot be shown: %s", path, error);
	}
	if (!ret && appended && strchr(*handed, ' ')) {
		char *name = view_link_name(files, *handed, "KernelShark cannot append a file with "
					    "a blank in its name");

		free(*handed);
		*handed = name;
		ret = name ? 0 : -ENOMEM;
	}
	xen_window_free(&window);
	free(folder);
	return ret;
}

int view_split(struct view_files *files, const struct ksv_command *command,
	       const struct trace_args *args, char ***paths, char ***given, int *n)
{
	struct split_dat_options options = {
		.command = command, .from = &files->window.from, .to = &files->window.to,
		.trace.cpu_hz = files->guests.options.cpu_hz, .quiet = true,
	};
	int status = KSV_EXIT_OK;

	*paths = *given = NULL;
	*n = 0;
	for (int i = 0; i < args->n; i++)
		if (!trace_dat_is(args->items[i].path))
			return KSV_EXIT_OK;
	if (view_make_temp(files))
		return KSV_EXIT_FILE;
	options.output = files->temp;
	status = split_dat(&options, args);
	*given = status ? NULL : trace_args_paths(args);
	*paths = *given ? calloc((size_t)args->n + 1, sizeof(**paths)) : NULL;
	for (int i = 0; *paths && i < args->n; i++) {
		char *name = split_dat_name(files->temp, args->items[i].path);

		if (name && !access(name, F_OK)) {
			(*given)[*n] = (*given)[i];
			(*paths)[(*n)++] = name;
		} else {
			free(name);
		}
	}
	if (!status && !*n)
		status = KSV_EXIT_FILE;
	/* all that KernelShark gets is the window */
	files->window.from.kind = files->window.to.kind = KSV_TIME_NONE;
	return status;
}
