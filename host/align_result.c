// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	align_result.c
 * @brief	Describe an alignment, convert it for the sidecar, and give reasons to refuse it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "align_try.h"
#include "escape.h"

const char *align_pair_refusal(const struct align_pair *pair)
{
	if (pair->dense)
		return "trying all offsets takes more work than files of this size may cause; "
		       "align a part of the trace (trace-cmd split), or select the machine "
		       "(--machine) or the source (--source)";
	if (pair->best.machine < 0)
		return "no machine of the host fits the guest";
	if (pair->other_machine >= 0)
		return "two machines fit equally well; select one with --machine";
	if (pair->best.alignment.verdict != VIRT_CLOCK_GOOD)
		return virt_clock_verdict_text(pair->best.alignment.verdict);
	return NULL;
}

/** What the events fit instead. */
static void say_fits(const struct align_pair *pair, char *text, size_t size)
{
	bool recorded = pair->recorded.machine >= 0;
	char wrong[400], how[64];

	align_pairing_text(pair->model, recorded ? pair->recorded.machine : pair->best.machine,
			   &pair->fits, pair->plain.n, wrong, sizeof(wrong));
	snprintf(how, sizeof(how), "%.3f %%", pair->fits.alignment.explained_percent);
	if (recorded)
		text_format(text, size, "it is paired with %s: with trace-cmd's own offsets, %s "
			    "against %.3f %%", wrong, how,
			    pair->recorded.alignment.explained_percent);
	else
		text_format(text, size, "--machine %s is %s, %s of them", pair->machine, wrong,
			    how);
}

/** Report what is not used, or is known from the events alone. */
static void say_unequal(const struct align_pair *pair, const struct align_unequal *unequal,
			char *text, size_t size)
{
	const char *machine = virt_model_machine(pair->model, unequal->machine)->name;
	const char *who = unequal->source == ALIGN_SIDECAR ? "the sidecar of the host's trace" :
			  "the host's trace";
	int vcpu = (int)unequal->vcpu->id, other = unequal->other ? (int)unequal->other->id : 0;
	long long cycles = unequal->cycles;
	char what[300];

	if (unequal->is_assumed) {
		text_format(text, size, "%s: the TSC offset of vCPU %d is not recorded, and others "
			    "change or differ: it is assumed to begin as that of vCPU %d",
			    machine, vcpu, other);
		return;
	}
	if (!unequal->other && cycles)
		snprintf(what, sizeof(what), "the TSC offset of vCPU %d changed by %+lld cycles "
			 "during the recording", vcpu, cycles);
	else if (!unequal->other)
		snprintf(what, sizeof(what), "the TSC offset of vCPU %d changed and changed back "
			 "during the recording", vcpu);
	else if (cycles)
		snprintf(what, sizeof(what), "the TSC offset of vCPU %d differs by %+lld cycles "
			 "from that of vCPU %d", vcpu, cycles, other);
	else
		snprintf(what, sizeof(what), "the TSC of vCPU %d runs at another speed than that "
			 "of vCPU %d", vcpu, other);
	if (pair->best.source == unequal->source)
		text_format(text, size, "%s: %s, according to %s, which does not record when: the "
			    "events show it", machine, what, who);
	else
		text_format(text, size, "%s: %s, according to %s: this is not used%s",
			    machine, what,
			    who, unequal->other && !cycles ? "" :
			    ", because the events do not fit it");
}

/** A change that is followed is reported with the result; notes are for what is uncertain. */
static bool is_noted(const struct align_pair *pair, const struct align_unequal *unequal)
{
	bool is_used = unequal && pair->best.source == unequal->source;

	if (unequal && unequal->is_assumed)
		return is_used;
	return unequal && (!is_used || unequal->is_found);
}

bool align_pair_doubt(const struct align_pair *pair, char *text, size_t size)
{
	const struct align_unequal *unequal;

	if (pair->fits.vcpus) {
		say_fits(pair, text, size);
		return true;
	}
	unequal = align_unequal_of(pair, pair->best.machine);
	if (pair->recorded.machine < 0 && is_noted(pair, unequal)) {
		say_unequal(pair, unequal, text, size);
		return true;
	}
	if (pair->recorded.machine < 0)
		return false;
	if (!(pair->recorded.alignment.inside + pair->recorded.alignment.outside)) {
		snprintf(text, size, "trace-cmd's own offsets are wrong: with them, none of the "
			 "guest's events lies within the host's trace");
		return true;
	}
	if (pair->recorded.alignment.explained_percent >= VIRT_CLOCK_DOUBT_PERCENT) {
		snprintf(text, size, "trace-cmd's own offsets are wrong: they change by %lld %s, "
			 "and with them %llu of the guest's events lie where the host's trace "
			 "shows nothing", (long long)(pair->offsets.most - pair->offsets.least),
			 pair->cycles ? "cycles" : "ns",
			 (unsigned long long)pair->recorded.alignment.unknown);
		return true;
	}
	snprintf(text, size, "trace-cmd's own offsets are wrong: with them, only %.3f %% of the "
		 "guest's events lie where its vCPUs executed it, and one is %lld %s outside",
		 pair->recorded.alignment.explained_percent,
		 (long long)pair->recorded.alignment.worst, pair->cycles ? "cycles" : "ns");
	return true;
}

bool align_pair_offsets(const struct align_pair *pair, char *text, size_t size)
{
	const struct align_offsets *offsets = &pair->offsets;
	const char *unit = pair->cycles ? "cycles" : "ns";

	if (!pair->has_offsets)
		return false;
	if (offsets->most - offsets->least <= ALIGN_ROUNDING)
		snprintf(text, size, "%+lld %s", (long long)offsets->least, unit);
	else if (offsets->bend <= ALIGN_ROUNDING)
		snprintf(text, size, "%+lld to %+lld %s: a scale of %+.3f ppm",
			 (long long)offsets->least, (long long)offsets->most, unit,
			 offsets->scale_ppm);
	else
		snprintf(text, size, "%+lld to %+lld %s: they change during the trace",
			 (long long)offsets->least, (long long)offsets->most, unit);
	return true;
}

const struct virt_vcpu *align_pair_vcpu(const struct align_pair *pair, int32_t cpu)
{
	const struct virt_machine *machine = virt_model_machine(pair->model, pair->best.machine);
	int32_t vcpu = pair->best.evidence ? pair->best.evidence[cpu].vcpu : VIRT_NONE;

	return machine && vcpu >= 0 && vcpu < machine->n_vcpus ?
	       virt_model_vcpu(pair->model, machine->vcpus[vcpu]) : NULL;
}

struct align_meta *align_pair_meta(const struct align_pair *pair, const char *host_path)
{
	const char *slash = strrchr(host_path, '/');
	struct align_meta *meta = calloc(1, sizeof(*meta));

	if (!meta)
		return NULL;
	meta->host = strdup(slash ? slash + 1 : host_path);
	meta->source = strdup(align_source_name(pair->best.source));
	meta->cycles = pair->cycles;
	meta->after_trace_cmd = pair->best.source == ALIGN_TRACE_CMD;
	meta->at = pair->best.alignment.at;
	meta->offset = pair->best.alignment.offset;
	meta->lo = pair->best.alignment.lo;
	meta->hi = pair->best.alignment.hi;
	meta->drift_ppm = pair->best.alignment.drift_ppm;
	meta->n_tids = pair->plain.n;
	meta->tids = calloc((size_t)meta->n_tids + 1, sizeof(*meta->tids));
	meta->steps = calloc(pair->best.n_steps + 1, sizeof(*meta->steps));
	if (!meta->host || !meta->source || !meta->tids || !meta->steps) {
		align_meta_free(meta);
		return NULL;
	}
	for (; meta->n_steps < pair->best.n_steps; meta->n_steps++)
		meta->steps[meta->n_steps] = pair->best.steps[meta->n_steps];
	for (int32_t c = 0; c < pair->plain.n; c++) {
		const struct virt_vcpu *vcpu = align_pair_vcpu(pair, c);

		meta->tids[c] = vcpu ? vcpu->host_pid : VIRT_NONE;
	}
	return meta;
}
