// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	trace_dat_join_write.c
 * @brief	Write a trace.dat of version 7 with all that several files have.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "key_map.h"
#include "kvm_fields.h"
#include "trace_dat_head.h"
#include "trace_dat_join_private.h"
#include "trace_dat_pages.h"
#include "write_at.h"

struct output {
	struct join	*join;
	uint64_t	at;		/* where the next section belongs */
	char		*options;
	size_t		options_size;
	FILE		*option_file;
};

static const struct dat_file *form_of(const struct join *join)
{
	return &join->files->dat;
}

static void put_option(struct output *out, unsigned int id, const void *data, uint32_t size)
{
	dat_write_option(out->option_file, form_of(out->join), id, data, size);
}

/** Write a section. Return: 0 or a negative errno. */
static int write_section(struct output *out, unsigned int id, const void *data, uint64_t size,
			 uint64_t in_file)
{
	const struct dat_file *form = form_of(out->join);
	uint8_t head[DAT_SECTION] = { 0 };
	int ret;

	dat_put(form, head, 2, id);
	dat_put(form, head + 8, 8, in_file);
	ret = write_at(out->join->fd, head, sizeof(head), out->at);
	if (!ret && size)
		ret = write_at(out->join->fd, data, size, out->at + sizeof(head));
	out->at += sizeof(head) + in_file;
	return ret;
}

/** One of the parts, with the option that says where it is. */
static int write_part(struct output *out, int part, const void *data, uint64_t size)
{
	uint8_t place[8];

	dat_put(form_of(out->join), place, 8, out->at);
	put_option(out, (unsigned int)part + DAT_HEADER_INFO, place, sizeof(place));
	return write_section(out, (unsigned int)part + DAT_HEADER_INFO, data, size, size);
}

/* --- formats of events ----------------------------------------------------------------------- */

/** All events of all files once. @n: receives how many. Return: NULL without memory. */
static struct dat_event *all_events(struct join *join, size_t *n)
{
	struct dat_event *events;
	size_t most = 1;
	bool *seen = calloc(UINT16_MAX + 1, sizeof(*seen));

	for (int i = 0; i < join->n; i++)
		most += join->files[i].n_events;
	events = seen ? calloc(most, sizeof(*events)) : NULL;
	*n = 0;
	for (int i = 0; events && i < join->n; i++) {
		const struct join_file *file = &join->files[i];

		for (size_t k = 0; k < file->n_events; k++) {
			const struct join_event *event = &file->events[k];

			if (seen[event->id])
				continue;
			seen[event->id] = true;
			events[(*n)++] = (struct dat_event){
				event->id, event->system, event->format.at, event->format.left,
			};
		}
	}
	join->lost_id = UINT16_MAX;
	while (seen && join->lost_id && seen[join->lost_id])
		join->lost_id--;
	free(seen);
	return events;
}

static int write_formats(struct output *out)
{
	struct join *join = out->join;
	size_t n, size = 0;
	struct dat_event *events = all_events(join, &n);
	char lost[1024], *text = NULL;
	FILE *file = events ? open_memstream(&text, &size) : NULL;
	int ret = file ? 0 : -ENOMEM;

	if (!ret) {
		dat_lost_format(lost, sizeof(lost), join->lost_id);
		events[n++] = (struct dat_event){
			join->lost_id, KVM_OWN_SYSTEM, lost, strlen(lost),
		};
		dat_write_events(file, form_of(join), events, n);
		if (fclose(file))
			ret = -ENOMEM;
	}
	if (!ret)
		ret = write_part(out, DAT_FORMATS, text, size);
	free(text);
	free(events);
	return ret;
}

/* --- texts ----------------------------------------------------------------------------------- */

/** A text with its size before it, without zeros at the end. */
static size_t text_of(const struct join_file *file, int part, const char **text)
{
	int bytes = part == DAT_COMMS ? 8 : 4;
	uint64_t size = file->sizes[part] < (size_t)bytes ? 0 :
			dat_get(&file->dat, file->parts[part], bytes);

	*text = (const char *)file->parts[part] + bytes;
	if (!size || size > file->sizes[part] - (size_t)bytes)
		return 0;
	return strnlen(*text, (size_t)size);
}

/** Give each line to @take. Return: 0 or what it returned. */
static int each_line(const struct join_file *file, int part,
		     int (*take)(void *arg, const char *line, size_t n), void *arg)
{
	const char *text;
	size_t left = text_of(file, part, &text);
	int ret = 0;

	while (left && !ret) {
		const char *end = memchr(text, '\n', left);
		size_t n = end ? (size_t)(end - text) + 1 : left;

		ret = take(arg, text, n);
		text += n;
		left -= n;
	}
	return ret;
}

/** Lines that begin with the same number are there once. */
struct lines {
	FILE		*file;
	struct key_map	numbers;
	int		base;
};

static int add_line(void *arg, const char *line, size_t n)
{
	struct lines *lines = arg;
	uint32_t before = lines->numbers.n_keys;
	char number[32];

	snprintf(number, sizeof(number), "%.*s", (int)(n < 31 ? n : 31), line);
	if (key_map_add(&lines->numbers, strtoull(number, NULL, lines->base)) < 0)
		return -ENOMEM;
	if (lines->numbers.n_keys == before)
		return 0;
	fwrite(line, 1, n, lines->file);
	if (line[n - 1] != '\n')
		fputc('\n', lines->file);
	return 0;
}

/** The lines of all files; those of the last one count. */
static int write_lines(struct output *out, int part, int base)
{
	struct join *join = out->join;
	size_t size = 0, bytes = part == DAT_COMMS ? 8 : 4;
	char *text = NULL;
	struct lines lines = { .file = open_memstream(&text, &size), .base = base };
	int ret = lines.file ? 0 : -ENOMEM;

	if (lines.file)
		dat_write_number(lines.file, form_of(join), (int)bytes, 0);
	for (int i = join->n - 1; i >= 0 && !ret; i--)
		ret = each_line(&join->files[i], part, add_line, &lines);
	if (lines.file && fclose(lines.file) && !ret)
		ret = -ENOMEM;
	if (!ret) {
		dat_put(form_of(join), (uint8_t *)text, (int)bytes, size - bytes);
		ret = write_part(out, part, text, size);
	}
	key_map_destroy(&lines.numbers);
	free(text);
	return ret;
}

/** Names of functions: those of the file that has most. */
static int write_symbols(struct output *out)
{
	const struct join_file *most = out->join->files;

	for (int i = 1; i < out->join->n; i++)
		if (out->join->files[i].sizes[DAT_SYMBOLS] > most->sizes[DAT_SYMBOLS])
			most = &out->join->files[i];
	return write_part(out, DAT_SYMBOLS, most->parts[DAT_SYMBOLS], most->sizes[DAT_SYMBOLS]);
}

/* --- buffers --------------------------------------------------------------------------------- */

static int compare_numbers(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/** The CPUs of a buffer in all files, once each. Return: how many, or a negative errno. */
static ssize_t cpus_of(const struct join *join, const char *buffer, uint32_t **cpus,
		       uint64_t *page)
{
	size_t n = 0, room = 0, kept = 0;

	*page = 0;
	for (int i = 0; i < join->n; i++)
		for (size_t k = 0; k < join->files[i].n_areas; k++) {
			const struct join_area *area = &join->files[i].areas[k];

			if (strcmp(area->buffer, buffer) != 0)
				continue;
			if (*page && *page != area->page)
				return join_fail(join, "%s has pages of another size than other "
						 "files: they are of different kernels or boots",
						 join->files[i].path);
			*page = area->page;
			if (ARRAY_GROW(*cpus, n, room))
				return -ENOMEM;
			(*cpus)[n++] = area->cpu;
		}
	if (n)
		qsort(*cpus, n, sizeof(**cpus), compare_numbers);
	for (size_t i = 0; i < n; i++)
		if (!i || (*cpus)[i] != (*cpus)[i - 1])
			(*cpus)[kept++] = (*cpus)[i];
	return (ssize_t)kept;
}

/** The section of a buffer and its option. @option: a stream for the latter */
static int write_cpus(struct output *out, FILE *option, const char *buffer, const uint32_t *cpus,
		      size_t n, uint64_t page)
{
	struct join *join = out->join;
	const struct dat_file *form = form_of(join);
	uint64_t begin = out->at, at = page ? (begin + DAT_SECTION + page - 1) / page * page : 0;
	int ret = 0;

	dat_write_number(option, form, 8, begin);
	fwrite(buffer, 1, strlen(buffer) + 1, option);
	fwrite(join->files->clock, 1, strlen(join->files->clock) + 1, option);
	dat_write_number(option, form, 4, page);
	dat_write_number(option, form, 4, n);
	for (size_t i = 0; i < n && !ret; i++) {
		uint64_t end = at;

		ret = join_write_cpu(join, buffer, cpus[i], page, at, &end);
		dat_write_number(option, form, 4, cpus[i]);
		dat_write_number(option, form, 8, at);
		dat_write_number(option, form, 8, end - at);
		at = end;
	}
	if (at < begin + DAT_SECTION)
		at = begin + DAT_SECTION;
	return ret ? ret : write_section(out, DAT_BUFFER, NULL, 0, at - begin - DAT_SECTION);
}

static int write_buffer(struct output *out, const char *buffer)
{
	uint32_t *cpus = NULL;
	uint64_t page;
	ssize_t n = cpus_of(out->join, buffer, &cpus, &page);
	size_t size = 0;
	char *text = NULL;
	FILE *option = n < 0 ? NULL : open_memstream(&text, &size);
	int ret = n < 0 ? (int)n : option ? 0 : -ENOMEM;

	if (!ret) {
		ret = write_cpus(out, option, buffer, cpus, (size_t)n, page);
		if (fclose(option) && !ret)
			ret = -ENOMEM;
	}
	if (!ret)
		put_option(out, DAT_BUFFER, text, (uint32_t)size);
	free(text);
	free(cpus);
	return ret;
}

static bool has_buffer(const struct join_file *file, const char *buffer)
{
	for (size_t i = 0; i < file->n_buffers; i++)
		if (!strcmp(file->buffers[i], buffer))
			return true;
	return false;
}

/** Readers want the one without a name first. */
static int write_buffers(struct output *out)
{
	const struct join *join = out->join;
	int ret = write_buffer(out, "");

	for (int i = 0; i < join->n; i++)
		for (size_t k = 0; k < join->files[i].n_buffers && !ret; k++) {
			const char *name = join->files[i].buffers[k];
			bool is_known = !*name;

			for (int before = 0; before < i; before++)
				is_known |= has_buffer(&join->files[before], name);
			if (!is_known)
				ret = write_buffer(out, name);
		}
	return ret;
}

/* --- the file -------------------------------------------------------------------------------- */

/** Options of the first file, but for what is counted anew. */
static void put_options(struct output *out)
{
	const struct join *join = out->join;
	const struct join_file *first = join->files;
	uint64_t n_cpus = 0;
	uint8_t raw[4];

	for (size_t i = 0; i < first->n_options; i++) {
		const struct join_option *option = &first->options[i];

		if (option->id != DAT_CPUCOUNT && option->id != DAT_CPUSTAT)
			put_option(out, option->id, option->data, option->size);
	}
	for (int i = 0; i < join->n; i++)
		n_cpus = join->files[i].n_cpus > n_cpus ? join->files[i].n_cpus : n_cpus;
	dat_put(form_of(join), raw, 4, n_cpus);
	put_option(out, DAT_CPUCOUNT, raw, sizeof(raw));
}

static int write_head(struct output *out, uint64_t *options_at)
{
	static const char none[] = "none\0";	/* and a version that is empty */
	const struct dat_file *form = form_of(out->join);
	size_t size = 0;
	char *text = NULL;
	FILE *file = open_memstream(&text, &size);
	int ret = file ? 0 : -ENOMEM;

	if (!file)
		return ret;
	dat_write_begin(file, form, "7");
	fwrite(none, 1, sizeof(none), file);
	*options_at = (uint64_t)ftello(file);
	dat_write_number(file, form, 8, 0);
	if (fclose(file))
		ret = -ENOMEM;
	if (!ret)
		ret = write_at(out->join->fd, text, size, 0);
	out->at = size;
	free(text);
	return ret;
}

/** All parts, then the buffers. */
static int write_sections(struct output *out)
{
	const struct join_file *first = out->join->files;
	int ret = write_section(out, DAT_STRINGS, "", 1, 1);

	if (!ret)
		ret = write_part(out, DAT_HEADERS, first->parts[DAT_HEADERS],
				 first->sizes[DAT_HEADERS]);
	if (!ret)
		ret = write_part(out, DAT_FTRACE, first->parts[DAT_FTRACE],
				 first->sizes[DAT_FTRACE]);
	if (!ret)
		ret = write_formats(out);
	if (!ret)
		ret = write_symbols(out);
	if (!ret)
		ret = write_lines(out, DAT_PRINTK, 16);
	if (!ret)
		ret = write_lines(out, DAT_COMMS, 10);
	if (ret)
		return ret;
	put_options(out);
	return write_buffers(out);
}

int join_write(struct join *join)
{
	struct output out = { .join = join };
	uint64_t options_at = 0, options;
	uint8_t place[8];
	int ret = write_head(&out, &options_at);

	out.option_file = ret ? NULL : open_memstream(&out.options, &out.options_size);
	if (!ret && !out.option_file)
		ret = -ENOMEM;
	if (!ret)
		ret = write_sections(&out);
	if (!ret)
		put_option(&out, DAT_DONE, "\0\0\0\0\0\0\0", 8);
	if (out.option_file && fclose(out.option_file) && !ret)
		ret = -ENOMEM;
	options = out.at;
	if (!ret)
		ret = write_section(&out, DAT_DONE, out.options, out.options_size,
				    out.options_size);
	dat_put(form_of(join), place, 8, options);
	if (!ret)
		ret = write_at(join->fd, place, sizeof(place), options_at);
	free(out.options);
	return ret;
}
