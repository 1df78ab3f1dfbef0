-- SPDX-License-Identifier: Apache-2.0
-- One row per connection. A transaction begins by writing a new token into the row of its connection
-- and commits only if it is still there: then it is the one that began. Nobody else locks a row
-- that is in use.
CREATE TABLE IF NOT EXISTS qm_connection (
    id         BIGINT NOT NULL PRIMARY KEY,
    token      BIGINT NOT NULL,
    commits    BIGINT NOT NULL DEFAULT 0,
    made       BIGINT NOT NULL,
    KEY qm_connection_made (made)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
