// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xen_events.c
 * @brief	The table of xen_events.def in memory, and everything that is derived from it.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "array.h"
#include "xen_events.h"
#include "xentrace_reader.h"

/*
 * The rows of xen_events.def:
 *
 * F(name, word, shift, width, kind): one field, see struct xen_field.
 * LAYOUT(n_words, versions, F()...): one payload layout, see struct xen_layout.
 */
#define F(name_, word_, shift_, width_, kind_) \
	{ #name_, word_, shift_, width_, XEN_FIELD_##kind_ }
#define LAYOUT(n_words_, versions_, ...) \
	{ n_words_, versions_, \
	  (const struct xen_field[]){ __VA_ARGS__ __VA_OPT__(,) { .name = NULL } } }
#define XEN_EVENT(symbol_, id_, name_, help_, ...) \
	{ id_, #symbol_, name_, help_, \
	  (const struct xen_layout[]){ __VA_ARGS__ __VA_OPT__(,) { .n_words = -1 } } },

static const struct xen_event events[] = {
#include "xen_events.def"
};

#undef LAYOUT
#undef F

#define N_EVENTS	((int)ARRAY_SIZE(events))

/* The event ids by hash: open addressing, at most a quarter full. */
#define HASH_BITS	11
#define HASH_SIZE	(1u << HASH_BITS)

_Static_assert(ARRAY_SIZE(events) <= HASH_SIZE / 4, "enlarge HASH_BITS");

struct hash_slot {
	uint32_t	id;
	int32_t		index_plus_1;	/* 0: this slot is free */
};

static struct hash_slot hash[HASH_SIZE];
static int guest_index;
static atomic_bool hash_ready;
static pthread_once_t hash_once = PTHREAD_ONCE_INIT;

static inline uint32_t hash_of(uint32_t id)
{
	return (id * 2654435769u) >> (32 - HASH_BITS);
}

static void hash_build(void)
{
	uint32_t h;
	int i;

	for (i = 0; i < N_EVENTS; i++) {
		h = hash_of(events[i].id);
		while (hash[h].index_plus_1)
			h = (h + 1) % HASH_SIZE;
		hash[h].id = events[i].id;
		hash[h].index_plus_1 = i + 1;
		if (events[i].id == XEN_TRC_GUEST)
			guest_index = i;
	}
	atomic_store_explicit(&hash_ready, true, memory_order_release);
}

int xen_events_count(void)
{
	return N_EVENTS;
}

const struct xen_event *xen_event_at(int index)
{
	if (index < 0 || index >= N_EVENTS)
		return NULL;
	return &events[index];
}

int xen_event_index(uint32_t id)
{
	uint32_t h;

	if (!atomic_load_explicit(&hash_ready, memory_order_acquire))
		pthread_once(&hash_once, hash_build);

	for (h = hash_of(id); hash[h].index_plus_1; h = (h + 1) % HASH_SIZE)
		if (hash[h].id == id)
			return hash[h].index_plus_1 - 1;

	/* Guests number their records as they like, all within one subclass. */
	if ((id & ~0xfffu) == XEN_TRC_GUEST)
		return guest_index;
	return -1;
}

int xen_event_find(const char *name)
{
	int i;

	for (i = 0; i < N_EVENTS; i++)
		if (!strcmp(events[i].name, name))
			return i;
	return -1;
}

int xen_event_name(char *buf, size_t size, uint32_t id)
{
	const struct xen_event *event = xen_event_at(xen_event_index(id));

	return event ? snprintf(buf, size, "%s", event->name)
		     : snprintf(buf, size, "unknown_0x%08x", id);
}

const char *xen_event_class(uint32_t id)
{
	static const struct {
		uint32_t	bits;
		const char	*name;
	} classes[] = {
#define XEN_CLASS(symbol_, bits_, name_) { bits_, name_ },
#include "xen_events.def"
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(classes); i++)
		if (classes[i].bits == id >> XEN_TRC_CLASS_SHIFT)
			return classes[i].name;
	return "unknown";
}

/** Do as many words follow as the hypercall has arguments? */
static bool has_args(const struct xen_layout *layout)
{
	for (const struct xen_field *field = layout->fields; field->name; field++) {
		if (field->kind == XEN_FIELD_HYPERCALL_ARGS)
			return true;
	}
	return false;
}

const struct xen_layout *xen_event_layout(const struct xen_event *event, unsigned int n_words)
{
	const struct xen_layout *layout, *shorter = NULL;

	for (layout = event->layouts; layout->n_words >= 0; layout++) {
		unsigned int n = layout->n_words;

		if (n == n_words)
			return layout;
		if (n < n_words && has_args(layout) &&
		    (!shorter || layout->n_words > shorter->n_words))
			shorter = layout;
	}
	return shorter;
}

static uint64_t low_bits(uint64_t value, unsigned int width)
{
	return width < 64 ? value & ((UINT64_C(1) << width) - 1) : value;
}

static uint64_t sign_extend(uint64_t value, unsigned int width)
{
	uint64_t sign;

	if (!width || width >= 64)
		return value;
	sign = UINT64_C(1) << (width - 1);
	return (low_bits(value, width) ^ sign) - sign;
}

/* Two words, the low one first. */
static uint64_t word_pair(const struct xentrace_record *rec, unsigned int i)
{
	return xentrace_word(rec, i) | (uint64_t)xentrace_word(rec, i + 1) << 32;
}

/* Return: false if the record is too short to have that field. */
static bool field_value(const struct xentrace_record *rec, const struct xen_field *field,
			uint64_t *value)
{
	uint64_t raw;

	if (field->word == XEN_FIELD_FROM_ID) {
		raw = rec->event;
	} else if (field->width == 64) {
		if (field->word + 1 >= rec->n_words)
			return false;
		raw = word_pair(rec, field->word);
	} else {
		if (field->word >= rec->n_words)
			return false;
		raw = xentrace_word(rec, field->word);
	}

	raw = low_bits(raw >> field->shift, field->width);
	*value = field->kind == XEN_FIELD_SDEC ? sign_extend(raw, field->width) : raw;
	return true;
}

/*
 * The packed arguments of TRC_PV_HYPERCALL_V2 (xen/include/public/trace.h): two bits for each of
 * them from bit 20 of word 0 on, 0 absent, 1 one word, 2 two words; the arguments follow in order.
 *
 * @end: receives the number of the first word after them
 */
#define HYPERCALL_MAX_ARGS	6

static int visit_hypercall_args(const struct xentrace_record *rec, xen_field_fn fn, void *arg,
				unsigned int *end)
{
	static const char *const names[HYPERCALL_MAX_ARGS] = { "a0", "a1", "a2", "a3", "a4", "a5" };
	uint32_t present = xentrace_word(rec, 0) >> 20;
	unsigned int word = 1, n, i;
	uint64_t value;
	int ret;

	*end = word;
	for (i = 0; i < HYPERCALL_MAX_ARGS; i++) {
		n = present >> (2 * i) & 3;
		/* 3 is reserved: the length of such an argument is unknown. */
		if (n == 3 || word + n > rec->n_words)
			break;
		if (!n)
			continue;
		value = n == 2 ? word_pair(rec, word) : xentrace_word(rec, word);
		word += n;
		*end = word;
		ret = fn(arg, names[i], XEN_FIELD_HEX, 32 * n, value);
		if (ret)
			return ret;
	}
	return 0;
}

static int visit_words(const struct xentrace_record *rec, unsigned int first,
		       const char *const *names, xen_field_fn fn, void *arg)
{
	unsigned int i;
	int ret;

	for (i = first; i < rec->n_words && i < XENTRACE_MAX_WORDS; i++) {
		ret = fn(arg, names[i], XEN_FIELD_HEX, 32, xentrace_word(rec, i));
		if (ret)
			return ret;
	}
	return 0;
}

/** The fields in the id of an event, whatever its payload is. */
static int visit_id(const struct xentrace_record *rec, const struct xen_layout *layout,
		    xen_field_fn fn, void *arg)
{
	uint64_t value;
	int ret = 0;

	if (layout->n_words < 0)
		return 0;
	for (const struct xen_field *field = layout->fields; field->name && !ret; field++) {
		if (field->word == XEN_FIELD_FROM_ID && field_value(rec, field, &value))
			ret = fn(arg, field->name, field->kind, field->width, value);
	}
	return ret;
}

int xen_record_fields(const struct xentrace_record *rec, xen_field_fn fn, void *arg)
{
	/* Both count from the payload's first word. */
	static const char *const word_names[XENTRACE_MAX_WORDS] = {
		"w0", "w1", "w2", "w3", "w4", "w5", "w6"
	};
	static const char *const extra_names[XENTRACE_MAX_WORDS] = {
		"extra0", "extra1", "extra2", "extra3", "extra4", "extra5", "extra6"
	};
	const struct xen_event *event = xen_event_at(xen_event_index(rec->event));
	const struct xen_layout *layout;
	const struct xen_field *field;
	unsigned int known = 0, end;
	uint64_t value;
	int ret;

	if (!event)
		return visit_words(rec, 0, word_names, fn, arg);

	layout = xen_event_layout(event, rec->n_words);
	if (!layout) {
		ret = visit_id(rec, event->layouts, fn, arg);
		return ret ? ret : visit_words(rec, 0, word_names, fn, arg);
	}

	known = layout->n_words;
	for (field = layout->fields; field->name; field++) {
		if (!field_value(rec, field, &value))
			continue;
		if (field->kind == XEN_FIELD_HYPERCALL_ARGS) {
			ret = visit_hypercall_args(rec, fn, arg, &end);
			/* Nothing but arguments can follow, whatever length the layout states. */
			known = end;
		} else {
			ret = fn(arg, field->name, field->kind, field->width, value);
		}
		if (ret)
			return ret;
	}
	return visit_words(rec, known, extra_names, fn, arg);
}

struct field_search {
	const char	*name;
	int64_t		value;
};

static int field_matches(void *arg, const char *name, enum xen_field_kind kind,
			 unsigned int width, uint64_t value)
{
	struct field_search *search = arg;

	(void)kind;
	(void)width;
	if (strcmp(name, search->name))
		return 0;
	search->value = (int64_t)value;
	return 1;
}

int xen_record_field(const struct xentrace_record *rec, const char *name, int64_t *value)
{
	struct field_search search = { .name = name };

	if (!xen_record_fields(rec, field_matches, &search))
		return -ENOENT;
	*value = search.value;
	return 0;
}

int xen_event_word(uint32_t id, unsigned int n_words, const char *name)
{
	const struct xen_event *event = xen_event_at(xen_event_index(id));
	const struct xen_layout *layout = event ? xen_event_layout(event, n_words) : NULL;

	for (const struct xen_field *field = layout ? layout->fields : NULL; field && field->name;
	     field++) {
		if (!strcmp(field->name, name) && field->word < n_words && !field->shift &&
		    field->width == 32)
			return field->word;
	}
	return -1;
}

const char *xen_runstate_name(uint32_t runstate)
{
	/* xen/include/public/vcpu.h, RUNSTATE_* */
	static const char *const names[] = { "running", "runnable", "blocked", "offline" };

	return runstate < ARRAY_SIZE(names) ? names[runstate] : NULL;
}

/* xen/include/public/xen.h, DOMID_*: the ids that no ordinary domain has. */
static const char *reserved_domain(uint64_t domid)
{
	static const struct {
		uint16_t	domid;
		const char	*name;
	} reserved[] = {
		{ 0x7ff0, "self" },
		{ 0x7ff1, "io" },
		{ 0x7ff2, "xen" },
		{ 0x7ff3, "cow" },
		{ 0x7ff4, "invalid" },
		{ 0x7ff5, "any" },
		{ 0x7fff, "idle" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(reserved); i++)
		if (reserved[i].domid == domid)
			return reserved[i].name;
	return NULL;
}

/* Bounded text that knows how long it would have become, as snprintf() does. */
struct text {
	char	*buf;
	size_t	size;
	size_t	len;
};

/* Byte by byte: the pieces are too short for calls of strlen() and memcpy() to pay. */
static inline void text_mem(struct text *text, const char *add, size_t n)
{
	size_t room = text->len < text->size ? text->size - text->len : 0;
	char *to = room ? text->buf + text->len : NULL;
	size_t i;

	for (i = 0; i < n && i + 1 < room; i++)
		to[i] = add[i];
	if (room)
		to[i] = '\0';
	text->len += n;
}

static void text_str(struct text *text, const char *add)
{
	size_t room = text->len < text->size ? text->size - text->len : 0;
	char *to = room ? text->buf + text->len : NULL;
	size_t i;

	for (i = 0; add[i] && i + 1 < room; i++)
		to[i] = add[i];
	if (room)
		to[i] = '\0';
	text->len += add[i] ? i + strlen(add + i) : i;
}

/* No printf from here on: texts are made for every row of a list or a dump. */
static void text_dec(struct text *text, uint64_t value)
{
	char digits[20], *at = digits + sizeof(digits);

	/* the division of 32 bits is faster, and most numbers are as small */
	while (value > UINT32_MAX) {
		*--at = '0' + value % 10;
		value /= 10;
	}
	for (uint32_t rest = value; rest || at == digits + sizeof(digits); rest /= 10)
		*--at = '0' + rest % 10;
	text_mem(text, at, digits + sizeof(digits) - at);
}

static void text_hex_padded(struct text *text, uint64_t value, unsigned int min_digits)
{
	char digits[2 + 16], *end = digits + sizeof(digits), *at = end;

	do {
		*--at = "0123456789abcdef"[value & 0xf];
		value >>= 4;
	} while (value || at > end - min_digits);
	*--at = 'x';
	*--at = '0';
	text_mem(text, at, end - at);
}

static void text_hex(struct text *text, uint64_t value)
{
	text_hex_padded(text, value, 1);
}

static void add_domain(struct text *text, uint64_t domid)
{
	const char *name = reserved_domain(domid);

	if (name) {
		text_str(text, "d[");
		text_str(text, name);
		text_str(text, "]");
	} else {
		text_str(text, "d");
		text_dec(text, domid);
	}
}

/* A number with its name in parentheses, if it has one. */
static void add_named(struct text *text, uint64_t value, const char *name, bool hex)
{
	if (hex)
		text_hex(text, value);
	else
		text_dec(text, value);
	if (name) {
		text_str(text, " (");
		text_str(text, name);
		text_str(text, ")");
	}
}

/* A number in hex with the names of its bits; bits without a name only show in the number. */
static void add_flags(struct text *text, uint64_t value, const char *const *names, size_t n_names)
{
	const char *before = " (";
	bool any = false;
	size_t i;

	text_hex(text, value);
	for (i = 0; i < n_names; i++) {
		if (!(value >> i & 1) || !names[i])
			continue;
		text_str(text, before);
		text_str(text, names[i]);
		before = " ";
		any = true;
	}
	if (any)
		text_str(text, ")");
}

static void add_name_or_dec(struct text *text, uint64_t value, const char *name)
{
	if (name)
		text_str(text, name);
	else
		text_dec(text, value);
}

static void add_dec(struct text *text, unsigned int width, uint64_t value)
{
	(void)width;
	text_dec(text, value);
}

static void add_sdec(struct text *text, unsigned int width, uint64_t value)
{
	value = sign_extend(value, width);
	if ((int64_t)value < 0) {
		text_str(text, "-");
		value = -value;
	}
	text_dec(text, value);
}

static void add_hex(struct text *text, unsigned int width, uint64_t value)
{
	(void)width;
	text_hex(text, value);
}

static void add_bool(struct text *text, unsigned int width, uint64_t value)
{
	(void)width;
	text_str(text, value ? "yes" : "no");
}

/* Xen's "no limit" is -1, which no real time comes near to in practice. */
static void add_ns(struct text *text, unsigned int width, uint64_t value)
{
	if (value == low_bits(UINT64_MAX, width)) {
		text_str(text, "none");
		return;
	}
	text_dec(text, value);
	text_str(text, "ns");
}

static void add_vcpu(struct text *text, unsigned int width, uint64_t value)
{
	(void)width;
	/* null:schedule sets both halves to -1 if there is no vCPU. */
	if (value == UINT32_MAX) {
		text_str(text, "none");
		return;
	}
	add_domain(text, value >> 16 & 0xffff);
	text_str(text, "v");
	text_dec(text, value & 0xffff);
}

static void add_domid(struct text *text, unsigned int width, uint64_t value)
{
	(void)width;
	add_domain(text, value);
}

static void add_runstate(struct text *text, unsigned int width, uint64_t value)
{
	(void)width;
	add_name_or_dec(text, value, xen_runstate_name(value));
}

/* The basic reason is in the low half; the high half has flags, such as bit 31, entry failed. */
static void add_vmx_reason(struct text *text, unsigned int width, uint64_t value)
{
	const char *name = xen_vmx_exit_name(value & 0xffff);

	if (!name) {
		add_hex(text, width, value);
		return;
	}
	text_str(text, name);
	if (value & ~UINT64_C(0xffff)) {
		text_str(text, "|");
		text_hex(text, value & ~UINT64_C(0xffff));
	}
}

static void add_svm_reason(struct text *text, unsigned int width, uint64_t value)
{
	const char *name = xen_svm_exit_name(value);

	if (name)
		text_str(text, name);
	else
		add_hex(text, width, value);
}

static void add_hypercall(struct text *text, unsigned int width, uint64_t value)
{
	(void)width;
	add_named(text, value, xen_hypercall_name(value), false);
}

static void add_trap(struct text *text, unsigned int width, uint64_t value)
{
	(void)width;
	add_named(text, value, xen_trap_name(value), false);
}

static void add_vector(struct text *text, unsigned int width, uint64_t value)
{
	(void)width;
	text_hex_padded(text, value, 2);
}

static void add_msr(struct text *text, unsigned int width, uint64_t value)
{
	(void)width;
	add_named(text, value, xen_msr_name(value), true);
}

static void add_cr(struct text *text, unsigned int width, uint64_t value)
{
	(void)width;
	text_str(text, "cr");
	text_dec(text, value);
}

static void add_dr(struct text *text, unsigned int width, uint64_t value)
{
	(void)width;
	text_str(text, "dr");
	text_dec(text, value);
}

static void add_pf_error(struct text *text, unsigned int width, uint64_t value)
{
	/* As the processors define them: Intel SDM, volume 3, and AMD APM, volume 2. */
	static const char *const bits[32] = {
		[0] = "present", [1] = "write", [2] = "user", [3] = "reserved", [4] = "fetch",
		[5] = "pkey", [6] = "shadow_stack", [15] = "sgx", [31] = "rmp",
	};

	(void)width;
	add_flags(text, value, bits, ARRAY_SIZE(bits));
}

/* Xen puts the number of levels less 2 into the event id: shadow/multi.c, trace_shadow_*(). */
static void add_guest_levels(struct text *text, unsigned int width, uint64_t value)
{
	(void)width;
	text_dec(text, value + 2);
}

static void add_shadow_flags(struct text *text, unsigned int width, uint64_t value)
{
	/* xen/arch/x86/mm/shadow/private.h, TRCE_SFLAG_*; the same since 4.4. */
	static const char *const bits[] = {
		"set_ad", "set_a", "shadow_l1_get_ref", "shadow_l1_put_ref", "l2_propagate",
		"set_changed", "set_flush", "set_error", "demote", "promote", "wrmap",
		"wrmap_guess_found", "wrmap_brute_force", "early_unshadow",
		"emulation_2nd_pt_written", "emulation_last_failed", "emulate_full_pt",
		"prealloc_unhook", "unsync", "oos_fixup_add", "oos_fixup_evict",
	};

	(void)width;
	add_flags(text, value, bits, ARRAY_SIZE(bits));
}

static void add_dom_shutdown(struct text *text, unsigned int width, uint64_t value)
{
	/* xen/include/public/sched.h, SHUTDOWN_* */
	static const char *const names[] = {
		"poweroff", "reboot", "suspend", "crash", "watchdog", "soft_reset"
	};

	(void)width;
	add_name_or_dec(text, value, value < ARRAY_SIZE(names) ? names[value] : NULL);
}

static void (*const add_kind[XEN_FIELD_N_KINDS])(struct text *, unsigned int, uint64_t) = {
	[XEN_FIELD_DEC]		= add_dec,
	[XEN_FIELD_SDEC]	= add_sdec,
	[XEN_FIELD_HEX]		= add_hex,
	[XEN_FIELD_BOOL]	= add_bool,
	[XEN_FIELD_NS]		= add_ns,
	[XEN_FIELD_CYCLES]	= add_dec,
	[XEN_FIELD_VCPU]	= add_vcpu,
	[XEN_FIELD_DOMID]	= add_domid,
	[XEN_FIELD_RUNSTATE]	= add_runstate,
	[XEN_FIELD_EXIT_REASON]	= add_hex,	/* of unknown instruction set */
	[XEN_FIELD_VMX_REASON]	= add_vmx_reason,
	[XEN_FIELD_SVM_REASON]	= add_svm_reason,
	[XEN_FIELD_HYPERCALL]	= add_hypercall,
	[XEN_FIELD_HYPERCALL_ARGS] = add_hex,
	[XEN_FIELD_TRAP]	= add_trap,
	[XEN_FIELD_VECTOR]	= add_vector,
	[XEN_FIELD_PORT]	= add_hex,
	[XEN_FIELD_MSR]		= add_msr,
	[XEN_FIELD_CR]		= add_cr,
	[XEN_FIELD_DR]		= add_dr,
	[XEN_FIELD_PF_ERROR]	= add_pf_error,
	[XEN_FIELD_GUEST_LEVELS] = add_guest_levels,
	[XEN_FIELD_SHADOW_FLAGS] = add_shadow_flags,
	[XEN_FIELD_PAGE_ORDER]	= add_dec,
	[XEN_FIELD_DOM_SHUTDOWN] = add_dom_shutdown,
};

static void add_field(struct text *text, enum xen_field_kind kind, unsigned int width,
		      uint64_t value, enum xen_isa isa)
{
	if (kind == XEN_FIELD_EXIT_REASON && isa == XEN_ISA_VMX)
		kind = XEN_FIELD_VMX_REASON;
	if (kind == XEN_FIELD_EXIT_REASON && isa == XEN_ISA_SVM)
		kind = XEN_FIELD_SVM_REASON;
	if ((unsigned int)kind >= XEN_FIELD_N_KINDS)
		kind = XEN_FIELD_HEX;
	add_kind[kind](text, width, value);
}

/* A text starts empty even if nothing is added to it. */
static struct text text_begin(char *buf, size_t size)
{
	if (size)
		buf[0] = '\0';
	return (struct text){ .buf = buf, .size = size };
}

int xen_field_text(char *buf, size_t size, enum xen_field_kind kind, unsigned int width,
		   uint64_t value, enum xen_isa isa)
{
	struct text text = text_begin(buf, size);

	add_field(&text, kind, width, value, isa);
	return text.len;
}

struct info {
	struct text	text;
	enum xen_isa	isa;
};

static int info_add(void *arg, const char *name, enum xen_field_kind kind, unsigned int width,
		    uint64_t value)
{
	struct info *info = arg;

	if (info->text.len)
		text_mem(&info->text, " ", 1);
	text_str(&info->text, name);
	text_mem(&info->text, "=", 1);
	add_field(&info->text, kind, width, value, info->isa);
	return 0;
}

int xen_record_info(char *buf, size_t size, const struct xentrace_record *rec, enum xen_isa isa)
{
	struct info info = { .text = text_begin(buf, size), .isa = isa };

	xen_record_fields(rec, info_add, &info);
	return info.text.len;
}
