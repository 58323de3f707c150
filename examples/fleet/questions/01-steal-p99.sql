-- SPDX-License-Identifier: LGPL-2.1-or-later
-- Times in which VMs wait while others have their pCPU: percentiles over all hosts
SELECT machine, hosts, n, preempted_ns, p50_ns, p99_ns FROM
(
    SELECT machine, hosts, arraySum(tupleElement(lengths, 2)) AS n, preempted_ns,
    arrayFirstIndex(x -> x >= ceil(0.5 * arraySum(tupleElement(lengths, 2))), arrayCumSum(tupleElement(lengths, 2))) AS at_p50,
    toUInt32(tupleElement(lengths, 1)[at_p50]) + 1 AS after_p50,
    if(after_p50 < 8, after_p50, bitShiftLeft(toUInt64(8 + after_p50 % 8), toUInt8(greatest(intDiv(after_p50, 8), 1) - 1))) - 1 AS p50_ns,
    arrayFirstIndex(x -> x >= ceil(0.99 * arraySum(tupleElement(lengths, 2))), arrayCumSum(tupleElement(lengths, 2))) AS at_p99,
    toUInt32(tupleElement(lengths, 1)[at_p99]) + 1 AS after_p99,
    if(after_p99 < 8, after_p99, bitShiftLeft(toUInt64(8 + after_p99 % 8), toUInt8(greatest(intDiv(after_p99, 8), 1) - 1))) - 1 AS p99_ns
    FROM
    (
        SELECT machine, uniqExact(host) AS hosts, sum(preempted_ns) AS preempted_ns,
            sumMap(steal_length_bucket, steal_length_count) AS lengths
        FROM rollup FINAL
        WHERE time >= {from} AND time < {to} AND vcpu >= 0
        GROUP BY machine
    )
    WHERE n > 0
)
ORDER BY p99_ns DESC, machine
LIMIT 20
