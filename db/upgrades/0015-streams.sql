-- SPDX-License-Identifier: Apache-2.0
-- What each job stream was given, by all servers: its clock, the clock before what was added last,
-- and FLOP (policy(7) 10.3). kind and id are those of server/policy/dispatch/stream.h; written_at is
-- in s since 1970.
CREATE TABLE IF NOT EXISTS qm_stream (
    kind       INT NOT NULL,
    id         BIGINT NOT NULL,
    clock      DOUBLE NOT NULL,
    begun      DOUBLE NOT NULL,
    flops      DOUBLE NOT NULL,
    written_at BIGINT NOT NULL,
    PRIMARY KEY (kind, id),
    KEY written_at (written_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
