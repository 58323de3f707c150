// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	convert_ctf.c
 * @brief	kshark-virt-convert: writes a trace in CTF as a trace.dat to standard output.
 *
 * plugin-lttng starts it. KernelShark has many threads and much memory, and a copy of its process
 * would have both.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "escape.h"
#include "foreign_convert.h"
#include "foreign_notes.h"

#define NAME	"kshark-virt-convert"

/** As every subcommand's (tools/cmd/options.h). */
enum { EXIT_OK, EXIT_USAGE = 2, EXIT_FILE };

/** Standard output, as a descriptor that the process of the conversion keeps. */
static int take_output(void)
{
	int flags = fcntl(STDOUT_FILENO, F_GETFL);
	struct stat st;

	/* it is written at any place */
	if (flags < 0 || flags & O_APPEND || fstat(STDOUT_FILENO, &st) || !S_ISREG(st.st_mode))
		return -1;
	return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

int main(int argc, char **argv)
{
	const struct foreign_wanted wanted = { .most_bytes = 0 };
	struct foreign_outcome outcome;
	struct trace_notes notes = { 0 };
	int out = argc == 2 && *argv[1] != '-' ? take_output() : -1;

	if (out < 0) {
		fputs("Usage: " NAME " FOLDER > FILE\n"
		      "Write a trace in CTF (LTTng) as a trace.dat.\n", stderr);
		return EXIT_USAGE;
	}
	if (foreign_kind_of(argv[1], NULL, 0) != FOREIGN_CTF) {
		escape_print(stderr, NAME ": ", "%s: no folder with a trace in CTF", argv[1]);
		return EXIT_FILE;
	}
	if (foreign_convert_to(argv[1], FOREIGN_CTF, -1, out, &wanted, &outcome)) {
		escape_print(stderr, NAME ": ", "%s: %s", argv[1], outcome.problem);
		return EXIT_FILE;
	}
	foreign_notes(argv[1], &outcome, &notes);
	trace_notes_print(&notes, stderr);
	trace_notes_free(&notes);
	return EXIT_OK;
}
