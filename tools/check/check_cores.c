// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	check_cores.c
 * @brief	Check that each core has only one machine at a time, as with core scheduling.
 */
#include <errno.h>

#include "check_cores.h"
#include "options.h"

/** Who is on a pCPU, one after the other. */
struct side {
	int32_t		pcpu;
	struct virt_occupant_range range;
	size_t		at;
};

/** Two pCPUs of a core. */
struct pair {
	const struct check_cores *check;
	struct side	sides[2];
	int64_t		begin_ns;	/* of what is going on, if it is a violation */
	int32_t		vcpus[2];	/* who; VIRT_NONE: nothing is */
};

/** No core has more threads. With all pCPUs in one core, each change would concern all of them. */
#define MAX_THREADS	16

/**
 * Of all pairs. Each pair has the whole window, so sums may be more than that, and more than 64
 * bits hold.
 */
struct sums {
	uint64_t	count;
	__int128	ns, together_ns, unknown_ns, all_ns;
};

static struct side side_of(const struct check_cores *check, int32_t pcpu)
{
	return (struct side){ .pcpu = pcpu,
			      .range = virt_pcpu_occupants(check->model, pcpu, check->from_ns,
							   check->to_ns) };
}

static int64_t end_of(const struct side *side)
{
	return side->at + 1 < side->range.n ? side->range.first[side->at + 1].start_ns :
					      side->range.end_ns;
}

/** A vCPU that is on it; VIRT_NONE: none, or unknown. */
static int32_t vcpu_of(const struct side *side)
{
	const struct virt_occupant *occupant = &side->range.first[side->at];

	return occupant->vcpu >= 0 && occupant->vcpu < VIRT_FIRST_TASK ? occupant->vcpu : VIRT_NONE;
}

static bool is_unknown(const struct side *side)
{
	const struct virt_occupant *occupant = &side->range.first[side->at];

	return occupant->vcpu == VIRT_NONE && !occupant->known;
}

static void put_place(struct output *out, const struct virt_model *model, int32_t vcpu,
		      int32_t pcpu)
{
	out_text(out, virt_model_vcpu(model, vcpu)->name);
	out_str(out, " [");
	out_u64_zeros(out, (uint64_t)pcpu, 3);
	out_char(out, ']');
}

static const struct table_column columns[] = {
	{ .key = "time_ns", .type = TABLE_TIME },
	{ .key = "length_ns", .type = TABLE_NS },
	{ .key = "pcpu", .type = TABLE_COUNT },
	{ .key = "vcpu" },
	{ .key = "other_pcpu", .type = TABLE_COUNT },
	{ .key = "other_vcpu" },
};

const struct table check_cores_table = { .rows = { TABLE_COLUMNS(columns) } };

static void violation_row(const struct pair *pair, int64_t end_ns)
{
	const struct virt_model *model = pair->check->model;

	table_row(pair->check->csv, (const struct table_cell[]){
		table_number(pair->begin_ns), table_number(end_ns - pair->begin_ns),
		table_number(pair->sides[0].pcpu),
		table_name(virt_model_vcpu(model, pair->vcpus[0])->name),
		table_number(pair->sides[1].pcpu),
		table_name(virt_model_vcpu(model, pair->vcpus[1])->name),
	});
}

/** What was going on ends. */
static void end_violation(struct pair *pair, int64_t end_ns, struct sums *sums)
{
	const struct check_cores *check = pair->check;
	struct output *out = check->out;

	if (pair->vcpus[0] == VIRT_NONE)
		return;
	sums->count++;
	sums->ns += (__int128)end_ns - pair->begin_ns;
	if (check->csv) {
		violation_row(pair, end_ns);
	} else {
		out_ns(out, pair->begin_ns, 16);
		out_str(out, ": ");
		put_place(out, check->model, pair->vcpus[0], pair->sides[0].pcpu);
		out_str(out, " beside ");
		put_place(out, check->model, pair->vcpus[1], pair->sides[1].pcpu);
		out_str(out, " for ");
		out_ns(out, end_ns - pair->begin_ns, 0);
		out_str(out, " s\n");
	}
	pair->vcpus[0] = VIRT_NONE;
}

static bool are_strangers(const struct virt_model *model, int32_t a, int32_t b)
{
	return a != VIRT_NONE && b != VIRT_NONE &&
	       virt_model_vcpu(model, a)->machine != virt_model_vcpu(model, b)->machine;
}

/** From a time to the next at which a sibling gets or loses a vCPU or task. */
static void take_stretch(struct pair *pair, int64_t from_ns, int64_t to_ns, struct sums *sums)
{
	int32_t a = vcpu_of(&pair->sides[0]), b = vcpu_of(&pair->sides[1]);

	if (is_unknown(&pair->sides[0]) || is_unknown(&pair->sides[1]))
		sums->unknown_ns += (__int128)to_ns - from_ns;
	if (a != VIRT_NONE && b != VIRT_NONE)
		sums->together_ns += (__int128)to_ns - from_ns;
	if (pair->vcpus[0] == a && pair->vcpus[1] == b)
		return;
	end_violation(pair, from_ns, sums);
	if (!are_strangers(pair->check->model, a, b))
		return;
	pair->vcpus[0] = a;
	pair->vcpus[1] = b;
	pair->begin_ns = from_ns;
}

static void check_pair(const struct check_cores *check, int32_t a, int32_t b, struct sums *sums)
{
	struct pair pair = {
		.check = check, .sides = { side_of(check, a), side_of(check, b) },
		.vcpus = { VIRT_NONE, VIRT_NONE },
	};
	int64_t from_ns = check->from_ns;
	bool over = false;

	sums->all_ns += (__int128)check->to_ns - check->from_ns;
	/* of one that is not in the trace, nothing is known */
	if (!pair.sides[0].range.n || !pair.sides[1].range.n) {
		sums->unknown_ns += (__int128)check->to_ns - check->from_ns;
		return;
	}
	while (from_ns < check->to_ns && !over) {
		int64_t ends[2] = { end_of(&pair.sides[0]), end_of(&pair.sides[1]) };
		int64_t to_ns = ends[0] < ends[1] ? ends[0] : ends[1];

		if (to_ns > check->to_ns)
			to_ns = check->to_ns;
		if (to_ns > from_ns)
			take_stretch(&pair, from_ns, to_ns, sums);
		for (int i = 0; i < 2; i++)
			if (ends[i] <= to_ns && pair.sides[i].at + 1 < pair.sides[i].range.n)
				pair.sides[i].at++;
			else if (ends[i] <= to_ns)
				over = true;
		from_ns = to_ns > from_ns ? to_ns : from_ns;
	}
	end_violation(&pair, from_ns, sums);
	sums->unknown_ns += (__int128)check->to_ns - from_ns;
}

/** Seconds, as out_ns() writes them, of more ns than 64 bits hold. */
static void put_ns(struct output *out, __int128 ns)
{
	out_u64(out, (uint64_t)(ns / 1000000000));
	out_char(out, '.');
	out_u64_zeros(out, (uint64_t)(ns % 1000000000), 9);
}

static void print_sums(struct output *out, const struct sums *sums)
{
	out_style(out, sums->count ? OUT_BAD : sums->unknown_ns ? OUT_WARNING : OUT_GOOD);
	out_printf(out, "%llu times vCPUs of two machines were on one core",
		   (unsigned long long)sums->count);
	if (sums->count) {
		out_str(out, ", for ");
		put_ns(out, sums->ns);
		out_str(out, " s of ");
		put_ns(out, sums->together_ns);
		out_str(out, " s in which both threads had vCPUs");
	}
	if (sums->unknown_ns) {
		out_str(out, "; nothing is known of ");
		put_ns(out, sums->unknown_ns);
		out_str(out, " s");
	}
	out_style(out, OUT_PLAIN);
	out_char(out, '\n');
}

/** pCPUs by core, as host_topology_siblings() compares them. */
static int compare_places(const void *a, const void *b)
{
	const struct host_pcpu *x = *(const struct host_pcpu *const *)a;
	const struct host_pcpu *y = *(const struct host_pcpu *const *)b;

	if (x->socket != y->socket)
		return x->socket < y->socket ? -1 : 1;
	if (x->core != y->core)
		return x->core < y->core ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

/** Where the core that begins at @begin ends. */
static size_t core_end(const struct host_pcpu *const *pcpus, size_t begin, size_t n)
{
	size_t end = begin + 1;

	while (end < n && host_topology_siblings(pcpus[begin], pcpus[end]))
		end++;
	return end;
}

static int check_core(const struct check_cores *check, const struct host_pcpu *const *pcpus,
		      size_t n, struct sums *sums)
{
	if (n > MAX_THREADS) {
		ksv_error("core %d of socket %d has %zu pCPUs, from %d on, but at most %d are "
			  "possible: correct the topology, or give another one with --topology",
			  pcpus[0]->core, pcpus[0]->socket, n, pcpus[0]->id, MAX_THREADS);
		return KSV_EXIT_FILE;
	}
	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n; j++)
			check_pair(check, pcpus[i]->id, pcpus[j]->id, sums);
	return KSV_EXIT_OK;
}

/** Return: KSV_EXIT_OK, or as check_cores_run(). */
static int check_all(const struct check_cores *check, struct sums *sums)
{
	const struct host_topology *topology = check->topology;
	const struct host_pcpu **pcpus = calloc(topology->n + 1, sizeof(*pcpus));
	int ret = pcpus ? 0 : -ENOMEM;
	bool any = false;
	size_t end;

	for (size_t i = 0; i < topology->n && !ret; i++)
		pcpus[i] = &topology->pcpus[i];
	if (!ret && topology->n)
		qsort(pcpus, topology->n, sizeof(*pcpus), compare_places);
	for (size_t i = 0; i < topology->n && !ret; i = end) {
		end = core_end(pcpus, i, topology->n);
		any |= end - i > 1;
		ret = check_core(check, &pcpus[i], end - i, sums);
	}
	free(pcpus);
	return ret || any ? ret : -ENODATA;
}

int check_cores_run(const struct check_cores *check)
{
	struct sums sums = { 0 };
	int ret;

	if (check->csv)
		table_flat(check->csv, true);
	ret = check_all(check, &sums);
	if (ret)
		return ret;
	if (!check->csv)
		print_sums(check->out, &sums);
	if (sums.count)
		return KSV_EXIT_FINDINGS;
	return sums.unknown_ns < sums.all_ns ? KSV_EXIT_OK : KSV_EXIT_UNKNOWN;
}
