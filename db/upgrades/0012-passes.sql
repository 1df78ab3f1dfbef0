-- SPDX-License-Identifier: Apache-2.0
-- What the passes over jobs could not do of late, and when they did something last.
CREATE TABLE IF NOT EXISTS qm_pass (
    pass      VARCHAR(32) NOT NULL,
    appid     BIGINT NOT NULL,
    failures  BIGINT NOT NULL,
    since     BIGINT NOT NULL,
    failed_at BIGINT NOT NULL,
    done_at   BIGINT NOT NULL,
    words     VARCHAR(250) NOT NULL,
    PRIMARY KEY (pass, appid)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
