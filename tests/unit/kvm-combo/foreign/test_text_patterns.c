// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_text_patterns.c
 * @brief	The fields in printed events, and which lines are records.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "temporary_file.h"
#include "text_patterns.h"
#include "text_read.h"

static struct text_reasons reasons;

/** Read a text of an event as "field=value ..."; what is not set is left out. */
static const char *read_text(const char *name, const char *text)
{
	static char out[1024];
	const struct text_event *event = text_event_find(name, strlen(name));
	struct text_value values[TEXT_MOST_FIELDS];
	struct event_format format;
	size_t at = 0;

	assert_non_null(event);
	assert_int_equal(text_event_format(event, &format), 0);
	assert_true(format.n <= TEXT_MOST_FIELDS);
	*out = '\0';
	if (!text_event_read(event, &reasons, text, values))
		snprintf(out, sizeof(out), "none");
	else
		for (size_t i = 0; i < format.n; i++) {
			if (!values[i].is_set)
				continue;
			at += (size_t)snprintf(out + at, sizeof(out) - at, "%s%s=", at ? " " : "",
					       format.fields[i].name);
			if (format.fields[i].kind == EVENT_NUMBER)
				at += (size_t)snprintf(out + at, sizeof(out) - at, "%lld",
						       (long long)values[i].number);
			else
				at += (size_t)snprintf(out + at, sizeof(out) - at, "%.*s",
						       (int)values[i].n, values[i].text);
		}
	event_format_destroy(&format);
	return out;
}

/** As the kernel and trace-cmd print them; the values by the kernel's headers. */
static void test_events(void **state)
{
	static const struct { const char *event, *text, *values; } rows[] = {
		{ "kvm_entry", "vcpu 3, rip 0xffffffff81a592eb", "vcpu_id=3" },
		{ "kvm_entry", " vcpu 0 rip 0x1", "vcpu_id=0" },
		{ "kvm_exit", "vcpu 1 reason EPT_VIOLATION rip 0x10 info1 0x181 info2 0x0",
		  "exit_reason=48 guest_rip=16 isa=1 vcpu_id=1" },
		{ "kvm_exit", "reason HLT rip 0x1 info 0 0", "exit_reason=12 guest_rip=1 isa=1" },
		{ "kvm_exit", "reason EXIT_HLT rip 0x1 info 0 0",
		  "exit_reason=120 guest_rip=1 isa=2" },
		{ "kvm_exit", "reason EXIT_EXCP_UD rip 0x1", "exit_reason=70 guest_rip=1 isa=2" },
		{ "kvm_exit", "vcpu 0 reason npf rip 0x1",
		  "exit_reason=1024 guest_rip=1 isa=2 vcpu_id=0" },
		{ "kvm_exit", "vcpu 0 reason interrupt rip 0x1",
		  "exit_reason=96 guest_rip=1 isa=2 vcpu_id=0" },
		{ "kvm_exit", "vcpu 0 reason PF excp rip 0x1",
		  "exit_reason=78 guest_rip=1 isa=2 vcpu_id=0" },
		{ "kvm_exit", "reason UNKNOWN (999) rip 0x5 info 0 0", "guest_rip=5" },
		{ "kvm_exit", "exit_reason=96 guest_rip=0x5 isa=2 vcpu_id=1",
		  "exit_reason=96 guest_rip=5 isa=2 vcpu_id=1" },
		{ "kvm_exit", "of another kind", "none" },
		{ "kvm_userspace_exit", "reason KVM_EXIT_IO (2)", "reason=2 errno=0" },
		{ "kvm_userspace_exit", "reason restart (4)", "errno=-4" },
		{ "kvm_apic_accept_irq", "apicid 1 vec 236 (Fixed|edge)",
		  "apicid=1 vec=236 dm=0" },
		{ "kvm_apic_accept_irq", "apicid a vec 0 (SIPI|edge)",
		  "apicid=10 vec=0 dm=1536" },
		{ "kvm_inj_virq", "IRQ 0xec", "vector=236 soft=0 reinjected=0" },
		{ "kvm_inj_virq", "IRQ 0xec [reinjected]", "vector=236 soft=0 reinjected=1" },
		{ "kvm_inj_virq", "Soft/INTn 0x80", "vector=128 soft=1 reinjected=0" },
		{ "kvm_inj_virq", "irq 49", "vector=49 soft=0 reinjected=0" },
		{ "kvm_msr", "msr_write 6e0 = 0xab", "ecx=1760 data=171 write=1" },
		{ "kvm_msr", "msr_read 10 = 0x5 (#GP)", "ecx=16 data=5 write=0" },
		{ "kvm_pio", "pio_write at 0x3f8 size 1 count 1 val 0x41", "port=1016 rw=1" },
		{ "kvm_mmio", "mmio unsatisfied-read len 4 gpa 0xfeb02e60 val 0x0",
		  "type=0 gpa=4272959072" },
		{ "kvm_mmio", "mmio write len 4 gpa 0xf val 0x0", "type=2 gpa=15" },
		{ "kvm_page_fault", "vcpu 1 rip 0x1 address 0x00000000feb02e60 error_code 0xc",
		  "fault_address=4272959072" },
		{ "kvm_page_fault", "address ff error_code 4", "fault_address=255" },
		{ "kvm_fpu", "unload", "load=0" },
		{ "kvm_fpu", "load", "load=1" },
		{ "kvm_vcpu_wakeup", "wait time 8612751 ns, polling valid",
		  "ns=8612751 waited=1" },
		{ "kvm_vcpu_wakeup", "poll time 17 ns, polling invalid", "ns=17 waited=0" },
		{ "kvm_hypercall", "nr 0xb a0 0x1 a1 0xffffffffffffffff a2 0x3 a3 0x4",
		  "nr=11 a0=1 a1=-1 a2=3 a3=4" },
		{ "sched_switch", "prev_comm=a b prev_pid=1 prev_prio=120 prev_state=R+ ==> "
		  "next_comm=CPU 0/KVM next_pid=22 next_prio=99",
		  "prev_comm=a b prev_pid=1 prev_prio=120 prev_state=256 next_comm=CPU 0/KVM "
		  "next_pid=22 next_prio=99" },
		{ "sched_switch", "kworker/0:1:17 [120] D|K ==> x ==> y:3 [98]",
		  "prev_comm=kworker/0:1 prev_pid=17 prev_prio=120 prev_state=2 "
		  "next_comm=x ==> y next_pid=3 next_prio=98" },
		{ "sched_switch", "prev_comm=a prev_pid=1 prev_prio=120 prev_state=128 next_comm=b "
		  "next_pid=2 next_prio=100",
		  "prev_comm=a prev_pid=1 prev_prio=120 prev_state=128 next_comm=b next_pid=2 "
		  "next_prio=100" },
		{ "sched_wakeup", "CPU 0/KVM:3414 [120] CPU:009",
		  "comm=CPU 0/KVM pid=3414 prio=120 target_cpu=9" },
		{ "sched_wakeup", "a:1 [120] success=1 CPU:001",
		  "comm=a pid=1 prio=120 target_cpu=1" },
		{ "sched_waking", "comm=CPU 1/KVM pid=188 prio=120 target_cpu=002",
		  "comm=CPU 1/KVM pid=188 prio=120 target_cpu=2" },
		{ "sched_migrate_task", "comm=x y=1 pid=7 prio=1 orig_cpu=0 dest_cpu=3",
		  "comm=x pid=7 prio=1 orig_cpu=0 dest_cpu=3" },
		{ "irq_handler_entry", "irq=30 name=virtio0-req.0", "irq=30 name=virtio0-req.0" },
		{ "softirq_entry", "vec=9 [action=RCU]", "vec=9" },
		{ "local_timer_entry", "vector=236", "vector=236" },
		{ "sys_enter", "NR 257 (ffffff9c, 7f, 0, 0, 0, 0)", "id=257" },
		{ "sys_exit", "NR 257 = -2", "id=257" },
		{ "block_rq_issue", "254,0 WS 4096 () 512 + 8 none,0,0 [dd]",
		  "dev=266338304 sector=512 nr_sector=8 bytes=4096 rwbs=WS" },
		{ "block_rq_issue", "dev=266338304 sector=512 nr_sector=8 bytes=4096 rwbs=WS",
		  "dev=266338304 sector=512 nr_sector=8 bytes=4096 rwbs=WS" },
		{ "block_rq_complete", "8,16 R () 18446744073709551615 + 0 [-5]",
		  "dev=8388624 sector=-1 nr_sector=0 error=-5 rwbs=R" },
		{ "block_rq_complete", "8,16 R () 7 + 1 0x2,0,6 [0]",
		  "dev=8388624 sector=7 nr_sector=1 error=0 rwbs=R" },
		{ "block_bio_backmerge", "8,0 W 116 + 8 [dd]",
		  "dev=8388608 sector=116 nr_sector=8 rwbs=W" },
		{ "contention_begin", "0xffff888301e57220 (flags=SPIN|MUTEX)",
		  "lock_addr=-131378722803168 flags=33" },
		{ "contention_begin", "0000000012345678 (flags=0)", "lock_addr=305419896 flags=0" },
		{ "contention_begin", "lock_addr=0x10 flags=0x4", "lock_addr=16 flags=4" },
		{ "contention_end", "0x10 (ret=-4)", "lock_addr=16 ret=-4" },
		{ "cpu_idle", "state=4294967295 cpu_id=2", "state=4294967295 cpu_id=2" },
		{ "kvm_nested_vmexit", "rip: 0x1 reason: x", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_string_equal(read_text(rows[i].event, rows[i].text), rows[i].values);
	assert_null(text_event_find("kvm_exit_", 9));
	assert_null(text_event_find("kvm", 3));
}

/* --- lines ----------------------------------------------------------------------------------- */

static void test_is(void **state)
{
	static const struct { const char *text; bool is; } rows[] = {
		{ "# tracer: nop\n", true },
		{ "cpus=4\n  a-1  [000]  5.000001: x: y\n", true },
		{ "  CPU 0/KVM-2000  [000] d..1   100.000010: kvm_entry: vcpu 0\n", true },
		{ "  <idle>-0     (-------) [002] dN.h.   5.000001: x: y\n", true },
		{ "  a-b-12   (   12) [002] 5.000001: x: y\n", true },
		{ "CPU:3 [LOST 12 EVENTS]\n", true },
		{ "CPU:3 [EVENTS DROPPED]\n", true },
		{ "CPU:3 [LOST 12 THINGS]\n", false },
		{ "  a-1  [000]  5000001: x: y\n", false },
		{ "a-1 [000\n", false },
		{ "plain text\n", false },
		{ "", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(text_is(rows[i].text, strlen(rows[i].text)), rows[i].is);
	assert_false(text_is("  a-1  [000]  5.000001: x: y\n\0", 31));
}

/** Counts of the lines that are read. */
static void test_lines(void **state)
{
	static const char *const lines[] = {
		"# tracer: nop",
		"   CPU 0/KVM-2000  [000] d.h1   100.000010: kvm_entry: vcpu 0",
		"   CPU 0/KVM-2000  [000] d..1   100.000010500: kvm_exit: something else",
		"CPU:1 [LOST 12 EVENTS]",
		" a [001] 1.2-7  [001] ....  99999999.999999999: my_event: a text",
		"   a-7  [32767] ....  1.0: schedule <-foo",
		" => schedule", "", "what is this",
	};
	const struct trace_dat_about about = { .long_size = 8 };
	struct foreign_outcome outcome = { 0 };
	int fd = temporary_file(), spool = temporary_file();
	struct trace_dat_writer *writer = trace_dat_writer_new(fd, spool, &about);
	struct text_reader *reader = text_reader_new(writer);

	(void)state;
	assert_non_null(reader);
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		assert_int_equal(text_reader_line(reader, lines[i]), 0);
	assert_int_equal(text_reader_end(reader, &outcome), 0);
	assert_int_equal(outcome.events, 4);
	assert_int_equal(outcome.lines, 2);
	assert_true(outcome.has_micros);
	assert_false(outcome.no_context);
	assert_true(lseek(fd, 0, SEEK_END) > 1000);
	text_reader_free(reader);
	trace_dat_writer_free(writer);
	close(fd);
	close(spool);
}

/** A line with a byte of 0 is damaged; the lines before and after it are not. */
static void test_zero_bytes(void **state)
{
	static const char text[] =
		"# tracer: nop\n"
		"   a-7  [000] ....  1.000000: my_event: a text\n"
		"   a-7  [000] ....  2.000000: my_event: a text\0\n"
		"   a-7  [000] ....  3.000000: my_event: a text\r\n"
		"\0   a-7  [000] ....  4.000000: my_event: a text\n"
		"   a-7  [000] ....  5.000000: my_event: a text\n"
		"   a-7  [000] ....  6.000000: my_event: a text\0";
	struct foreign_outcome outcome = { 0 };
	int in = temporary_file(), fd = temporary_file(), spool = temporary_file();

	(void)state;
	assert_int_equal(write(in, text, sizeof(text) - 1), sizeof(text) - 1);
	assert_int_equal(text_convert(in, fd, spool, 1 << 20, &outcome), 0);
	assert_int_equal(outcome.events, 3);
	assert_int_equal(outcome.lines, 3);
	close(fd);
	close(spool);
}

/** Of a line that is too long, the first part is read, and the rest is no line. */
static void test_long_lines(void **state)
{
	static const char head[] = "   a-7  [000] ....  1.000000: my_event: ";
	struct foreign_outcome outcome = { 0 };
	int in = temporary_file(), fd = temporary_file(), spool = temporary_file();
	FILE *file = fdopen(dup(in), "w");

	(void)state;
	assert_non_null(file);
	for (int n = TEXT_LINE - 2; n <= TEXT_LINE + 1; n++)
		fprintf(file, "%s%0*d\n", head, n - (int)strlen(head), 0);
	fprintf(file, "%s%0*d", head, 3 * TEXT_LINE, 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(text_convert(in, fd, spool, 1 << 20, &outcome), 0);
	assert_int_equal(outcome.events, 5);
	assert_int_equal(outcome.lines, 0);
	close(fd);
	close(spool);
}

static int set_up(void **state)
{
	(void)state;
	return text_reasons_init(&reasons);
}

static int tear_down(void **state)
{
	(void)state;
	text_reasons_destroy(&reasons);
	return 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_is),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_zero_bytes),
		cmocka_unit_test(test_long_lines),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
