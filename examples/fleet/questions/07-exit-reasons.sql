-- SPDX-License-Identifier: LGPL-2.1-or-later
-- What VM exits cost over all hosts, by reason
SELECT reason, uniqExact(host) AS hosts, sum(n) AS exits, sum(ns) AS cost_ns,
    cost_ns / sum(complete) AS mean_ns
FROM rollup FINAL
ARRAY JOIN exit_reason AS reason, exit_count AS n, exit_complete AS complete, exit_ns AS ns
WHERE time >= {from} AND time < {to}
GROUP BY reason
HAVING sum(complete) > 0
ORDER BY cost_ns DESC, reason
LIMIT 20
