// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	dump_list.c
 * @brief	The table of all known events as text, CSV or JSON lines.
 */
#include <stdio.h>
#include <string.h>

#include "dump.h"
#include "table.h"

static const char *const kind_names[] = {
	[XEN_FIELD_DEC] = "dec",
	[XEN_FIELD_SDEC] = "signed",
	[XEN_FIELD_HEX] = "hex",
	[XEN_FIELD_BOOL] = "bool",
	[XEN_FIELD_NS] = "ns",
	[XEN_FIELD_CYCLES] = "cycles",
	[XEN_FIELD_VCPU] = "vcpu",
	[XEN_FIELD_DOMID] = "domid",
	[XEN_FIELD_RUNSTATE] = "runstate",
	[XEN_FIELD_EXIT_REASON] = "exit_reason",
	[XEN_FIELD_VMX_REASON] = "vmx_reason",
	[XEN_FIELD_SVM_REASON] = "svm_reason",
	[XEN_FIELD_HYPERCALL] = "hypercall",
	[XEN_FIELD_HYPERCALL_ARGS] = "hypercall_args",
	[XEN_FIELD_TRAP] = "trap",
	[XEN_FIELD_VECTOR] = "vector",
	[XEN_FIELD_PORT] = "port",
	[XEN_FIELD_MSR] = "msr",
	[XEN_FIELD_CR] = "cr",
	[XEN_FIELD_DR] = "dr",
	[XEN_FIELD_PF_ERROR] = "pf_error",
	[XEN_FIELD_GUEST_LEVELS] = "guest_levels",
	[XEN_FIELD_SHADOW_FLAGS] = "shadow_flags",
	[XEN_FIELD_PAGE_ORDER] = "page_order",
	[XEN_FIELD_DOM_SHUTDOWN] = "shutdown_reason",
};

_Static_assert(ARRAY_SIZE(kind_names) == XEN_FIELD_N_KINDS, "a name for every kind of field");

/** A layout's fields as name:kind, separated by blanks. */
static void format_fields(char *buf, size_t size, const struct xen_layout *layout)
{
	size_t n = 0;

	buf[0] = '\0';
	for (const struct xen_field *field = layout->fields; field && field->name; field++) {
		if (n < size)
			n += snprintf(buf + n, size - n, "%s%s:%s", n ? " " : "", field->name,
				      kind_names[field->kind]);
	}
}

static const struct xen_layout *first_layout(const struct xen_event *event)
{
	return event->layouts && event->layouts->n_words >= 0 ? event->layouts : NULL;
}

static void list_text(struct output *out, const struct xen_event *event)
{
	char fields[512];

	out_hex32(out, event->id);
	out_char(out, ' ');
	out_left(out, xen_event_class(event->id), strlen(xen_event_class(event->id)), 8);
	out_left(out, event->name, strlen(event->name), 28);
	out_char(out, ' ');
	out_str(out, event->symbol);
	out_str(out, "\n           ");
	out_str(out, event->help);
	out_char(out, '\n');
	for (const struct xen_layout *layout = first_layout(event); layout && layout->n_words >= 0;
	     layout++) {
		format_fields(fields, sizeof(fields), layout);
		out_str(out, "           Xen ");
		out_str(out, layout->versions);
		out_str(out, ": ");
		out_str(out, *fields ? fields : "no fields");
		out_char(out, '\n');
	}
}

/** The fields of each layout of an event. */
static void layout_members(struct json *json, const void *of)
{
	json_open(json, "layouts", '[', true);
	for (const struct xen_layout *layout = of; layout && layout->n_words >= 0; layout++) {
		json_open(json, NULL, '{', true);
		json_i64(json, "words", layout->n_words);
		json_str(json, "versions", layout->versions);
		json_open(json, "fields", '[', true);
		for (const struct xen_field *field = layout->fields; field && field->name;
		     field++) {
			json_open(json, NULL, '{', true);
			json_str(json, "name", field->name);
			json_str(json, "kind", kind_names[field->kind]);
			json_u64(json, "bits", field->width);
			json_close(json, '}');
		}
		json_close(json, ']');
		json_close(json, '}');
	}
	json_close(json, ']');
}

static const struct table_column columns[] = {
	{ .key = "event_id" },
	{ .key = "symbol" },
	{ .key = "event" },
	{ .key = "class" },
	{ .key = "words", .type = TABLE_COUNT, .not_json = true },
	{ .key = "versions", .not_json = true },
	{ .key = "fields", .not_json = true },
	{ .key = "help" },
	{ .key = "layouts", .type = TABLE_MEMBERS },
};

static const struct table table = { .rows = { TABLE_COLUMNS(columns) } };

/** CSV has a row for each layout; an event without any has one, with these columns empty. */
static void event_rows(struct table_writer *to, const struct xen_event *event)
{
	const struct xen_layout *layout = first_layout(event);
	char id[16], fields[512] = "";

	snprintf(id, sizeof(id), "0x%08x", event->id);
	do {
		if (layout)
			format_fields(fields, sizeof(fields), layout);
		table_row(to, (const struct table_cell[ARRAY_SIZE(columns)]){
			table_name(id), table_name(event->symbol), table_name(event->name),
			table_name(xen_event_class(event->id)),
			table_optional(layout, layout ? layout->n_words : 0),
			table_name(layout ? layout->versions : NULL), table_name(fields),
			table_name(event->help), table_members(layout_members, layout),
		});
	} while (to->format == &table_csv && layout && (++layout)->n_words >= 0);
}

void dump_list(const struct dump_filter *filter, enum dump_format format, struct output *out)
{
	struct table_writer to = { .table = &table, .format = dump_rows(format), .out = out };

	if (format != FORMAT_TEXT)
		table_flat(&to, true);
	for (int i = 0; i < xen_events_count(); i++) {
		const struct xen_event *event = xen_event_at(i);

		if (!dump_event_selected(filter, event->id, event->name))
			continue;
		if (format == FORMAT_TEXT)
			list_text(out, event);
		else
			event_rows(&to, event);
	}
}
