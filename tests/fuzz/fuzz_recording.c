/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	fuzz_recording.c
 * @brief	Any bytes as recording.json: refused in words, or written again as they are.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recording_folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[64];

static void remove_folder(void)
{
	char *path = recording_path(folder, RECORDING_FILE);

	if (path)
		unlink(path);
	free(path);
	rmdir(folder);
}

static void begin(void)
{
	snprintf(folder, sizeof(folder), "%s/ksv-fuzz-recording-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	if (!mkdtemp(folder))
		abort();
	atexit(remove_folder);
}

/** No file is anywhere else, and no two of them are one. */
static void check_files(const struct recording *recording)
{
	int n_hosts = 0;

	if (recording->n_files > RECORDING_MAX_ITEMS || recording->n_guests > RECORDING_MAX_ITEMS)
		abort();
	for (int i = 0; i < recording->n_files; i++) {
		const struct recording_file *file = &recording->files[i];

		n_hosts += file->role == RECORDING_HOST;
		if (!recording_plain_name(file->name) || strchr(file->name, '/') ||
		    file->records < RECORDING_UNKNOWN || file->lost < RECORDING_UNKNOWN)
			abort();
	}
	if (n_hosts > 1)
		abort();
}

static void check_written(const struct recording *recording)
{
	struct recording again;
	char error[256] = "";

	/* bytes that are no UTF-8 may make two names one, or one too long */
	if (recording_write(folder, recording, error, sizeof(error)))
		abort();
	if (recording_read(folder, &again, error, sizeof(error)))
		return;
	if (again.state != recording->state || again.hypervisor != recording->hypervisor ||
	    again.n_files != recording->n_files || again.n_guests != recording->n_guests ||
	    again.n_command != recording->n_command)
		abort();
	recording_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct recording recording;
	char error[256] = "", *text = malloc(size + 1);

	if (!*folder)
		begin();
	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	if (recording_parse("R", text, size, &recording, error, sizeof(error))) {
		if (strncmp(error, "R: ", 3) != 0 || recording.n_files || recording.folder)
			abort();
	} else {
		check_files(&recording);
		check_written(&recording);
	}
	recording_free(&recording);
	free(text);
	return 0;
}
