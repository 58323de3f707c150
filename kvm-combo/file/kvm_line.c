// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_line.c
 * @brief	Pack records as text, and unpack them with suspicion.
 */
#include <string.h>

#include "kvm_line.h"

/** A line without its texts. */
#define HEAD	EIGHTS(offsetof(struct kvm_line, info))

/** A field: this head, then its name and its text, if it has one, each with its end. */
struct field_head {
	uint64_t	value;
	uint16_t	name_size;	/* with the end */
	uint16_t	text_size;	/* 0: a number */
	uint32_t	is_signed;
};

/* --- fields ---------------------------------------------------------------------------------- */

void kvm_line_add_field(struct kvm_line_fields *fields, const struct kvm_line_field *field)
{
	size_t name = strlen(field->name) + 1, text = field->text ? strlen(field->text) + 1 : 0;
	size_t size = EIGHTS(sizeof(struct field_head) + name + text);
	uint8_t *to = fields->bytes + fields->n;
	struct field_head head = { .value = field->value, .is_signed = field->is_signed };

	if (name > UINT16_MAX || text > UINT16_MAX || size > sizeof(fields->bytes) - fields->n)
		return;
	head.name_size = (uint16_t)name;
	head.text_size = (uint16_t)text;
	memset(to, 0, size);
	memcpy(to, &head, sizeof(head));
	memcpy(to + sizeof(head), field->name, name);
	if (text)
		memcpy(to + sizeof(head) + name, field->text, text);
	fields->n += size;
}

bool kvm_line_field(const struct kvm_line *line, size_t *at, struct kvm_line_field *field)
{
	const char *from = line->fields;
	struct field_head head;
	size_t size;

	if (*at >= line->fields_size || line->fields_size - *at < sizeof(head))
		return false;
	from += *at;
	memcpy(&head, from, sizeof(head));
	size = EIGHTS(sizeof(head) + head.name_size + head.text_size);
	from += sizeof(head);
	if (!head.name_size || size > line->fields_size - *at || from[head.name_size - 1] ||
	    (head.text_size && from[head.name_size + head.text_size - 1]))
		return false;
	*field = (struct kvm_line_field){
		.name = from, .text = head.text_size ? from + head.name_size : NULL,
		.value = head.value, .is_signed = head.is_signed,
	};
	*at += size;
	return true;
}

/* --- lines ----------------------------------------------------------------------------------- */

size_t kvm_line_size(const struct kvm_line *line)
{
	return HEAD + EIGHTS(line->info_size) + line->fields_size;
}

void kvm_line_pack(const struct kvm_line *line, void *to)
{
	uint8_t *at = to;

	memcpy(at, line, offsetof(struct kvm_line, info));
	at += HEAD;
	if (line->info_size)
		memcpy(at, line->info, line->info_size);
	at += EIGHTS(line->info_size);
	if (line->fields_size)
		memcpy(at, line->fields, line->fields_size);
}

size_t kvm_line_unpack(const void *from, size_t size, struct kvm_line *line, void *room)
{
	const uint8_t *at = from;
	char *texts = room;
	size_t used;

	if (size < HEAD)
		return 0;
	memcpy(line, at, offsetof(struct kvm_line, info));
	if (line->cpu < 0 || line->has_lost > 1 || line->has_name > 1 ||
	    line->info_size > KVM_LINE_INFO || line->fields_size > KVM_LINE_FIELDS ||
	    line->fields_size % 8 || !memchr(line->name.comm, '\0', sizeof(line->name.comm)))
		return 0;
	used = kvm_line_size(line);
	if (used > size)
		return 0;
	memcpy(texts, at + HEAD, used - HEAD);
	if (line->info_size && texts[line->info_size - 1])
		return 0;
	line->info = line->info_size ? texts : NULL;
	line->fields = texts + EIGHTS(line->info_size);
	return used;
}
