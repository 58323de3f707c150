// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	align_tsc.c
 * @brief	Find offsets, ratios and changes of the TSCs of a guest's vCPUs.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "align_cut.h"
#include "align_try.h"
#include "array.h"
#include "search.h"
#include "virt_vcpu_lives.h"

/* --- what the host's trace shows ------------------------------------------------------------- */

void align_tsc_sets_add(struct align_tsc_sets *sets, const struct kvm_trace_record *record)
{
	if (record->injection != KVM_TRACE_TSC_OFFSET)
		return;
	if (ARRAY_GROW(sets->all, sets->n, sets->room)) {
		sets->error = -ENOMEM;
		return;
	}
	sets->all[sets->n++] = (struct align_tsc_set){
		.time = record->time_ns, .tid = record->pid,
		.offset = (int64_t)record->number, .before = (int64_t)record->before,
		.has_before = record->injection_flags & KVM_TRACE_BEFORE,
	};
}

static int compare_sets(const void *a, const void *b)
{
	const struct align_tsc_set *x = a, *y = b;

	return x->tid != y->tid ? (x->tid > y->tid) - (x->tid < y->tid) :
				  (x->time > y->time) - (x->time < y->time);
}

void align_tsc_sets_sort(struct align_tsc_sets *sets)
{
	if (sets->n)
		qsort(sets->all, sets->n, sizeof(*sets->all), compare_sets);
}

void align_tsc_sets_free(struct align_tsc_sets *sets)
{
	free(sets->all);
	*sets = (struct align_tsc_sets){ 0 };
}

/* --- what is unequal ------------------------------------------------------------------------- */

const struct align_unequal *align_unequal_of(const struct align_pair *pair, int32_t machine)
{
	for (size_t i = 0; i < pair->n_unequal; i++)
		if (machine < 0 || pair->unequal[i].machine == machine)
			return &pair->unequal[i];
	return NULL;
}

/** The first of a machine is kept; without memory, none. @a, @b: their offsets, modulo 2^64 */
static void set_unequal(struct align_pair *pair, struct align_unequal unequal, int64_t a, int64_t b)
{
	if (align_unequal_of(pair, unequal.machine) ||
	    ARRAY_GROW(pair->unequal, pair->n_unequal, pair->room_unequal))
		return;
	unequal.cycles = (int64_t)((uint64_t)a - (uint64_t)b);
	pair->unequal[pair->n_unequal++] = unequal;
}

static bool is_one_speed(double a, double b)
{
	return !(a < b || a > b);
}

static bool is_one_offset(int64_t a, int64_t b)
{
	return (uint64_t)a - (uint64_t)b + ALIGN_ROUNDING <= 2 * ALIGN_ROUNDING;
}

/* --- from the guest's times to the host's ---------------------------------------------------- */

/**
 * guest = (host * ratio >> bits) + offset, modulo 2^64, the other way round: to the nearest cycle,
 * as a double has no 64 bits.
 */
static int64_t invert(const struct kvm_meta_vcpu *vcpu, int64_t offset)
{
	__int128 bits = -(__int128)offset * ((__int128)1 << vcpu->tsc_frac_bits);
	__int128 half = (__int128)(vcpu->tsc_ratio / 2);

	if (vcpu->tsc_ratio == UINT64_C(1) << vcpu->tsc_frac_bits)
		return (int64_t)-(uint64_t)offset;
	return (int64_t)((bits + (bits < 0 ? -half : half)) / (__int128)vcpu->tsc_ratio);
}

static double ppm_of(const struct kvm_meta_vcpu *vcpu)
{
	return (ldexp(1, vcpu->tsc_frac_bits) / (double)vcpu->tsc_ratio - 1) * 1e6;
}

/** Of cycles what it is in ns, if both files count these: rounded down, as times are. */
static int64_t scale_offset(const struct align_pair *pair, int64_t offset)
{
	return pair->scaled ? (int64_t)((__int128)offset * pair->host_scale.mult >>
					pair->host_scale.shift) : offset;
}

double align_tsc_scale(const struct align_pair *pair, double ppm)
{
	const struct trace_dat_scale *host = &pair->host_scale, *guest = &pair->guest_scale;

	return !pair->scaled ? ppm :
	       ((1 + ppm / 1e6) * ldexp((double)host->mult / (double)guest->mult,
					(int)guest->shift - (int)host->shift) - 1) * 1e6;
}

/* --- of one vCPU ----------------------------------------------------------------------------- */

/** What counts of a vCPU's TSC, one after the other. */
struct pieces {
	struct align_piece *all;
	size_t		n, room;
	double		ppm;
	const struct virt_vcpu *vcpu;
	int32_t		index;		/* of it, in the model */
};

static int add_piece(struct pieces *pieces, struct align_piece piece)
{
	if (pieces->n && is_one_offset(pieces->all[pieces->n - 1].offset, piece.offset))
		return 0;
	if (ARRAY_GROW(pieces->all, pieces->n, pieces->room))
		return -ENOMEM;
	pieces->all[pieces->n++] = piece;
	return 0;
}

static const struct kvm_meta_vcpu *sidecar_tsc(const struct align_pair *pair, int32_t tid)
{
	const struct kvm_meta_vcpu *meta = kvm_meta_find(kvm_trace_meta(pair->host), tid, NULL);

	return meta && meta->has_tsc ? meta : NULL;
}

/** As a thread, from a time on if it was another one before, a vCPU has had this offset first. */
static struct align_piece first_piece(int64_t offset, int64_t since)
{
	return since == INT64_MIN ? (struct align_piece){ .offset = offset } :
	       (struct align_piece){ .offset = offset, .since = since, .is_known = true };
}

/** The sidecar has what it was before, and after. */
static int read_sidecar(const struct align_pair *pair, struct pieces *pieces, int32_t tid,
			int64_t since)
{
	const struct kvm_meta_vcpu *meta = sidecar_tsc(pair, tid);
	int ret;

	if (!meta)
		return 0;
	if (!pieces->n)
		pieces->ppm = ppm_of(meta);
	ret = add_piece(pieces, first_piece(invert(meta, meta->tsc_offset), since));
	return ret ? ret : add_piece(pieces, (struct align_piece){
		.offset = invert(meta, meta->tsc_offset_at_end),
	});
}

/** The offset of a record; no record has the ratio. */
static int64_t invert_set(const struct kvm_meta_vcpu *meta, int64_t offset)
{
	return meta ? invert(meta, offset) : (int64_t)-(uint64_t)offset;
}

/** Each record has what it was before, and after; what is not recorded shows in that. */
static int read_sets(const struct align_pair *pair, struct pieces *pieces, int32_t tid,
		     int64_t since)
{
	const struct kvm_meta_vcpu *meta = sidecar_tsc(pair, tid);
	const struct align_tsc_sets *sets = &pair->tsc_sets;
	size_t first, next;
	int ret = 0;

	if (!pieces->n)
		pieces->ppm = meta ? ppm_of(meta) : 0;
	SEARCH_FIRST(first, 0, sets->n, sets->all[first].tid < tid);
	/* until a thread is the vCPU, it does not matter what it was */
	for (next = first; next < sets->n && sets->all[next].tid == tid; next++)
		if (sets->all[next].time > since)
			break;
	if (next > first)
		ret = add_piece(pieces, first_piece(invert_set(meta, sets->all[next - 1].offset),
						    since));
	for (size_t i = next; i < sets->n && !ret; i++) {
		const struct align_tsc_set *set = &sets->all[i];

		if (set->tid != tid)
			break;
		if (set->has_before)
			ret = add_piece(pieces, (struct align_piece){
				.offset = invert_set(meta, set->before) });
		if (!ret)
			ret = add_piece(pieces, (struct align_piece){
				.offset = invert_set(meta, set->offset),
				.since = set->time, .is_known = true });
	}
	return ret;
}

/** All vCPUs of a Xen domain have one TSC, which does not change. */
static int read_model(struct pieces *pieces)
{
	const struct virt_vcpu *vcpu = pieces->vcpu;

	if (!(vcpu->tsc_scale > 0))
		return 0;
	pieces->ppm = (1 / vcpu->tsc_scale - 1) * 1e6;
	/* exact where it matters, and as it would be written */
	return add_piece(pieces, (struct align_piece){
		.offset = is_one_speed(vcpu->tsc_scale, 1) ?
			  (int64_t)-(uint64_t)vcpu->tsc_offset :
			  (int64_t)llround((double)-vcpu->tsc_offset / vcpu->tsc_scale) });
}

/** What a vCPU's TSC was as a thread. @since: it is from then on; INT64_MIN: it was first */
static int read_thread(const struct align_pair *pair, int source, struct pieces *pieces,
		       int32_t tid, int64_t since)
{
	size_t before = pieces->n;
	int ret;

	if (source == ALIGN_SIDECAR)
		return read_sidecar(pair, pieces, tid, since);
	ret = read_sets(pair, pieces, tid, since);
	/* this one's was not set in the trace */
	return ret || pieces->n > before || !pair->tsc_sets.n ? ret :
	       read_sidecar(pair, pieces, tid, since);
}

static int read_pieces(const struct align_pair *pair, int source, struct pieces *pieces)
{
	const struct virt_life *lives;
	size_t n;
	int ret;

	if (!pair->host)
		return read_model(pieces);
	ret = read_thread(pair, source, pieces, pieces->vcpu->host_pid, INT64_MIN);
	lives = virt_model_lives(pair->model, &n);
	for (size_t i = 0; i < n && pieces->n && !ret; i++)
		if (lives[i].vcpu == pieces->index)
			ret = read_thread(pair, source, pieces, lives[i].pid, lives[i].since_ns);
	return ret;
}

/* --- of all of them -------------------------------------------------------------------------- */

/** What others are compared with. */
struct first {
	const struct virt_vcpu *vcpu;	/* NULL: there is none yet */
	int64_t		offset;
	double		ppm;
};

/** While a machine is looked at. */
struct finding {
	struct align_pair *pair;
	int		source;
	int32_t		number;
	const struct align_machine *machine;
	struct first	first;
	const struct virt_vcpu *unknown;	/* the first of which nothing is known, or NULL */
	struct align_cut_steps steps;
};

static void note_change(const struct finding *finding, const struct pieces *pieces)
{
	const struct align_piece *first = pieces->all, *last = first + pieces->n - 1;
	struct align_unequal unequal = {
		.source = (enum align_source)finding->source, .machine = finding->number,
		.vcpu = pieces->vcpu,
	};

	for (const struct align_piece *piece = first + 1; piece <= last; piece++)
		unequal.is_found |= !piece->is_known;
	/* the other way round, it is the guest's that changes */
	if (last > first)
		set_unequal(finding->pair, unequal, first->offset, last->offset);
}

/** Is there one speed? What differs is noted. */
static bool is_alike(const struct finding *finding, const struct pieces *pieces)
{
	const struct first *first = &finding->first;
	bool one_speed = is_one_speed(pieces->ppm, first->ppm);
	struct align_unequal unequal = {
		.source = (enum align_source)finding->source, .machine = finding->number,
		.vcpu = pieces->vcpu, .other = first->vcpu,
	};

	if (!one_speed)
		set_unequal(finding->pair, unequal, 0, 0);
	else if (!is_one_offset(pieces->all[0].offset, first->offset))
		set_unequal(finding->pair, unequal, first->offset, pieces->all[0].offset);
	return one_speed;
}

static int cut_events(struct finding *finding, int32_t cpu, struct pieces *pieces)
{
	struct align_pair *pair = finding->pair;
	const struct virt_clock_cpu *events = &pair->plain.cpus[cpu];
	const int64_t *in_file = pair->plain.in_file[cpu];
	struct align_cut cut = {
		.cpu = cpu, .times = in_file ? in_file : events->times, .n = events->n,
		.vcpu = &finding->machine->vcpus[events->vcpu],
		.ppm = align_tsc_scale(pair, pieces->ppm), .work = &pair->work,
	};

	for (size_t i = 0; i < pieces->n; i++)
		pieces->all[i].offset = scale_offset(pair, pieces->all[i].offset);
	return align_cut_events(&cut, pieces->all, pieces->n, &finding->steps);
}

/** Return: 0, also if nothing is known of it; -ENODATA if the machine has no one way; -ENOMEM. */
static int find_cpu(struct finding *finding, int32_t cpu)
{
	int32_t vcpu = finding->pair->plain.cpus[cpu].vcpu;
	struct pieces pieces = { 0 };
	int ret;

	if (vcpu < 0)
		return 0;
	pieces.index = finding->machine->indices[vcpu];
	pieces.vcpu = virt_model_vcpu(finding->pair->model, pieces.index);
	ret = read_pieces(finding->pair, finding->source, &pieces);
	if (!ret && !pieces.n && !finding->unknown)
		finding->unknown = pieces.vcpu;
	if (ret || !pieces.n)
		goto end;
	if (!finding->first.vcpu)
		finding->first = (struct first){ pieces.vcpu, pieces.all->offset, pieces.ppm };
	note_change(finding, &pieces);
	ret = is_alike(finding, &pieces) ? cut_events(finding, cpu, &pieces) : -ENODATA;
end:
	free(pieces.all);
	return ret;
}

/** Where clocks change or differ, others need not be like the first one; more is not known. */
static void note_unknown(const struct finding *finding)
{
	struct align_pair *pair = finding->pair;
	struct align_unequal *noted = (struct align_unequal *)(uintptr_t)
		align_unequal_of(pair, finding->number);

	/* there is one, if they do */
	if (!finding->unknown || !noted || noted->source != (enum align_source)finding->source)
		return;
	noted->vcpu = finding->unknown;
	noted->other = finding->first.vcpu;
	noted->is_assumed = true;
}

/** Offsets as they differ from the first of all; what does not differ is no step. */
static void take_steps(struct finding *finding, struct align_tsc *tsc)
{
	struct align_cut_steps *steps = &finding->steps;
	size_t n = 0;

	tsc->ppm = align_tsc_scale(finding->pair, finding->first.ppm);
	tsc->offset = steps->all[0].add;
	for (size_t i = 0; i < steps->n; i++) {
		struct virt_clock_step step = steps->all[i];
		bool is_none = is_one_offset(step.add, tsc->offset);

		step.add = is_none ? 0 : virt_clock_step_add(tsc->offset, step.add, tsc->ppm);
		if (step.from > INT64_MIN || step.back || !is_none)
			steps->all[n++] = step;
	}
	tsc->steps = steps->all;
	tsc->n_steps = n;
	steps->all = NULL;
}

int align_tsc_find(struct align_pair *pair, int source, int32_t number,
		   const struct align_machine *machine, struct align_tsc *tsc)
{
	struct finding finding = {
		.pair = pair, .source = source, .number = number, .machine = machine,
	};
	int ret = 0;

	*tsc = (struct align_tsc){ 0 };
	for (int32_t c = 0; c < pair->plain.n && !ret; c++)
		ret = find_cpu(&finding, c);
	note_unknown(&finding);
	if (!ret && finding.steps.n)
		take_steps(&finding, tsc);
	free(finding.steps.all);
	return ret == -ENOMEM ? ret : !ret && finding.first.vcpu;
}
