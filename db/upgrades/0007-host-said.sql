-- SPDX-License-Identifier: Apache-2.0
-- What a host said last of what it is and can do, as a scheduler_request without anything else. The
-- digest tells with each request, which reads the guard row, whether that has changed; 0: nothing is
-- kept yet.
ALTER TABLE qm_host ADD COLUMN IF NOT EXISTS said BIGINT NOT NULL DEFAULT 0;
CREATE TABLE IF NOT EXISTS qm_host_said (
    hostid     BIGINT NOT NULL PRIMARY KEY,
    request    BLOB NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
