-- SPDX-License-Identifier: LGPL-2.1-or-later
--
-- Views of a trace that kshark-virt export --format perfetto wrote:
--   trace_processor_shell --add-sql-package examples/perfetto/kshark_virt trace.pftrace
--   INCLUDE PERFETTO MODULE kshark_virt.vcpus;

-- The tracks of each vCPU: "state", "VM exits", "steal", "wake-ups", "tasks".
CREATE PERFETTO VIEW vcpu_track AS
SELECT track.id AS track_id, track.name AS kind, machine.name AS machine, vcpu.name AS vcpu
FROM track
JOIN track AS vcpu ON track.parent_id = vcpu.id
JOIN track AS machine ON vcpu.parent_id = machine.id
JOIN track AS host ON machine.parent_id = host.id;

-- What each vCPU does, and on which pCPU it is or was last.
CREATE PERFETTO VIEW vcpu_state AS
SELECT state.ts, state.dur, machine, vcpu, state.value AS state,
  extract_arg(state.arg_set_id, 'debug.pcpu') AS pcpu
FROM state
JOIN vcpu_track USING (track_id);

-- When each vCPU was ready to run and had lost its pCPU, and who had that instead.
CREATE PERFETTO VIEW vcpu_steal AS
SELECT slice.id, slice.ts, slice.dur, machine, vcpu, slice.name AS culprit,
  extract_arg(slice.arg_set_id, 'debug.pcpu') AS pcpu
FROM slice
JOIN vcpu_track USING (track_id)
WHERE kind = 'steal';

-- All VM exits, up to the entry. cost_ns is NULL if the entry is not in the trace.
CREATE PERFETTO VIEW exits AS
SELECT slice.id, slice.ts, slice.dur, machine, vcpu, slice.name AS reason,
  extract_arg(slice.arg_set_id, 'debug.argument') AS argument,
  extract_arg(slice.arg_set_id, 'debug.pcpu') AS pcpu,
  extract_arg(slice.arg_set_id, 'debug.cost_ns') AS cost_ns
FROM slice
JOIN vcpu_track USING (track_id)
WHERE kind = 'VM exits';

-- All wake-ups that made a vCPU wait for a pCPU: until it had one, as far as the trace shows.
CREATE PERFETTO VIEW wakeups AS
SELECT slice.id, slice.ts, slice.dur, machine, vcpu, slice.name AS cause,
  extract_arg(slice.arg_set_id, 'debug.waker') AS waker,
  extract_arg(slice.arg_set_id, 'debug.latency_ns') AS latency_ns
FROM slice
JOIN vcpu_track USING (track_id)
WHERE kind = 'wake-ups' AND slice.name <> 'wakes';
