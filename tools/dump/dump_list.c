// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	dump_list.c
 * @brief	The table of all known events as text, CSV or JSON lines.
 */
#include <stdio.h>
#include <string.h>

#include "dump.h"

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

/** One row per layout; an event without any has one, with these columns empty. */
static void list_csv(struct output *out, const struct xen_event *event)
{
	const struct xen_layout *layout = first_layout(event);
	char fields[512];

	do {
		out_hex32(out, event->id);
		out_char(out, ',');
		out_csv(out, event->symbol, strlen(event->symbol));
		out_char(out, ',');
		out_csv(out, event->name, strlen(event->name));
		out_char(out, ',');
		out_str(out, xen_event_class(event->id));
		out_char(out, ',');
		if (layout) {
			format_fields(fields, sizeof(fields), layout);
			out_u64(out, layout->n_words);
			out_char(out, ',');
			out_csv(out, layout->versions, strlen(layout->versions));
			out_char(out, ',');
			out_csv(out, fields, strlen(fields));
			layout++;
		} else {
			out_mem(out, ",,", 2);
		}
		out_char(out, ',');
		out_csv(out, event->help, strlen(event->help));
		out_char(out, '\n');
	} while (layout && layout->n_words >= 0);
}

static void json_member(struct output *out, const char *key, const char *value)
{
	out_json(out, key, strlen(key));
	out_char(out, ':');
	out_json(out, value, strlen(value));
}

static void list_json_layout(struct output *out, const struct xen_layout *layout)
{
	out_str(out, "{\"words\":");
	out_u64(out, layout->n_words);
	out_char(out, ',');
	json_member(out, "versions", layout->versions);
	out_str(out, ",\"fields\":[");
	for (const struct xen_field *field = layout->fields; field && field->name; field++) {
		out_str(out, field == layout->fields ? "{" : ",{");
		json_member(out, "name", field->name);
		out_char(out, ',');
		json_member(out, "kind", kind_names[field->kind]);
		out_str(out, ",\"bits\":");
		out_u64(out, field->width);
		out_char(out, '}');
	}
	out_str(out, "]}");
}

static void list_json(struct output *out, const struct xen_event *event)
{
	const struct xen_layout *first = first_layout(event);

	out_str(out, "{\"event_id\":\"");
	out_hex32(out, event->id);
	out_str(out, "\",");
	json_member(out, "symbol", event->symbol);
	out_char(out, ',');
	json_member(out, "event", event->name);
	out_char(out, ',');
	json_member(out, "class", xen_event_class(event->id));
	out_char(out, ',');
	json_member(out, "help", event->help);
	out_str(out, ",\"layouts\":[");
	for (const struct xen_layout *layout = first; layout && layout->n_words >= 0; layout++) {
		if (layout != first)
			out_char(out, ',');
		list_json_layout(out, layout);
	}
	out_str(out, "]}\n");
}

static void (*const listers[N_FORMATS])(struct output *, const struct xen_event *) = {
	[FORMAT_TEXT] = list_text,
	[FORMAT_CSV] = list_csv,
	[FORMAT_JSON] = list_json,
};

void dump_list(const struct dump_filter *filter, enum dump_format format, struct output *out)
{
	if (format == FORMAT_CSV)
		out_str(out, "event_id,symbol,event,class,words,versions,fields,help\n");
	for (int i = 0; i < xen_events_count(); i++) {
		const struct xen_event *event = xen_event_at(i);

		if (dump_event_selected(filter, event->id, event->name))
			listers[format](out, event);
	}
}
