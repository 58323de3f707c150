-- SPDX-License-Identifier: LGPL-2.1-or-later
-- Who takes physical CPUs from others: on how many hosts, from how many VMs
SELECT by, uniqExact(host) AS hosts, uniqExact(machine) AS victims, sum(ns) AS taken_ns
FROM rollup FINAL
ARRAY JOIN steal_by AS by, steal_ns AS ns
WHERE time >= {from} AND time < {to} AND by != machine AND by != 'unknown'
GROUP BY by
ORDER BY taken_ns DESC, by
LIMIT 20
