-- SPDX-License-Identifier: Apache-2.0
-- Batches in a hurry (policy(7) 13.9). within is in s: what is left of the batch is for hosts whose
-- average turnaround is not above it; 0: for all. wanted is 0 where only hurry_batches wants it.
CREATE TABLE IF NOT EXISTS qm_hurry (
    batch  BIGINT NOT NULL PRIMARY KEY,
    wanted TINYINT NOT NULL,
    within INT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
