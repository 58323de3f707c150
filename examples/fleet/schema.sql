-- SPDX-License-Identifier: LGPL-2.1-or-later
-- What `kshark-virt rollup --format clickhouse` writes, on every shard of a cluster that is called fleet.
-- Kept to what ClickHouse 18.16 (Debian 12) and current versions understand alike.

-- Of rows with the same key, one stays: a file that is loaded once more changes nothing.
CREATE TABLE IF NOT EXISTS rollup_local
(
    host String,
    trace_ns Int64,                 -- when the trace begins, since 1970
    time DateTime,                  -- when the interval begins, in UTC
    time_ns Int64,                  -- the same to the nanosecond
    length_ns Int64,                -- how much of it is in the trace
    machine_id Int64,               -- -1: the row of the host, with its losses
    machine String,
    vcpu Int32,
    guest_ns Nullable(Int64),       -- NULL, here and below: the trace does not have the records for it
    hypervisor_ns Nullable(Int64),
    polling_ns Nullable(Int64),
    vmm_ns Nullable(Int64),
    preempted_ns Nullable(Int64),
    waking_ns Nullable(Int64),
    blocked_ns Nullable(Int64),
    device_model_ns Nullable(Int64),
    offline_ns Nullable(Int64),
    unknown_ns Int64,               -- records are missing, or not yet known
    preemptions Nullable(UInt64),   -- that begin in the interval, as all that follows
    wakeups Nullable(UInt64),
    migrations Nullable(UInt64),
    exit_reason Array(String),
    exit_count Array(UInt64),
    exit_complete Array(UInt64),    -- of these, with a cost
    exit_ns Array(Int64),
    steal_by Array(String),         -- a machine, a task of the host, or 'unknown'
    steal_ns Array(Int64),
    wake_length_bucket Array(UInt16),
    wake_length_count Array(UInt64),
    steal_length_bucket Array(UInt16),
    steal_length_count Array(UInt64),
    exit_length_bucket Array(UInt16),
    exit_length_count Array(UInt64),
    lost_pcpu Array(UInt16),
    lost_ns Array(Int64),
    lost_records Array(Int64)       -- -1: unknown
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMMDD(time)
ORDER BY (machine, host, machine_id, vcpu, time_ns, trace_ns);

-- A host's rows are on one shard, so that its files are loaded into one place.
CREATE TABLE IF NOT EXISTS rollup AS rollup_local
ENGINE = Distributed(fleet, currentDatabase(), rollup_local, cityHash64(host));

-- Hours, to keep when seconds are dropped: sums, and histograms that are added up. Filled by `condense`.
-- A time that is NULL adds nothing, and its interval is not in the length beside it.
CREATE TABLE IF NOT EXISTS rollup_hour_local
(
    hour DateTime,
    host String,
    machine_id Int64,
    machine String,
    length_ns AggregateFunction(sum, Int64),     -- of all vCPUs
    preempted_ns AggregateFunction(sum, Int64),
    preempted_length_ns AggregateFunction(sum, Int64),  -- of all vCPUs, while preempted_ns is known
    waking_ns AggregateFunction(sum, Int64),
    waking_length_ns AggregateFunction(sum, Int64),
    migrations AggregateFunction(sum, UInt64),
    migrations_length_ns AggregateFunction(sum, Int64),
    wake_length AggregateFunction(sumMap, Array(UInt16), Array(UInt64)),
    steal_length AggregateFunction(sumMap, Array(UInt16), Array(UInt64)),
    exit_length AggregateFunction(sumMap, Array(UInt16), Array(UInt64))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMMDD(hour)
ORDER BY (machine, host, machine_id, hour);

CREATE TABLE IF NOT EXISTS rollup_hour AS rollup_hour_local
ENGINE = Distributed(fleet, currentDatabase(), rollup_hour_local, cityHash64(host));
