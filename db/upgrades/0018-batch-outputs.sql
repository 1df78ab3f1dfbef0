-- SPDX-License-Identifier: Apache-2.0
-- Bytes in the output files of batches (db/batch_outputs.h). fraction_done and nerror_jobs are those
-- of the batch when counting began; place is the workunit up to which it came, and counting the
-- bytes up to there; 0: it is through, and bytes are all.
CREATE TABLE IF NOT EXISTS qm_batch_outputs (
    batch         BIGINT NOT NULL PRIMARY KEY,
    fraction_done DOUBLE NOT NULL,
    nerror_jobs   INT NOT NULL,
    place         BIGINT NOT NULL,
    counting      BIGINT NOT NULL,
    bytes         BIGINT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
