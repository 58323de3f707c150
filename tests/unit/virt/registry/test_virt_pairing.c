/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pairs of vCPUs and guests' CPUs: which source overrules which, and what is guessed from what. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "virt_pairing.h"

#define HOST	3
#define GUEST	5
#define TURN	1000	/* ns that a vCPU runs before the next one does */
#define END	400000

static int forget(void **state)
{
	(void)state;
	for (int i = 0; i < 10; i++)
		virt_pairing_drop_stream(i);
	return 0;
}

static int set(int host, int32_t pid, int guest, int32_t cpu, enum virt_pair_source source)
{
	struct virt_pair pair = { host, pid, guest, cpu, source };

	return virt_pairing_set(&pair);
}

/** The guest's CPU of a vCPU as stream * 100 + CPU; negative if there is none. */
static int guest_of(int host, int32_t pid)
{
	struct virt_pair pair;

	if (!virt_pairing_of_vcpu(host, pid, &pair) || pair.guest_stream == VIRT_NONE)
		return -1;
	assert_true(virt_pairing_of_cpu(pair.guest_stream, pair.guest_cpu, &pair));
	assert_int_equal(pair.host_pid, pid);
	return pair.guest_stream * 100 + pair.guest_cpu;
}

static void test_store(void **state)
{
	uint64_t serial = virt_pairing_serial();

	(void)state;
	assert_int_equal(guest_of(HOST, 10), -1);
	assert_int_equal(set(HOST, 10, GUEST, 0, VIRT_PAIR_GUESSED), 0);
	assert_int_equal(set(HOST, 11, GUEST, 1, VIRT_PAIR_GUESSED), 0);
	assert_int_equal(guest_of(HOST, 10), 500);
	assert_int_equal(guest_of(HOST, 11), 501);
	assert_true(virt_pairing_serial() > serial);

	/* the same again is no change; another guess counts, and leaves no vCPU with two */
	serial = virt_pairing_serial();
	assert_int_equal(set(HOST, 11, GUEST, 1, VIRT_PAIR_GUESSED), 0);
	assert_true(virt_pairing_serial() == serial);
	assert_int_equal(set(HOST, 10, GUEST, 1, VIRT_PAIR_GUESSED), 0);
	assert_int_equal(guest_of(HOST, 10), 501);
	assert_int_equal(guest_of(HOST, 11), -1);
	assert_false(virt_pairing_of_cpu(GUEST, 0, NULL));

	/* the traces overrule guesses, the user overrules the traces */
	assert_int_equal(set(HOST, 11, GUEST, 1, VIRT_PAIR_RECORDED), 0);
	assert_int_equal(set(HOST, 10, GUEST, 1, VIRT_PAIR_GUESSED), -EEXIST);
	assert_int_equal(guest_of(HOST, 10), -1);
	assert_int_equal(guest_of(HOST, 11), 501);
	assert_int_equal(set(HOST, 11, VIRT_NONE, 77, VIRT_PAIR_CHOSEN), 0);
	assert_int_equal(set(HOST, 11, GUEST, 1, VIRT_PAIR_RECORDED), -EEXIST);
	assert_int_equal(guest_of(HOST, 11), -1);
	assert_int_equal(set(HOST, 12, VIRT_NONE, 0, VIRT_PAIR_CHOSEN), 0);
	assert_true(virt_pairing_of_vcpu(HOST, 11, NULL));
	assert_true(virt_pairing_of_vcpu(HOST, 12, NULL));
	assert_false(virt_pairing_of_cpu(VIRT_NONE, VIRT_NONE, NULL));

	virt_pairing_drop_source(VIRT_PAIR_CHOSEN);
	assert_false(virt_pairing_of_vcpu(HOST, 11, NULL));
	assert_int_equal(set(HOST, 11, GUEST, 1, VIRT_PAIR_RECORDED), 0);
	assert_int_equal(set(4, 11, GUEST, 0, VIRT_PAIR_RECORDED), 0);
	virt_pairing_drop_stream(4);
	assert_int_equal(guest_of(4, 11), -1);
	assert_int_equal(guest_of(HOST, 11), 501);
	virt_pairing_drop_stream(GUEST);
	assert_int_equal(guest_of(HOST, 11), -1);
}

static void test_invalid(void **state)
{
	(void)state;
	assert_int_equal(set(-1, 10, GUEST, 0, VIRT_PAIR_CHOSEN), -EINVAL);
	assert_int_equal(set(HOST, 10, -2, 0, VIRT_PAIR_CHOSEN), -EINVAL);
	assert_int_equal(set(HOST, 10, GUEST, -1, VIRT_PAIR_CHOSEN), -EINVAL);
	assert_int_equal(set(HOST, 10, HOST, 0, VIRT_PAIR_CHOSEN), -EINVAL);
	assert_false(virt_pairing_of_vcpu(HOST, 10, NULL));
}

/** @n machines of 2 vCPUs each, pids 100 * machine + vCPU, which take turns in guest code. */
static struct virt_model *new_model(const char *const *names, int n)
{
	struct virt_model *model = virt_model_new();

	assert_non_null(model);
	for (int m = 0; m < n; m++) {
		assert_int_equal(virt_model_add_machine(model, m, names[m]), m);
		for (int i = 0; i < 2; i++)
			assert_int_equal(virt_model_add_vcpu(model, m, i, 100 * m + i, "v"),
					 2 * m + i);
	}
	for (int64_t t = 0; t < END; t += TURN)
		for (int i = 0; i < 2 * n; i++)
			assert_int_equal(virt_model_set(model, i, t, t / TURN % (2 * n) == i ?
					 VIRT_GUEST : VIRT_BLOCKED, 0, VIRT_NONE, 0), 0);
	assert_int_equal(virt_model_finish(model, 0, END), 0);
	return model;
}

/** Moments in the turns of one vCPU of @n. */
static struct virt_times times_of(int vcpu, int n, int64_t offset, int64_t *ns)
{
	struct virt_times times = { .ns = ns };

	for (int64_t t = vcpu * TURN; t < END; t += n * TURN)
		for (int i = 0; i < 3; i++)
			ns[times.n++] = t + offset + 100 + i * 300;
	return times;
}

static void guess(struct virt_model *model, struct virt_pair_guest *guests, size_t n, int wanted)
{
	struct virt_pair_host host = { HOST, model, 1000000 };

	assert_int_equal(virt_pairing_guess(&host, 1, guests, n), wanted);
}

static void test_guess_names(void **state)
{
	static const char *const names[] = { "d0", "d1:web", "d2:mail" };
	struct virt_model *model = new_model(names, 3);
	struct virt_pair_guest guests[] = {
		{ 5, "mail.dat", 2, NULL }, { 6, "trace-web.dat", 2, NULL },
		{ 7, "dom0-trace.dat", 2, NULL }, { HOST, "d1.dat", 2, NULL },
	};

	(void)state;
	guess(model, guests, 4, 6);
	assert_int_equal(guest_of(HOST, 0), 700);
	assert_int_equal(guest_of(HOST, 1), 701);
	assert_int_equal(guest_of(HOST, 100), 600);
	assert_int_equal(guest_of(HOST, 201), 501);
	/* nothing is left to be guessed */
	guess(model, guests, 4, 0);
	virt_model_free(model);
}

static void test_guess_numbers(void **state)
{
	static const char *const names[] = { "one", "two" };
	struct virt_model *model = new_model(names, 1);
	struct virt_pair_guest guest = { GUEST, "x.dat", 3, NULL };

	(void)state;
	/* more CPUs than vCPUs cannot be, fewer can */
	guess(model, &guest, 1, 0);
	guest.n_cpus = 1;
	guess(model, &guest, 1, 1);
	assert_int_equal(guest_of(HOST, 0), 500);
	assert_int_equal(guest_of(HOST, 1), -1);
	virt_model_free(model);

	/* two machines that fit equally well: no guess, until one of them is taken */
	virt_pairing_drop_stream(GUEST);
	model = new_model(names, 2);
	guest.n_cpus = 2;
	guess(model, &guest, 1, 0);
	assert_int_equal(set(HOST, 1, VIRT_NONE, 0, VIRT_PAIR_CHOSEN), 0);
	guess(model, &guest, 1, 2);
	assert_int_equal(guest_of(HOST, 100), 500);
	virt_model_free(model);
}

static void test_guess_activity(void **state)
{
	static const char *const names[] = { "one", "two" };
	static int64_t ns[2][4 * END / TURN];
	struct virt_model *model = new_model(names, 2);
	struct virt_times events[2] = {
		times_of(3, 4, 1000000, ns[0]), times_of(2, 4, 1000000, ns[1]),
	};
	struct virt_pair_guest guest = { GUEST, "x.dat", 2, events };

	(void)state;
	assert_true(virt_pairing_share(model, 3, 1000000, &events[0]) == 1);
	assert_true(virt_pairing_share(model, 2, 1000000, &events[0]) == 0);
	assert_true(virt_pairing_share(model, 3, 0, &events[0]) < 0);
	/* it is the second machine, with its CPUs crossed */
	guess(model, &guest, 1, 2);
	assert_int_equal(guest_of(HOST, 102 - 2), 501);
	assert_int_equal(guest_of(HOST, 101), 500);
	assert_int_equal(guest_of(HOST, 0), -1);
	virt_model_free(model);

	/* with another clock it says nothing: two machines are left, as without any events */
	virt_pairing_drop_stream(GUEST);
	model = new_model(names, 2);
	events[0] = times_of(3, 4, 0, ns[0]);
	events[1] = times_of(2, 4, 0, ns[1]);
	guess(model, &guest, 1, 0);
	virt_model_free(model);
}

static void test_guess_two_hosts(void **state)
{
	static const char *const names[] = { "g1", "g2" };
	struct virt_model *one = new_model(names, 2), *two = new_model(names, 2);
	struct virt_pair_host hosts[] = { { 0, one, 0 }, { 1, two, 0 } };
	struct virt_pair_guest guest = { GUEST, "trace-g2.dat", 2, NULL };

	(void)state;
	assert_int_equal(virt_pairing_guess(hosts, 2, &guest, 1), 0);
	assert_int_equal(virt_pairing_guess(hosts, 1, &guest, 1), 2);
	assert_int_equal(guest_of(0, 100), 500);
	assert_int_equal(virt_pairing_guess(hosts, 2, &guest, 0), 0);
	assert_int_equal(virt_pairing_guess(NULL, 0, &guest, 1), 0);
	virt_model_free(one);
	virt_model_free(two);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_store, forget),
		cmocka_unit_test_teardown(test_invalid, forget),
		cmocka_unit_test_teardown(test_guess_names, forget),
		cmocka_unit_test_teardown(test_guess_numbers, forget),
		cmocka_unit_test_teardown(test_guess_activity, forget),
		cmocka_unit_test_teardown(test_guess_two_hosts, forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
