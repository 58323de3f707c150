// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	results_perf_stat.c
 * @brief	Results of perf stat -x: also with -r, -I and -A.
 *
 * A line is [TIME,][CPU,]VALUE,UNIT,EVENT,[DEVIATION%,]RUN TIME,PERCENT,METRIC,UNIT; a socket also
 * has its number of CPUs. Separators are some characters that are in no field. With -I, each line
 * is about an interval: rates per second can be compared, the counts cannot, as the last interval
 * is shorter.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "array.h"
#include "escape.h"
#include "results.h"

#define MAX_FIELDS	14
#define MAX_BEFORE	3
/** Below it, an event was counted for a part of the time, and the value is an estimate. */
#define ALL_PERCENT	99.0

struct field {
	const char	*text;
	size_t		length;
};

struct counter {
	double		time, value, percent;
	bool		has_time, counted;
	struct field	unit, event, reason;
	struct field	place;		/* the CPU or socket; empty: all together */
};

static size_t divide(const char *line, char separator, struct field fields[MAX_FIELDS])
{
	size_t n = 0;

	while (n < MAX_FIELDS) {
		const char *end = strchr(line, separator);

		fields[n].text = line;
		fields[n++].length = end ? (size_t)(end - line) : strlen(line);
		if (!end)
			break;
		line = end + 1;
	}
	return n;
}

/** A number that is the whole field. */
static bool number_of(const struct field *field, double *number)
{
	const char *end;

	return results_number(field->text, number, &end) && end <= field->text + field->length &&
	       end + strspn(end, " ") >= field->text + field->length;
}

static bool is_percent(const struct field *field)
{
	return field->length && field->text[field->length - 1] == '%';
}

/** Is it VALUE,UNIT,EVENT,... at @fields? */
static bool take(const struct field *fields, size_t n, struct counter *counter)
{
	size_t at = n > 3 && is_percent(&fields[3]) ? 4 : 3;
	double run_time;

	if (n < at + 2 || !fields[2].length || !isalpha((unsigned char)*fields[2].text) ||
	    !number_of(&fields[at], &run_time) || !number_of(&fields[at + 1], &counter->percent) ||
	    counter->percent > 100.5)
		return false;
	counter->counted = number_of(&fields[0], &counter->value);
	if (!counter->counted && strncmp(fields[0].text, "<not ", 5) != 0)
		return false;
	counter->reason = fields[0];
	counter->unit = fields[1];
	counter->event = fields[2];
	return true;
}

/** Before a value there may be the time of an interval, a CPU or socket, and a number of CPUs. */
static void take_before(const struct field *fields, size_t n, struct counter *counter)
{
	double number;

	counter->has_time = n && number_of(&fields[0], &counter->time);
	for (size_t i = counter->has_time; i < n && !counter->place.length; i++)
		if (!number_of(&fields[i], &number))
			counter->place = fields[i];
}

static bool parse(const char *line, struct counter *counter)
{
	static const char separators[] = ",;|\t:~^ ";

	for (const char *separator = separators; *separator; separator++) {
		struct field fields[MAX_FIELDS];
		size_t n = divide(line, *separator, fields);

		for (size_t before = 0; before <= MAX_BEFORE && before < n; before++) {
			*counter = (struct counter){ .counted = false };
			if (!take(fields + before, n - before, counter))
				continue;
			take_before(fields, before, counter);
			return true;
		}
	}
	return false;
}

static bool is_counter(const char *line)
{
	struct counter counter;

	return parse(line, &counter);
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

/** Times and misses should be low. For other counts, it depends on the program's purpose. */
static enum compare_better better_of(const char *event)
{
	static const char *const low[] = { "-clock", "_time", "-misses", "-faults" };

	for (size_t i = 0; i < ARRAY_SIZE(low); i++)
		if (ends_with(event, low[i]))
			return COMPARE_LOWER;
	return COMPARE_UNJUDGED;
}

/** @seconds: of the interval; 0: it is not one of several */
static int add(struct results_file *file, const struct counter *counter, double seconds)
{
	char metric[RESULTS_MAX_NAME], event[100], reason[40];

	snprintf(event, sizeof(event), "%.*s", (int)counter->event.length, counter->event.text);
	text_format(metric, sizeof(metric), "perf.%.*s%s%s%s%.*s%s", (int)counter->place.length,
		    counter->place.length ? counter->place.text : "",
		    counter->place.length ? "." : "", event, counter->unit.length ? "_" : "",
		    (int)counter->unit.length, counter->unit.text, seconds > 0 ? "_per_s" : "");
	if (!counter->counted) {
		snprintf(reason, sizeof(reason), "%.*s", (int)counter->reason.length,
			 counter->reason.text);
		return results_add_unknown(file, metric, reason);
	}
	if (counter->percent < ALL_PERCENT)
		results_note(file, "%s was counted in %.1f %% of the time: its value is an "
			     "estimate", metric, counter->percent);
	return results_add(file, metric, better_of(event),
			   seconds > 0 ? counter->value / seconds : counter->value);
}

static int read_perf_stat(struct results_file *file)
{
	double begin = 0, end = 0;
	int ret = 0;

	for (size_t i = 0; i < file->n_lines && !ret; i++) {
		struct counter counter;

		if (!parse(file->lines[i], &counter))
			continue;
		if (counter.has_time && counter.time != end) {
			/* times begin again with each output */
			begin = counter.time > end ? end : 0;
			end = counter.time;
		}
		ret = add(file, &counter, counter.has_time ? end - begin : 0);
	}
	return ret;
}

const struct results_format results_perf_stat = {
	.name = "perf stat", .expected = "perf stat -x,", .fits_line = is_counter,
	.read = read_perf_stat,
};
