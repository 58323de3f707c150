-- SPDX-License-Identifier: LGPL-2.1-or-later
-- vCPUs that move most from one physical CPU to another
SELECT host, machine, machine_id, vcpu, sum(migrations) AS moves,
    moves / sum(length_ns) * 1e9 AS per_second
FROM rollup FINAL
WHERE time >= {from} AND time < {to} AND vcpu >= 0 AND migrations IS NOT NULL
GROUP BY host, machine, machine_id, vcpu
HAVING moves > 0
ORDER BY moves DESC, host, machine, machine_id, vcpu
LIMIT 20
