// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	foreign_file.c
 * @brief	Files of other programs, known by their first bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "array.h"
#include "foreign_file.h"

#define PACKED	"unpack it first; only what gzip or zstd has compressed is read as it is"
#define CAPTURE	"of a network. Record the host with 'kshark-virt record' or trace-cmd"
#define CTF	"which is not read. Record the host with 'kshark-virt record' or trace-cmd"

/** perf: tools/perf/util/header.c; pcap and pcapng: draft-ietf-opsawg-pcap, -pcapng. */
static const struct {
	const char	*bytes;
	size_t		n;
	const char	*problem;
} kinds[] = {
	{ "PERFILE2", 8, "a perf.data file, which is not read. Record the host with 'kshark-virt "
	  "record' or trace-cmd instead of perf" },
	{ "2ELIFREP", 8, "a perf.data file, which is not read. Record the host with 'kshark-virt "
	  "record' or trace-cmd instead of perf" },
	{ "# tracer: ", 10, "the text of ftrace's file 'trace', from which times and CPUs cannot "
	  "be read reliably. Record with 'kshark-virt record', or save the binary buffers with "
	  "'trace-cmd extract'" },
	{ "\x17\x08\x44tracing", 10, "a trace.dat of trace-cmd where a xentrace file is asked "
	  "for; 'trace-cmd report' prints its records" },
	{ "\xd4\xc3\xb2\xa1", 4, "a pcap capture " CAPTURE },
	{ "\xa1\xb2\xc3\xd4", 4, "a pcap capture " CAPTURE },
	{ "\x4d\x3c\xb2\xa1", 4, "a pcap capture " CAPTURE },
	{ "\xa1\xb2\x3c\x4d", 4, "a pcap capture " CAPTURE },
	{ "\x0a\x0d\x0d\x0a", 4, "a pcapng capture " CAPTURE },
	{ "\xc1\x1f\xfc\xc1", 4, "a stream of a CTF trace (LTTng), " CTF },
	{ "\xc1\xfc\x1f\xc1", 4, "a stream of a CTF trace (LTTng), " CTF },
	{ "\x75\xd1\x1d\x57", 4, "the metadata of a CTF trace (LTTng), " CTF },
	{ "\x57\x1d\xd1\x75", 4, "the metadata of a CTF trace (LTTng), " CTF },
	{ "/* CTF ", 7, "the metadata of a CTF trace (LTTng), " CTF },
	{ "PK\3\4", 4, "a zip archive: " PACKED },
	{ "\xfd" "7zXZ\0", 6, "compressed with xz: " PACKED },
	{ "BZh", 3, "compressed with bzip2: " PACKED },
	{ "7z\xbc\xaf\x27\x1c", 6, "a 7z archive: " PACKED },
	{ "\x04\x22\x4d\x18", 4, "compressed with lz4: " PACKED },
};

const char *foreign_file_problem(const void *head, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (n >= kinds[i].n && !memcmp(head, kinds[i].bytes, kinds[i].n))
			return kinds[i].problem;
	return NULL;
}

const char *foreign_folder_problem(const char *path)
{
	struct stat st;
	char *metadata;
	bool is;

	if (stat(path, &st) || !S_ISDIR(st.st_mode) || asprintf(&metadata, "%s/metadata", path) < 0)
		return NULL;
	is = !stat(metadata, &st) && S_ISREG(st.st_mode);
	free(metadata);
	return is ? "the folder of a CTF trace (LTTng), " CTF : NULL;
}
