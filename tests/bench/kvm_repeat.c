// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_repeat.c
 * @brief	Make a large trace.dat: double a small one, with a later half each time.
 *
 * Usage: kvm_repeat IN.dat DOUBLINGS OUT.dat
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kvm_trace.h"
#include "temporary_file.h"
#include "trace_dat.h"
#include "trace_dat_cut.h"

/** Of x86 hosts, which recorded the samples. */
#define PAGE	4096

struct pages {
	uint8_t		*data;		/* of the file */
	uint8_t		*is_page;	/* has records, by number */
};

__attribute__((noreturn))
static void die(const char *text)
{
	fprintf(stderr, "kvm_repeat: %s\n", text);
	exit(3);
}

static int note_page(void *arg, const struct kvm_trace_record *record)
{
	((struct pages *)arg)->is_page[record->offset / PAGE] = 1;
	return 0;
}

static const char *path_of(int fd)
{
	static char path[2][32];
	static int i;

	i = !i;
	snprintf(path[i], sizeof(path[i]), "/proc/self/fd/%d", fd);
	return path[i];
}

static void read_all(int fd, uint8_t *data, size_t size)
{
	for (size_t done = 0; done < size; ) {
		ssize_t n = pread(fd, data + done, size - done, (off_t)done);

		if (n <= 0)
			die("the file cannot be read");
		done += (size_t)n;
	}
}

static void write_all(int fd, const uint8_t *data, size_t size)
{
	for (size_t done = 0; done < size; ) {
		ssize_t n = pwrite(fd, data + done, size - done, (off_t)done);

		if (n <= 0)
			die("the file cannot be written");
		done += (size_t)n;
	}
}

/**
 * The time of each page is the first thing in it; all records count from there. How long the last
 * page lasts is not looked for: the sample has more than one page of each CPU.
 */
static void shift_pages(const struct pages *pages, size_t n)
{
	static uint64_t pause;
	uint64_t first = UINT64_MAX, last = 0, ts;

	for (size_t i = 0; i < n; i++) {
		memcpy(&ts, pages->data + i * PAGE, sizeof(ts));
		if (pages->is_page[i] && ts < first)
			first = ts;
		if (pages->is_page[i] && ts > last)
			last = ts;
	}
	if (!pause)
		pause = last - first;
	for (size_t i = 0; i < n; i++) {
		memcpy(&ts, pages->data + i * PAGE, sizeof(ts));
		ts += last - first + pause;
		if (pages->is_page[i])
			memcpy(pages->data + i * PAGE, &ts, sizeof(ts));
	}
}

/** Return: a file with the records of @fd, and the same records later. */
static int twice(int fd)
{
	char error[512] = "";
	struct pages pages = { 0 };
	struct trace_dat_cut *cuts[2];
	struct kvm_trace *trace;
	int later = temporary_file(), out = temporary_file();
	struct stat st;
	size_t size;

	if (fstat(fd, &st) || later < 0 || out < 0)
		die(strerror(errno));
	size = (size_t)st.st_size;
	pages.data = malloc(size + PAGE);
	pages.is_page = calloc(size / PAGE + 1, 1);
	if (!pages.data || !pages.is_page)
		die("not enough memory");
	trace = kvm_trace_open(path_of(fd), error, sizeof(error));
	if (!trace || kvm_trace_walk(trace, note_page, NULL, &pages))
		die(error);
	kvm_trace_close(trace);
	read_all(fd, pages.data, size);
	shift_pages(&pages, size / PAGE);
	write_all(later, pages.data, size);
	free(pages.data);
	free(pages.is_page);
	cuts[0] = trace_dat_cut_open(path_of(fd), error, sizeof(error));
	cuts[1] = trace_dat_cut_open(path_of(later), error, sizeof(error));
	for (int i = 0; i < 2 && cuts[0] && cuts[1]; i++)
		trace_dat_cut_take_all(cuts[i]);
	if (!cuts[0] || !cuts[1] || trace_dat_cut_write(cuts, 2, out, error, sizeof(error)))
		die(error);
	trace_dat_cut_close(cuts[0]);
	trace_dat_cut_close(cuts[1]);
	close(fd);
	close(later);
	return out;
}

int main(int argc, char **argv)
{
	char error[512] = "", buffer[1 << 16];
	off_t done = 0;
	FILE *out;
	ssize_t n;
	int fd;

	if (argc != 4) {
		fprintf(stderr, "usage: kvm_repeat IN.dat DOUBLINGS OUT.dat\n");
		return 2;
	}
	fd = trace_dat_unpack(argv[1], error, sizeof(error));
	if (fd < 0)
		die(error);
	for (int i = atoi(argv[2]); i > 0; i--)
		fd = twice(fd);
	out = fopen(argv[3], "we");
	if (!out)
		die(strerror(errno));
	while ((n = pread(fd, buffer, sizeof(buffer), done)) > 0) {
		if (fwrite(buffer, (size_t)n, 1, out) != 1)
			die("the file cannot be written");
		done += n;
	}
	if (n || fclose(out))
		die(strerror(errno));
	return 0;
}
