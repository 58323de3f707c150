-- SPDX-License-Identifier: LGPL-2.1-or-later
-- Hosts with lost records: how much of the time of vCPUs and physical CPUs is not known
SELECT host, sum(arraySum(lost_ns)) AS lost_pcpu_ns,
    sum(arraySum(arrayFilter(x -> x > 0, lost_records))) AS known_lost_records,
    sum(unknown_ns) AS unknown_vcpu_ns
FROM rollup FINAL
WHERE time >= {from} AND time < {to}
GROUP BY host
HAVING lost_pcpu_ns > 0 OR known_lost_records > 0 OR unknown_vcpu_ns > 0
ORDER BY lost_pcpu_ns DESC, unknown_vcpu_ns DESC, host
LIMIT 20
