-- SPDX-License-Identifier: LGPL-2.1-or-later
-- Hosts whose VM exits per second changed most from before a moment to after it
SELECT host, before_exits, after_exits, before_ns, after_ns,
    (after_exits / after_ns) / (before_exits / before_ns) AS ratio
FROM
(
    SELECT host,
        sumIf(arraySum(exit_count), time < {at}) AS before_exits,
        sumIf(arraySum(exit_count), time >= {at}) AS after_exits,
        sumIf(length_ns, time < {at}) AS before_ns,
        sumIf(length_ns, time >= {at}) AS after_ns
    FROM rollup FINAL
    WHERE time >= {from} AND time < {to} AND vcpu >= 0
    GROUP BY host
)
WHERE before_exits > 0 AND after_exits > 0
ORDER BY abs(log(ratio)) DESC, host
LIMIT 20
