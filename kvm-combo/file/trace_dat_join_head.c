// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	trace_dat_join_head.c
 * @brief	The content of a trace.dat besides its records, and the comparison of two of them.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "escape.h"
#include "trace_dat.h"
#include "trace_dat_join_private.h"

/** Bytes of a part: the largest one, the names of all functions, has some 20 MiB. */
#define MOST_PART	((uint64_t)256 << 20)

#define DAMAGED		"Copy it again, if there is another one"

int join_fail(const struct join *join, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	text_format(join->error, join->error_size, "%s", text);
	return -EILSEQ;
}

/* --- parts ----------------------------------------------------------------------------------- */

static bool no_memory(const struct dat_file *dat)
{
	return dat_complain(dat, "not enough memory");
}

static bool read_part(struct join_file *file, int part, uint64_t offset, uint64_t size)
{
	const struct dat_file *dat = &file->dat;

	if (size > MOST_PART || file->parts[part])
		return dat_complain(dat, "damaged: its headers are too large, or there twice. "
				    DAMAGED);
	file->parts[part] = malloc((size_t)size + 1);
	if (!file->parts[part])
		return no_memory(dat);
	if (!dat_seek(dat, offset) ||
	    fread(file->parts[part], 1, (size_t)size, dat->file) != size)
		return dat_complain(dat, "its headers cannot be read. " DAMAGED);
	file->sizes[part] = (size_t)size;
	file->parts[part][size] = '\0';
	return true;
}

static bool take_number(const struct dat_file *dat, struct join_bytes *bytes, int n,
			uint64_t *value)
{
	if (bytes->left < (size_t)n)
		return false;
	*value = dat_get(dat, bytes->at, n);
	bytes->at += n;
	bytes->left -= (size_t)n;
	return true;
}

static bool take_bytes(struct join_bytes *bytes, uint64_t n, struct join_bytes *part)
{
	if (n > bytes->left)
		return false;
	*part = (struct join_bytes){ bytes->at, (size_t)n };
	bytes->at += n;
	bytes->left -= (size_t)n;
	return true;
}

static bool take_sized(const struct dat_file *dat, struct join_bytes *bytes, int n,
		       struct join_bytes *part)
{
	uint64_t size;

	return take_number(dat, bytes, n, &size) && take_bytes(bytes, size, part);
}

static bool take_text(struct join_bytes *bytes, const char **text)
{
	size_t n = strnlen((const char *)bytes->at, bytes->left);
	struct join_bytes part;

	*text = (const char *)bytes->at;
	return n < bytes->left && take_bytes(bytes, n + 1, &part);
}

/* --- events ---------------------------------------------------------------------------------- */

static int compare_events(const void *a, const void *b)
{
	const struct join_event *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

/** A line of a format: "name: sched_switch". Return: malloc'ed, or NULL. */
static char *line_of(const struct join_bytes *format, const char *word)
{
	const char *text = (const char *)format->at, *end = text + format->left;
	size_t n = strlen(word);

	while (text && text < end) {
		const char *line = memchr(text, '\n', (size_t)(end - text));

		if ((size_t)(end - text) > n && !memcmp(text, word, n))
			return strndup(text + n, (size_t)((line ? line : end) - text) - n);
		text = line ? line + 1 : NULL;
	}
	return NULL;
}

static int add_event(struct join_file *file, const char *system, const struct join_bytes *format)
{
	char *name = line_of(format, "name: "), *id = line_of(format, "ID: "), *full = NULL;
	unsigned long number = id ? strtoul(id, NULL, 10) : UINT16_MAX + 1UL;
	int ret = 0;

	/* an event without a number has no records */
	if (name && number <= UINT16_MAX) {
		if (asprintf(&full, "%s:%s", system, name) < 0 ||
		    ARRAY_GROW(file->events, file->n_events, file->room_events)) {
			free(full);
			ret = -ENOMEM;
		} else {
			file->events[file->n_events++] = (struct join_event){
				.id = (uint16_t)number, .system = system, .name = full,
				.format = *format,
			};
		}
	}
	free(name);
	free(id);
	return ret;
}

static int read_events(struct join_file *file)
{
	struct join_bytes bytes = { file->parts[DAT_FORMATS], file->sizes[DAT_FORMATS] }, format;
	uint64_t n, formats;
	const char *system;
	int ret = 0;

	if (!take_number(&file->dat, &bytes, 4, &n))
		n = 0;
	for (; n && !ret; n--) {
		if (!take_text(&bytes, &system) || !take_number(&file->dat, &bytes, 4, &formats))
			break;
		for (; formats && !ret && take_sized(&file->dat, &bytes, 8, &format); formats--)
			ret = add_event(file, system, &format);
	}
	if (file->n_events)
		qsort(file->events, file->n_events, sizeof(*file->events), compare_events);
	return ret;
}

static const struct join_event *find_event(const struct join_file *file, uint16_t id)
{
	const struct join_event key = { .id = id };

	return file->n_events ? bsearch(&key, file->events, file->n_events, sizeof(key),
					compare_events) : NULL;
}

const struct join_event *join_event_missing(const struct join_file *a, const struct join_file *b)
{
	for (size_t i = 0; i < a->n_events; i++)
		if (!find_event(b, a->events[i].id))
			return &a->events[i];
	return NULL;
}

/* --- options --------------------------------------------------------------------------------- */

static void set_clock(struct join_file *file, const char *clock)
{
	const char *open = strchr(clock, '['), *name = open ? open + 1 : clock;

	snprintf(file->clock, sizeof(file->clock), "%.*s", (int)strcspn(name, "] \n"), name);
}

static bool add_area(struct join_file *file, const char *buffer, const struct dat_cpu *cpu)
{
	if (!dat_check_cpu(&file->dat, cpu))
		return false;
	if (ARRAY_GROW(file->areas, file->n_areas, file->room_areas))
		return no_memory(&file->dat);
	file->areas[file->n_areas++] = (struct join_area){
		.buffer = buffer, .cpu = cpu->cpu, .offset = cpu->offset, .size = cpu->size,
		.page = cpu->page,
	};
	return true;
}

/** Return: the copy of its name, or NULL after a complaint. */
static const char *add_name(struct join_file *file, const char *buffer)
{
	char *name = strdup(buffer);

	if (!name || ARRAY_GROW(file->buffers, file->n_buffers, file->room_buffers)) {
		free(name);
		no_memory(&file->dat);
		return NULL;
	}
	file->buffers[file->n_buffers++] = name;
	return name;
}

static bool add_buffer(struct join_file *file, const struct dat_option *option)
{
	const struct dat_file *dat = &file->dat;
	struct dat_buffer buffer;
	const char *name;

	if (!dat_find_buffer(dat, option, "merged", &buffer))
		return false;
	name = add_name(file, buffer.name);
	if (!name)
		return false;
	set_clock(file, buffer.clock);
	for (uint32_t i = 0; i < buffer.n_cpus; i++) {
		const struct dat_cpu cpu = dat_buffer_cpu(dat, &buffer, i);

		if (!add_area(file, name, &cpu))
			return false;
	}
	return true;
}

static bool keep_option(struct join_file *file, const struct dat_option *option)
{
	struct join_option kept = { .id = option->id, .size = option->size };

	kept.data = malloc((size_t)option->size + 1);
	if (!kept.data || ARRAY_GROW(file->options, file->n_options, file->room_options)) {
		free(kept.data);
		return no_memory(&file->dat);
	}
	if (option->size)
		memcpy(kept.data, option->data, option->size);
	kept.data[option->size] = '\0';
	file->options[file->n_options++] = kept;
	return true;
}

static bool take_option(void *arg, const struct dat_file *dat, struct dat_option *option)
{
	struct join_file *file = arg;
	struct dat_section section;
	uint64_t offset;

	if (option->id == DAT_BUFFER)
		return add_buffer(file, option);
	if (option->id == DAT_BUFFER_TEXT)
		return dat_complain(dat, "a text of latencies, which has no records to merge");
	if (option->id == DAT_CPUCOUNT && option->size >= 4)
		file->n_cpus = dat_get(dat, option->data, 4);
	if (option->id < DAT_HEADER_INFO || option->id > DAT_CMDLINES)
		return keep_option(file, option);
	if (option->size < 8)
		return true;
	offset = dat_get(dat, option->data, 8);
	if (!dat_section(dat, offset, &section))
		return dat_cut_off(dat, "one of its parts is", offset);
	return read_part(file, (int)(option->id - DAT_HEADER_INFO), offset + DAT_SECTION,
			 section.size);
}

static const struct join_option *option_of(const struct join_file *file, unsigned int id)
{
	for (size_t i = 0; i < file->n_options; i++)
		if (file->options[i].id == id)
			return &file->options[i];
	return NULL;
}

/** Version 6 has the places of the CPUs at the end of its head, where dat_options() leaves off. */
static bool add_areas_v6(struct join_file *file, const struct dat_areas *areas)
{
	const struct join_option *clock = option_of(file, DAT_TRACECLOCK);
	const char *name = add_name(file, "");

	if (!name)
		return false;
	if (clock)
		set_clock(file, (const char *)clock->data);
	for (size_t i = 0; i < areas->n; i++) {
		const struct dat_area *area = &areas->all[i];
		const struct dat_cpu cpu = {
			(uint32_t)area->cpu, area->offset, area->size, file->dat.page_size,
		};

		if (!add_area(file, name, &cpu))
			return false;
	}
	return true;
}

/* --- opening --------------------------------------------------------------------------------- */

/** Version 6: parts and areas have no options. */
static bool read_v6(struct join_file *file)
{
	struct dat_file *dat = &file->dat;
	struct dat_areas areas = { 0 };
	uint64_t parts[DAT_PARTS + 1] = { 0 };
	bool ok;

	dat->areas = &areas;
	dat->parts = parts;
	ok = dat_options(dat, take_option, file) && add_areas_v6(file, &areas);
	for (int part = 0; part < DAT_PARTS && ok; part++)
		ok = read_part(file, part, parts[part], parts[part + 1] - parts[part]);
	dat->areas = NULL;
	dat->parts = NULL;
	free(areas.all);
	return ok;
}

static bool open_file(struct join_file *file)
{
	struct dat_file *dat = &file->dat;

	if (!dat_open(dat, file->path, file->problem, sizeof(file->problem)))
		return false;
	if (strcmp(dat->compression, "none") != 0)
		return dat_complain(dat, "compressed with %s, which is not read",
				    dat->compression);
	if (dat->version < 7 ? !read_v6(file) : !dat_options(dat, take_option, file))
		return false;
	for (int part = 0; part < DAT_PARTS; part++)
		if (!file->parts[part])
			return dat_complain(dat, "damaged: a part of its head is missing. "
					    DAMAGED);
	return true;
}

int join_open(struct join *join, struct join_file *file, const char *path)
{
	file->join = join;
	file->path = path;
	return open_file(file) ? read_events(file) :
				 join_fail(join, "%s: %s", path, file->problem);
}

void join_close(struct join_file *file)
{
	dat_close(&file->dat);
	for (int part = 0; part < DAT_PARTS; part++)
		free(file->parts[part]);
	for (size_t i = 0; i < file->n_events; i++)
		free((char *)(uintptr_t)file->events[i].name);
	for (size_t i = 0; i < file->n_options; i++)
		free(file->options[i].data);
	for (size_t i = 0; i < file->n_buffers; i++)
		free(file->buffers[i]);
	free(file->events);
	free(file->options);
	free(file->areas);
	free(file->buffers);
}

/* --- what belongs together ------------------------------------------------------------------- */

/** The address of the kernel's first function, which differs from boot to boot; 0: unknown. */
static uint64_t kernel_address(const struct join_file *file)
{
	static const char name[] = " T _stext\n";
	const char *text = (const char *)file->parts[DAT_SYMBOLS];
	const char *at = memmem(text, file->sizes[DAT_SYMBOLS], name, sizeof(name) - 1);
	const char *line = at;

	while (line && line > text && line[-1] != '\n' && at - line < 17)
		line--;
	return line ? strtoull(line, NULL, 16) : 0;
}

/**
 * Is a kernel where it was linked to be, so that it may be there at each boot (nokaslr, or without
 * CONFIG_RANDOMIZE_BASE)? That is 16 MiB above the beginning of 128 MiB on x86, and less than 1 MiB
 * above it on Arm, RISC-V and POWER.
 */
static bool may_stay(uint64_t address)
{
	uint64_t offset = address & ((128u << 20) - 1);

	return offset < 1 << 20 || offset == 16 << 20;
}

static bool same_option(const struct join_file *a, const struct join_file *b, unsigned int id,
			size_t bytes)
{
	const struct join_option *x = option_of(a, id), *y = option_of(b, id);

	if (!x || !y)
		return !x && !y;
	if (bytes && x->size >= bytes && y->size >= bytes)
		return !memcmp(x->data, y->data, bytes);
	return x->size == y->size && !memcmp(x->data, y->data, x->size);
}

static int check_formats(struct join *join, const struct join_file *a, const struct join_file *b)
{
	for (size_t i = 0; i < b->n_events; i++) {
		const struct join_event *y = &b->events[i], *x = find_event(a, y->id);

		if (x && (strcmp(x->name, y->name) != 0 || x->format.left != y->format.left ||
			  memcmp(x->format.at, y->format.at, x->format.left) != 0))
			return join_fail(join, "event %u is %s in %s, and %s%s in %s: they are of "
					 "different kernels or boots", y->id, y->name, b->path,
					 x->name, strcmp(x->name, y->name) ? "" :
					 " of another format", a->path);
	}
	return 0;
}

/** Guests are known by the host's trace: those of the first one stay. */
static bool names_guest(const struct join_file *file, const struct join_option *guest)
{
	for (size_t i = 0; i < file->n_options; i++)
		if (file->options[i].id == DAT_GUEST && file->options[i].size == guest->size &&
		    !memcmp(file->options[i].data, guest->data, guest->size))
			return true;
	return false;
}

int join_check(struct join *join, const struct join_file *a, const struct join_file *b)
{
	uint64_t x = kernel_address(a), y = kernel_address(b);

	if (a->dat.big_endian != b->dat.big_endian || a->dat.long_size != b->dat.long_size ||
	    !same_option(a, b, DAT_UNAME, 0))
		return join_fail(join, "%s and %s are of different hosts or kernels", a->path,
				 b->path);
	if (x && y && x != y)
		return join_fail(join, "%s and %s are of different boots: the kernel was at "
				 "address %#llx, then at %#llx", a->path, b->path,
				 (unsigned long long)x, (unsigned long long)y);
	join->joined->is_boot_unknown |= !x || !y || may_stay(x);
	if (strcmp(a->clock, b->clock) != 0)
		return join_fail(join, "%s has times of the clock %s, %s of %s: they have no "
				 "common axis", a->path, *a->clock ? a->clock : "?", b->path,
				 *b->clock ? b->clock : "?");
	/* multiplier and shift; the offset is only where its times begin */
	if (!same_option(a, b, DAT_TSC2NSEC, 8) || !same_option(a, b, DAT_DATE, 0) ||
	    !same_option(a, b, DAT_OFFSET, 0))
		return join_fail(join, "%s and %s calculate times in different ways (TSC2NSEC, "
				 "DATE or OFFSET)", a->path, b->path);
	if (!same_option(a, b, DAT_TIME_SHIFT, 0))
		return join_fail(join, "%s and %s are traces of a guest that trace-cmd has aligned "
				 "with its host in different ways: merge only traces of hosts",
				 a->path, b->path);
	for (size_t i = 0; i < b->n_options; i++)
		if (b->options[i].id == DAT_GUEST && !names_guest(a, &b->options[i]))
			join->joined->has_other_guests = true;
	return check_formats(join, a, b);
}
