// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	cmd_view.c
 * @brief	kshark-virt view: start KernelShark with our plugins and files under names it takes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "view.h"
#include "xen_clock.h"

struct view {
	const struct ksv_command *command;
	struct view_files	files;
	struct view_start	start;
	bool			dry_run;
};

static int open_view(struct view *view)
{
	const char *program = getenv("KERNELSHARK");
	char *plugins;
	int status;

	if (view->start.session && !view_check_readable(view->start.session))
		return KSV_EXIT_FILE;
	view_catch_signals();
	plugins = view_plugin_list();
	if (!plugins)
		return KSV_EXIT_USAGE;
	if (!view_hand_over(&view->files)) {
		view->start.program = program && *program ? program : "kernelshark";
		view->start.plugins = plugins;
		view->start.names = view->files.names;
		view->start.n_names = view->files.n;
		status = view_start(&view->start, view->dry_run);
	} else {
		status = view_signal() ? 128 + view_signal() : KSV_EXIT_FILE;
	}
	view_files_clean(&view->files);
	free(plugins);
	return status;
}

enum { KEY_CPU_HZ = 256, KEY_MAX_INPUT, KEY_ABSOLUTE, KEY_SKEW, KEY_NO_COMBOS };

static const struct ksv_option view_option_table[] = {
	{ 's', "session", "FILE", "restore a KernelShark session instead of opening files" },
	{ KEY_CPU_HZ, "cpu-hz", "HZ", "frequency of the TSC in xentrace files, e.g. 2.4G" },
	KSV_OPTION_MAX_INPUT(KEY_MAX_INPUT),
	{ KEY_ABSOLUTE, "absolute", NULL, "time 0 is TSC 0 instead of the first record" },
	{ KEY_SKEW, "correct-skew", NULL, "correct TSC differences between physical CPUs" },
	{ KEY_NO_COMBOS, "no-combos", NULL, "do not show hosts and guests as combos at once" },
	{ 'n', "dry-run", NULL, "print the command line instead of running it" },
};

static int view_option(void *arg, int key, const char *value)
{
	struct view *view = arg;
	uint64_t hz;
	int ret;

	switch (key) {
	case 's':
		view->start.session = value;
		break;
	case 'n':
		view->dry_run = true;
		break;
	case KEY_CPU_HZ:
		if (xen_clock_parse_hz(value, &hz))
			return ksv_usage_error(view->command, "--cpu-hz %s: not a CPU frequency; "
					       "write 2.4G, 2400M, 2399998K or Hz", value);
		snprintf(view->start.hz, sizeof(view->start.hz), "%llu", (unsigned long long)hz);
		break;
	case KEY_MAX_INPUT:
		ret = ksv_option_size(view->command, "max-input", value, &view->files.max_input);
		if (ret)
			return ret;
		snprintf(view->start.max_input, sizeof(view->start.max_input), "%llu",
			 (unsigned long long)view->files.max_input);
		break;
	case KEY_ABSOLUTE:
		view->start.absolute = true;
		break;
	case KEY_SKEW:
		view->start.correct_skew = true;
		break;
	case KEY_NO_COMBOS:
		view->start.no_combos = true;
		break;
	}
	return 0;
}

static int run_view(const struct ksv_command *command, int argc, char **argv)
{
	struct view view = { .command = command };
	int status, first, end = 1;

	/* What follows -- is not ours; getopt would mix it with the files. */
	while (end < argc && strcmp(argv[end], "--") != 0)
		end++;
	if (end < argc) {
		view.start.extra = argv + end + 1;
		view.start.n_extra = argc - end - 1;
		argv[end] = NULL;
	}
	status = ksv_parse(command, end, argv, view_option, &view, &first);
	if (status >= 0)
		return status;
	view.files.paths = argv + first;
	view.files.n = end - first;
	if (view.start.session && view.files.n)
		return ksv_usage_error(command, "a session names its files itself; "
				       "'%s' is too much", view.files.paths[0]);
	for (int i = 0, n = 0; i < view.files.n; i++) {
		n += !strcmp(view.files.paths[i], "-");
		if (n > 1)
			return ksv_usage_error(command, "standard input can be read only once");
	}
	return open_view(&view);
}

const struct ksv_command cmd_view = {
	.name = "view",
	.args = "[OPTION...] [FILE...] [-- KERNELSHARK-ARGUMENT...]",
	.summary = "Open traces in KernelShark, with the plugins for virtual machines",
	.notes = "FILE: xentrace files (also compressed with gzip or zstd, from a pipe, or - for\n"
		 "standard input) and trace.dat files; the first is opened, others are appended.\n",
	.options = view_option_table,
	.n_options = ARRAY_SIZE(view_option_table),
	.run = run_view,
};
