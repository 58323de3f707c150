// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	ask_xen.c
 * @brief	kshark-virt-xen-meta: writes the sidecar of a xentrace file, from Xen itself.
 *
 * It is a program of its own because libxenctrl and libxenstore belong to one version of Xen.
 */
#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "escape.h"
#include "json_read.h"
#include "xen_state.h"

#define NAME	"kshark-virt-xen-meta"

/** As every subcommand's (tools/cmd/options.h). */
enum { EXIT_USAGE = 2, EXIT_FILE = 3 };

const char *argp_program_version = NAME " " KSHARK_VIRT_VERSION " (Xen " XEN_LIBS_VERSION ")";

struct settings {
	const char	*output;	/* NULL: standard output */
	bool		watch;
	bool		guest_tsc;
	bool		buffers;
};

static const struct argp_option option_table[] = {
	{ "output", 'o', "FILE", 0, "write to FILE, TRACE.meta.json, instead of standard output",
	  0 },
	{ "watch", 'w', NULL, 0, "run until a signal: add domains that start, end or are renamed, "
	  "and at the end the placement of each vCPU; needs --output", 0 },
	{ "guest-tsc", 't', NULL, 0, "find the TSC offsets of HVM and PVH domains; each of them is "
	  "paused for some milliseconds", 0 },
	{ "buffers", 'b', NULL, 0, "print the size of Xen's trace buffers, and nothing else", 0 },
	{ 0 },
};

static error_t take_option(int key, char *arg, struct argp_state *state)
{
	struct settings *settings = state->input;

	switch (key) {
	case 'o':
		settings->output = arg;
		return 0;
	case 'w':
		settings->watch = true;
		return 0;
	case 't':
		settings->guest_tsc = true;
		return 0;
	case 'b':
		settings->buffers = true;
		return 0;
	case ARGP_KEY_END:
		if (settings->watch && !settings->output)
			argp_error(state, "--watch needs --output FILE");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	escape_vprint(stderr, NAME ": ", format, args);
	va_end(args);
}

/** One moment, and what is known then. Return: an exit status. */
static int take(const struct settings *settings, struct xen_state *state, enum xen_moment moment)
{
	char error[512];
	bool changed;
	int ret = xen_state_take(state, moment, settings->guest_tsc, &changed, error,
				 sizeof(error));

	if (!ret && changed)
		ret = json_write_file(settings->output ? settings->output : "/dev/stdout",
				      xen_state_json(state), error, sizeof(error));
	if (!ret)
		return 0;
	say("%s", error);
	return EXIT_FILE;
}

/** How often domains are looked at. */
static const struct timespec interval = { .tv_sec = 1 };

static void block_signals(sigset_t *signals)
{
	sigemptyset(signals);
	sigaddset(signals, SIGINT);
	sigaddset(signals, SIGTERM);
	sigaddset(signals, SIGHUP);
	sigprocmask(SIG_BLOCK, signals, NULL);
}

/** Until a signal comes. A later look may find what an earlier one could not. */
static int watch(const struct settings *settings, struct xen_state *state,
		 const sigset_t *signals)
{
	int status = 0;

	while (sigtimedwait(signals, NULL, &interval) < 0) {
		if (errno == EAGAIN)
			status = take(settings, state, XEN_BETWEEN);
	}
	return take(settings, state, XEN_END) ? EXIT_FILE : status;
}

/** On one line. Return: an exit status. */
static int print_buffers(const struct xen_state *state)
{
	struct xen_buffers buffers;
	char error[256];

	if (xen_state_buffers(state, &buffers, error, sizeof(error))) {
		say("%s", error);
		return EXIT_FILE;
	}
	printf("{ \"trace_buffer_pages\": %lu, \"max_pcpus\": %d }\n", buffers.pages,
	       buffers.pcpus);
	return 0;
}

static const struct argp argp = {
	.options = option_table,
	.parser = take_option,
	.doc = "Write facts about this Xen host while it is traced: frequency of the TSC, "
	       "topology, scheduler, domains, placement of each vCPU.\v"
	       "kshark-virt record runs it. By hand, from before xentrace until after it:\n"
	       "  " NAME " -w -o trace.xen.meta.json &\n",
};

int main(int argc, char **argv)
{
	struct settings settings = { 0 };
	struct xen_state *state;
	char error[256];
	sigset_t signals;
	int status;

	argp_err_exit_status = EXIT_USAGE;
	if (argp_parse(&argp, argc, argv, 0, NULL, &settings))
		return EXIT_USAGE;
	if (settings.watch) {
		pid_t parent = getppid();

		block_signals(&signals);
		/* end with the recorder */
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != parent)
			return 0;
	}
	state = xen_state_open(error, sizeof(error));
	if (!state) {
		say("%s", error);
		return EXIT_FILE;
	}
	if (settings.buffers) {
		status = print_buffers(state);
		xen_state_close(state);
		return status;
	}
	if (!xen_state_is_named(state))
		say("there is no xenstore: domains will have no names");
	status = take(&settings, state, XEN_BEGIN);
	if (!status && settings.watch)
		status = watch(&settings, state, &signals);
	xen_state_close(state);
	return status;
}
