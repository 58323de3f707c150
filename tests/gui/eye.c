// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	eye.c
 * @brief	Look at the screen for a test: photographs, their colours, whether all is at rest.
 *
 * One process for the whole of a test, because a picture taken here costs milliseconds. Like the
 * probe it is asked through $KSV_PROBE/eye.ask, a command a line; what it says is in the file
 * eye.said when a line comes from eye.answer:
 *
 *	sum			a number for what is on the screen now
 *	shot FILE		photograph it, as PNG
 *	pixels X Y W H		colours of the last photograph, #rrggbb, one a line
 *	rest SECONDS PID...	wait until these processes have nothing to do: "yes", or "no"
 *	still SECONDS MS PID...	the same, until none of them has run for MS, or what they
 *				have done is not visible
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <zlib.h>

static Display *display;
static XImage *shot;

static XImage *look(void)
{
	XWindowAttributes root;

	if (!XGetWindowAttributes(display, DefaultRootWindow(display), &root))
		return NULL;
	return XGetImage(display, DefaultRootWindow(display), 0, 0, root.width, root.height,
			 AllPlanes, ZPixmap);
}

/* The display is 24 bits deep: 32 bits a pixel, of which the first eight are not used. */
static uint32_t pixel(const XImage *image, int x, int y)
{
	uint32_t value;

	memcpy(&value, image->data + (size_t)y * image->bytes_per_line + 4 * (size_t)x, 4);
	return value & 0xffffff;
}

/* Four lanes, as each multiplication waits for the one before. Unused bits are always 0. */
static uint64_t sum_of(const XImage *image)
{
	const uint64_t prime = 1099511628211ULL;
	uint64_t lane[4] = { 14695981039346656037ULL, 1, 2, 3 };
	size_t size = (size_t)image->height * (size_t)image->bytes_per_line, at;

	for (at = 0; at + sizeof(lane) <= size; at += sizeof(lane)) {
		uint64_t word[4];
		int i;

		memcpy(word, image->data + at, sizeof(word));
		for (i = 0; i < 4; i++) {
			lane[i] = (lane[i] ^ word[i]) * prime;
			lane[i] ^= lane[i] >> 32;
		}
	}
	for (; at < size; at++)
		lane[0] = (lane[0] ^ (unsigned char)image->data[at]) * prime;
	return ((lane[0] * prime + lane[1]) * prime + lane[2]) * prime + lane[3];
}

/* Return: of what is on the screen, 0 if it cannot be seen */
static uint64_t screen_sum(void)
{
	XImage *image = look();
	uint64_t sum = 0;

	if (image) {
		sum = sum_of(image);
		XDestroyImage(image);
	}
	return sum;
}

static void say_sum(FILE *said)
{
	fprintf(said, "%016llx\n", (unsigned long long)screen_sum());
}

static void put_be32(unsigned char *to, uint32_t value)
{
	to[0] = value >> 24;
	to[1] = value >> 16;
	to[2] = value >> 8;
	to[3] = value;
}

/* PNG: length, type and data, check sum of the last two */
static void put_chunk(FILE *file, const char *type, const unsigned char *data, size_t size)
{
	unsigned char word[4];
	uLong sum = crc32(crc32(0, Z_NULL, 0), (const unsigned char *)type, 4);

	put_be32(word, size);
	fwrite(word, 1, 4, file);
	fwrite(type, 1, 4, file);
	if (size)
		fwrite(data, 1, size, file);
	put_be32(word, size ? crc32(sum, data, size) : sum);
	fwrite(word, 1, 4, file);
}

static unsigned char *rows_of(const XImage *image, size_t *size)
{
	unsigned char *rows, *to;
	int x, y;

	*size = (size_t)image->height * (3 * (size_t)image->width + 1);
	rows = to = malloc(*size);
	for (y = 0; rows && y < image->height; y++) {
		*to++ = 0;	/* no filter */
		for (x = 0; x < image->width; x++) {
			uint32_t value = pixel(image, x, y);

			*to++ = value >> 16;
			*to++ = value >> 8;
			*to++ = value;
		}
	}
	return rows;
}

static int write_png(const XImage *image, const char *name)
{
	unsigned char head[13] = { 0 }, *rows, *packed = NULL;
	size_t size;
	uLongf packed_size;
	FILE *file = fopen(name, "wb");
	int err = -EIO;

	if (!file)
		return -errno;
	rows = rows_of(image, &size);
	packed_size = compressBound(size);
	packed = malloc(packed_size);
	if (!rows || !packed || compress2(packed, &packed_size, rows, size, 1) != Z_OK)
		goto out;
	put_be32(head, image->width);
	put_be32(head + 4, image->height);
	head[8] = 8;	/* bits */
	head[9] = 2;	/* red, green, blue */
	fwrite("\x89PNG\r\n\x1a\n", 1, 8, file);
	put_chunk(file, "IHDR", head, sizeof(head));
	put_chunk(file, "IDAT", packed, packed_size);
	put_chunk(file, "IEND", NULL, 0);
	err = ferror(file) ? -EIO : 0;
out:
	free(packed);
	free(rows);
	return fclose(file) ? -EIO : err;
}

static void say_shot(FILE *said, const char *name)
{
	XImage *image = look();

	if (!image)
		return;
	if (shot)
		XDestroyImage(shot);
	shot = image;
	if (write_png(shot, name))
		fprintf(stderr, "eye: cannot write %s\n", name);
	else
		fprintf(said, "%s\n", name);
}

static void say_pixels(FILE *said, const char *where)
{
	int x0, y0, w, h, x, y;

	if (!shot || sscanf(where, "%d %d %d %d", &x0, &y0, &w, &h) != 4)
		return;
	for (y = y0 < 0 ? 0 : y0; y < y0 + h && y < shot->height; y++)
		for (x = x0 < 0 ? 0 : x0; x < x0 + w && x < shot->width; x++)
			fprintf(said, "#%06x\n", pixel(shot, x, y));
}

/* Add how often a thread has been on a CPU and left it. Return: whether it sleeps, or is gone. */
static bool thread_sleeps(const char *status, uint64_t *switches)
{
	char line[256];
	bool sleeps = true;
	unsigned long long n;
	FILE *file = fopen(status, "r");

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, "State:", 6))
			sleeps = strchr("SIZX", line[7]);
		else if (sscanf(line, "voluntary_ctxt_switches: %llu", &n) == 1 ||
			 sscanf(line, "nonvoluntary_ctxt_switches: %llu", &n) == 1)
			*switches += n;
	if (file)
		fclose(file);
	return sleeps;
}

static bool process_sleeps(long pid, uint64_t *switches)
{
	char name[64], status[384];
	struct dirent *entry;
	bool sleeps = true;
	DIR *threads;

	snprintf(name, sizeof(name), "/proc/%ld/task", pid);
	threads = opendir(name);
	while (threads && (entry = readdir(threads))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(status, sizeof(status), "%s/%s/status", name, entry->d_name);
		if (!thread_sleeps(status, switches))
			sleeps = false;
		*switches += 1;	/* a new one counts, too */
	}
	if (threads)
		closedir(threads);
	return sleeps;
}

/* Return: whether all threads of these processes sleep; *switches is how often they have run */
static bool all_sleep(const char *pids, uint64_t *switches)
{
	bool sleeps = true;
	char *end;
	long pid;

	*switches = 0;
	for (; (pid = strtol(pids, &end, 10)) > 0 && end != pids; pids = end)
		if (!process_sleeps(pid, switches))
			sleeps = false;
	return sleeps;
}

/*
 * All sleep, and none has run between two looks: nothing that one sent another was on its way
 * then, as that wakes the receiver. This holds on a busy machine, too: who waits for a CPU
 * does not sleep.
 */
static bool at_rest(const char *pids, uint64_t *switches)
{
	uint64_t before;

	return all_sleep(pids, &before) && all_sleep(pids, switches) && *switches == before;
}

static void pause_ms(long ms)
{
	const struct timespec pause = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&pause, NULL);
}

static bool is_over(time_t end)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec > end;
}

/* Look more seldom if it takes longer: looks take time, too. */
static bool wait_for_rest(const char *pids, time_t end, uint64_t *switches)
{
	long ms = 2;

	while (!at_rest(pids, switches)) {
		if (is_over(end))
			return false;
		pause_ms(ms);
		if (ms < 16)
			ms++;
	}
	return true;
}

/* The screen is only compared if a process has run: that takes longer than to see it. */
static bool wait_for_still(const char *pids, time_t end, long ms)
{
	uint64_t before, now, last = 0, sum;

	if (!wait_for_rest(pids, end, &before))
		return false;
	for (;;) {
		pause_ms(ms);
		if (!wait_for_rest(pids, end, &now))
			return false;
		if (now == before)
			return true;
		sum = screen_sum();
		if (sum && sum == last)
			return true;
		last = sum;
		/* what that has made the X server do is no news */
		if (is_over(end) || !wait_for_rest(pids, end, &before))
			return false;
	}
}

static void say_rest(FILE *said, const char *seconds, bool still)
{
	struct timespec now;
	uint64_t switches;
	long ms = 0;
	time_t end;
	char *pids;
	bool yes;

	clock_gettime(CLOCK_MONOTONIC, &now);
	end = now.tv_sec + strtol(seconds, &pids, 10);
	if (still)
		ms = strtol(pids, &pids, 10);
	yes = still ? wait_for_still(pids, end, ms) : wait_for_rest(pids, end, &switches);
	fputs(yes ? "yes\n" : "no\n", said);
}

static void obey(FILE *said, char *line)
{
	if (!strcmp(line, "sum"))
		say_sum(said);
	else if (!strncmp(line, "shot ", 5))
		say_shot(said, line + 5);
	else if (!strncmp(line, "pixels ", 7))
		say_pixels(said, line + 7);
	else if (!strncmp(line, "rest ", 5))
		say_rest(said, line + 5, false);
	else if (!strncmp(line, "still ", 6))
		say_rest(said, line + 6, true);
	else
		fprintf(said, "no such command: %s\n", line);
}

static FILE *open_or_say(const char *name, const char *mode)
{
	FILE *file = fopen(name, mode);

	if (!file)
		fprintf(stderr, "eye: cannot open %s: %s\n", name, strerror(errno));
	return file;
}

int main(void)
{
	const char *directory = getenv("KSV_PROBE");
	char line[4096];
	FILE *ask, *answer;

	if (!directory || chdir(directory) || !(display = XOpenDisplay(NULL))) {
		fputs("eye: no $KSV_PROBE, or no display\n", stderr);
		return 1;
	}
	ask = open_or_say("eye.ask", "r");
	answer = open_or_say("eye.answer", "w");
	while (ask && answer && fgets(line, sizeof(line), ask)) {
		FILE *said = open_or_say("eye.said.new", "w");

		if (!said)
			break;
		line[strcspn(line, "\n")] = '\0';
		obey(said, line);
		fclose(said);
		/* a reader may still have the last answer open */
		if (rename("eye.said.new", "eye.said"))
			break;
		fputs(".\n", answer);
		fflush(answer);
	}
	return 0;
}
