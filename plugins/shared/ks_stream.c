// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	ks_stream.c
 * @brief	Plugins, time offsets and notes of KernelShark's data streams.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <KsCmakeDef.hpp>	/* plain preprocessor: KernelShark's own plugins */
#include <libkshark.h>
#include <libkshark-plugin.h>

#include "escape.h"
#include "ks_clock.h"
#include "ks_stream.h"

bool ks_stream_has_cpus(const struct kshark_data_stream *stream)
{
	return stream->n_cpus > 0 && strcmp(stream->data_format, KS_STREAM_MONITOR) != 0;
}

int64_t ks_stream_offset(int stream_id)
{
	struct kshark_context *kshark = NULL;
	struct kshark_data_stream *stream;
	int64_t ns = 0;

	if (!kshark_instance(&kshark))
		return 0;
	stream = kshark_get_data_stream(kshark, stream_id);
	if (ks_clock_of(stream))
		return ks_clock_of(stream)[KS_CLOCK_OFFSET];
	/* The only calibration that KernelShark has is an offset. */
	if (stream && stream->calib && stream->calib_array)
		stream->calib(&ns, stream->calib_array);
	return ns;
}

/** Does this plugin belong to KernelShark itself? Those know what they want to be attached to. */
static bool is_builtin(const struct kshark_plugin_list *plugin)
{
	static const char prefix[] = KS_PLUGIN_INSTALL_PREFIX "/plugin-";
	static const char names[] = ";" KS_BUILTIN_PLUGINS ";";
	char name[64];

	if (strncmp(plugin->file, prefix, strlen(prefix)) != 0)
		return false;
	snprintf(name, sizeof(name), ";%s", plugin->file + strlen(prefix));
	if (!strstr(name, ".so"))
		return false;
	strcpy(strstr(name, ".so"), ";");
	return strstr(names, name) != NULL;
}

static bool has_plugin(const struct kshark_data_stream *stream, const struct kshark_dpi *plugin)
{
	for (const struct kshark_dpi_list *p = stream->plugins; p; p = p->next)
		if (p->interface == plugin)
			return true;
	return false;
}

void ks_stream_attach_plugins(struct kshark_data_stream *stream)
{
	struct kshark_context *kshark = NULL;

	if (!kshark_instance(&kshark) || kshark->n_streams < 2)
		return;
	for (struct kshark_plugin_list *p = kshark->plugins; p; p = p->next)
		if (p->process_interface && !is_builtin(p) &&
		    !has_plugin(stream, p->process_interface))
			kshark_handle_dpi(stream, kshark_register_plugin_to_stream(stream,
					  p->process_interface, true), KSHARK_PLUGIN_INIT);
}

void ks_stream_note(const struct kshark_data_stream *stream, enum virt_note note,
		    const char *text)
{
	const char *file = stream->file ? stream->file : "", *slash = strrchr(file, '/');
	size_t folder = slash ? (size_t)(slash + 1 - file) : 0;
	bool has_folder = text && !strncmp(text, file, folder);
	char *shown = text && *text ? escape_dup(text + (has_folder ? folder : 0)) : NULL;

	virt_registry_set_note(stream->stream_id, note, shown);
	free(shown);
}

void ks_stream_note_clock(const struct kshark_data_stream *stream, uint64_t hz,
			  const char *source)
{
	char text[128] = "";

	if (hz)
		snprintf(text, sizeof(text), "%llu.%03llu MHz, %s",
			 (unsigned long long)(hz / 1000000),
			 (unsigned long long)(hz / 1000 % 1000), source);
	ks_stream_note(stream, VIRT_NOTE_CLOCK, text);
}
