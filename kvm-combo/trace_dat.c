// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	trace_dat.c
 * @brief	Check of trace.dat files (trace-cmd.dat.v7(5)).
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace_dat.h"

const char trace_dat_magic[10] = "\x17\x08\x44tracing";

bool trace_dat_is(const char *path)
{
	char head[sizeof(trace_dat_magic)];
	struct stat st;
	bool is = false;
	FILE *file;

	/* nothing may be taken from a pipe here */
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	file = fopen(path, "re");
	if (!file)
		return false;
	is = fread(head, sizeof(head), 1, file) == 1 &&
	     !memcmp(head, trace_dat_magic, sizeof(head));
	fclose(file);
	return is;
}

/** A chain of options has no more parts than that, unless it goes round in circles. */
#define MAX_SECTIONS	1000

#define SECTION_COMPRESSED	1
#define OPTION_DONE		0
#define OPTION_BUFFER		3
#define OPTION_TRACECLOCK	4

/** The file and a place in it. */
struct input {
	FILE		*file;
	uint64_t	size;
	bool		big_endian;
	char		*problem;
	size_t		problem_size;
	char		clock[32];	/* of the last buffer, if it is told */
	bool		in_clock;	/* times are this clock's; 'trace-cmd split' writes ns */
};

__attribute__((format(printf, 2, 3)))
static bool complain(const struct input *input, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(input->problem, input->problem_size, format, args);
	va_end(args);
	return false;
}

static bool cut_off(const struct input *input, const char *what, uint64_t offset)
{
	return complain(input, "cut off: %s at offset %llu, the file ends at %llu. Copy it again; "
			"of an interrupted recording, 'trace-cmd restore' can save the parts that "
			"were left behind (trace.dat.cpu*)", what, (unsigned long long)offset,
			(unsigned long long)input->size);
}

/** A number of the file's byte order. Return: false at the end of the file. */
static bool get_number(const struct input *input, int bytes, uint64_t *value)
{
	unsigned char raw[8];

	if (fread(raw, 1, bytes, input->file) != (size_t)bytes)
		return false;
	*value = 0;
	for (int i = 0; i < bytes; i++)
		*value = *value << 8 | raw[input->big_endian ? i : bytes - 1 - i];
	return true;
}

/** A text that ends with a zero byte. Return: false if it does not fit or end. */
static bool get_text(const struct input *input, char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		int c = getc(input->file);

		if (c == EOF)
			return false;
		text[i] = (char)c;
		if (!c)
			return true;
	}
	return false;
}

/** Does the libtracecmd that KernelShark uses know a compression? */
static bool is_supported(const char *name, const char *version)
{
	void *library;
	bool (*ask)(const char *name, const char *version) = NULL;
	void *symbol;
	bool yes;

	if (!strcmp(name, "none"))
		return true;
	library = dlopen("libtracecmd.so.1", RTLD_NOW | RTLD_LOCAL);
	symbol = library ? dlsym(library, "tracecmd_compress_is_supported") : NULL;
	memcpy(&ask, &symbol, sizeof(ask));
	/* Without that library nobody can tell, and KernelShark will not start anyway. */
	yes = !ask || ask(name, version);
	if (library)
		dlclose(library);
	return yes;
}

/** The data of a buffer: name, clock, page size, and for each CPU where its data is. */
static bool check_buffer(struct input *input)
{
	uint64_t section, page, n_cpus, cpu, offset, size;
	char text[256];

	if (!get_number(input, 8, &section) || !get_text(input, text, sizeof(text)) ||
	    !get_text(input, input->clock, sizeof(input->clock)) ||
	    !get_number(input, 4, &page) ||
	    !get_number(input, 4, &n_cpus))
		return true;	/* of another form: not ours to judge */
	for (uint64_t i = 0; i < n_cpus; i++) {
		if (!get_number(input, 4, &cpu) || !get_number(input, 8, &offset) ||
		    !get_number(input, 8, &size))
			return true;
		if (offset > input->size || size > input->size - offset) {
			snprintf(text, sizeof(text), "the data of CPU %llu begins",
				 (unsigned long long)cpu);
			return cut_off(input, text, offset);
		}
	}
	return true;
}

/** One section of options. @next: receives where the following one is, or 0 */
static bool check_section(struct input *input, uint64_t offset, uint64_t *next)
{
	uint64_t id, flags, text, size, end;

	*next = 0;
	if (offset > input->size || fseeko(input->file, (off_t)offset, SEEK_SET) ||
	    !get_number(input, 2, &id) || !get_number(input, 2, &flags) ||
	    !get_number(input, 4, &text) || !get_number(input, 8, &size))
		return cut_off(input, "its options are", offset);
	offset += 16;
	if (size > input->size - offset)
		return cut_off(input, "its options begin", offset);
	if (flags & SECTION_COMPRESSED)
		return true;
	for (end = offset + size; offset + 6 <= end; offset += 6 + size) {
		if (fseeko(input->file, (off_t)offset, SEEK_SET) ||
		    !get_number(input, 2, &id) || !get_number(input, 4, &size) ||
		    size > end - offset - 6)
			return true;
		if (id == OPTION_DONE) {
			if (size == 8 && !get_number(input, 8, next))
				*next = 0;
			return true;
		}
		if (id == OPTION_TRACECLOCK)
			input->in_clock = true;
		if (id == OPTION_BUFFER && !check_buffer(input))
			return false;
	}
	return true;
}

static bool check(struct input *input)
{
	char name[64], version[64], format[16];
	uint64_t endian, long_size, page, offset;

	if (fseeko(input->file, sizeof(trace_dat_magic), SEEK_SET) ||
	    !get_text(input, format, sizeof(format)))
		return cut_off(input, "its head is", 0);
	/* Up to version 6 there is neither compression nor a table of contents. */
	if (atoi(format) < 7)
		return true;
	if (!get_number(input, 1, &endian) || !get_number(input, 1, &long_size))
		return cut_off(input, "its head is", 0);
	input->big_endian = endian;
	if (!get_number(input, 4, &page) || !get_text(input, name, sizeof(name)) ||
	    !get_text(input, version, sizeof(version)) || !get_number(input, 8, &offset))
		return cut_off(input, "its head is", 0);
	if (!is_supported(name, version))
		return complain(input, "compressed with %s, which the libtracecmd on this machine "
				"cannot read. On the one where it was recorded, make a copy by "
				"'trace-cmd convert -i FILE -o COPY --compression none'", name);
	if (!offset)
		return complain(input, "not complete: it has no table of contents, because its "
				"recording was interrupted. 'trace-cmd restore' makes a whole "
				"file of what was left behind (trace.dat.cpu*)");
	for (int i = 0; offset && i < MAX_SECTIONS; i++)
		if (!check_section(input, offset, &offset))
			return false;
	return true;
}

bool trace_dat_check(const char *path, char *problem, size_t size, bool *cycles)
{
	struct input input = { .problem = problem, .problem_size = size };
	struct stat st;
	bool ok = true;

	problem[0] = '\0';
	if (cycles)
		*cycles = false;
	input.file = fopen(path, "re");
	if (!input.file)
		return complain(&input, "%s", strerror(errno));
	if (!fstat(fileno(input.file), &st)) {
		input.size = st.st_size;
		ok = check(&input);
		if (cycles)
			*cycles = input.in_clock && !strcmp(input.clock, "x86-tsc");
	}
	fclose(input.file);
	return ok;
}
