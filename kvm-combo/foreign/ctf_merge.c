// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	ctf_merge.c
 * @brief	A sink of libbabeltrace2 that merges streams by time.
 */
#include <stdio.h>
#include <stdlib.h>

#include "ctf_merge.h"
#include "heap.h"

/** A stream, and its messages that the library has read. */
struct ctf_port {
	bt_message_iterator *iterator;	/* NULL: it has ended */
	bt_message_array_const messages;
	uint64_t	n, at;		/* of @messages; the next one */
	int64_t		ns;		/* time of the next one */
};

/* --- times of messages ----------------------------------------------------------------------- */

/** The time of a message that is no event, or NULL. */
static const bt_clock_snapshot *other_time(const bt_message *message)
{
	const bt_stream_class *class;
	const bt_packet *packet;

	switch (bt_message_get_type(message)) {
	case BT_MESSAGE_TYPE_PACKET_BEGINNING:
		packet = bt_message_packet_beginning_borrow_packet_const(message);
		class = bt_stream_borrow_class_const(bt_packet_borrow_stream_const(packet));
		return bt_stream_class_packets_have_beginning_default_clock_snapshot(class) ?
		       bt_message_packet_beginning_borrow_default_clock_snapshot_const(message) :
		       NULL;
	case BT_MESSAGE_TYPE_PACKET_END:
		packet = bt_message_packet_end_borrow_packet_const(message);
		class = bt_stream_borrow_class_const(bt_packet_borrow_stream_const(packet));
		return bt_stream_class_packets_have_end_default_clock_snapshot(class) ?
		       bt_message_packet_end_borrow_default_clock_snapshot_const(message) : NULL;
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		class = bt_stream_borrow_class_const(
			bt_message_discarded_events_borrow_stream_const(message));
		return bt_stream_class_discarded_events_have_default_clock_snapshots(class) ?
		       bt_message_discarded_events_borrow_beginning_default_clock_snapshot_const(
			       message) : NULL;
	case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
		class = bt_stream_borrow_class_const(
			bt_message_discarded_packets_borrow_stream_const(message));
		return bt_stream_class_discarded_packets_have_default_clock_snapshots(class) ?
		       bt_message_discarded_packets_borrow_beginning_default_clock_snapshot_const(
			       message) : NULL;
	default:
		return NULL;
	}
}

static const bt_clock_snapshot *time_of(const bt_message *message)
{
	if (bt_message_get_type(message) != BT_MESSAGE_TYPE_EVENT)
		return other_time(message);
	return bt_message_event_borrow_stream_class_default_clock_class_const(message) ?
	       bt_message_event_borrow_default_clock_snapshot_const(message) : NULL;
}

/* --- messages -------------------------------------------------------------------------------- */

typedef bt_component_class_sink_consume_method_status consume_status;

#define OK	BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK
#define ENDED	BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END
#define ERROR	BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR

static void drop_port(struct ctf_port *port)
{
	while (port->at < port->n)
		bt_message_put_ref(port->messages[port->at++]);
	bt_message_iterator_put_ref(port->iterator);
	port->iterator = NULL;
}

/** Read messages into a port that has none. Return: OK, also at its end, or another status. */
static consume_status refill(struct ctf_port *port)
{
	port->n = port->at = 0;
	switch (bt_message_iterator_next(port->iterator, &port->messages, &port->n)) {
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_OK:
		return OK;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_END:
		port->n = 0;
		drop_port(port);
		return OK;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_MEMORY_ERROR:
		port->n = 0;
		return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_MEMORY_ERROR;
	default:
		/* files have all that they will have, so it is never "again" */
		port->n = 0;
		return ERROR;
	}
}

static consume_status give(struct ctf_merge *merge, struct ctf_port *port)
{
	const bt_message *message = port->messages[port->at++];

	merge->error = merge->take(merge->arg, message);
	bt_message_put_ref(message);
	return merge->error ? ERROR : OK;
}

/** Give what has no time, up to a message that has one, or to the end. Return: a status. */
static consume_status find_time(struct ctf_merge *merge, struct ctf_port *port)
{
	const bt_clock_snapshot *snapshot;
	consume_status status = OK;

	while (status == OK && port->iterator) {
		if (port->at == port->n) {
			status = refill(port);
			continue;
		}
		snapshot = time_of(port->messages[port->at]);
		if (snapshot)
			return bt_clock_snapshot_get_ns_from_origin(snapshot, &port->ns) ?
			       ERROR : OK;
		status = give(merge, port);
	}
	return status;
}

/* --- the order ------------------------------------------------------------------------------- */

/** Of two messages with the same time, that of the first port comes first. */
static bool comes_before(const struct ctf_merge *merge, size_t a, size_t b)
{
	const struct ctf_port *one = &merge->ports[a], *other = &merge->ports[b];

	return one->ns != other->ns ? one->ns < other->ns : a < b;
}

#define BEFORE(a, b)	comes_before(merge, *(a), *(b))

static consume_status begin(struct ctf_merge *merge)
{
	consume_status status = OK;

	for (size_t i = 0; i < merge->n_ports && status == OK; i++) {
		status = find_time(merge, &merge->ports[i]);
		if (status != OK || !merge->ports[i].iterator)
			continue;
		merge->heap[merge->n_heap++] = i;
		HEAP_UP(merge->heap, merge->n_heap - 1, BEFORE);
	}
	return status;
}

/** The first port that is not at the top of the heap. Return: NULL: there is none. */
static const size_t *second(const struct ctf_merge *merge)
{
	const size_t *heap = merge->heap;

	if (merge->n_heap < 2)
		return NULL;
	return merge->n_heap > 2 && comes_before(merge, heap[2], heap[1]) ? &heap[2] : &heap[1];
}

/** Give messages of the first port for as long as it is first. */
static consume_status give_first(struct ctf_merge *merge)
{
	struct ctf_port *port = &merge->ports[merge->heap[0]];
	const size_t *then = second(merge);
	consume_status status;

	do {
		if (merge->has_last && port->ns < merge->last_ns) {
			merge->is_backwards = true;
			return ERROR;
		}
		merge->last_ns = port->ns;
		merge->has_last = true;
		status = give(merge, port);
		if (status == OK)
			status = find_time(merge, port);
	} while (status == OK && port->iterator &&
		 (!then || comes_before(merge, merge->heap[0], *then)));
	if (status != OK)
		return status;
	if (!port->iterator)
		merge->heap[0] = merge->heap[--merge->n_heap];
	if (merge->n_heap)
		HEAP_DOWN(merge->heap, merge->n_heap, 0, BEFORE);
	return OK;
}

/* --- the component --------------------------------------------------------------------------- */

static struct ctf_merge *merge_of(bt_self_component_sink *self)
{
	return bt_self_component_get_data(bt_self_component_sink_as_self_component(self));
}

static consume_status consume(bt_self_component_sink *self)
{
	struct ctf_merge *merge = merge_of(self);
	consume_status status = OK;

	if (!merge->has_last && !merge->n_heap)
		status = begin(merge);
	while (status == OK && merge->n_heap)
		status = give_first(merge);
	return status == OK ? ENDED : status;
}

static bt_component_class_initialize_method_status
initialize(bt_self_component_sink *self, bt_self_component_sink_configuration *configuration,
	   const bt_value *params, void *data)
{
	struct ctf_merge *merge = data;
	char name[24];

	(void)configuration;
	(void)params;
	merge->ports = calloc(merge->n_ports + 1, sizeof(*merge->ports));
	merge->heap = calloc(merge->n_ports + 1, sizeof(*merge->heap));
	bt_self_component_set_data(bt_self_component_sink_as_self_component(self), merge);
	if (!merge->ports || !merge->heap)
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	for (uint64_t i = 0; i < merge->n_ports; i++) {
		snprintf(name, sizeof(name), "in%llu", (unsigned long long)i);
		if (bt_self_component_sink_add_input_port(self, name, NULL, NULL) !=
		    BT_SELF_COMPONENT_ADD_PORT_STATUS_OK)
			return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	}
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static bt_component_class_sink_graph_is_configured_method_status
make_iterators(bt_self_component_sink *self)
{
	struct ctf_merge *merge = merge_of(self);

	for (uint64_t i = 0; i < merge->n_ports; i++) {
		bt_self_component_port_input *port =
			bt_self_component_sink_borrow_input_port_by_index(self, i);

		if (bt_message_iterator_create_from_sink_component(self, port,
								   &merge->ports[i].iterator) !=
		    BT_MESSAGE_ITERATOR_CREATE_FROM_SINK_COMPONENT_STATUS_OK)
			return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_ERROR;
	}
	return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_OK;
}

static void finalize(bt_self_component_sink *self)
{
	struct ctf_merge *merge = merge_of(self);

	for (uint64_t i = 0; merge->ports && i < merge->n_ports; i++)
		drop_port(&merge->ports[i]);
	free(merge->ports);
	free(merge->heap);
	merge->ports = NULL;
	merge->heap = NULL;
}

static bt_component_class_get_supported_mip_versions_method_status
all_versions(bt_self_component_class_sink *self, const bt_value *params, void *data,
	     bt_logging_level level, bt_integer_range_set_unsigned *versions)
{
	(void)self;
	(void)params;
	(void)data;
	(void)level;
	return bt_integer_range_set_unsigned_add_range(versions, 0,
						       bt_get_maximal_mip_version()) ?
	       BT_COMPONENT_CLASS_GET_SUPPORTED_MIP_VERSIONS_METHOD_STATUS_MEMORY_ERROR :
	       BT_COMPONENT_CLASS_GET_SUPPORTED_MIP_VERSIONS_METHOD_STATUS_OK;
}

bool ctf_merge_add(struct ctf_merge *merge, bt_graph *graph, const bt_component_sink **sink)
{
	bt_component_class_sink *class = bt_component_class_sink_create("merge", consume);
	bool ok;

	if (!class)
		return false;
	bt_component_class_sink_set_initialize_method(class, initialize);
	bt_component_class_sink_set_graph_is_configured_method(class, make_iterators);
	bt_component_class_sink_set_finalize_method(class, finalize);
	bt_component_class_sink_set_get_supported_mip_versions_method(class, all_versions);
	ok = bt_graph_add_sink_component_with_initialize_method_data(
		graph, class, "trace.dat", NULL, merge, BT_LOGGING_LEVEL_NONE, sink) ==
	     BT_GRAPH_ADD_COMPONENT_STATUS_OK;
	bt_component_class_sink_put_ref(class);
	return ok;
}
