-- SPDX-License-Identifier: Apache-2.0
-- One row per running server that keeps a job pool. Those whose beat is recent divide the unsent
-- jobs among themselves; the part of a silent one is taken over by the others.
CREATE TABLE IF NOT EXISTS qm_server (
    id         BIGINT NOT NULL PRIMARY KEY,
    name       VARCHAR(191) NOT NULL,
    started    BIGINT NOT NULL,
    beat       BIGINT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
