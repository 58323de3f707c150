// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_pairs.c
 * @brief	Find pairs of the open streams: from trace-cmd's files, else by a guess.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <libkshark-tepdata.h>

#include "ks_clock.h"
#include "ks_stream.h"
#include "kvm_pairs.h"
#include "virt_pairing.h"
#include "virt_registry.h"

/** Rows that are read to find when a guest was active, and times that are kept per CPU. */
#define MAX_ROWS	400000
#define MAX_TIMES	4000

/* Of libtracecmd, which libkshark has loaded; its headers need not be here. */
unsigned long long tracecmd_get_traceid(struct tracecmd_input *handle);
int tracecmd_get_guest_cpumap(struct tracecmd_input *handle, unsigned long long trace_id,
			      const char **name, int *vcpu_count, const int **cpu_pid);

/** The file behind a stream if it is a trace.dat file. */
static struct tracecmd_input *input_of(struct kshark_context *kshark, int stream_id)
{
	struct kshark_data_stream *stream = kshark_get_data_stream(kshark, stream_id);

	return stream && stream->interface && kshark_is_tep(stream) ?
	       kshark_get_tep_input(stream) : NULL;
}

static void set_recorded(struct kshark_context *kshark, int host, int guest)
{
	struct tracecmd_input *host_input = input_of(kshark, host);
	struct tracecmd_input *guest_input = input_of(kshark, guest);
	unsigned long long id = guest_input ? tracecmd_get_traceid(guest_input) : 0;
	struct virt_pair pair = {
		.host_stream = host, .guest_stream = guest, .source = VIRT_PAIR_RECORDED,
	};
	const int *pids = NULL;
	const char *name;
	int n = 0;

	if (!host_input || !id || host == guest ||
	    tracecmd_get_guest_cpumap(host_input, id, &name, &n, &pids) || !pids)
		return;
	for (int i = 0; i < n; i++) {
		pair.host_pid = pids[i];
		pair.guest_cpu = i;
		if (pids[i] > 0)
			virt_pairing_set(&pair);
	}
}

/** What aligning the guest's clock has found out. */
static void set_aligned(struct kshark_context *kshark, int host, int guest)
{
	const int64_t *parts = ks_clock_of(kshark_get_data_stream(kshark, guest));
	struct virt_pair pair = {
		.host_stream = host, .guest_stream = guest, .source = VIRT_PAIR_RECORDED,
	};

	if (host == guest || !parts || !(parts[KS_CLOCK_FLAGS] & KS_CLOCK_ALIGNED) ||
	    !ks_clock_is_key(kshark_get_data_stream(kshark, host), parts[KS_CLOCK_HOST]))
		return;
	for (int i = 0; i < parts[KS_CLOCK_N_TIDS]; i++) {
		pair.host_pid = (int32_t)parts[KS_CLOCK_TIDS + i];
		pair.guest_cpu = i;
		if (pair.host_pid > 0)
			virt_pairing_set(&pair);
	}
}

static bool same_file(const char *a, const char *b)
{
	struct stat x, y;

	return a && b && (!strcmp(a, b) ||
			  (!stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev &&
			   x.st_ino == y.st_ino));
}

/** A guest's stream that is made of its host's trace. */
static void set_derived(struct kshark_context *kshark, int host, int guest)
{
	const struct kshark_data_stream *stream = kshark_get_data_stream(kshark, guest);
	const struct kshark_data_stream *outside = kshark_get_data_stream(kshark, host);
	struct virt_inside *inside = virt_registry_inside(guest);
	struct virt_pair pair = {
		.host_stream = host, .guest_stream = guest, .source = VIRT_PAIR_DERIVED,
	};

	for (int cpu = 0; inside && stream && outside && host != guest && cpu < stream->n_cpus &&
			  same_file(virt_inside_host(inside), outside->file); cpu++) {
		pair.host_pid = virt_inside_pid(inside, cpu);
		pair.guest_cpu = cpu;
		if (pair.host_pid > 0)
			virt_pairing_set(&pair);
	}
	virt_inside_put(inside);
}

void kvm_pairs_recorded(void)
{
	struct kshark_context *kshark = NULL;
	int *ids;

	if (!kshark_instance(&kshark))
		return;
	ids = kshark_all_streams(kshark);
	for (int i = 0; ids && i < kshark->n_streams; i++)
		for (int j = 0; j < kshark->n_streams; j++) {
			set_derived(kshark, ids[i], ids[j]);
			set_aligned(kshark, ids[i], ids[j]);
			set_recorded(kshark, ids[i], ids[j]);
		}
	free(ids);
}

/* ---- guessing ---- */

/** The open streams, sorted into hosts and guests. */
struct streams {
	struct virt_pair_host	*hosts;
	struct virt_shared	**shared;	/* by host: holds its model */
	size_t			n_hosts;
	struct virt_pair_guest	*guests;
	struct virt_times	**times;	/* by guest, by CPU */
	size_t			n_guests;
};

static const char *base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

static void add_host(struct streams *streams, int stream_id, struct virt_shared *shared)
{
	streams->shared[streams->n_hosts] = shared;
	streams->hosts[streams->n_hosts++] = (struct virt_pair_host){
		.stream = stream_id,
		.model = virt_shared_model(shared),
		.offset_ns = ks_stream_offset(stream_id),
	};
}

static int add_guest(struct streams *streams, const struct kshark_data_stream *stream)
{
	struct virt_times *times = calloc(stream->n_cpus + 1, sizeof(*times));

	if (!times)
		return -ENOMEM;
	streams->times[streams->n_guests] = times;
	streams->guests[streams->n_guests++] = (struct virt_pair_guest){
		.stream = stream->stream_id,
		.name = base_name(stream->file),
		.n_cpus = stream->n_cpus,
		.events = times,
	};
	return 0;
}

/** Of what is made of a host's trace, it is known which machine it is. */
static bool is_paired_guest(const struct kshark_data_stream *stream)
{
	if (virt_registry_has_host(stream->stream_id))
		return true;
	for (int cpu = 0; cpu < stream->n_cpus; cpu++)
		if (virt_pairing_of_cpu(stream->stream_id, cpu, NULL))
			return true;
	return false;
}

/** A stream with vCPUs is a host; any other one with CPUs is the inside of some machine. */
static int sort_streams(struct kshark_context *kshark, const int *ids, struct streams *streams)
{
	int n = kshark->n_streams, ret = 0;

	streams->hosts = calloc(n + 1, sizeof(*streams->hosts));
	streams->shared = calloc(n + 1, sizeof(struct virt_shared *));
	streams->guests = calloc(n + 1, sizeof(*streams->guests));
	streams->times = calloc(n + 1, sizeof(struct virt_times *));
	if (!streams->hosts || !streams->shared || !streams->guests || !streams->times)
		return -ENOMEM;
	for (int i = 0; i < n && !ret; i++) {
		struct kshark_data_stream *stream = kshark_get_data_stream(kshark, ids[i]);
		struct virt_shared *shared = stream ? virt_registry_get(ids[i]) : NULL;

		if (shared && virt_model_n_vcpus(virt_shared_model(shared))) {
			add_host(streams, ids[i], shared);
			continue;
		}
		virt_shared_put(shared);
		if (stream && ks_stream_has_cpus(stream) && !is_paired_guest(stream))
			ret = add_guest(streams, stream);
	}
	return ret;
}

/** Keep a time, if there is room for more. */
static int add_time(struct virt_times *times, int64_t ns)
{
	int64_t *all = (int64_t *)(uintptr_t)times->ns;

	if (!all) {
		all = malloc(MAX_TIMES * sizeof(*all));
		if (!all)
			return -ENOMEM;
		times->ns = all;
	}
	if (times->n < MAX_TIMES)
		all[times->n++] = ns;
	return 0;
}

/** When something happened on the guests' CPUs, in samples from the whole trace. */
static int collect_times(struct streams *streams, struct kshark_entry **rows, size_t n_rows)
{
	/* With few guests, CPU by CPU no more than what is kept. */
	size_t step = n_rows / MAX_ROWS + 1, every = n_rows / step / MAX_TIMES + 1;
	size_t *seen = calloc(streams->n_guests + 1, sizeof(*seen));
	int ret = seen ? 0 : -ENOMEM;

	for (size_t i = 0; i < n_rows && !ret; i += step) {
		const struct kshark_entry *row = rows[i];

		for (size_t g = 0; g < streams->n_guests; g++) {
			const struct virt_pair_guest *guest = &streams->guests[g];

			if (row->stream_id != guest->stream || row->cpu < 0 ||
			    row->cpu >= guest->n_cpus || seen[g]++ % every)
				continue;
			ret = add_time(&streams->times[g][row->cpu], row->ts);
		}
	}
	free(seen);
	return ret;
}

static void free_streams(struct streams *streams)
{
	for (size_t i = 0; i < streams->n_hosts; i++)
		virt_shared_put(streams->shared[i]);
	for (size_t i = 0; i < streams->n_guests; i++) {
		for (int cpu = 0; cpu < streams->guests[i].n_cpus; cpu++)
			free((int64_t *)(uintptr_t)streams->times[i][cpu].ns);
		free(streams->times[i]);
	}
	free(streams->hosts);
	free(streams->shared);
	free(streams->guests);
	free(streams->times);
}

int kvm_pairs_guess(struct kshark_entry **rows, size_t n_rows)
{
	struct kshark_context *kshark = NULL;
	struct streams streams = { 0 };
	int *ids, ret;

	virt_pairing_drop_source(VIRT_PAIR_GUESSED);
	if (!kshark_instance(&kshark))
		return 0;
	ids = kshark_all_streams(kshark);
	ret = ids ? sort_streams(kshark, ids, &streams) : 0;
	if (!ret && streams.n_hosts && streams.n_guests)
		ret = collect_times(&streams, rows, n_rows);
	if (!ret)
		ret = virt_pairing_guess(streams.hosts, streams.n_hosts, streams.guests,
					 streams.n_guests);
	free_streams(&streams);
	free(ids);
	return ret;
}
