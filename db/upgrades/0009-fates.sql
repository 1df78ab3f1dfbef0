-- SPDX-License-Identifier: Apache-2.0
-- What became of results, added up: by hour, by the process that counted, and by version or batch.
-- Each process adds to rows of its own, so that none waits for another.
CREATE TABLE IF NOT EXISTS qm_fate (
    hour           BIGINT NOT NULL,
    process        BIGINT NOT NULL,
    appid          BIGINT NOT NULL,
    app_version_id BIGINT NOT NULL,
    batch          BIGINT NOT NULL,
    fate           INT NOT NULL,
    exit_status    INT NOT NULL,
    results        BIGINT NOT NULL,
    PRIMARY KEY (hour, process, appid, app_version_id, batch, fate, exit_status)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
-- The same by host. Older results count less: half as much after every five days (counted_at).
CREATE TABLE IF NOT EXISTS qm_host_fate (
    hostid     BIGINT NOT NULL PRIMARY KEY,
    ended      DOUBLE NOT NULL,
    failed     DOUBLE NOT NULL,
    counted_at BIGINT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
-- Who deletes rows that are too old.
INSERT IGNORE INTO qm_duty (name, due) VALUES ('old fates', 0);
