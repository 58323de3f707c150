// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	host_notes.c
 * @brief	Facts that a model knows about its trace, as notes.
 */
#include "host_notes.h"
#include "virt_needs.h"

/** What helps if records were lost. */
static const char *const less_loss[VIRT_N_HYPERVISORS] = {
	[VIRT_KVM] = "Larger buffers (trace-cmd record -b, perf record -m, lttng enable-channel "
		     "--subbuf-size) or fewer events help",
	[VIRT_XEN] = "Larger buffers (xentrace -S) or fewer events (-e) help",
};

void host_note_losses(const struct virt_model *model, uint64_t losses, const char *path,
		      struct trace_notes *notes)
{
	if (losses)
		trace_notes_add(notes, TRACE_NOTE_LOSS, TRACE_NOTE_WARNING,
				"%s: records were lost %llu times; what happened then is unknown. "
				"%s", path, (unsigned long long)losses,
				less_loss[virt_model_hypervisor(model)]);
}

void host_note_contradictions(const struct virt_model *model, const char *path,
			      struct trace_notes *notes)
{
	const char *what;
	uint64_t count;

	for (int i = 0; (what = virt_model_contradictions(model, i, &count)); i++)
		trace_notes_add(notes, TRACE_NOTE_CONTRADICTION, TRACE_NOTE_WARNING,
				"%s: the records contradict each other: %s (%llu times)",
				path, what, (unsigned long long)count);
}

void host_note_model(const struct virt_model *model, const char *path, struct trace_notes *notes)
{
	host_note_losses(model, virt_model_losses(model).n, path, notes);
	host_note_contradictions(model, path, notes);
}

void host_note_lacks(const struct virt_model *model, const char *path, uint64_t left_out,
		     struct trace_notes *notes)
{
	char lacks[VIRT_ADVICE_SIZE];

	for (int kind = 0; kind < VIRT_RECORD_N_KINDS; kind++)
		if (!(left_out & VIRT_RECORD_BIT(kind)) &&
		    virt_model_lacks(model, (enum virt_record_kind)kind, lacks,
				     sizeof(lacks)))
			trace_notes_add(notes, TRACE_NOTE_EVENTS, TRACE_NOTE_WARNING, "%s: %s",
					path, lacks);
}
