-- SPDX-License-Identifier: LGPL-2.1-or-later
-- Which VMs wait for physical CPUs for the largest part of their known time
SELECT machine, uniqExact(host) AS hosts, sum(preempted_ns) + sum(waking_ns) AS waiting_ns,
    sum(length_ns) - sum(unknown_ns) AS known_ns, waiting_ns / known_ns AS share
FROM rollup FINAL
WHERE time >= {from} AND time < {to} AND vcpu >= 0
    AND preempted_ns IS NOT NULL AND waking_ns IS NOT NULL
GROUP BY machine
HAVING known_ns > 0
ORDER BY share DESC, machine
LIMIT 20
