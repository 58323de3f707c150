/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What VM exits were for: names, the most frequent ones, windows. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "array.h"
#include "virt_arguments.h"
#include "virt_regions.h"
#include "virt_window_walk.h"

static void names(void **state)
{
	static const struct {
		enum exit_argument_kind kind;
		uint64_t value;
		const char *name;
	} expected[] = {
		{ EXIT_ARGUMENT_MSR_WRITE, 0x6e0, "write TSC_DEADLINE" },
		{ EXIT_ARGUMENT_MSR_READ, 0x819, "read X2APIC_TMR1" },
		{ EXIT_ARGUMENT_MSR_READ, 0x817, "read X2APIC_ISR7" },
		{ EXIT_ARGUMENT_MSR_READ, 0xc1, "read PERFCTR0" },
		{ EXIT_ARGUMENT_MSR_READ, 0xc9, "read MSR 0xc9" },
		{ EXIT_ARGUMENT_MSR_WRITE, 0xc0010004, "write K7_PERFCTR0" },
		{ EXIT_ARGUMENT_MSR_WRITE, 0x4b564d03, "write KVM_STEAL_TIME" },
		{ EXIT_ARGUMENT_MSR_WRITE, 0x4b564d09, "write MSR 0x4b564d09" },
		{ EXIT_ARGUMENT_ICR_WRITE, 0x1c, "write X2APIC_ICR (NMI, to all others)" },
		{ EXIT_ARGUMENT_APIC_ICR, 0x0d, "write APIC_ICR (INIT, to itself)" },
		{ EXIT_ARGUMENT_PORT_WRITE, 0x3f8, "write port 0x3f8 (COM1)" },
		{ EXIT_ARGUMENT_PORT_READ, 0xcff, "read port 0xcff (PCI config data)" },
		{ EXIT_ARGUMENT_PORT_READ, 0xd00, "read port 0xd00" },
		{ EXIT_ARGUMENT_MMIO_WRITE, 0xfeb00010, "write 0xfeb00010" },
		{ EXIT_ARGUMENT_MMIO_READ, 0xfed003ff, "read 0xfed003ff (HPET)" },
		{ EXIT_ARGUMENT_PAGE, 0x1000, "page 0x1000" },
		{ EXIT_ARGUMENT_PAGE, 0xfec00000, "page 0xfec00000 (I/O APIC)" },
		{ EXIT_ARGUMENT_ABORT, 0xfec00000, "page 0xfec00000" },
		{ EXIT_ARGUMENT_CPUID, 0x40000000, "leaf 0x40000000 (hypervisor)" },
		{ EXIT_ARGUMENT_CALL_KVM, 10, "SEND_IPI" },
		{ EXIT_ARGUMENT_CALL_HYPERV, 0x5d, "SIGNAL_EVENT" },
		{ EXIT_ARGUMENT_CALL_XEN, 29, "sched_op" },
		{ EXIT_ARGUMENT_CALL_XEN, 11, "Xen call 0xb" },
		{ EXIT_ARGUMENT_CR_WRITE, 4, "write CR4" },
		{ EXIT_ARGUMENT_VMGEXIT, 0x7c, "MSR" },
		{ EXIT_ARGUMENT_VMGEXIT, 0x80000001, "0x80000001" },
		{ EXIT_ARGUMENT_SYSREG_WRITE, EXIT_SYSREG(3, 0, 12, 11, 5),
		  "write ICC_SGI1R_EL1" },
		{ EXIT_ARGUMENT_SYSREG_READ, EXIT_SYSREG(3, 7, 15, 15, 7), "read S3_7_C15_C15_7" },
		{ EXIT_ARGUMENT_SMCCC, 0xc4000003, "CPU_ON" },
		{ EXIT_ARGUMENT_WAIT, 1, "WFE" },
	};
	char text[EXIT_ARGUMENT_NAME];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		assert_true(expected[i].value <= exit_argument_most(expected[i].kind));
		assert_string_equal(exit_argument_name(expected[i].kind, expected[i].value, text,
						       sizeof(text)), expected[i].name);
	}
	/* no name is cut */
	for (int kind = 0; kind < EXIT_ARGUMENT_N_KINDS; kind++)
		for (uint64_t value = 0; value < 0x20000; value++) {
			uint64_t most = exit_argument_most((enum exit_argument_kind)kind);

			exit_argument_name((enum exit_argument_kind)kind,
					   value <= most ? value : most, text, sizeof(text));
			assert_true(*text && strlen(text) < sizeof(text) - 1);
		}
	assert_int_equal(exit_argument_of_reason("L2:MSR_WRITE"), VIRT_RECORD_MSR);
	assert_int_equal(exit_argument_of_reason("HLT"), VIRT_RECORD_N_KINDS);
	assert_int_equal(exit_argument_record(EXIT_ARGUMENT_N_KINDS), VIRT_RECORD_N_KINDS);
	assert_int_equal(exit_argument_most(EXIT_ARGUMENT_N_KINDS), 0);
}

#define PAGES	100
#define END	300000

/** Page @i is the argument of i / 2 + 1 exits, of cost i + 1, in a changing order; HLT has none. */
static struct virt_model *new_model(void)
{
	struct virt_model *model = virt_model_new();
	int64_t now = 10;

	assert_int_equal(virt_model_add_machine(model, 1, "m"), 0);
	assert_int_equal(virt_model_add_vcpu(model, 0, 0, 5, "v"), 0);
	assert_int_equal(virt_model_add_reason(model, "EPT_VIOLATION"), 0);
	assert_int_equal(virt_model_add_reason(model, "HLT"), 1);
	for (int round = 0; round <= PAGES / 2; round++)
		for (int i = 0; i < PAGES; i++) {
			if (round > i / 2)
				continue;
			assert_int_equal(virt_model_set(model, 0, now, VIRT_HYPERVISOR, 0, 0,
							VIRT_INTERVAL_EXIT), 0);
			/* not of this reason; then the first one counts */
			assert_int_equal(virt_model_set_argument(
				model, 0, EXIT_ARGUMENT_MSR_READ, 0x10), 0);
			assert_int_equal(virt_model_set_argument(
				model, 0, EXIT_ARGUMENT_PAGE, (uint64_t)i << 12), 0);
			assert_int_equal(virt_model_set_argument(
				model, 0, EXIT_ARGUMENT_PAGE, 0x123000), 0);
			now += i + 1;
			assert_int_equal(virt_model_set(model, 0, now, VIRT_GUEST, 0, VIRT_NONE,
							0), 0);
			now += 2;
		}
	assert_true(now < END);
	assert_int_equal(virt_model_set(model, 0, now, VIRT_HYPERVISOR, 0, 1, VIRT_INTERVAL_EXIT),
			 0);
	assert_int_equal(virt_model_set_argument(model, 0, EXIT_ARGUMENT_PAGE, 0), 0);
	assert_int_equal(virt_model_set(model, 0, now + 5, VIRT_GUEST, 0, VIRT_NONE, 0), 0);
	assert_int_equal(virt_model_set(model, 0, now + 7, VIRT_HYPERVISOR, 0, 0,
					VIRT_INTERVAL_EXIT), 0);
	assert_int_equal(virt_model_set_argument(model, 1, EXIT_ARGUMENT_PAGE, 0), -EINVAL);
	assert_int_equal(virt_model_set_argument(model, 0, EXIT_ARGUMENT_OTHERS, 0), -EINVAL);
	assert_int_equal(virt_model_set_argument(model, 0, EXIT_ARGUMENT_CR_READ, 16), -EINVAL);
	assert_int_equal(virt_model_finish(model, 0, END), 0);
	assert_int_equal(virt_model_set_argument(model, 0, EXIT_ARGUMENT_PAGE, 0), -EINVAL);
	return model;
}

/** The 64 that most exits have, and all others in one. */
static void most_frequent(void **state)
{
	struct virt_model *model = new_model();
	uint64_t count[PAGES + 1] = { 0 };
	struct virt_interval_range range = virt_vcpu_intervals(model, 0, 0, END);

	(void)state;
	assert_int_equal(virt_model_n_arguments(model), VIRT_MOST_ARGUMENTS + 1);
	for (size_t i = 0; i < range.n; i++) {
		const struct virt_argument *argument = virt_model_argument(
			model, virt_exit_argument(model, 0, &range.first[i]));

		if (argument)
			count[argument->kind == EXIT_ARGUMENT_OTHERS ? PAGES :
			      argument->value >> 12]++;
	}
	for (int i = 0; i < PAGES; i++)
		assert_int_equal(count[i], i >= PAGES - VIRT_MOST_ARGUMENTS ?
				 (uint64_t)(i / 2 + 1) : 0);
	/* 1, 1, 2, 2 ... 18, 18 */
	assert_int_equal(count[PAGES], 18 * 19);
	assert_null(virt_model_argument(model, VIRT_MOST_ARGUMENTS + 1));
	assert_null(virt_model_argument(model, VIRT_NONE));
	assert_null(virt_argument_name(model, VIRT_NONE));
	virt_model_free(model);
}

/** Of each window, the exits by argument are those by reason. */
static void windows(void **state)
{
	struct virt_model *model = new_model();

	(void)state;
	for (int64_t from = -5; from < END; from += 977) {
		struct virt_window_query query = {
			.from_ns = from, .to_ns = from + 1500,
			.parts = VIRT_WINDOW_EXITS | VIRT_WINDOW_ARGUMENTS,
		};
		struct virt_window *window = virt_window_new(model, &query);
		const struct virt_window_stats *stats[2];

		assert_non_null(window);
		stats[0] = &window->vcpus[0];
		stats[1] = &window->machines[0].all;
		for (int s = 0; s < 2; s++)
			for (size_t r = 0; r < stats[s]->n_reasons; r++) {
				const struct virt_window_exit *reason = &stats[s]->reasons[r];
				uint64_t count = 0, whole = 0;
				int64_t ns = 0;

				for (size_t a = 0; a < stats[s]->n_arguments; a++) {
					const struct virt_window_exit *part =
						&stats[s]->arguments[a];

					if (part->reason != reason->reason)
						continue;
					count += part->count;
					whole += part->cost.count;
					ns += part->cost.ns;
					assert_true(part->reason == 0 ||
						    part->argument == VIRT_NONE);
				}
				assert_int_equal(count, reason->count);
				assert_int_equal(whole, reason->cost.count);
				assert_int_equal(ns, reason->cost.ns);
			}
		virt_window_free(window);
	}
	virt_model_free(model);
}

/** Within an exit, and not after its entry. */
static void at_a_time(void **state)
{
	struct virt_model *model = new_model();
	struct virt_interval_range range = virt_vcpu_intervals(model, 0, 0, END);
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < range.n; i++) {
		int64_t start_ns = range.first[i].start_ns;
		int32_t argument = virt_exit_argument(model, 0, &range.first[i]);

		assert_int_equal(virt_argument_before(model, 0, start_ns), argument);
		n += argument != VIRT_NONE;
	}
	assert_int_equal(n, 50 * 51);
	/* the first one costs 1 ns, the last one has no end and no argument */
	assert_string_equal(virt_argument_name(model, virt_argument_before(model, 0, 10)),
			    "others");
	assert_int_equal(virt_argument_before(model, 0, 11), VIRT_NONE);
	assert_int_equal(virt_argument_before(model, 0, END - 1), VIRT_NONE);
	assert_int_equal(virt_argument_before(model, 0, END), VIRT_NONE);
	assert_int_equal(virt_argument_before(model, 1, 10), VIRT_NONE);
	assert_int_equal(virt_argument_before(model, 0, INT64_MIN), VIRT_NONE);
	virt_model_free(model);
}

/** One exit of a vCPU at @now, with its argument. */
static void one_exit(struct virt_model *model, int32_t vcpu, int64_t now, int32_t reason,
		     enum exit_argument_kind kind, uint64_t value)
{
	assert_int_equal(virt_model_set(model, vcpu, now, VIRT_HYPERVISOR, vcpu, reason,
					VIRT_INTERVAL_EXIT), 0);
	assert_int_equal(virt_model_set_argument(model, vcpu, kind, value), 0);
	assert_int_equal(virt_model_set(model, vcpu, now + 1, VIRT_GUEST, vcpu, VIRT_NONE, 0), 0);
}

static const char *name_at(const struct virt_model *model, int32_t vcpu, int64_t now)
{
	return virt_argument_name(model, virt_argument_before(model, vcpu, now));
}

/** The same address is of another device in another machine, and of none in the third. */
static void devices(void **state)
{
	static const struct device_region regions[] = {
		{ 0x2000, 0x2fff, "disk", false }, { 0x1000, 0x11ff, "net", false },
		{ 0x1200, 0x13ff, "net", false }, { 0x3000, 0x31ff, "a", false },
		{ 0x3200, 0x33ff, "b", false }, { 0x2000, 0x2000, "port", true },
		{ 0x3f8, 0x3ff, "serial", true }, { 0xfee00000, 0xfee00fff, "apic", false },
		{ UINT64_MAX, UINT64_MAX, "last", false }, { 0x2800, 0x5fff, "overlaps", false },
	};
	struct virt_model *model = virt_model_new();
	struct device_region other = { 0x2000, 0x2fff, "other\n", false };
	int32_t mmio, fault, port;

	(void)state;
	for (int32_t i = 0; i < 3; i++) {
		assert_int_equal(virt_model_add_machine(model, i + 1, "m"), i);
		assert_int_equal(virt_model_add_vcpu(model, i, 0, 5 + i, "v"), i);
	}
	mmio = virt_model_add_reason(model, "EPT_MISCONFIG");
	fault = virt_model_add_reason(model, "EPT_VIOLATION");
	port = virt_model_add_reason(model, "IO_INSTRUCTION");
	for (size_t i = 0; i < ARRAY_SIZE(regions); i++)
		assert_int_equal(virt_model_add_region(model, 0, &regions[i]), 0);
	assert_int_equal(virt_model_add_region(model, 1, &other), 0);
	other.last = 0;
	assert_int_equal(virt_model_add_region(model, 1, &other), -EINVAL);
	assert_int_equal(virt_model_add_region(model, 3, &regions[0]), -EINVAL);
	for (int32_t i = 0; i < 3; i++) {
		one_exit(model, i, 10, mmio, EXIT_ARGUMENT_MMIO_WRITE, 0x2abc);
		one_exit(model, i, 20, fault, EXIT_ARGUMENT_PAGE, 0x1000);
		one_exit(model, i, 30, fault, EXIT_ARGUMENT_PAGE, 0x3000);
		one_exit(model, i, 40, port, EXIT_ARGUMENT_PORT_READ, 0x2000);
		one_exit(model, i, 50, port, EXIT_ARGUMENT_PORT_READ, 0x3f8);
		one_exit(model, i, 60, fault, EXIT_ARGUMENT_PAGE, 0xfee00000);
		one_exit(model, i, 70, mmio, EXIT_ARGUMENT_MMIO_READ, UINT64_MAX);
		one_exit(model, i, 80, mmio, EXIT_ARGUMENT_MMIO_READ, 0x4000);
	}
	assert_int_equal(virt_model_finish(model, 0, 100), 0);
	assert_string_equal(name_at(model, 0, 10), "write 0x2abc (disk)");
	assert_string_equal(name_at(model, 1, 10), "write 0x2abc (other\\x0a)");
	assert_string_equal(name_at(model, 2, 10), "write 0x2abc");
	/* two transports of one name in a page; two devices; beside a device */
	assert_string_equal(name_at(model, 0, 20), "page 0x1000 (net)");
	assert_string_equal(name_at(model, 0, 30), "page 0x3000");
	assert_string_equal(name_at(model, 0, 80), "read 0x4000");
	assert_string_equal(name_at(model, 0, 40), "read port 0x2000 (port)");
	assert_string_equal(name_at(model, 1, 40), "read port 0x2000");
	/* what is the same in every PC is called alike in all */
	for (int32_t i = 0; i < 3; i++) {
		assert_string_equal(name_at(model, i, 50), "read port 0x3f8 (COM1)");
		assert_string_equal(name_at(model, i, 60), "page 0xfee00000 (local APIC)");
	}
	assert_string_equal(name_at(model, 0, 70), "read 0xffffffffffffffff (last)");
	virt_model_free(model);
}

/** A model that is filled for days keeps none. */
static void skipped(void **state)
{
	struct virt_model *model = virt_model_new();

	(void)state;
	virt_model_skip_arguments(model);
	assert_int_equal(virt_model_add_machine(model, 1, "m"), 0);
	assert_int_equal(virt_model_add_vcpu(model, 0, 0, 5, "v"), 0);
	assert_int_equal(virt_model_add_reason(model, "MSR"), 0);
	assert_int_equal(virt_model_set(model, 0, 1, VIRT_HYPERVISOR, 0, 0, VIRT_INTERVAL_EXIT),
			 0);
	assert_int_equal(virt_model_set_argument(model, 0, EXIT_ARGUMENT_MSR_READ, 1), 0);
	assert_int_equal(virt_model_finish(model, 0, 10), 0);
	assert_int_equal(virt_model_n_arguments(model), 0);
	virt_model_free(model);
}

/** What records of each kind show. */
static const struct {
	uint64_t	kinds;		/* all are needed */
	unsigned int	seen;
} shown[] = {
	{ VIRT_RECORD_BIT(VIRT_RECORD_MMIO), EXIT_SEEN_MMIO },
	{ VIRT_RECORD_BIT(VIRT_RECORD_USERFAULT) | VIRT_RECORD_BIT(VIRT_RECORD_WAKER),
	  EXIT_SEEN_USERFAULT },
	{ VIRT_RECORD_BIT(VIRT_RECORD_PAGE_CACHE), EXIT_SEEN_CACHE },
	{ VIRT_RECORD_BIT(VIRT_RECORD_BLOCK), EXIT_SEEN_READ },
	{ VIRT_RECORD_BIT(VIRT_RECORD_ALLOC), EXIT_SEEN_CLEARED | EXIT_SEEN_PAGE },
	{ VIRT_RECORD_BIT(VIRT_RECORD_FAST_FAULT), EXIT_SEEN_DIRTY },
	{ VIRT_RECORD_BIT(VIRT_RECORD_ASYNC), EXIT_SEEN_ASYNC },
	{ VIRT_RECORD_BIT(VIRT_RECORD_FAULT), EXIT_SEEN_SHARED },
	/* these show all of the others */
	{ VIRT_RECORD_BIT(VIRT_RECORD_MONITOR), ~0U }, { VIRT_RECORD_BIT(VIRT_RECORD_SWITCH), ~0U },
	{ VIRT_RECORD_BIT(VIRT_RECORD_ENTRY) | VIRT_RECORD_BIT(VIRT_RECORD_EXIT), ~0U },
};

/** With more kinds of records, a cause that is known stays the same. */
static void more_events(void **state)
{
	(void)state;
	for (unsigned int seen = 0; seen < EXIT_SEEN_SLEEP << 1; seen++) {
		enum exit_cause whole = exit_cause_of(seen, VIRT_RECORDED_ALL);

		/* who was woken has slept */
		if (seen & EXIT_SEEN_USERFAULT && !(seen & EXIT_SEEN_SLEEP))
			continue;
		/* a fault of dirty logging is over then */
		if (seen & EXIT_SEEN_DIRTY &&
		    seen & ~(unsigned int)(EXIT_SEEN_DIRTY | EXIT_SEEN_SHARED | EXIT_SEEN_SLEEP))
			continue;
		/* it slept, and nothing shows for what */
		assert_int_equal(whole == EXIT_CAUSE_UNKNOWN,
				 (seen & ~(unsigned int)EXIT_SEEN_SHARED) == EXIT_SEEN_SLEEP);
		assert_int_equal(!exit_cause_name(whole), whole == EXIT_CAUSE_UNKNOWN);
		for (unsigned int set = 0; set < 1U << ARRAY_SIZE(shown); set++) {
			uint64_t recorded = VIRT_RECORDED_ALL &
					    ~VIRT_RECORD_BIT(VIRT_RECORD_ABORT);
			unsigned int visible = seen;
			enum exit_cause cause;

			for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
				if (!(set >> i & 1)) {
					recorded &= ~shown[i].kinds;
					visible &= ~(shown[i].seen & ~EXIT_SEEN_SLEEP);
				}
			cause = exit_cause_of(visible, recorded);
			if (cause != EXIT_CAUSE_UNKNOWN)
				assert_int_equal(cause, whole);
			if (!(set >> 8 & 1) || !(set >> 9 & 1))
				assert_int_equal(cause, EXIT_CAUSE_UNKNOWN);
		}
	}
	assert_int_equal(exit_cause_of(0, VIRT_RECORDED_ALL), EXIT_CAUSE_MAPPED);
	/* another thread may have got the page while this one slept */
	assert_int_equal(exit_cause_of(EXIT_SEEN_SLEEP, VIRT_RECORDED_ALL), EXIT_CAUSE_UNKNOWN);
	assert_int_equal(exit_cause_of(EXIT_SEEN_PAGE, VIRT_RECORDED_ALL), EXIT_CAUSE_NEW);
	assert_int_equal(exit_cause_of(EXIT_SEEN_PAGE | EXIT_SEEN_SHARED, VIRT_RECORDED_ALL),
			 EXIT_CAUSE_COPY);
	/* it is memory that was not slept for: no handler of userfaultfd had to supply it */
	assert_int_equal(exit_cause_of(EXIT_SEEN_CACHE, VIRT_RECORDED_ALL &
				       ~VIRT_RECORD_BIT(VIRT_RECORD_USERFAULT)), EXIT_CAUSE_FILE);
	assert_int_equal(exit_cause_of(EXIT_SEEN_CACHE | EXIT_SEEN_SLEEP, VIRT_RECORDED_ALL &
				       ~VIRT_RECORD_BIT(VIRT_RECORD_USERFAULT)),
			 EXIT_CAUSE_UNKNOWN);
	/* no device's register was there */
	assert_int_equal(exit_cause_of(EXIT_SEEN_DIRTY, VIRT_RECORDED_ALL &
				       ~VIRT_RECORD_BIT(VIRT_RECORD_MMIO)), EXIT_CAUSE_DIRTY);
	assert_true(exit_dirty_is_known(VIRT_RECORDED_ALL));
	assert_false(exit_dirty_is_known(VIRT_RECORDED_ALL &
					 ~VIRT_RECORD_BIT(VIRT_RECORD_FAST_FAULT)));
	assert_int_equal(exit_cause_lacks(VIRT_RECORDED_ALL), 0);
	assert_null(exit_cause_name(EXIT_CAUSE_UNKNOWN));
	assert_null(exit_cause_name(EXIT_CAUSE_N));
	assert_true(exit_is_for_memory("L2:NPF"));
	assert_false(exit_is_for_memory("EPT_MISCONFIG"));
}

/** Exits for memory: what was seen, from their reason on; the last one is not over. */
static void causes(void **state)
{
	static const struct {
		int32_t reason;
		unsigned int seen;
		bool sleeps;
		int page;		/* 0: no record shows it */
		const char *cause, *text;
	} exits[] = {
		{ 0, EXIT_SEEN_CLEARED, false, 1, "first touch", "page 0x1000, first touch" },
		{ 0, EXIT_SEEN_CLEARED, false, 1, "first touch", "page 0x1000, first touch" },
		{ 0, EXIT_SEEN_READ | EXIT_SEEN_PAGE, true, 1, "swap-in", "page 0x1000, swap-in" },
		{ 0, EXIT_SEEN_READ, true, 0, "swap-in", "swap-in" },
		{ 0, 0, false, 0, "mapped only", "mapped only" },
		{ 0, 0, false, 2, "mapped only", "page 0x2000, mapped only" },
		{ 0, 0, true, 2, NULL, "page 0x2000" },
		/* not for memory */
		{ 1, EXIT_SEEN_READ, false, 0, NULL, NULL },
		{ 0, EXIT_SEEN_READ, true, 3, NULL, "page 0x3000" },
	};
	struct virt_model *model = virt_model_new();
	struct virt_interval_range range;
	size_t at = 0;

	(void)state;
	assert_int_equal(virt_model_add_machine(model, 1, "m"), 0);
	assert_int_equal(virt_model_add_vcpu(model, 0, 0, 5, "v"), 0);
	assert_int_equal(virt_model_add_reason(model, "NPF"), 0);
	assert_int_equal(virt_model_add_reason(model, "HLT"), 1);
	for (size_t i = 0; i < ARRAY_SIZE(exits); i++) {
		int64_t now = 100 * (int64_t)i + 10;

		assert_int_equal(virt_model_set(model, 0, now, VIRT_HYPERVISOR, 0, exits[i].reason,
						VIRT_INTERVAL_EXIT), 0);
		/* the page's record may come before or after the others */
		if (exits[i].page && i % 2)
			assert_int_equal(virt_model_set_argument(
				model, 0, EXIT_ARGUMENT_PAGE, (uint64_t)exits[i].page << 12), 0);
		assert_int_equal(virt_model_saw(model, 0, exits[i].seen & EXIT_SEEN_READ), 0);
		assert_int_equal(virt_model_saw(model, 0, exits[i].seen), 0);
		if (exits[i].page && !(i % 2))
			assert_int_equal(virt_model_set_argument(
				model, 0, EXIT_ARGUMENT_PAGE, (uint64_t)exits[i].page << 12), 0);
		if (exits[i].sleeps) {
			assert_int_equal(virt_model_set(model, 0, now + 5, VIRT_BLOCKED, VIRT_NONE,
							VIRT_NONE, VIRT_INTERVAL_UNASKED), 0);
			assert_int_equal(virt_model_set(model, 0, now + 15, VIRT_HYPERVISOR, 0,
							exits[i].reason, 0), 0);
		}
		if (i + 1 < ARRAY_SIZE(exits))
			assert_int_equal(virt_model_set(model, 0, now + 20, VIRT_GUEST, 0,
							VIRT_NONE, 0), 0);
	}
	assert_int_equal(virt_model_saw(model, 0, EXIT_SEEN_SLEEP), -EINVAL);
	assert_int_equal(virt_model_saw(model, 1, EXIT_SEEN_READ), -EINVAL);
	assert_int_equal(virt_model_finish(model, 0, 1000), 0);
	assert_int_equal(virt_model_saw(model, 0, EXIT_SEEN_READ), -EINVAL);
	range = virt_vcpu_intervals(model, 0, 0, 1000);
	for (size_t i = 0; i < range.n; i++) {
		int32_t argument = virt_exit_argument(model, 0, &range.first[i]);
		const char *text = virt_argument_text(model, argument);
		const char *cause = exit_cause_name(virt_argument_cause(model, argument));

		if (!(range.first[i].flags & VIRT_INTERVAL_EXIT))
			continue;
		if (exits[at].text)
			assert_string_equal(text, exits[at].text);
		else
			assert_null(text);
		if (exits[at].cause)
			assert_string_equal(cause, exits[at].cause);
		else
			assert_null(cause);
		if (!exits[at].page)
			assert_null(virt_argument_name(model, argument));
		at++;
	}
	assert_int_equal(at, ARRAY_SIZE(exits));
	virt_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(more_events),
		cmocka_unit_test(causes),
		cmocka_unit_test(most_frequent),
		cmocka_unit_test(windows),
		cmocka_unit_test(at_a_time),
		cmocka_unit_test(devices),
		cmocka_unit_test(skipped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
