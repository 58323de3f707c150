// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_names.c
 * @brief	Names of machines and vCPUs among several traces.
 */
#include <stdio.h>
#include <string.h>

#include "escape.h"
#include "virt_names.h"

static const struct virt_name_stream *find(const struct virt_name_stream *streams, size_t n, int id)
{
	for (size_t i = 0; i < n; i++)
		if (streams[i].id == id)
			return &streams[i];
	return NULL;
}

static const char *machine_name(const struct virt_name_stream *stream, int32_t index)
{
	const struct virt_machine *machine =
		stream && stream->model ? virt_model_machine(stream->model, index) : NULL;

	return machine ? machine->name : NULL;
}

/** Is a machine of another trace, which is no machine's itself, called the same? */
static bool is_ambiguous(const struct virt_name_stream *streams, size_t n,
			 const struct virt_name_stream *stream, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (&streams[i] == stream || !streams[i].model || find(streams, n, streams[i].host))
			continue;
		for (int32_t m = 0; m < virt_model_n_machines(streams[i].model); m++)
			if (!strcmp(virt_model_machine(streams[i].model, m)->name, name))
				return true;
	}
	return false;
}

/** Put a text in front of another. */
static void prepend(char *buf, size_t size, const char *text)
{
	char old[VIRT_NAME_SIZE];

	text_format(old, sizeof(old), "%s", buf);
	text_format(buf, size, "%s/%s", text, old);
}

void virt_name_find_parts(const struct virt_name_stream *streams, size_t n, int id,
			  int32_t machine, struct virt_name_parts *parts)
{
	const struct virt_name_stream *stream = find(streams, n, id);
	const char *name = machine_name(stream, machine);

	parts->before[0] = parts->after[0] = '\0';
	/* wrong pairs may make a circle */
	for (size_t depth = 0; name && depth < n; depth++) {
		const struct virt_name_stream *host = find(streams, n, stream->host);
		const char *outer = machine_name(host, stream->host_machine);

		if (!outer)
			break;
		prepend(parts->before, sizeof(parts->before), outer);
		stream = host;
		name = outer;
	}
	if (name && is_ambiguous(streams, n, stream, name))
		text_format(parts->after, sizeof(parts->after), " (%s)", stream->file);
}

static const char *full_name(char *buf, size_t size, const struct virt_name_parts *parts,
			     const char *name)
{
	text_format(buf, size, "%s%s%s", parts->before, name, parts->after);
	return buf;
}

const char *virt_name_machine(char *buf, size_t size, const struct virt_name_stream *streams,
			      size_t n, int stream, int32_t machine)
{
	const char *name = machine_name(find(streams, n, stream), machine);
	struct virt_name_parts parts;

	virt_name_find_parts(streams, n, stream, machine, &parts);
	return full_name(buf, size, &parts, name ? name : "?");
}

const char *virt_name_vcpu(char *buf, size_t size, const struct virt_name_stream *streams, size_t n,
			   int id, int32_t index)
{
	const struct virt_name_stream *stream = find(streams, n, id);
	const struct virt_model *model = stream ? stream->model : NULL;
	const struct virt_vcpu *vcpu = model ? virt_model_vcpu(model, index) : NULL;
	struct virt_name_parts parts = { "", "" };

	if (vcpu)
		virt_name_find_parts(streams, n, id, vcpu->machine, &parts);
	return full_name(buf, size, &parts, model ? virt_model_culprit(model, index) : "?");
}
