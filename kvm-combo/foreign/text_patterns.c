// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	text_patterns.c
 * @brief	The table of printed events, and the code that reads a text by it.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "exit_reasons.h"
#include "hash_bytes.h"
#include "kvm_tracker.h"
#include "text_patterns.h"

/** No event has more forms. */
#define MOST_FORMS	4

/** Events of requests to disks. Brackets enclose a command, which reads do not have. */
#define BLOCK_REQUEST	"dev sector nr_sector bytes rwbs", {				\
	"%b:dev %t:rwbs %d:bytes () %d:sector + %d:nr_sector" }
#define BLOCK_END	"dev sector nr_sector error rwbs", {				\
	"%b:dev %t:rwbs () %d:sector + %d:nr_sector [%d:error",				\
	"%b:dev %t:rwbs () %d:sector + %d:nr_sector %_ [%d:error" }
#define BLOCK_BIO	"dev sector nr_sector rwbs", {					\
	"%b:dev %t:rwbs %d:sector + %d:nr_sector" }

/**
 * Events with their fields and the forms of their texts. Sources: TP_printk() of Linux's
 * arch/x86/kvm/trace.h, include/trace/events/kvm.h, sched.h, irq.h, power.h, block.h, lock.h; and
 * libtraceevent's plugins/plugin_kvm.c and plugin_sched_switch.c, by which trace-cmd prints.
 * Fields that no form has are looked for as "name=value", which is what most events print, and
 * 'trace-cmd report -R' prints of all.
 *
 * In a form, %X:field reads a value: d a decimal number or 0x..., n one below 0 that is printed
 * without its sign, x a hexadecimal one, c the name of a thread, s its state, r an exit reason
 * (which also sets "isa"), w read 0 or write 1, m the same of MMIO, l unload 0 or load 1, v a
 * delivery mode, q polling 0 or a wait 1, b the numbers of a disk, f flags of a lock, t a text of
 * one word, _ a word. Without a field, it is skipped. =field:N sets a field. A blank stands for
 * one or more. What follows a form is not read.
 */
static const struct text_event {
	const char	*system, *name;
	const char	*fields;	/* "comm" names a thread, "name" and "rwbs" are texts */
	const char	*forms[MOST_FORMS];
} events[] = {
	{ "kvm", "kvm_entry", "vcpu_id", { "vcpu %d:vcpu_id" } },
	{ "kvm", "kvm_exit", "exit_reason guest_rip isa vcpu_id", {
	  "vcpu %d:vcpu_id reason %r:exit_reason rip %d:guest_rip",
	  "reason %r:exit_reason rip %d:guest_rip" } },
	{ "kvm", "kvm_userspace_exit", "reason errno", {
	  "reason restart (%n:errno", "reason error (%n:errno",
	  "reason %_ (%d:reason)=errno:0" } },
	{ "kvm", "kvm_nested_vmrun", "", { "" } },
	{ "kvm", "kvm_nested_vmenter", "", { "" } },
	{ "kvm", "kvm_nested_vmexit", "", { "" } },
	{ "kvm", "kvm_nested_vmexit_inject", "", { "" } },
	{ "kvm", "kvm_write_tsc_offset", "vcpu_id previous_tsc_offset next_tsc_offset", {
	  "vcpu=%d:vcpu_id prev=%d:previous_tsc_offset next=%d:next_tsc_offset" } },
	{ "kvm", "kvm_hypercall", "nr a0 a1 a2 a3", {
	  "nr %d:nr a0 %d:a0 a1 %d:a1 a2 %d:a2 a3 %d:a3" } },
	{ "kvm", "kvm_apic_accept_irq", "apicid vec dm", {
	  "apicid %x:apicid vec %d:vec (%v:dm" } },
	{ "kvm", "kvm_apic_ipi", "", { "" } },
	{ "kvm", "kvm_set_irq", "", { "" } },
	{ "kvm", "kvm_msi_set_irq", "", { "" } },
	{ "kvm", "kvm_ioapic_set_irq", "", { "" } },
	{ "kvm", "kvm_pic_set_irq", "", { "" } },
	{ "kvm", "kvm_inj_virq", "vector soft reinjected", {
	  "IRQ %d:vector [reinjected]=soft:0=reinjected:1", "IRQ %d:vector=soft:0=reinjected:0",
	  "Soft/INTn %d:vector=soft:1=reinjected:0", "irq %d:vector=soft:0=reinjected:0" } },
	{ "kvm", "kvm_inj_exception", "", { "" } },
	{ "kvm", "kvm_fpu", "load", { "%l:load" } },
	{ "kvm", "kvm_vcpu_wakeup", "ns waited", { "%q:waited time %d:ns" } },
	{ "kvm", "kvm_msr", "ecx data write", { "msr_%w:write %x:ecx = %d:data" } },
	{ "kvm", "kvm_pio", "port rw", { "pio_%w:rw at %d:port" } },
	{ "kvm", "kvm_mmio", "type gpa", { "mmio %m:type len %d gpa %d:gpa" } },
	{ "kvm", "kvm_fast_mmio", "gpa", { "fast mmio at gpa %d:gpa" } },
	{ "kvm", "kvm_page_fault", "fault_address", {
	  "vcpu %d rip %d address %d:fault_address", "address %x:fault_address" } },
	{ "kvm", "kvm_cpuid", "function", { "func %x:function" } },
	{ "kvm", "kvm_cr", "cr rw", { "cr_%w:rw %x:cr" } },
	{ "sched", "sched_switch",
	  "prev_comm prev_pid prev_prio prev_state next_comm next_pid next_prio", {
	  "prev_comm=%c:prev_comm prev_pid=%d:prev_pid prev_prio=%d:prev_prio "
	  "prev_state=%s:prev_state ==> next_comm=%c:next_comm next_pid=%d:next_pid "
	  "next_prio=%d:next_prio",
	  "%c:prev_comm:%d:prev_pid [%d:prev_prio] %s:prev_state ==> "
	  "%c:next_comm:%d:next_pid [%d:next_prio]" } },
	{ "sched", "sched_waking", "comm pid prio target_cpu", {
	  "%c:comm:%d:pid [%d:prio] CPU:%d:target_cpu" } },
	{ "sched", "sched_wakeup", "comm pid prio target_cpu", {
	  "%c:comm:%d:pid [%d:prio] success=%d CPU:%d:target_cpu",
	  "%c:comm:%d:pid [%d:prio] CPU:%d:target_cpu" } },
	{ "sched", "sched_wakeup_new", "comm pid prio target_cpu", {
	  "%c:comm:%d:pid [%d:prio] success=%d CPU:%d:target_cpu",
	  "%c:comm:%d:pid [%d:prio] CPU:%d:target_cpu" } },
	{ "sched", "sched_migrate_task", "comm pid prio orig_cpu dest_cpu", { "" } },
	{ "irq", "irq_handler_entry", "irq name", { "" } },
	{ "irq", "irq_handler_exit", "irq", { "" } },
	{ "irq", "softirq_entry", "vec", { "" } },
	{ "irq", "softirq_exit", "vec", { "" } },
	{ "irq_vectors", "local_timer_entry", "vector", { "" } },
	{ "irq_vectors", "local_timer_exit", "vector", { "" } },
	{ "irq_vectors", "reschedule_entry", "vector", { "" } },
	{ "irq_vectors", "reschedule_exit", "vector", { "" } },
	{ "irq_vectors", "call_function_entry", "vector", { "" } },
	{ "irq_vectors", "call_function_exit", "vector", { "" } },
	{ "irq_vectors", "call_function_single_entry", "vector", { "" } },
	{ "irq_vectors", "call_function_single_exit", "vector", { "" } },
	{ "irq_vectors", "irq_work_entry", "vector", { "" } },
	{ "irq_vectors", "irq_work_exit", "vector", { "" } },
	{ "timer", "hrtimer_expire_entry", "", { "" } },
	{ "timer", "hrtimer_expire_exit", "", { "" } },
	{ "timer", "timer_expire_entry", "", { "" } },
	{ "timer", "timer_expire_exit", "", { "" } },
	{ "raw_syscalls", "sys_enter", "id", { "NR %d:id" } },
	{ "raw_syscalls", "sys_exit", "id", { "NR %d:id" } },
	{ "exceptions", "page_fault_user", "", { "" } },
	{ "exceptions", "page_fault_kernel", "", { "" } },
	{ "block", "block_rq_insert", BLOCK_REQUEST },
	{ "block", "block_rq_issue", BLOCK_REQUEST },
	{ "block", "block_rq_merge", BLOCK_REQUEST },
	{ "block", "block_rq_requeue", BLOCK_END },
	{ "block", "block_rq_complete", BLOCK_END },
	{ "block", "block_bio_backmerge", BLOCK_BIO },
	{ "block", "block_bio_frontmerge", BLOCK_BIO },
	{ "lock", "contention_begin", "lock_addr flags", { "%x:lock_addr (flags=%f:flags" } },
	{ "lock", "contention_end", "lock_addr ret", { "%x:lock_addr (ret=%d:ret" } },
	{ "power", "cpu_idle", "state cpu_id", { "" } },
	{ "power", "cpu_frequency", "state cpu_id", { "" } },
};

_Static_assert(ARRAY_SIZE(events) <= TEXT_MOST_EVENTS, "a number for each");

const struct text_event *text_event_find(const char *name, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		if (!strncmp(events[i].name, name, n) && !events[i].name[n])
			return &events[i];
	return NULL;
}

size_t text_event_number(const struct text_event *event)
{
	return (size_t)(event - events);
}

/* --- fields ---------------------------------------------------------------------------------- */

static bool is_comm(const char *name, size_t n)
{
	return n >= 4 && !strncmp(name + n - 4, "comm", 4);
}

static bool is_text(const char *name, size_t n)
{
	return n == 4 && (!strncmp(name, "name", n) || !strncmp(name, "rwbs", n));
}

int text_event_format(const struct text_event *event, struct event_format *format)
{
	const char *at = event->fields;

	event_format_init(format, event->system, event->name);
	while (*at) {
		size_t n = strcspn(at, " ");
		char name[EVENT_NAME_SIZE];
		int ret;

		snprintf(name, sizeof(name), "%.*s", (int)n, at);
		ret = is_comm(at, n) ? event_format_add(format, name, EVENT_COMM, 1, false) :
		      is_text(at, n) ? event_format_add(format, name, EVENT_TEXT, 1, false) :
		      event_format_add(format, name, EVENT_NUMBER, 8, true);
		if (ret < 0)
			return ret;
		at += n + strspn(at + n, " ");
	}
	return 0;
}

/** The number of a field, or -1. */
static int field_of(const struct text_event *event, const char *name, size_t n)
{
	const char *at = event->fields;

	for (int i = 0; *at; i++) {
		size_t length = strcspn(at, " ");

		if (length == n && !strncmp(at, name, n))
			return i;
		at += length + strspn(at + length, " ");
	}
	return -1;
}

/* --- exit reasons ---------------------------------------------------------------------------- */

/** The kernel prints SVM exits as svm.h names them, in small letters. These are the exceptions. */
static const struct {
	const char	*printed, *name;
} svm_aliases[] = {
	{ "INTERRUPT", "INTR" }, { "IO", "IOIO" }, { "HYPERCALL", "VMMCALL" },
	{ "READ_IDTR", "IDTR_READ" }, { "READ_GDTR", "GDTR_READ" }, { "READ_LDTR", "LDTR_READ" },
	{ "READ_RT", "TR_READ" }, { "WRITE_IDTR", "IDTR_WRITE" }, { "WRITE_GDTR", "GDTR_WRITE" },
	{ "WRITE_LDTR", "LDTR_WRITE" }, { "WRITE_RT", "TR_WRITE" },
	{ "WRITE_EFER_TRAP", "EFER_WRITE_TRAP" },
};

/** Codes of SVM end at 0x403, those of VMX before 256. */
#define MOST_CODE	0x500

static uint64_t reason_key(const char *name, int isa)
{
	return hash_text(name) ^ (uint64_t)isa << 32;
}

static int learn(struct text_reasons *reasons, const char *name, int isa, uint64_t code)
{
	int64_t at;

	if (!name || key_map_find(&reasons->names, reason_key(name, isa)) >= 0)
		return 0;
	at = KEY_MAP_ELEMENT(&reasons->names, reason_key(name, isa), reasons->codes,
			     reasons->room);
	if (at < 0)
		return -ENOMEM;
	reasons->codes[at] = code;
	return 0;
}

int text_reasons_init(struct text_reasons *reasons)
{
	int ret = 0;

	*reasons = (struct text_reasons){ 0 };
	for (uint32_t code = 0; code < MOST_CODE && !ret; code++) {
		ret = learn(reasons, exit_vmx_name(code), KVM_ISA_VMX, code);
		if (!ret)
			ret = learn(reasons, exit_svm_name(code), KVM_ISA_SVM, code);
	}
	return ret ? ret : learn(reasons, "INVALID_GUEST_STATE", KVM_ISA_SVM, UINT32_MAX);
}

void text_reasons_destroy(struct text_reasons *reasons)
{
	key_map_destroy(&reasons->names);
	free(reasons->codes);
}

/** Return: whether there is such a reason. */
static bool look_up(const struct text_reasons *reasons, const char *name, int isa, int64_t *code)
{
	int64_t at = key_map_find(&reasons->names, reason_key(name, isa));

	for (size_t i = 0; at < 0 && isa == KVM_ISA_SVM && i < ARRAY_SIZE(svm_aliases); i++)
		if (!strcmp(svm_aliases[i].printed, name))
			at = key_map_find(&reasons->names, reason_key(svm_aliases[i].name, isa));
	if (at >= 0)
		*code = (int64_t)reasons->codes[at];
	return at >= 0;
}

/** A reading of a text. */
struct reading {
	const struct text_event *event;
	const struct text_reasons *reasons;
	struct text_value *values;
};

static void set(const struct reading *reading, const char *field, size_t n, int64_t number)
{
	int at = n ? field_of(reading->event, field, n) : -1;

	if (at >= 0)
		reading->values[at] = (struct text_value){ .is_set = true, .number = number };
}

/**
 * The kernel prints SVM's names in small letters, exceptions as "UD excp"; trace-cmd with "EXIT_"
 * before them, exceptions as "EXIT_EXCP_UD". VMX has capital letters, and no such prefix.
 *
 * Return: the rest of the text, or NULL.
 */
static const char *read_reason(const struct reading *reading, const char *text, const char *field,
			       size_t n_field)
{
	size_t n = strcspn(text, " ");
	bool is_exit = !strncmp(text, "EXIT_", 5), is_small = islower((unsigned char)*text);
	bool is_exception = !strncmp(text + n, " excp", 5);
	int isa = is_exit || is_small || is_exception ? KVM_ISA_SVM : KVM_ISA_VMX;
	int64_t code = VIRT_NONE;
	char name[64];
	bool is_excp;
	size_t skip;

	if (!n)
		return NULL;
	is_excp = is_exit && !strncmp(text + 5, "EXCP_", 5);
	skip = is_excp ? 10 : is_exit ? 5 : 0;
	snprintf(name, sizeof(name), "%s%.*s", is_exception || is_excp ? "EXCEPTION_" : "",
		 (int)(n - skip), text + skip);
	for (char *c = name; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	if (look_up(reading->reasons, name, isa, &code)) {
		set(reading, "isa", 3, isa);
		set(reading, field, n_field, code);
	}
	/* "UNKNOWN (96)" */
	text += n + 5 * is_exception;
	if (!strcmp(name, "UNKNOWN") && *text == ' ' && text[1] == '(')
		text += 1 + strcspn(text + 1, " ");
	return text;
}

/* --- forms ----------------------------------------------------------------------------------- */

static int64_t to_number(const char *text, char **end, int base)
{
	return *text == '-' ? strtoll(text, end, base) : (int64_t)strtoull(text, end, base);
}

/** Numbers begin with 0x, or are decimal, with zeros in front. */
static const char *read_number(const char *text, int base, int64_t *number)
{
	char *end;

	if (!isxdigit((unsigned char)*text) && *text != '-')
		return NULL;
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		base = 16;
	*number = to_number(text, &end, base);
	return end > text ? end : NULL;
}

/**
 * prev_state as bits: letters of sched.h, "x" (dead) and "W" of Linux before 4.14; or a number.
 * Only threads of the kernel are parked, where trace-cmd prints "x" for a newer kernel.
 */
static const char *read_state(const char *text, int64_t *state)
{
	static const struct { char letter; int bits; } letters[] = {
		{ 'R', 0 }, { 'S', KVM_STATE_INTERRUPTIBLE }, { 'D', KVM_STATE_UNINTERRUPTIBLE },
		{ 'T', KVM_STATE_SIGNALLED }, { 't', KVM_STATE_TRACED },
		{ 'X', KVM_STATE_EXITED }, { 'Z', KVM_STATE_ZOMBIE }, { 'x', KVM_STATE_EXITED },
		{ 'P', KVM_STATE_DEAD_OR_PARKED }, { 'I', KVM_STATE_IDLE },
		{ 'W', KVM_STATE_IDLE }, { 'K', 0 }, { 'N', 0 }, { '+', 256 }, { '|', 0 },
	};

	if (isdigit((unsigned char)*text))
		return read_number(text, 10, state);
	for (*state = 0; *text && *text != ' '; text++) {
		size_t i = 0;

		while (i < ARRAY_SIZE(letters) && letters[i].letter != *text)
			i++;
		if (i == ARRAY_SIZE(letters))
			return NULL;
		*state |= letters[i].bits;
	}
	return text;
}

/** A word that stands for a number. */
static const char *read_word(char type, const char *text, int64_t *number)
{
	static const struct { char type; const char *word; int64_t number; } words[] = {
		{ 'w', "read", 0 }, { 'w', "write", 1 },
		{ 'm', "unsatisfied-read", 0 }, { 'm', "read", 1 }, { 'm', "write", 2 },
		{ 'l', "unload", 0 }, { 'l', "load", 1 },
		{ 'q', "poll", 0 }, { 'q', "wait", 1 },
		{ 'v', "Fixed", 0 }, { 'v', "LowPrio", 0x100 }, { 'v', "SMI", 0x200 },
		{ 'v', "Res3", 0x300 }, { 'v', "NMI", 0x400 }, { 'v', "INIT", 0x500 },
		{ 'v', "SIPI", 0x600 }, { 'v', "ExtINT", 0x700 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		size_t n = strlen(words[i].word);

		if (words[i].type == type && !strncmp(text, words[i].word, n)) {
			*number = words[i].number;
			return text + n;
		}
	}
	return NULL;
}

static bool match(const struct reading *reading, const char *form, const char *text);

/** The name of a thread may have any characters: the form has to fit after it. */
static bool match_comm(const struct reading *reading, const char *form, const char *text,
		       const char *field, size_t n_field)
{
	int at = field_of(reading->event, field, n_field);

	for (size_t n = 0; n < EVENT_COMM_SIZE; n++) {
		if (match(reading, form, text + n)) {
			if (at >= 0)
				reading->values[at] = (struct text_value){ true, 0, text, n };
			return true;
		}
		if (!text[n])
			break;
	}
	return false;
}

static bool match_text(const struct reading *reading, const char *form, const char *text,
		       const char *field, size_t n_field)
{
	int at = field_of(reading->event, field, n_field);
	size_t n = strcspn(text, " ");

	if (!n || at < 0 || !match(reading, form, text + n))
		return false;
	reading->values[at] = (struct text_value){ true, 0, text, n };
	return true;
}

/** MAJOR,MINOR as the kernel puts them into one number. */
static const char *read_disk(const char *text, int64_t *number)
{
	int64_t major, minor;

	text = read_number(text, 10, &major);
	if (!text || *text != ',')
		return NULL;
	text = read_number(text + 1, 10, &minor);
	if (!text || major < 0 || major > 0xfff || minor < 0 || minor > 0xfffff)
		return NULL;
	*number = major << 20 | minor;
	return text;
}

/** LCB_F_SPIN ... of Linux's include/trace/events/lock.h: "SPIN|MUTEX", "0x0", "" or a number */
static const char *read_flags(const char *text, int64_t *flags)
{
	static const char *const names[] = { "SPIN", "READ", "WRITE", "RT", "PERCPU", "MUTEX" };

	if (isdigit((unsigned char)*text))
		return read_number(text, 10, flags);
	for (*flags = 0; *text && *text != ')'; text += *text == '|') {
		size_t n = strcspn(text, "|)"), i = 0;

		while (i < ARRAY_SIZE(names) &&
		       (strlen(names[i]) != n || strncmp(names[i], text, n) != 0))
			i++;
		if (i == ARRAY_SIZE(names))
			return NULL;
		*flags |= 1 << i;
		text += n;
	}
	return text;
}

/** A value of the form, whose '%' has been read. */
static bool match_value(const struct reading *reading, const char *form, const char *text)
{
	char type = *form++;
	const char *field = *form == ':' ? form + 1 : form;
	size_t n = *form == ':' ? strspn(field, "abcdefghijklmnopqrstuvwxyz_0123456789") : 0;
	int64_t number = 0;

	form = field + n;
	if (type == 'c')
		return match_comm(reading, form, text, field, n);
	if (type == 't')
		return match_text(reading, form, text, field, n);
	if (type == 'r') {
		text = read_reason(reading, text, field, n);
		return text && match(reading, form, text);
	}
	if (type == '_')
		return match(reading, form, text + strcspn(text, " "));
	text = type == 'd' || type == 'n' ? read_number(text, 10, &number) :
	       type == 'x' ? read_number(text, 16, &number) :
	       type == 'b' ? read_disk(text, &number) :
	       type == 'f' ? read_flags(text, &number) :
	       type == 's' ? read_state(text, &number) : read_word(type, text, &number);
	if (!text || !match(reading, form, text))
		return false;
	set(reading, field, n, type == 'n' ? -number : number);
	return true;
}

/** Set a field to a constant, "=field:N". */
static bool match_constant(const struct reading *reading, const char *form, const char *text)
{
	size_t n = strcspn(form, ":");
	char *end;
	long value = strtol(form + n + 1, &end, 10);

	if (!match(reading, end, text))
		return false;
	set(reading, form, n, value);
	return true;
}

static bool is_constant(const char *form)
{
	size_t n = strspn(form + 1, "abcdefghijklmnopqrstuvwxyz_");

	return *form == '=' && n && form[1 + n] == ':' && isdigit((unsigned char)form[2 + n]);
}

static bool match(const struct reading *reading, const char *form, const char *text)
{
	for (; *form; form++) {
		if (*form == '%')
			return match_value(reading, form + 1, text);
		if (is_constant(form))
			return match_constant(reading, form + 1, text);
		if (*form == ' ') {
			if (*text != ' ')
				return false;
			text += strspn(text, " ");
		} else if (*text++ != *form) {
			return false;
		}
	}
	return true;
}

/* --- name=value ------------------------------------------------------------------------------ */

/** Where the next "name=" begins after a value, or the end. */
static const char *end_of_value(const char *text)
{
	for (const char *at = text; *at; at++) {
		size_t n;

		if (*at != ' ')
			continue;
		n = strspn(at + 1, "abcdefghijklmnopqrstuvwxyz_0123456789");
		if (n && at[1 + n] == '=')
			return at;
	}
	return text + strlen(text);
}

static bool read_pair(const struct text_event *event, const char *name, size_t n,
		      const char *value, struct text_value *values)
{
	int at = field_of(event, name, n);
	const char *end;

	if (at < 0 || values[at].is_set)
		return false;
	if (is_comm(name, n) || is_text(name, n)) {
		end = end_of_value(value);
		while (end > value && (end[-1] == ' ' || end[-1] == '\n'))
			end--;
		values[at] = (struct text_value){ true, 0, value, (size_t)(end - value) };
		return true;
	}
	values[at].is_set = n == 10 && !strncmp(name, "prev_state", n) ?
			    read_state(value, &values[at].number) != NULL :
			    read_number(value, 10, &values[at].number) != NULL;
	return values[at].is_set;
}

static bool read_pairs(const struct text_event *event, const char *line,
		       struct text_value *values)
{
	bool any = false;

	for (const char *at = line; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
		size_t n = strspn(at, "abcdefghijklmnopqrstuvwxyz_0123456789");

		if (n && at[n] == '=')
			any |= read_pair(event, at, n, at + n + 1, values);
	}
	return any;
}

bool text_event_read(const struct text_event *event, const struct text_reasons *reasons,
		     const char *line, struct text_value values[TEXT_MOST_FIELDS])
{
	const struct reading reading = { event, reasons, values };

	memset(values, 0, TEXT_MOST_FIELDS * sizeof(*values));
	line += strspn(line, " ");
	for (size_t i = 0; i < MOST_FORMS && event->forms[i]; i++) {
		if (!*event->forms[i])
			break;
		memset(values, 0, TEXT_MOST_FIELDS * sizeof(*values));
		if (match(&reading, event->forms[i], line))
			return true;
	}
	memset(values, 0, TEXT_MOST_FIELDS * sizeof(*values));
	return read_pairs(event, line, values) || !*event->fields;
}
