-- SPDX-License-Identifier: Apache-2.0
-- What the server keeps for itself, beside a project's tables and never in them.

-- One row per host: changed by every RPC, so that two RPCs of one host on two machines of a cluster
-- conflict; the token tells whether a transaction of unknown outcome was committed.
CREATE TABLE IF NOT EXISTS qm_host (
    hostid     BIGINT NOT NULL PRIMARY KEY,
    rpcs       BIGINT NOT NULL,
    token      BIGINT NOT NULL,
    changed    BIGINT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;

-- One row per workunit handed out by a server of a cluster, for the same purpose.
CREATE TABLE IF NOT EXISTS qm_workunit (
    workunitid BIGINT NOT NULL PRIMARY KEY,
    handouts   BIGINT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
