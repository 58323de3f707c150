// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_align.c
 * @brief	The clocks of guests that trace-cmd has not aligned, as "kshark-virt align --write".
 */
#include <string.h>

#include "record.h"

/** Longest that it may take; a trace of ten seconds takes one. */
#define ALIGN_S	600

/** trace-cmd aligns those that it records by their agents. */
static bool any_by_ssh(const struct record *record)
{
	for (int i = 0; i < record->n_guests; i++) {
		const struct record_guest *guest = &record->guests[i];

		if (guest->how != RECORD_BY_SSH || !guest->file)
			continue;
		for (int k = 0; k < record->recording.n_files; k++)
			if (!strcmp(record->recording.files[k].name, guest->file))
				return true;
	}
	return false;
}

void record_align(const struct record *record)
{
	const char *argv[] = { "/proc/self/exe", "align", "--quiet", "--write", record->folder,
			       NULL };
	char said[4096];
	int status;

	if (!any_by_ssh(record))
		return;
	ksv_note("aligning the clocks of guests ...");
	status = record_capture(argv, ALIGN_S, said, sizeof(said));
	if (status)
		ksv_note("%s: not all guests are aligned; 'kshark-virt align' tells why",
			 record->options->folder);
}
