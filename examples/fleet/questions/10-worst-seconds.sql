-- SPDX-License-Identifier: LGPL-2.1-or-later
-- The seconds in which a vCPU lost its pCPU longest, and the culprit
SELECT time, host, machine, machine_id, vcpu, preempted_ns,
    steal_by[indexOf(steal_ns, arrayReduce('max', steal_ns))] AS by,
    arrayReduce('max', steal_ns) AS by_ns
FROM rollup FINAL
WHERE time >= {from} AND time < {to} AND vcpu >= 0 AND preempted_ns > 0
ORDER BY preempted_ns DESC, time_ns, host, machine, machine_id, vcpu
LIMIT 20
