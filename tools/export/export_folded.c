// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	export_folded.c
 * @brief	Stacks as lines with their sums, which flame graph tools read.
 *
 * Source: the folded stacks of https://github.com/brendangregg/FlameGraph: frames from the root on,
 * semicolons between, a blank, a whole number.
 */
#include <errno.h>

#include "escape.h"
#include "export_stacks.h"
#include "key_map.h"

/** A number of a node fits into what a key has beside a frame. */
#define MAX_NODES	(1u << 28)

/** A stack, as its last frame and the stack below. */
struct node {
	int64_t		ns;
	struct export_frame frame;
	uint32_t	parent;		/* number + 1; 0: the frame is the first one */
};

/** All stacks of a vCPU. */
struct folded {
	struct key_map	map;		/* by parent and frame */
	struct node	*nodes;
	size_t		room;
};

/** Return: the number of the node + 1; 0 without memory. */
static uint32_t node_of(struct folded *folded, uint32_t parent, const struct export_frame *frame)
{
	uint64_t key = (uint64_t)parent << 35 | export_frame_key(frame);
	int64_t i = folded->map.n_keys < MAX_NODES ?
		    KEY_MAP_ELEMENT(&folded->map, key, folded->nodes, folded->room) : -ENOMEM;

	if (i < 0)
		return 0;
	folded->nodes[i].frame = *frame;
	folded->nodes[i].parent = parent;
	return (uint32_t)i + 1;
}

static int take_stack(void *arg, const struct export_stack *stack)
{
	struct folded *folded = arg;
	uint32_t at = 0;

	for (int i = 0; i < stack->n; i++) {
		at = node_of(folded, at, &stack->frames[i]);
		if (!at)
			return -ENOMEM;
	}
	folded->nodes[at - 1].ns += stack->ns;
	return 0;
}

/** Escaped, and a semicolon in it is no end of a frame. */
static void put_name(struct output *out, const char *name)
{
	const char *end = name + strlen(name);
	char piece[ESCAPE_PIECE];
	size_t n;

	while ((n = escape_next(&name, end, piece))) {
		if (n == 1 && *piece == ';')
			out_str(out, "\\x3b");
		else
			out_mem(out, piece, n);
	}
}

static void put_frames(const struct export_job *job, const struct folded *folded, uint32_t at,
		       struct output *out)
{
	uint32_t path[EXPORT_MAX_FRAMES];
	int n = 0;
	char text[64];

	for (; at; at = folded->nodes[at - 1].parent)
		path[n++] = at;
	while (n) {
		const struct export_frame *frame = &folded->nodes[path[--n] - 1].frame;

		out_char(out, ';');
		put_name(out, export_frame_name(job, frame, text, sizeof(text)));
	}
}

static void put_stacks(const struct export_job *job, const struct folded *folded, int32_t vcpu,
		       struct output *out)
{
	const struct virt_model *model = job->report->load->model;
	const struct virt_vcpu *info = virt_model_vcpu(model, vcpu);

	for (uint32_t i = 0; i < folded->map.n_keys && !out->error; i++) {
		if (!folded->nodes[i].ns)
			continue;
		put_name(out, virt_model_machine(model, info->machine)->name);
		out_char(out, ';');
		put_name(out, info->name);
		put_frames(job, folded, i + 1, out);
		out_char(out, ' ');
		out_i64(out, folded->nodes[i].ns);
		out_char(out, '\n');
	}
}

int export_folded(const struct export_job *job, bool all_states, struct output *out)
{
	int32_t n = virt_model_n_vcpus(job->report->load->model);
	int ret = 0;

	for (int32_t i = 0; i < n && !ret && !out->error; i++) {
		struct folded folded = { .room = 0 };

		if (!export_wants_vcpu(job, i))
			continue;
		ret = export_stacks(job, i, all_states, take_stack, &folded);
		if (!ret)
			put_stacks(job, &folded, i, out);
		key_map_destroy(&folded.map);
		free(folded.nodes);
	}
	return ret;
}
