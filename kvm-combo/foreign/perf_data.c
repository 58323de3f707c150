// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	perf_data.c
 * @brief	A perf.data file, as a trace.dat of its tracepoints.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "perf_private.h"

int perf_fail(struct perf_reader *reader, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(reader->problem, reader->problem_size, format, args);
	va_end(args);
	return error;
}

/* --- records --------------------------------------------------------------------------------- */

/** Records of other tasks follow a switch, and are not there. */
static bool ends_known_time(const struct perf_reader *reader, const uint8_t *data)
{
	const struct perf_bytes bytes = { data, 2, reader->swap };

	return reader->facts->is_per_task && perf_16(&bytes, 0) == reader->switch_id;
}

/** The sample whose content is @data begins @before bytes before it, if it has values. */
static int write_reading(struct perf_reader *reader, uint32_t cpu, uint64_t ts,
			 const uint8_t *data, size_t before)
{
	const struct perf_bytes body = { data - before, before, reader->swap };
	const struct perf_bytes content = { data, COMMON_BYTES, reader->swap };
	struct perf_attr *attr;
	struct perf_bytes part;

	return before && perf_read_part(reader, &body, &attr, &part) ?
	       perf_counters_take(reader, attr, cpu, ts, (int32_t)perf_32(&content, COMMON_PID),
				  part) : 0;
}

static int write_record(void *arg, uint32_t cpu, uint64_t ts, const uint8_t *data, size_t size,
			size_t before, bool is_late)
{
	struct perf_reader *reader = arg;
	int ret = 0;

	if (reader->has_reads && (!data || is_late))
		ret = perf_counters_lost(reader, cpu);
	else if (reader->has_reads)
		ret = write_reading(reader, cpu, ts, data, before);
	if (ret)
		return ret;
	if (!data)
		return trace_dat_writer_lost(reader->writer, (int)cpu, ts);
	reader->facts->samples++;
	reader->facts->late += is_late;
	ret = trace_dat_writer_record(reader->writer, (int)cpu, ts, data, size);
	if (!ret && ends_known_time(reader, data))
		ret = trace_dat_writer_lost(reader->writer, (int)cpu, 0);
	return ret;
}

/* --- the writer ------------------------------------------------------------------------------ */

/** Names as in trace_clock. perf's own clock is ftrace's clock "perf": local_clock() of Linux. */
static const char *clock_name(const struct perf_reader *reader)
{
	static const struct {
		int32_t		clock;
		const char	*name;
	} names[] = {
		{ CLOCK_MONOTONIC, "mono" }, { CLOCK_MONOTONIC_RAW, "mono_raw" },
		{ CLOCK_BOOTTIME, "boot" }, { CLOCK_TAI, "tai" }, { CLOCK_REALTIME, "realtime" },
	};

	if (!reader->attrs->has_clock)
		return "perf";
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].clock == reader->attrs->clock)
			return names[i].name;
	return NULL;
}

static int make_writer(struct perf_reader *reader, const struct perf_input *input)
{
	char uname[600];
	struct trace_dat_about about = {
		.big_endian = reader->big_endian, .long_size = perf_tracing_head(reader),
		.clock = clock_name(reader), .most_bytes = input->most_bytes,
		.n_cpus = reader->cpus_there <= TRACE_DAT_WRITE_CPUS ? (int)reader->cpus_there : 0,
	};

	if (*reader->release) {
		snprintf(uname, sizeof(uname), "Linux %s %s %s", reader->hostname, reader->release,
			 reader->arch);
		about.uname = uname;
	}
	reader->writer = trace_dat_writer_new(input->fd, input->spool, &about);
	if (reader->writer)
		return 0;
	return errno == ENOMEM ? -ENOMEM :
	       perf_fail(reader, -EILSEQ, "damaged: the formats of its tracepoints are not "
			 "understood. Copy the file again, if there is another one");
}

/* --- all of it ------------------------------------------------------------------------------- */

#define EVENTS	"perf record -a -e 'kvm:*,sched:*'"

/** The head says whether there are other files with records. */
static int check_pieces(struct perf_reader *reader, const struct perf_input *input)
{
	if (reader->has_pieces && !input->n_pieces)
		return perf_fail(reader, -ENOENT, "a folder of 'perf record --threads' without its "
				 "files data.0, data.1 ..., which have the records. Copy the "
				 "folder again");
	if (!reader->has_pieces && input->n_pieces)
		return perf_fail(reader, -EINVAL, "a folder in which the file data was not "
				 "recorded with --threads, so that data.%u belongs to another "
				 "recording: remove one of them", input->pieces[0].number);
	return 0;
}

/** Files from which nothing can be read. */
static int check_content(struct perf_reader *reader, const struct perf_input *input)
{
	bool has_tracepoints = false;

	for (size_t i = 0; i < reader->n_attrs; i++)
		has_tracepoints |= reader->attrs[i].type == PERF_TRACEPOINT;
	if (!reader->n_attrs && reader->facts->is_unfinished)
		return perf_fail(reader, -ENODATA, "a perf.data file without content: perf record "
				 "did not begin to record. Record again: " EVENTS);
	if (!has_tracepoints)
		return perf_fail(reader, -ENODATA, "a perf.data file without tracepoints, "
				 "which alone have records of vCPUs. Record them: " EVENTS);
	if (reader->tracing.at)
		return check_pieces(reader, input);
	if (reader->facts->is_unfinished)
		return perf_fail(reader, -ENODATA, "a perf.data file without the formats of its "
				 "tracepoints: perf record writes them at its end, which did not "
				 "come. Record again, and end it with ctrl-C (SIGINT): " EVENTS);
	return perf_fail(reader, -ENODATA, "%s the formats of its tracepoints are not there. Copy "
			 "the file again, or record again: " EVENTS,
			 reader->facts->is_cut ? "a perf.data file that is cut short:" :
			 "a perf.data file:");
}

static int convert(struct perf_reader *reader, const struct perf_input *input)
{
	int ret = perf_read_head(reader);

	if (!ret)
		ret = check_content(reader, input);
	if (!ret)
		ret = make_writer(reader, input);
	if (!ret)
		ret = perf_tracing_take(reader);
	if (ret)
		return ret;
	if (reader->has_reads && reader->event_names.at)
		perf_counters_names(reader, &reader->event_names);
	reader->order = perf_order_new(write_record, reader);
	ret = reader->order ? perf_walk(reader, input) : -ENOMEM;
	perf_counters_end(reader);
	return ret ? ret : trace_dat_writer_finish(reader->writer);
}

static void free_reader(struct perf_reader *reader)
{
	perf_order_free(reader->order);
	perf_names_free(reader->names);
	perf_unpack_free(reader->unpack);
	perf_counters_free(reader->counters);
	trace_dat_writer_free(reader->writer);
	key_map_destroy(&reader->ids);
	free(reader->attr_of);
	free(reader->attrs);
	free(reader->cpus);
}

int perf_data_convert(const struct perf_input *input, struct perf_facts *facts, char *problem,
		      size_t problem_size)
{
	struct perf_reader reader = {
		.data = input->data, .size = input->size, .is_mapped = input->is_mapped,
		.is_folder = input->is_folder, .wants_reads = input->counters,
		.facts = facts, .switch_id = -1,
		.problem = problem, .problem_size = problem_size,
	};
	int ret;

	*facts = (struct perf_facts){ 0 };
	*problem = '\0';
	ret = convert(&reader, input);
	free_reader(&reader);
	if (!ret || *problem)
		return ret;
	if (ret == -EFBIG)
		perf_fail(&reader, ret, "its records take too much room. If that is right, allow "
			  "more with --max-input");
	else if (ret == -ENOMEM)
		perf_fail(&reader, ret, "not enough memory");
	else
		perf_fail(&reader, ret, "cannot write a temporary file: %s; set TMPDIR to a "
			  "directory with more room", strerror(-ret));
	return ret;
}
