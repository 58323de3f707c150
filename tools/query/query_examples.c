// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	query_examples.c
 * @brief	Ten questions in SQL; docs/queries.md has the same ones.
 */
#include "query.h"

const struct query_example query_examples[QUERY_N_EXAMPLES] = {
	{ "Where does the time of each vCPU go, apart from guest code and sleep?",
	  "SELECT v.name, i.state, sum(i.end_ns - i.start_ns) AS ns\n"
	  "FROM interval i JOIN vcpu v ON v.id = i.vcpu\n"
	  "WHERE i.state NOT IN ('guest', 'blocked', 'offline')\n"
	  "GROUP BY v.id, i.state ORDER BY ns DESC, v.name, i.state" },
	{ "Which culprit took the pCPU of which vCPU, how often and for how long?",
	  "SELECT v.name AS victim, i.detail AS culprit, count(*) AS times,\n"
	  "    sum(i.end_ns - i.start_ns) AS ns, max(i.end_ns - i.start_ns) AS max_ns\n"
	  "FROM interval i JOIN vcpu v ON v.id = i.vcpu WHERE i.state = 'preempted'\n"
	  "GROUP BY v.id, i.detail ORDER BY ns DESC, victim, culprit" },
	{ "Which VM exits cost most?",
	  "SELECT v.name, e.reason, count(*) AS exits, sum(e.cost_ns) AS cost_ns,\n"
	  "    max(e.cost_ns) AS max_ns, sum(e.cost_ns IS NULL) AS of_unknown_cost\n"
	  "FROM exit e JOIN vcpu v ON v.id = e.vcpu\n"
	  "GROUP BY v.id, e.reason ORDER BY cost_ns DESC, v.name, e.reason" },
	{ "Which MSRs, ports, pages or hypercalls do most VM exits have as argument?",
	  "SELECT reason, argument, count(*) AS exits, sum(cost_ns) AS cost_ns\n"
	  "FROM exit WHERE argument IS NOT NULL\n"
	  "GROUP BY reason, argument ORDER BY exits DESC, reason, argument LIMIT 20" },
	{ "How long does each vCPU wait for a physical CPU after a wake-up (p50, p99, max)?",
	  "SELECT v.name, w.n AS wakeups,\n"
	  "    min(CASE WHEN 2 * w.place >= w.n THEN w.latency_ns END) AS p50_ns,\n"
	  "    min(CASE WHEN 100 * w.place >= 99 * w.n THEN w.latency_ns END) AS p99_ns,\n"
	  "    max(w.latency_ns) AS max_ns\n"
	  "FROM (SELECT vcpu, latency_ns, count(*) OVER (PARTITION BY vcpu) AS n,\n"
	  "          row_number() OVER (PARTITION BY vcpu ORDER BY latency_ns) AS place\n"
	  "      FROM wake WHERE latency_ns IS NOT NULL) w\n"
	  "JOIN vcpu v ON v.id = w.vcpu GROUP BY v.id ORDER BY p99_ns DESC, v.name" },
	{ "Which task wakes which vCPU, and why?",
	  "SELECT v.name AS woken, w.waker, w.cause, count(*) AS times\n"
	  "FROM wake w JOIN vcpu v ON v.id = w.vcpu\n"
	  "GROUP BY v.id, w.waker, w.cause ORDER BY times DESC, woken, w.waker, w.cause" },
	{ "Between which physical CPUs do vCPUs migrate?",
	  "SELECT v.name, m.from_pcpu, m.to_pcpu, count(*) AS times, avg(m.gap_ns) AS mean_gap_ns\n"
	  "FROM migration m JOIN vcpu v ON v.id = m.vcpu\n"
	  "GROUP BY v.id, m.from_pcpu, m.to_pcpu ORDER BY times DESC, v.name, 2, 3" },
	{ "In which tenths of a second did most steal begin?",
	  "SELECT start_ns / 100000000 / 10.0 AS from_s, count(*) AS times,\n"
	  "    sum(end_ns - start_ns) AS ns\n"
	  "FROM interval WHERE state = 'preempted'\n"
	  "GROUP BY start_ns / 100000000 ORDER BY ns DESC, from_s LIMIT 10" },
	{ "How busy is each physical CPU with vCPUs?",
	  "SELECT i.pcpu, count(DISTINCT i.vcpu) AS vcpus, sum(i.end_ns - i.start_ns) AS ns,\n"
	  "    round(100.0 * sum(i.end_ns - i.start_ns) / (h.to_ns - h.from_ns), 1) AS percent\n"
	  "FROM interval i, host h WHERE i.state IN ('guest', 'hypervisor', 'polling', 'vmm')\n"
	  "GROUP BY i.pcpu ORDER BY i.pcpu" },
	{ "Which tasks of the guests executed longest (needs the traces of guests)?",
	  "SELECT m.name AS machine, t.name AS task, count(*) AS runs,\n"
	  "    sum(t.executed_ns) AS executed_ns\n"
	  "FROM guest_task t JOIN vcpu v ON v.id = t.vcpu JOIN machine m ON m.id = v.machine\n"
	  "WHERE t.pid > 0 GROUP BY m.id, t.pid, t.name\n"
	  "ORDER BY executed_ns DESC, machine, task LIMIT 20" },
	{ "Which tasks does each disk work for (needs the events of block)?",
	  "SELECT r.disk, coalesce(m.name, 'host') AS machine, r.task, count(*) AS requests,\n"
	  "    sum(r.bytes) AS bytes, max(r.end_ns - r.issue_ns) AS longest_ns\n"
	  "FROM disk_request r LEFT JOIN machine m ON m.id = r.machine\n"
	  "GROUP BY r.disk, m.id, r.pid, r.task ORDER BY bytes DESC, r.disk, r.pid LIMIT 20" },
};

void query_print_examples(struct output *out)
{
	for (int i = 0; i < QUERY_N_EXAMPLES; i++) {
		out_str(out, i ? "\n-- " : "-- ");
		out_str(out, query_examples[i].question);
		out_char(out, '\n');
		out_str(out, query_examples[i].sql);
		out_str(out, ";\n");
	}
}
