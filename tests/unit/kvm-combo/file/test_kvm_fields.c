// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_kvm_fields.c
 * @brief	Records of different kernels and architectures, with formats made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include <event-parse.h>

#include "kvm_fields.h"
#include "virt_model.h"

#define COMMON \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

#define FIELD(type, name, offset, size) \
	"\tfield:" type " " name ";\toffset:" #offset ";\tsize:" #size ";\tsigned:0;\n"

static void add_format(struct tep_handle *tep, const char *system, const char *name, int id,
		       const char *fields, const char *print)
{
	char text[4096];
	int size = snprintf(text, sizeof(text), "name: %s\nID: %d\nformat:\n%s%s\nprint fmt: %s\n",
			    name, id, COMMON, fields, print);

	assert_true(size > 0 && (size_t)size < sizeof(text));
	assert_int_equal(tep_parse_event(tep, text, (unsigned long)size, system), 0);
}

static struct tep_handle *formats(void)
{
	struct tep_handle *tep = tep_alloc();

	assert_non_null(tep);
	tep_set_file_bigendian(tep, TEP_LITTLE_ENDIAN);
	tep_set_local_bigendian(tep, TEP_LITTLE_ENDIAN);
	tep_set_long_size(tep, 8);
	return tep;
}

/* --- the states of sched_switch -------------------------------------------------------------- */

#define SWITCH_FIELDS \
	FIELD("pid_t", "prev_pid", 8, 4) FIELD("long", "prev_state", 16, 8) \
	FIELD("pid_t", "next_pid", 24, 4)

/** As Linux before 4.14, since then, and without any word. */
#define OLD_PRINT \
	"\"prev_state=%s%s\", REC->prev_state & (1024-1) ? __print_flags(REC->prev_state & " \
	"(1024-1), \"|\", { 1, \"S\"} , { 2, \"D\" }, { 16, \"Z\" }, { 32, \"X\" }, " \
	"{ 64, \"x\" }, { 128, \"K\" }) : \"R\", REC->prev_state & 1024 ? \"+\" : \"\""
#define NEW_PRINT \
	"\"prev_state=%s%s\", (REC->prev_state & 0xff) ? __print_flags(REC->prev_state & 0xff, " \
	"\"|\", { 0x0001, \"S\" }, { 0x0010, \"X\" }, { 0x0040, \"P\" }, { 0x0080, \"I\" }) : " \
	"\"R\", REC->prev_state & 0x100 ? \"+\" : \"\""
#define NO_PRINT	"\"prev_state=%ld\", REC->prev_state"

static int64_t state_of(const char *print, int64_t state)
{
	unsigned char data[32] = { 0 };
	struct tep_record record = { .data = data, .size = sizeof(data) };
	struct tep_handle *tep = formats();
	struct kvm_fields *fields;
	struct kvm_step_more more;
	struct kvm_step step;

	add_format(tep, "sched", "sched_switch", 300, SWITCH_FIELDS, print);
	fields = kvm_fields_new(tep);
	assert_non_null(fields);
	memcpy(data + 16, &state, sizeof(state));
	kvm_fields_step(fields, &record, 300, &step, &more);
	assert_true(step.flags & KVM_STEP_SCHED);
	assert_int_equal(step.event.kind, KVM_SWITCH);
	kvm_fields_free(fields);
	tep_free(tep);
	return step.event.value;
}

/** 64 is a thread that ends, or one that is parked: the print format decides. */
static void test_states(void **state)
{
	(void)state;
	assert_true(state_of(OLD_PRINT, 0x40) & KVM_STATE_DEAD);
	assert_false(state_of(NEW_PRINT, 0x40) & KVM_STATE_DEAD);
	assert_false(state_of(NO_PRINT, 0x40) & KVM_STATE_DEAD);
	assert_true(state_of(NO_PRINT, 0x40) & KVM_STATE_DEAD_OR_PARKED);
	assert_int_equal(state_of(OLD_PRINT, 1), 1);
	assert_int_equal(state_of(OLD_PRINT, 0x400), 0x400);
	assert_true(state_of(NEW_PRINT, 0x10) & KVM_STATE_DEAD);
}

/* --- reasons of exits ------------------------------------------------------------------------ */

#define RAW	"\"%d\", REC->common_pid"

/** What a trace with one exit calls it; its fields' bytes begin at offset 8. */
static const char *exit_of(const char *name, const char *fields_text, const void *bytes,
			   size_t size)
{
	unsigned char data[64] = { 0 };
	struct tep_record record = { .data = data, .size = sizeof(data) };
	struct kvm_tracker *tracker = kvm_tracker_new();
	struct tep_handle *tep = formats();
	struct virt_exit_total exits[2];
	struct virt_model *model = NULL;
	static char text[64];
	struct kvm_fields *fields;
	size_t n;

	add_format(tep, "kvm", name, 400, fields_text, RAW);
	fields = kvm_fields_new(tep);
	assert_non_null(tracker);
	assert_non_null(fields);
	assert_true(kvm_fields_is_host(fields));
	memcpy(data + 8, bytes, size);
	assert_int_equal(kvm_fields_take(fields, tracker, &record, 400, 0, 100, 10), 0);
	assert_int_equal(kvm_tracker_finish(tracker, 0, 100, &model), 0);
	n = virt_vcpu_exits(model, 0, 0, 100, exits, 2);
	assert_int_equal(n, 1);
	snprintf(text, sizeof(text), "%s", exits[0].reason == VIRT_NONE ? "unknown" :
		 virt_model_reason(model, exits[0].reason));
	virt_model_free(model);
	kvm_fields_free(fields);
	kvm_tracker_free(tracker);
	tep_free(tep);
	return text;
}

static void test_reasons(void **state)
{
	const uint64_t timer = UINT64_C(1) << 63 | 5, load = 5, four[2] = { 4, 0x1c };
	const uint32_t timer_of_32 = UINT32_C(1) << 31 | 5, code = 22, arm[2] = { 2, 1 };

	(void)state;
	assert_string_equal(exit_of("kvm_exit", FIELD("unsigned long", "scause", 8, 8), &timer, 8),
			    "IRQ_S_TIMER");
	assert_string_equal(exit_of("kvm_exit", FIELD("unsigned long", "scause", 8, 4),
				    &timer_of_32, 4), "IRQ_S_TIMER");
	assert_string_equal(exit_of("kvm_exit", FIELD("unsigned long", "scause", 8, 8), &load, 8),
			    "LOAD_ACCESS");
	assert_string_equal(exit_of("kvm_exit", FIELD("unsigned int", "reason", 8, 4), &code, 4),
			    "GSPR");
	assert_string_equal(exit_of("kvm_s390_sie_exit", FIELD("int", "id", 8, 4)
				    FIELD("u8", "icptcode", 16, 1), four, 16), "Wait state");
	/* arm64 before Linux 5.1, and since then */
	assert_string_equal(exit_of("kvm_exit", FIELD("int", "idx", 8, 4)
				    FIELD("unsigned int", "exit_reason", 12, 4), arm, 8), "WFx");
	assert_string_equal(exit_of("kvm_exit", FIELD("int", "ret", 8, 4)
				    FIELD("unsigned int", "esr_ec", 12, 4), arm, 8), "WFx");
	/* no field has it: not 0x0, which is a number that no record has */
	assert_string_equal(exit_of("kvm_exit", FIELD("unsigned long", "vcpu_pc", 8, 8), &load, 8),
			    "unknown");
}

/* --- interrupts of arm64 ---------------------------------------------------------------------- */

/** A vCPU's number, an interrupt's number or kind, and its level, as @name records them. */
static struct kvm_step interrupt_of(const char *name, const char *fields_text, int32_t vcpu,
				    int32_t number, int32_t level, bool in_interrupt)
{
	unsigned char data[64] = { 0 };
	struct tep_record record = { .data = data, .size = sizeof(data) };
	struct tep_handle *tep = formats();
	struct kvm_fields *fields;
	struct kvm_step_more more;
	struct kvm_step step;

	add_format(tep, "kvm", name, 400, fields_text, RAW);
	fields = kvm_fields_new(tep);
	assert_non_null(fields);
	data[2] = in_interrupt ? 0x08 : 0;	/* TRACE_FLAG_HARDIRQ of Linux's trace_events.h */
	memcpy(data + 8, &vcpu, sizeof(vcpu));
	memcpy(data + 16, &number, sizeof(number));
	memcpy(data + 20, &level, sizeof(level));
	kvm_fields_step(fields, &record, 400, &step, &more);
	kvm_fields_free(fields);
	tep_free(tep);
	return step;
}

/** The fields of Linux's arch/arm64/kvm/trace_arm.h and vgic/trace.h. */
#define TIMER_UPDATE	"kvm_timer_update_irq", FIELD("unsigned long", "vcpu_id", 8, 8) \
	FIELD("u32", "irq", 16, 4) FIELD("int", "level", 20, 4)
#define VGIC_UPDATE	"vgic_update_irq_pending", FIELD("unsigned long", "vcpu_id", 8, 8) \
	FIELD("u32", "irq", 16, 4) FIELD("bool", "level", 20, 4)
#define LINE		"kvm_irq_line", FIELD("unsigned int", "type", 16, 4) \
	FIELD("int", "vcpu_idx", 8, 4) FIELD("int", "irq_num", 24, 4) FIELD("int", "level", 20, 4)

static void test_arm_interrupts(void **state)
{
	enum { CPU, SPI, PPI };		/* KVM_ARM_IRQ_TYPE_* */
	struct kvm_step step = interrupt_of(TIMER_UPDATE, 3, 27, 1, false);

	(void)state;
	assert_int_equal(step.kind, KVM_STEP_EVENT);
	assert_int_equal(step.event.kind, KVM_ACCEPT);
	assert_int_equal(step.event.arg, 3);
	assert_int_equal(step.event.value, VIRT_NONE);
	assert_int_equal(step.event.more, KVM_IN_TASK);
	/* the line falls; a timer expires in the host, for a vCPU that sleeps */
	assert_int_equal(interrupt_of(TIMER_UPDATE, 3, 27, 0, false).kind, KVM_STEP_SEEN);
	assert_int_equal(interrupt_of(TIMER_UPDATE, 3, 27, 1, true).kind, KVM_STEP_SEEN);

	step = interrupt_of(LINE, 2, CPU, 1, false);
	assert_int_equal(step.event.kind, KVM_ACCEPT);
	assert_int_equal(step.event.arg, 2);
	assert_int_equal(interrupt_of(LINE, 2, PPI, 1, false).event.kind, KVM_ACCEPT);
	assert_int_equal(interrupt_of(LINE, 2, SPI, 0, false).kind, KVM_STEP_SEEN);
	step = interrupt_of(LINE, 2, SPI, 1, false);
	assert_int_equal(step.event.kind, KVM_IRQ_LINE);
	assert_int_equal(step.event.value, KVM_LINE_OF_WOKEN);

	/* the number of the vCPU is 0 for all shared ones */
	step = interrupt_of(VGIC_UPDATE, 0, 32, 1, true);
	assert_int_equal(step.event.kind, KVM_IRQ_LINE);
	assert_int_equal(step.event.value, KVM_LINE_OF_WOKEN);
	assert_int_equal(step.event.more, KVM_IN_INTERRUPT);
	assert_int_equal(interrupt_of(VGIC_UPDATE, 0, 32, 0, false).kind, KVM_STEP_SEEN);
	/* one of a vCPU's own: the timer's record shows it */
	assert_int_equal(interrupt_of(VGIC_UPDATE, 0, 31, 1, false).kind, KVM_STEP_SEEN);
}

static void test_strangers(void **state)
{
	struct tep_handle *tep = formats();
	struct kvm_fields *fields;

	(void)state;
	add_format(tep, "kvm_pr", "kvm_book3s_reenter", 400, FIELD("int", "r", 8, 4), RAW);
	fields = kvm_fields_new(tep);
	assert_non_null(fields);
	assert_false(kvm_fields_is_host(fields));
	assert_string_equal(kvm_fields_stranger(fields), "ppc64 (kvm_pr)");
	kvm_fields_free(fields);
	tep_free(tep);
	tep = formats();
	add_format(tep, "kvm", "kvm_exit", 400, FIELD("unsigned int", "reason", 8, 4), RAW);
	fields = kvm_fields_new(tep);
	assert_non_null(fields);
	assert_null(kvm_fields_stranger(fields));
	kvm_fields_free(fields);
	tep_free(tep);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_arm_interrupts),
		cmocka_unit_test(test_strangers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
