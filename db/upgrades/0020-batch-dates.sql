-- SPDX-License-Identifier: Apache-2.0
-- When batches in progress will be done (policy(7) 13.10), in s since 1970; 0: not known. Half of such
-- batches would be done by half, nine of ten by most; ahead is how many unsent results of others go
-- before.
CREATE TABLE IF NOT EXISTS qm_batch_date (
    batch   BIGINT NOT NULL PRIMARY KEY,
    half    BIGINT NOT NULL,
    most    BIGINT NOT NULL,
    ahead   INT NOT NULL,
    made_at BIGINT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
