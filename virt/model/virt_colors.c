// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_colors.c
 * @brief	The table of colours.
 */
#include "array.h"
#include "virt_colors.h"

#define RGB(hex)	{ (hex) >> 16 & 0xff, (hex) >> 8 & 0xff, (hex) & 0xff }

static const struct virt_look looks[VIRT_N_STATES] = {
	[VIRT_GUEST] = {
		.color = RGB(0x009e73), .title = "Guest",
		.meaning = "executes guest code",
	},
	[VIRT_HYPERVISOR] = {
		.color = RGB(0xe69f00), .title = "Hypervisor",
		.meaning = "on a pCPU, the hypervisor handles a VM exit of this vCPU",
	},
	[VIRT_POLLING] = {
		.color = RGB(0xbbffbb), .title = "Polling",
		.meaning = "on a pCPU, idle: the hypervisor polls for an event",
	},
	[VIRT_VMM] = {
		.color = RGB(0xd55e00), .title = "VMM",
		.meaning = "on a pCPU, in QEMU or another device model",
	},
	[VIRT_PREEMPTED] = {
		.color = RGB(0xb879b1), .title = "Preempted",
		.meaning = "runnable, but its pCPU runs something else (steal)",
	},
	[VIRT_WAKING] = {
		.color = RGB(0xf0e442), .title = "Waking",
		.meaning = "woken, not yet on a pCPU",
	},
	[VIRT_BLOCKED] = {
		.color = RGB(0xe4e6ea), .title = "Blocked",
		.meaning = "waits for an event",
	},
	[VIRT_DEVICE_MODEL] = {
		.color = RGB(0x7094fc), .title = "Device model",
		.meaning = "Xen: waits until its device model has handled a VM exit",
	},
	[VIRT_OFFLINE] = {
		.color = RGB(0xa0a4a8), .title = "Offline",
		.meaning = "paused, not yet created, or destroyed; on Xen without VM exits"
			   " or scheduler requests in the trace also: waits for its device"
			   " model",
	},
	[VIRT_UNKNOWN] = {
		.color = RGB(0xffffff), .hatch = RGB(0x8c8c8c), .hatched = true,
		.title = "Unknown", .meaning = "the trace does not show it, e.g. lost records",
	},
};

#define UNSPLIT_MEANING	"between a VM exit and the next entry; the trace has no sched_switch," \
			" and does not split off waits"

/* States that a trace without sched_switch shows less exactly. */
static const struct virt_look unsplit_looks[VIRT_N_PCPU_STATES] = {
	[VIRT_HYPERVISOR] = {
		.color = RGB(0xe69f00), .hatch = RGB(0xffffff), .hatched = true,
		.title = "Hypervisor, not split", .meaning = UNSPLIT_MEANING,
	},
	[VIRT_VMM] = {
		.color = RGB(0xd55e00), .hatch = RGB(0xffffff), .hatched = true,
		.title = "VMM, not split", .meaning = UNSPLIT_MEANING,
	},
};

/* The colour of the state that a moment is about, where there is one. */
static const struct virt_kind_look worst_looks[VIRT_WORST_N_KINDS] = {
	[VIRT_WORST_EXIT] = {
		.color = RGB(0xe69f00), .title = "Exits",
		.meaning = "VM exits, by their cost up to the next entry",
	},
	[VIRT_WORST_STEAL] = {
		.color = RGB(0xb879b1), .title = "Steal",
		.meaning = "vCPUs that were preempted, by how long they waited",
	},
	[VIRT_WORST_WAKE] = {
		.color = RGB(0xf0e442), .title = "Wake-ups",
		.meaning = "Wake-ups, by how long the vCPU waited for a pCPU",
	},
	[VIRT_WORST_MIGRATION] = {
		.color = RGB(0x0072b2), .title = "Migrations",
		.meaning = "Migrations between pCPUs, by how long the vCPU waited",
	},
	[VIRT_WORST_IRQ] = {
		.color = RGB(0x56b4e9), .title = "Interrupts",
		.meaning = "Interrupts, from the injection to the guest's handler; needs an aligned"
			   " trace of the guest",
	},
	[VIRT_WORST_LOST] = {
		.color = RGB(0xbbbbbb), .title = "Lost",
		.meaning = "Records that the trace has lost, by how long nothing was recorded",
	},
	[VIRT_WORST_OFFLINE] = {
		.color = RGB(0xa0a4a8), .title = "Pauses",
		.meaning = "vCPUs that were paused or taken down, by how long they were offline",
	},
	[VIRT_WORST_TSC] = {
		.color = RGB(0xaa4499), .title = "TSC set",
		.meaning = "vCPUs whose TSC was set: there, the guest's clock steps",
	},
};

/*
 * The hypervisor's own, and others as far as can be from each other and from those of states, also
 * for people with colour-blindness: unit.virt_colors measures it.
 */
static const struct virt_color class_colors[VIRT_EXIT_N_CLASSES] = {
	[VIRT_EXIT_OTHER] = RGB(0xe69f00),
	[VIRT_EXIT_HALT] = RGB(0x22ddbb),
	[VIRT_EXIT_INTERRUPT] = RGB(0x4466bb),
	[VIRT_EXIT_MEMORY] = RGB(0x991100),
	[VIRT_EXIT_IO] = RGB(0xbb2288),
	[VIRT_EXIT_REGISTER] = RGB(0xff99ff),
	[VIRT_EXIT_APIC] = RGB(0x1100dd),
	[VIRT_EXIT_HYPERCALL] = RGB(0x6600aa),
	[VIRT_EXIT_EXCEPTION] = RGB(0x335555),
	[VIRT_EXIT_NESTED] = RGB(0xbb22ff),
};

/* None of them is the colour of a state. */
static const struct virt_color vcpu_colors[] = {
	RGB(0x0072b2), RGB(0xaa4499), RGB(0x56b4e9), RGB(0x999933), RGB(0x882255), RGB(0x44aa99),
	RGB(0xcc6677), RGB(0x332288), RGB(0xddcc77), RGB(0x117733), RGB(0x88ccee), RGB(0x661100),
};

#define N_VCPU_COLORS	((int32_t)ARRAY_SIZE(vcpu_colors))

const struct virt_look *virt_state_look(enum virt_state state)
{
	return (unsigned int)state < VIRT_N_STATES ? &looks[state] : NULL;
}

const struct virt_look *virt_state_look_in(const struct virt_model *model, enum virt_state state)
{
	if ((state == VIRT_HYPERVISOR || state == VIRT_VMM) && virt_model_is_unsplit(model))
		return &unsplit_looks[state];
	return virt_state_look(state);
}

const struct virt_kind_look *virt_worst_look(enum virt_worst_kind kind)
{
	return (unsigned int)kind < VIRT_WORST_N_KINDS ? &worst_looks[kind] : NULL;
}

struct virt_color virt_exit_class_color(enum virt_exit_class exit_class)
{
	return class_colors[(unsigned int)exit_class < VIRT_EXIT_N_CLASSES ? exit_class :
									     VIRT_EXIT_OTHER];
}

struct virt_color virt_vcpu_color(int32_t vcpu)
{
	const struct virt_color grey = RGB(0x777777);

	return vcpu < 0 ? grey : vcpu_colors[vcpu % N_VCPU_COLORS];
}

bool virt_color_text_is_dark(struct virt_color color)
{
	/* relative luminance as WCAG defines it, in thousandths, with a gamma of 2 */
	int luminance = (color.red * color.red * 213 + color.green * color.green * 715 +
			 color.blue * color.blue * 72) / (255 * 255);

	/* there, black and white have about the same contrast: unit.virt_colors measures it */
	return luminance > 190;
}
