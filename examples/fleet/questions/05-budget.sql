-- SPDX-License-Identifier: LGPL-2.1-or-later
-- vCPUs that wait more than 5 % of a second, and in how many of the seconds whose waits are known
SELECT host, machine, machine_id, vcpu,
    countIf((preempted_ns + waking_ns) * 20 > length_ns - unknown_ns) AS too_long,
    countIf(isNotNull(preempted_ns) AND isNotNull(waking_ns)) AS intervals
FROM rollup FINAL
WHERE time >= {from} AND time < {to} AND vcpu >= 0
GROUP BY host, machine, machine_id, vcpu
HAVING too_long > 0
ORDER BY too_long DESC, host, machine, machine_id, vcpu
LIMIT 20
