// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	trace_dat_scale.c
 * @brief	Read the length of a TSC cycle from a trace.dat, or add it to one that lacks it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace_dat.h"
#include "trace_dat_read.h"

/** mult, shift, offset. */
#define SCALE_BYTES	16
/** Two options with their heads: the scale, and where the next ones are. */
#define SECTION_BYTES	(DAT_SECTION + 6 + SCALE_BYTES + 6 + 8)

struct scale_search {
	struct trace_dat_scale	*scale;
	bool			found;
};

static bool take_scale(void *arg, const struct dat_file *dat, struct dat_option *option)
{
	struct scale_search *search = arg;

	if (dat_scale(dat, option, search->scale))
		search->found = search->scale->mult;
	return true;
}

static bool find_scale(const struct dat_file *dat, struct trace_dat_scale *scale)
{
	struct scale_search search = { .scale = scale };

	return dat_options(dat, take_scale, &search) && search.found && scale->shift < 64;
}

bool trace_dat_find_scale(const char *path, struct trace_dat_scale *scale)
{
	struct dat_file dat;
	char problem[256];
	bool found = dat_open(&dat, path, problem, sizeof(problem)) && find_scale(&dat, scale);

	dat_close(&dat);
	return found;
}

/** A section of options that comes first, and leads to those that were the first. */
static void make_section(const struct dat_file *dat, const struct trace_dat_scale *scale,
			 uint8_t section[SECTION_BYTES])
{
	uint8_t *at = section + DAT_SECTION;

	memset(section, 0, SECTION_BYTES);
	dat_put(dat, section, 2, DAT_DONE);
	dat_put(dat, section + 8, 8, SECTION_BYTES - DAT_SECTION);
	dat_put(dat, at, 2, DAT_TSC2NSEC);
	dat_put(dat, at + 2, 4, SCALE_BYTES);
	dat_put(dat, at + 6, 4, scale->mult);
	dat_put(dat, at + 10, 4, scale->shift);
	at += 6 + SCALE_BYTES;
	dat_put(dat, at, 2, DAT_DONE);
	dat_put(dat, at + 2, 4, 8);
	dat_put(dat, at + 6, 8, dat->options);
}

/** Behind the end, which changes nothing until the head leads to it. */
static int add_section(const struct dat_file *dat, int fd, const struct trace_dat_scale *scale)
{
	uint8_t section[SECTION_BYTES], link[8];

	make_section(dat, scale, section);
	dat_put(dat, link, 8, dat->size);
	errno = EIO;
	if (pwrite(fd, section, sizeof(section), (off_t)dat->size) != sizeof(section) ||
	    fsync(fd) ||
	    pwrite(fd, link, sizeof(link), (off_t)dat->options_at) != sizeof(link))
		return -errno;
	return 0;
}

int trace_dat_add_scale(const char *path, const struct trace_dat_scale *scale)
{
	struct trace_dat_scale old;
	struct dat_file dat;
	char problem[256];
	int ret = -EINVAL, fd = -1;

	if (held_file_is_copy(path))
		return -EINVAL;
	if (!dat_open(&dat, path, problem, sizeof(problem)) || dat.version < 7 || !dat.options ||
	    !scale->mult || scale->shift >= 64)
		goto out;
	ret = -EEXIST;
	if (find_scale(&dat, &old))
		goto out;
	fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	ret = fd < 0 ? -errno : add_section(&dat, fd, scale);
	if (fd >= 0 && close(fd) && !ret)
		ret = -errno;
out:
	dat_close(&dat);
	return ret;
}
