// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	host_samples.c
 * @brief	Read, write and add up samples of the counters of a host's kernel.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "host_samples.h"
#include "regular_file.h"

static const char *const keys[HOST_N_SAMPLED] = {
#define HOST_SAMPLE_KEY(name, key)	[HOST_SAMPLE_##name] = (key),
#define CPU_KEY(name, kind)		HOST_SAMPLE_KEY(name, kind "_ns")
	HOST_SAMPLE_CPU(CPU_KEY)
	HOST_SAMPLE_COUNTERS(HOST_SAMPLE_KEY)
	HOST_SAMPLE_STATES(HOST_SAMPLE_KEY)
#undef CPU_KEY
#undef HOST_SAMPLE_KEY
};

static const char time_key[] = "time_ns";

/** Columns of a file; those of later versions are read over. */
#define MAX_COLUMNS	128

_Static_assert((MAX_COLUMNS + 1) * 21 < HOST_SAMPLE_LINE_READ, "a line has room for all numbers");

/** In the place of a number's index. */
#define COLUMN_TIME	HOST_N_SAMPLED
#define COLUMN_OTHER	(HOST_N_SAMPLED + 1)

struct columns {
	int	all[MAX_COLUMNS];
	int	n;
};

struct virt_color host_cpu_color(int color)
{
	static const struct virt_color idle = { 0xe8, 0xeb, 0xef }, rest = { 0xa0, 0xa6, 0xad };

	return color == HOST_COLOR_IDLE ? idle : color == HOST_COLOR_IOWAIT ? rest :
	       virt_vcpu_color(color);
}

const char *host_sample_key(enum host_sample_number number)
{
	return keys[number];
}

char *host_samples_path(const char *trace_path)
{
	char *path;

	return asprintf(&path, "%s" HOST_SAMPLES_ENDING, trace_path) < 0 ? NULL : path;
}

/* --- writing --------------------------------------------------------------------------------- */

size_t host_samples_titles(char line[HOST_SAMPLE_LINE])
{
	size_t n = (size_t)snprintf(line, HOST_SAMPLE_LINE, "%s", time_key);

	for (int i = 0; i < HOST_N_SAMPLED; i++)
		n += (size_t)snprintf(line + n, HOST_SAMPLE_LINE - n, ",%s", keys[i]);
	return n + (size_t)snprintf(line + n, HOST_SAMPLE_LINE - n, "\n");
}

_Static_assert((HOST_N_SAMPLED + 1) * 21 < HOST_SAMPLE_LINE, "a line has room for all numbers");

size_t host_samples_line(char line[HOST_SAMPLE_LINE], const struct host_sample *sample)
{
	size_t n = (size_t)snprintf(line, HOST_SAMPLE_LINE, "%lld", (long long)sample->time_ns);

	for (int i = 0; i < HOST_N_SAMPLED; i++) {
		line[n++] = ',';
		if (sample->numbers[i] >= 0)
			n += (size_t)snprintf(line + n, HOST_SAMPLE_LINE - n, "%lld",
					      (long long)sample->numbers[i]);
	}
	line[n++] = '\n';
	line[n] = '\0';
	return n;
}

/* --- reading --------------------------------------------------------------------------------- */

static int column_of(const char *title, size_t n)
{
	if (n == strlen(time_key) && !memcmp(title, time_key, n))
		return COLUMN_TIME;
	for (int i = 0; i < HOST_N_SAMPLED; i++)
		if (n == strlen(keys[i]) && !memcmp(title, keys[i], n))
			return i;
	return COLUMN_OTHER;
}

/** A line without its end. */
struct line {
	char	text[HOST_SAMPLE_LINE_READ];
	bool	whole;		/* false: it is longer, or has a NUL */
};

/** Return: is there one more? One without its end is none. */
static bool next_line(struct line *line, FILE *file)
{
	size_t n = 0;
	int c;

	line->whole = true;
	while ((c = getc_unlocked(file)) != EOF && c != '\n') {
		line->whole &= c && n < sizeof(line->text) - 1;
		if (line->whole)
			line->text[n++] = (char)c;
	}
	line->text[n] = '\0';
	return c == '\n';
}

/** Return: false unless each column is there once, and times are. */
static bool take_titles(struct columns *columns, const struct line *line)
{
	bool seen[HOST_N_SAMPLED + 1] = { false };

	if (!line->whole)
		return false;
	for (const char *at = line->text;; at++) {
		size_t n = strcspn(at, ",");
		int column = column_of(at, n);

		if (columns->n == MAX_COLUMNS || (column <= COLUMN_TIME && seen[column]))
			return false;
		if (column <= COLUMN_TIME)
			seen[column] = true;
		columns->all[columns->n++] = column;
		at += n;
		if (!*at)
			return seen[COLUMN_TIME];
	}
}

/** A number from 0 on, or nothing. Return: after it, or NULL if it is neither. */
static const char *take_number(const char *at, int64_t *number)
{
	*number = HOST_SAMPLE_UNKNOWN;
	if (*at < '0' || *at > '9')
		return at;
	for (*number = 0; *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(*number, 10, number) ||
		    __builtin_add_overflow(*number, *at - '0', number))
			return NULL;
	return at;
}

/** Return: is it a sample? */
static bool take_sample(struct host_sample *sample, const struct columns *columns,
			const struct line *line)
{
	const char *at = line->text;

	for (int i = 0; i < HOST_N_SAMPLED; i++)
		sample->numbers[i] = HOST_SAMPLE_UNKNOWN;
	sample->time_ns = HOST_SAMPLE_UNKNOWN;
	for (int i = 0; i < columns->n && line->whole; i++) {
		int column = columns->all[i];

		if (column == COLUMN_OTHER)
			at += strcspn(at, ",");
		else
			at = take_number(at, column == COLUMN_TIME ? &sample->time_ns :
					 &sample->numbers[column]);
		if (!at || *at != (i + 1 < columns->n ? ',' : '\0'))
			return false;
		at++;
	}
	return sample->time_ns >= 0;
}

/** The lines below the titles. Return: 0 or a negative errno. */
static int take_lines(struct host_samples *samples, const struct columns *columns,
		      struct line *line, FILE *file)
{
	while (next_line(line, file)) {
		struct host_sample sample;

		if (!take_sample(&sample, columns, line) ||
		    (samples->n && sample.time_ns <= samples->all[samples->n - 1].time_ns)) {
			samples->bad_lines++;
			continue;
		}
		if (samples->n == HOST_SAMPLES_MAX)
			return -EFBIG;
		if (host_samples_add(samples, &sample))
			return -ENOMEM;
	}
	return ferror(file) ? -EIO : 0;
}

int host_samples_take(struct host_samples *samples, FILE *file)
{
	struct columns columns = { .n = 0 };
	struct line line;
	int ret;

	*samples = (struct host_samples){ .all = NULL };
	if (next_line(&line, file) && take_titles(&columns, &line))
		ret = take_lines(samples, &columns, &line, file);
	else
		ret = ferror(file) ? -EIO : -EBADMSG;
	if (ret)
		host_samples_free(samples);
	return ret;
}

int host_samples_read(struct host_samples *samples, const char *trace_path)
{
	char *path = host_samples_path(trace_path);
	int fd = path ? regular_file_open(path) : -ENOMEM, ret = fd < 0 ? fd : 0;
	FILE *file = NULL;
	struct stat st;

	*samples = (struct host_samples){ .all = NULL };
	if (!ret && fstat(fd, &st))
		ret = -errno;
	if (!ret && st.st_size > HOST_SAMPLES_MAX_BYTES)
		ret = -EFBIG;
	if (!ret) {
		file = fdopen(fd, "r");
		ret = file ? host_samples_take(samples, file) : -ENOMEM;
	}
	if (file)
		fclose(file);
	else if (fd >= 0)
		close(fd);
	free(path);
	return ret;
}

int host_samples_add(struct host_samples *samples, const struct host_sample *sample)
{
	if (ARRAY_GROW(samples->all, samples->n, samples->room))
		return -ENOMEM;
	samples->all[samples->n++] = *sample;
	return 0;
}

void host_samples_forget(struct host_samples *samples, int64_t before_ns)
{
	size_t n = 0;

	while (n + 1 < samples->n && samples->all[n + 1].time_ns <= before_ns)
		n++;
	samples->n -= n;
	if (n)
		memmove(samples->all, samples->all + n, samples->n * sizeof(*samples->all));
}

void host_samples_free(struct host_samples *samples)
{
	free(samples->all);
	*samples = (struct host_samples){ .all = NULL };
}

/* --- sums ------------------------------------------------------------------------------------ */

/** Return: the first sample that is not before a time, or how many there are. */
static size_t first_from(const struct host_samples *samples, int64_t time_ns)
{
	size_t low = 0, high = samples->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (samples->all[middle].time_ns < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct host_sample *host_samples_held(const struct host_samples *samples, int64_t time_ns)
{
	size_t next = first_from(samples, time_ns);

	return next && next < samples->n &&
	       samples->all[next].time_ns - samples->all[next - 1].time_ns <= HOST_SAMPLE_GAP_NS ?
	       &samples->all[next - 1] : NULL;
}

/** A counter at a time, which is not after sample @i. Return: or unknown. */
static int64_t counter_at(const struct host_samples *samples, size_t i, int number,
			  int64_t time_ns)
{
	const struct host_sample *after, *before;
	int64_t length_ns, since_ns, more;

	if (i == samples->n)
		return HOST_SAMPLE_UNKNOWN;
	after = &samples->all[i];
	if (after->time_ns == time_ns)
		return after->numbers[number];
	if (!i)
		return HOST_SAMPLE_UNKNOWN;
	before = &samples->all[i - 1];
	if (before->numbers[number] < 0 || after->numbers[number] < before->numbers[number])
		return HOST_SAMPLE_UNKNOWN;
	length_ns = after->time_ns - before->time_ns;
	since_ns = time_ns - before->time_ns;
	more = after->numbers[number] - before->numbers[number];
	return before->numbers[number] + (int64_t)((__int128)more * since_ns / length_ns);
}

/** From one sample to the next, also in between, it never falls and is never unknown. */
static bool grows(const struct host_samples *samples, size_t first, size_t last, int number)
{
	for (size_t i = first; i < last; i++)
		if (samples->all[i].numbers[number] < 0 ||
		    samples->all[i + 1].numbers[number] < samples->all[i].numbers[number])
			return false;
	return true;
}

static double mean_of(const struct host_samples *samples, size_t first, size_t end, int number)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = first; i < end; i++) {
		if (samples->all[i].numbers[number] < 0)
			continue;
		sum += (double)samples->all[i].numbers[number];
		n++;
	}
	return n ? sum / (double)n : NAN;
}

void host_samples_sum(const struct host_samples *samples, int64_t from_ns, int64_t to_ns,
		      struct host_sample_sums *sums)
{
	size_t first = first_from(samples, from_ns), end = first_from(samples, to_ns);

	for (int i = 0; i < HOST_N_COUNTERS; i++) {
		int64_t from = counter_at(samples, first, i, from_ns);
		int64_t to = counter_at(samples, end, i, to_ns);

		sums->counts[i] = from < 0 || to < 0 || !grows(samples, first, end, i) ?
				  HOST_SAMPLE_UNKNOWN : to - from;
		sums->means[i] = NAN;
	}
	for (int i = HOST_N_COUNTERS; i < HOST_N_SAMPLED; i++)
		sums->means[i] = mean_of(samples, first, end, i);
}

int64_t host_samples_cpu_ns(const struct host_sample_sums *sums)
{
	int64_t all_ns = 0;

	for (int i = HOST_SAMPLE_GUEST; i <= HOST_SAMPLE_IDLE; i++)
		if (sums->counts[i] < 0 || __builtin_add_overflow(all_ns, sums->counts[i], &all_ns))
			return HOST_SAMPLE_UNKNOWN;
	return all_ns;
}
