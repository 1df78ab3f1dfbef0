-- SPDX-License-Identifier: Apache-2.0
-- Work that one of the servers does for all. Whoever moves `due` on does it in the same
-- transaction, so a server that dies leaves the duty to the next one.
CREATE TABLE IF NOT EXISTS qm_duty (
    name       VARCHAR(64) NOT NULL PRIMARY KEY,
    due        BIGINT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;

INSERT IGNORE INTO qm_duty (name, due) VALUES ('credit scales', 0);
