// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	trace_dat_clock.c
 * @brief	Name the clock of a trace.dat that was made from the data of CPUs.
 *
 * trace-cmd restore names the clock of the buffers that all tracers share, whatever buffers the
 * data come from. The section of options that names the clock is written again after the end of
 * the file, with the right name, and the pointer to the old section is changed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace_dat.h"
#include "trace_dat_read.h"

/** A section of options is some hundred bytes, with many CPUs some hundred thousand. */
#define MOST_BYTES	((uint64_t)16 << 20)
#define MOST_SECTIONS	64
#define OPTION_HEAD	6

/** A section, and the place of the number that leads to it. */
struct place {
	uint64_t	link_at, offset;
	struct dat_section section;
	uint8_t		*data;
};

/** Return: false if it is no section of options that can be changed. */
static bool read_place(const struct dat_file *dat, struct place *place)
{
	free(place->data);
	place->data = NULL;
	if (!dat_section(dat, place->offset, &place->section) || place->section.id != DAT_DONE ||
	    (place->section.flags & DAT_COMPRESSED) || place->section.size > MOST_BYTES)
		return false;
	place->data = malloc((size_t)place->section.size + 1);
	return place->data && dat_seek(dat, place->offset + DAT_SECTION) &&
	       fread(place->data, 1, (size_t)place->section.size, dat->file) ==
	       place->section.size;
}

/** The next option. Return: false at the end, or if it does not lie within the section. */
static bool next_option(const struct dat_file *dat, const struct place *place, uint64_t *at,
			struct dat_option *option)
{
	uint64_t size = place->section.size;

	if (*at > size || size - *at < OPTION_HEAD)
		return false;
	option->id = (unsigned int)dat_get(dat, place->data + *at, 2);
	option->size = (uint32_t)dat_get(dat, place->data + *at + 2, 4);
	option->data = place->data + *at + OPTION_HEAD;
	if (option->size > size - *at - OPTION_HEAD)
		return false;
	*at += OPTION_HEAD + option->size;
	return true;
}

/**
 * Go to the section that names the clock of the buffer without a name
 * @clock: receives where it stands in the section
 *
 * Return: false if there is none.
 */
static bool find_clock(const struct dat_file *dat, struct place *place, struct dat_option *option,
		       const char **clock)
{
	*place = (struct place){ .link_at = dat->options_at, .offset = dat->options };
	for (int i = 0; i < MOST_SECTIONS && place->offset; i++) {
		struct dat_buffer buffer;
		uint64_t at = 0;
		bool goes_on = false;

		if (!read_place(dat, place))
			return false;
		while (!goes_on && next_option(dat, place, &at, option)) {
			if (option->id == DAT_BUFFER && dat_buffer(dat, option, &buffer) &&
			    !*buffer.name) {
				*clock = buffer.clock;
				return true;
			}
			goes_on = option->id == DAT_DONE;
		}
		if (!goes_on || option->size < 8)
			return false;
		place->link_at = place->offset + DAT_SECTION +
				 (uint64_t)(option->data - place->data);
		place->offset = dat_get(dat, option->data, 8);
	}
	return false;
}

/** The section with another name in it. Return: its bytes, to be freed, or NULL. */
static uint8_t *make_section(const struct dat_file *dat, const struct place *place,
			     const struct dat_option *option, const char *old, const char *clock,
			     size_t *size)
{
	size_t was = strlen(old), is = strlen(clock), before;
	uint8_t *made;

	*size = DAT_SECTION + (size_t)place->section.size - was + is;
	made = calloc(1, *size);
	if (!made)
		return NULL;
	dat_put(dat, made, 2, place->section.id);
	dat_put(dat, made + 2, 2, place->section.flags);
	dat_put(dat, made + 4, 4, place->section.text);
	dat_put(dat, made + 8, 8, *size - DAT_SECTION);
	before = (size_t)((const uint8_t *)old - place->data);
	memcpy(made + DAT_SECTION, place->data, before);
	memcpy(made + DAT_SECTION + before, clock, is);
	memcpy(made + DAT_SECTION + before + is, old + was,
	       (size_t)place->section.size - before - was);
	dat_put(dat, made + DAT_SECTION + (option->data - place->data) - 4, 4,
		option->size - was + is);
	return made;
}

/** Nothing changes until the last write, which leads to the new section. */
static int write_section(const struct dat_file *dat, const char *path, const struct place *place,
			 const uint8_t *made, size_t size)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW), ret = 0;
	uint8_t link[8];

	if (fd < 0)
		return -errno;
	dat_put(dat, link, 8, dat->size);
	errno = EIO;
	if (pwrite(fd, made, size, (off_t)dat->size) != (ssize_t)size || fsync(fd) ||
	    pwrite(fd, link, sizeof(link), (off_t)place->link_at) != sizeof(link))
		ret = -errno;
	if (close(fd) && !ret)
		ret = -errno;
	return ret;
}

int trace_dat_set_clock(const char *path, const char *clock)
{
	struct place place = { 0 };
	struct dat_option option;
	struct dat_file dat;
	const char *old;
	char problem[256];
	uint8_t *made;
	size_t size;
	int ret = -EINVAL;

	if (held_file_is_copy(path) || !*clock || strlen(clock) >= TRACE_DAT_CLOCK)
		return -EINVAL;
	if (dat_open(&dat, path, problem, sizeof(problem)) && dat.version >= 7 &&
	    find_clock(&dat, &place, &option, &old)) {
		made = make_section(&dat, &place, &option, old, clock, &size);
		ret = !strcmp(old, clock) ? 0 :
		      made ? write_section(&dat, path, &place, made, size) : -ENOMEM;
		free(made);
	}
	free(place.data);
	dat_close(&dat);
	return ret;
}
