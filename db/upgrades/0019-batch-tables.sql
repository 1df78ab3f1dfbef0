-- SPDX-License-Identifier: Apache-2.0
-- BOINC's tables of batches and of who submits them, which the database of a project of former years
-- lacks, as in schema.sql. Whatever of them is there stays as it is.
CREATE TABLE IF NOT EXISTS batch (
    id                      BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    user_id                 INT NOT NULL,
    create_time             INT NOT NULL,
    logical_start_time      DOUBLE NOT NULL,
    logical_end_time        DOUBLE NOT NULL,
    est_completion_time     DOUBLE NOT NULL,
    njobs                   INT NOT NULL,
    fraction_done           DOUBLE NOT NULL,
    nerror_jobs             INT NOT NULL,
    state                   INT NOT NULL,
    completion_time         DOUBLE NOT NULL,
    credit_estimate         DOUBLE NOT NULL,
    credit_canonical        DOUBLE NOT NULL,
    credit_total            DOUBLE NOT NULL,
    name                    VARCHAR(255) NOT NULL,
    app_id                  INT NOT NULL,
    project_state           INT NOT NULL,
    description             VARCHAR(255) NOT NULL,
    expire_time             DOUBLE NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
CREATE TABLE IF NOT EXISTS user_submit (
    user_id                 INT NOT NULL PRIMARY KEY,
    quota                   DOUBLE NOT NULL,
    logical_start_time      DOUBLE NOT NULL,
    submit_all              TINYINT NOT NULL,
    manage_all              TINYINT NOT NULL,
    max_jobs_in_progress    INT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
CREATE TABLE IF NOT EXISTS user_submit_app (
    user_id                 INT NOT NULL,
    app_id                  INT NOT NULL,
    manage                  TINYINT NOT NULL,
    PRIMARY KEY (user_id, app_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
CREATE TABLE IF NOT EXISTS job_file (
    id                      INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    name                    VARCHAR(191) NOT NULL,
    create_time             DOUBLE NOT NULL,
    delete_time             DOUBLE NOT NULL,
    UNIQUE KEY jf_name (name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
CREATE TABLE IF NOT EXISTS batch_file_assoc (
    job_file_id             INT NOT NULL,
    batch_id                INT NOT NULL,
    UNIQUE KEY bfa (batch_id, job_file_id),
    KEY bfa_file (job_file_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
