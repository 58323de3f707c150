// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	foreign_file.c
 * @brief	Recognize files of other programs by their first bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "array.h"
#include "foreign_file.h"

#define PACKED	"unpack it first; only what gzip or zstd has compressed is read as it is"
#define RECORD	"Record the host with 'kshark-virt record' or trace-cmd"
#define CAPTURE	"of a network. " RECORD
#define CTF	"give the folder that it is in"
#define PERF	"a perf.data file where a xentrace file is asked for; 'kshark-virt view' " \
		"opens it"
#define TAR	"ustar"
#define TAR_AT	257
#define CORE	"a core dump, which has no records of a running system. " RECORD
#define PERFETTO "a trace of Perfetto or a protocol buffer, which is not read. " RECORD
#define JSON	"a JSON file, which is no trace: give the trace.dat or xentrace file itself"
#define PAGE	"a page of a web site, not a trace: download the file itself"

/** No other bytes are needed. */
#define JUST	{ NULL, 0, 0 }

/** Some bytes of a file. */
struct bytes {
	const char	*bytes;
	size_t		n, at;
};

/**
 * perf: tools/perf/util/header.c; pcap and pcapng: draft-ietf-opsawg-pcap, -pcapng; ELF: elf(5);
 * tar: POSIX's ustar. What is a special case of another kind comes before it.
 */
static const struct {
	const char	*bytes;
	size_t		n;
	const char	*problem;
	struct bytes	more;		/* the file has these, too */
} kinds[] = {
	{ FOREIGN_PERF_LITTLE, FOREIGN_PERF_BYTES, PERF, JUST },
	{ FOREIGN_PERF_BIG, FOREIGN_PERF_BYTES, PERF, JUST },
	{ "# tracer: ", 10, "the text of ftrace where a xentrace file is asked for; 'kshark-virt "
	  "view' opens it", JUST },
	{ "\x17\x08\x44tracing", 10, "a trace.dat of trace-cmd where a xentrace file is asked "
	  "for; 'kshark-virt view' opens it", JUST },
	{ "\xd4\xc3\xb2\xa1", 4, "a pcap capture " CAPTURE, JUST },
	{ "\xa1\xb2\xc3\xd4", 4, "a pcap capture " CAPTURE, JUST },
	{ "\x4d\x3c\xb2\xa1", 4, "a pcap capture " CAPTURE, JUST },
	{ "\xa1\xb2\x3c\x4d", 4, "a pcap capture " CAPTURE, JUST },
	{ "\x0a\x0d\x0d\x0a", 4, "a pcapng capture " CAPTURE, JUST },
	{ "\xc1\x1f\xfc\xc1", 4, "a stream of a CTF trace (LTTng): " CTF, JUST },
	{ "\xc1\xfc\x1f\xc1", 4, "a stream of a CTF trace (LTTng): " CTF, JUST },
	{ "\x75\xd1\x1d\x57", 4, "the metadata of a CTF trace (LTTng): " CTF, JUST },
	{ "\x57\x1d\xd1\x75", 4, "the metadata of a CTF trace (LTTng): " CTF, JUST },
	{ "/* CTF ", 7, "the metadata of a CTF trace (LTTng): " CTF, JUST },
	{ "PK\3\4", 4, "a zip archive: " PACKED, JUST },
	{ "\xfd" "7zXZ\0", 6, "compressed with xz: " PACKED, JUST },
	{ "BZh", 3, "compressed with bzip2: " PACKED, JUST },
	{ "7z\xbc\xaf\x27\x1c", 6, "a 7z archive: " PACKED, JUST },
	{ "\x04\x22\x4d\x18", 4, "compressed with lz4: " PACKED, JUST },
	{ "", 0, "a tar archive: unpack it first ('tar -xf') and give the trace in it",
	  { TAR, 5, TAR_AT } },
	/* e_type 4 of both byte orders; e_ident has that of the file */
	{ "\x7f" "ELF", 4, CORE, { "\4\0", 2, 16 } },
	{ "\x7f" "ELF", 4, CORE, { "\0\4", 2, 16 } },
	{ "\x7f" "ELF", 4, "an ELF file, a program or a kernel, which is no trace. " RECORD, JUST },
	{ "KDUMP   ", 8, CORE, JUST },
	{ "QFI\xfb", 4, "a qcow2 image of a disk, which is no trace. " RECORD, JUST },
	{ "SQLite format 3", 16, "an SQLite database, perhaps of 'kshark-virt export': give the "
	  "trace itself", JUST },
	{ "cpus=", 5, "the text of 'trace-cmd report' without any record: give the trace.dat "
	  "itself", JUST },
	{ "version https://git-lfs", 23, "a pointer of Git LFS instead of the file: run 'git lfs "
	  "pull'", JUST },
	{ "<!DOCTYPE", 9, PAGE, JUST },
	{ "<!doctype", 9, PAGE, JUST },
	{ "<html", 5, PAGE, JUST },
};

static bool has(const char *head, size_t n, const char *bytes, size_t n_bytes, size_t at)
{
	return !n_bytes || (n >= at + n_bytes && !memcmp(head + at, bytes, n_bytes));
}

/** An object or array of JSON, and in it a string, an object or an array. */
static bool is_json(const char *head, size_t n)
{
	static const char blanks[] = " \t\r\n";
	size_t i = 0, first;

	while (i < n && head[i] && strchr(blanks, head[i]))
		i++;
	if (i == n || (head[i] != '{' && head[i] != '['))
		return false;
	for (first = ++i; i < n && head[i] && strchr(blanks, head[i]); i++)
		;
	return i < n && head[i] && strchr(head[first - 1] == '{' ? "\"}" : "\"{[]", head[i]);
}

/**
 * Perfetto's files have no magic number: they are a protocol buffer, whose field 1 is a packet and
 * repeated. Two whole packets and the begin of a third one are no accident.
 */
static bool is_perfetto(const unsigned char *head, size_t n)
{
	size_t at = 0, packets = 0;

	while (at < n && head[at] == 0x0a) {
		size_t size = 0, shift = 0;

		if (packets++ == 2)
			return true;
		do {
			if (++at >= n || shift > 21)
				return false;
			size |= (size_t)(head[at] & 0x7f) << shift;
			shift += 7;
		} while (head[at] & 0x80);
		at += 1 + size;
		/* a packet has something in it */
		if (!size)
			return false;
	}
	return false;
}

bool foreign_file_is_tar(const void *head, size_t n)
{
	return has(head, n, TAR, 5, TAR_AT);
}

const char *foreign_file_problem(const void *head, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (has(head, n, kinds[i].bytes, kinds[i].n, 0) &&
		    has(head, n, kinds[i].more.bytes, kinds[i].more.n, kinds[i].more.at))
			return kinds[i].problem;
	return is_json(head, n) ? JSON : is_perfetto(head, n) ? PERFETTO : NULL;
}

/** Words that come to be files because an option takes only the word before them. */
static const char *word_problem(const char *name)
{
	static const char *const units[] = { "ns", "us", "ms", "s", "m", "h" };

	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(name, units[i]))
			return "no such file; if it is a unit, write it without a blank after the "
			       "number, such as 5ms";
	if (*name == 'v' && name[1] && !name[1 + strspn(name + 1, "0123456789")])
		return "no such file; if it is part of a vCPU's name, write \"web v0\" in quotes, "
		       "or web:0";
	return strcmp(name, "help") ? NULL : "no such file; 'kshark-virt help COMMAND' lists the "
	       "options of a command";
}

const char *foreign_name_problem(const char *name)
{
	size_t scheme = strspn(name, "abcdefghijklmnopqrstuvwxyz+");
	const char *colon = strchr(name, ':');

	if (scheme && !strncmp(name + scheme, "://", 3))
		return "an address, not a file: download it first, with 'curl -O' or 'scp', and "
		       "give its name here";
	if (colon > name && colon[1] && !memchr(name, '/', (size_t)(colon - name)))
		return "no such file here; if it is on another host, copy it first, with 'scp'";
	return word_problem(name);
}

static bool has_file(const char *folder, const char *name)
{
	struct stat st;
	char *path;
	bool has;

	if (asprintf(&path, "%s/%s", folder, name) < 0)
		return false;
	has = !stat(path, &st) && S_ISREG(st.st_mode);
	free(path);
	return has;
}

const char *foreign_folder_problem(const char *path)
{
	struct stat st;

	if (stat(path, &st) || !S_ISDIR(st.st_mode))
		return NULL;
	if (has_file(path, "metadata"))
		return "the folder of a CTF trace (LTTng), which this build does not read: build "
		       "it where libbabeltrace2 is installed";
	return "a folder without recording.json, so it is no recording: give the trace itself";
}
