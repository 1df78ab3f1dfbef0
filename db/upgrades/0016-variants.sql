-- SPDX-License-Identifier: Apache-2.0
-- Which variant of a science app a result was sent with (buda_variant.number of
-- server/policy/version/buda.h). A result without a row was handed out by BOINC, or is none of a
-- science app.
CREATE TABLE IF NOT EXISTS qm_result_variant (
    resultid BIGINT NOT NULL PRIMARY KEY,
    variant  BIGINT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
-- How long jobs of a variant take on a host: elapsed s per estimated FLOP of n jobs, as
-- host_app_version has it of versions.
CREATE TABLE IF NOT EXISTS qm_host_variant (
    hostid  BIGINT NOT NULL,
    variant BIGINT NOT NULL,
    et_n    DOUBLE NOT NULL,
    et_avg  DOUBLE NOT NULL,
    et_var  DOUBLE NOT NULL,
    et_q    DOUBLE NOT NULL,
    PRIMARY KEY (hostid, variant)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
