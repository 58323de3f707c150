/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	fuzz_options.c
 * @brief	Any words as a command line, with a small trace: an exit status, no more.
 *
 * Input: a byte for the command, then words, a line each. They are run in
 * a folder of their own, and cannot name anything outside of it.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_WORDS	24
#define TRACE		"t.xen"

static const struct ksv_command *const commands[] = {
	&cmd_dump, &cmd_report, &cmd_plot, &cmd_check, &cmd_align, &cmd_compare, &cmd_view,
};

static char folder[] = "/tmp/ksv-fuzz-options-XXXXXX";
static bool begun;

/** A window with a few records: d1v7, d1v8 and d0v7 run. */
static const uint8_t trace[] =
	"\x03\xf0\x01\x20\0\0\0\0\x50\0\0\0"
	"\x01\x11\x02\xa0\0\0\x10\0\0\0\0\0\x07\0\x01\0\x07\0\0\0"
	"\x11\x10\x02\xa0\0\0\x20\0\0\0\0\0\x08\0\x01\0\x08\0\0\0"
	"\x01\x11\x02\xa0\0\1\x20\0\0\0\0\0\x07\0\0\0\x07\0\0\0"
	"\x21\x10\x02\xa0\0\0\x30\0\0\0\0\0\x07\0\0\0\x07\0\0\0";

/** Remove what has been written. The trace must be what it was. */
static void clean_up(void)
{
	uint8_t now[sizeof(trace)];
	FILE *file = fopen(TRACE, "r");
	DIR *dir = opendir(".");
	struct dirent *entry;

	if (!file || !dir || fread(now, 1, sizeof(now), file) != sizeof(trace) - 1 ||
	    memcmp(now, trace, sizeof(trace) - 1) != 0)
		abort();
	fclose(file);
	while ((entry = readdir(dir))) {
		/* of files that get their name when they are complete, nothing may be left */
		if (!strncmp(entry->d_name, ".kshark-virt-", 13))
			abort();
		if (strcmp(entry->d_name, TRACE) != 0)
			unlink(entry->d_name);
	}
	closedir(dir);
}

static void end(void)
{
	unlink(TRACE);
	if (!chdir("/"))
		rmdir(folder);
}

static void begin(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	FILE *file;

	if (!mkdtemp(folder) || chdir(folder) || null < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(null, STDOUT_FILENO) < 0)
		abort();
	atexit(end);
	file = fopen(TRACE, "w");
	if (!file || fwrite(trace, 1, sizeof(trace) - 1, file) != sizeof(trace) - 1 ||
	    fclose(file))
		abort();
	/* libFuzzer has taken its own already, and sanitizers write to the descriptor */
	stderr = fdopen(null, "w");
	setenv("KERNELSHARK", "/bin/true", 1);
	setenv("KSHARK_VIRT_PLUGIN_DIR", folder, 1);
	begun = true;
}

/** Words that name nothing outside of the folder. Return: how many. */
static int split(char *text, char *words[MAX_WORDS + 1])
{
	char *save = NULL, *word;
	int n = 0;

	for (char *at = text; (at = strchr(at, '/')); )
		*at = '_';
	for (word = strtok_r(text, "\n", &save); word && n < MAX_WORDS;
	     word = strtok_r(NULL, "\n", &save))
		words[n++] = word;
	words[n] = NULL;
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char dry_run[] = "--dry-run";
	char *argv[MAX_WORDS + 3], *text;
	const struct ksv_command *command;
	int argc = 1, status;

	if (!size)
		return 0;
	if (!begun)
		begin();
	command = commands[data[0] % ARRAY_SIZE(commands)];
	text = strndup((const char *)data + 1, size - 1);
	if (!text)
		abort();
	argv[0] = (char *)command->name;
	if (command == &cmd_view)
		argv[argc++] = dry_run;
	argc += split(text, argv + argc);
	status = command->run(command, argc, argv);
	if (status < KSV_EXIT_OK || status > KSV_EXIT_UNKNOWN)
		abort();
	free(text);
	clean_up();
	return 0;
}
