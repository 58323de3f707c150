// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	ks_methods.c
 * @brief	Methods of KernelShark's streams that all our input plugins share.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ks_methods.h"

int ks_methods_pid(struct kshark_data_stream *stream, const struct kshark_entry *entry)
{
	(void)stream;
	return entry->pid;
}

int ks_methods_event_id(struct kshark_data_stream *stream, const struct kshark_entry *entry)
{
	(void)stream;
	return entry->event_id;
}

char *ks_methods_no_aux_info(struct kshark_data_stream *stream, const struct kshark_entry *entry)
{
	(void)stream;
	(void)entry;
	return strdup("");
}

int *ks_methods_all_event_ids(struct kshark_data_stream *stream)
{
	int *ids = calloc((size_t)stream->n_events + 1, sizeof(*ids));

	for (int i = 0; ids && i < stream->n_events; i++)
		ids[i] = i;
	return ids;
}

char *ks_methods_dump(struct kshark_data_stream *stream, const struct kshark_entry *entry)
{
	struct kshark_generic_stream_interface *interface = stream->interface;
	char *task = interface->get_task(stream, entry);
	char *name = interface->get_event_name(stream, entry);
	char *aux = interface->aux_info(stream, entry), *info = interface->get_info(stream, entry);
	char *text = NULL;

	if (task && name && aux && info &&
	    asprintf(&text, "%lli.%09lli; %s-%i; CPU %i; %s; %s; %s; 0x%x",
		     (long long)(entry->ts / 1000000000), (long long)llabs(entry->ts % 1000000000),
		     task, entry->pid, entry->cpu, aux, name, info, entry->visible) < 0)
		text = NULL;
	free(task);
	free(name);
	free(aux);
	free(info);
	return text;
}
