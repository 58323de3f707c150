// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_host_topology.c
 * @brief	Where physical CPUs are, from four sources, and how far from each other.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "array.h"
#include "host_topology.h"
#include "trace_builder.h"

static struct host_topology of(const char *text)
{
	char *path = trace_file(text, strlen(text), ".txt");
	struct host_topology topology = { 0 };
	char error[256] = "";

	assert_int_equal(host_topology_read(&topology, path, error, sizeof(error)), 0);
	assert_string_equal(error, "");
	remove(path);
	free(path);
	return topology;
}

static void is(const struct host_topology *topology, int32_t id, int32_t core, int32_t socket,
	       int32_t node, int32_t llc)
{
	const struct host_pcpu *pcpu = host_topology_pcpu(topology, id);

	assert_non_null(pcpu);
	assert_int_equal(pcpu->core, core);
	assert_int_equal(pcpu->socket, socket);
	assert_int_equal(pcpu->node, node);
	assert_int_equal(pcpu->llc, llc);
}

static void test_sources(void **state)
{
	struct host_topology topology;

	(void)state;
	/* as util-linux writes caches: in columns, or in one, or not; missing; no caches known */
	topology = of("# CPU,Core,Socket,Node,,L1d,L1i,L2,L3\n0,0,0,0,,0,0,0,4\n"
		      "# CPU,Core,Socket,Node,Cache\n2,1,0,0,1:1:1:5\n1,0,0,1\n3,1,,\n4,2,0,0,,\n");
	assert_int_equal(topology.n, 5);
	is(&topology, 0, 0, 0, 0, 4);
	is(&topology, 1, 0, 0, 1, -1);
	is(&topology, 2, 1, 0, 0, 5);
	is(&topology, 3, 1, -1, -1, -1);
	is(&topology, 4, 2, 0, 0, -1);
	assert_null(host_topology_pcpu(&topology, 5));
	assert_null(host_topology_pcpu(&topology, -1));
	host_topology_free(&topology);
	assert_null(host_topology_pcpu(&topology, 0));

	topology = of("host : x\ncpu: core socket node\n 0: 3 1 2\n 1: 4 1 2\nnuma_info :\n");
	assert_int_equal(topology.n, 2);
	is(&topology, 1, 4, 1, 2, -1);
	host_topology_free(&topology);

	topology = of("{\"pcpus\":[{\"id\":1,\"core\":2,\"socket\":3,\"node\":4,\"llc\":5},"
		      "{\"id\":0,\"llc\":-7},{\"core\":1},7]}");
	assert_int_equal(topology.n, 2);
	is(&topology, 0, -1, -1, -1, -1);
	is(&topology, 1, 2, 3, 4, 5);
	host_topology_free(&topology);
}

static void test_distances(void **state)
{
	/* two threads; a core that shares their cache; one that does not; one far away; one of
	 * whose caches, one of whose node is unknown */
	struct host_topology topology = of("0,0,0,0,,8\n1,0,0,0,,8\n2,1,0,0,,8\n3,2,0,0,,9\n"
					   "4,3,1,1,,10\n5,4,0,0\n6,5,0,\n7,6,0,,,8\n");
	static const struct {
		int32_t			a, b;
		enum host_distance	distance;
	} pairs[] = {
		{ 0, 1, HOST_SMT }, { 1, 2, HOST_CORE }, { 2, 3, HOST_CACHE }, { 3, 4, HOST_NODE },
		{ 0, 5, HOST_NEAR }, { 5, 4, HOST_NODE }, { 6, 0, HOST_DISTANCE_UNKNOWN },
		{ 6, 4, HOST_DISTANCE_UNKNOWN }, { 7, 0, HOST_CORE },
		{ 7, 3, HOST_DISTANCE_UNKNOWN }, { 0, 99, HOST_DISTANCE_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		assert_int_equal(host_topology_distance(&topology, pairs[i].a, pairs[i].b),
				 pairs[i].distance);
		assert_int_equal(host_topology_distance(&topology, pairs[i].b, pairs[i].a),
				 pairs[i].distance);
	}
	for (int i = 0; i < HOST_N_DISTANCES; i++)
		assert_non_null(host_distance_name((enum host_distance)i));
	host_topology_free(&topology);
}

/** The kernel's topology of this machine, written as in a sidecar, is read back. */
static void test_live(void **state)
{
	char *trace = trace_file("", 0, ".dat"), sidecar[4096], error[256] = "";
	struct host_topology live = { 0 }, read = { 0 };

	(void)state;
	assert_int_equal(host_topology_live(&live, ""), 0);
	assert_int_equal(host_topology_write(&live, trace, error, sizeof(error)), 0);
	assert_int_equal(host_topology_of_trace(&read, trace, error, sizeof(error)), 0);
	assert_int_equal(read.n, live.n);
	for (size_t i = 0; i < live.n; i++)
		is(&read, live.pcpus[i].id, live.pcpus[i].core, live.pcpus[i].socket,
		   live.pcpus[i].node, live.pcpus[i].llc);
	snprintf(sidecar, sizeof(sidecar), "%s.meta.json", trace);
	remove(sidecar);
	remove(trace);
	free(trace);
	host_topology_free(&live);
	host_topology_free(&read);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sources),
		cmocka_unit_test(test_distances),
		cmocka_unit_test(test_live),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
