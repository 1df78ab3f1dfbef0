-- SPDX-License-Identifier: Apache-2.0
-- The tables of a new project: the same names, columns, order of columns and keys that BOINC's own
-- programs expect, since those read rows by position. Ids of workunits and results, and what refers
-- to them, are 64 bits wide. Never add a column to workunit or result. What is ours alone stands in
-- upgrades/, so that a project that already has these tables gets just that.
--
-- One statement ends with a semicolon at the end of a line; every statement may be run again.

CREATE TABLE IF NOT EXISTS platform (
    id                      INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    create_time             INT NOT NULL,
    name                    VARCHAR(191) NOT NULL,
    user_friendly_name      VARCHAR(254) NOT NULL,
    deprecated              TINYINT NOT NULL DEFAULT 0,
    UNIQUE KEY name (name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;

CREATE TABLE IF NOT EXISTS app (
    id                      INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    create_time             INT NOT NULL,
    name                    VARCHAR(191) NOT NULL,
    min_version             INT NOT NULL DEFAULT 0,
    deprecated              SMALLINT NOT NULL DEFAULT 0,
    user_friendly_name      VARCHAR(254) NOT NULL,
    homogeneous_redundancy  SMALLINT NOT NULL DEFAULT 0,
    weight                  DOUBLE NOT NULL DEFAULT 1,
    beta                    SMALLINT NOT NULL DEFAULT 0,
    target_nresults         SMALLINT NOT NULL DEFAULT 0,
    min_avg_pfc             DOUBLE NOT NULL DEFAULT 1,
    host_scale_check        TINYINT NOT NULL DEFAULT 0,
    homogeneous_app_version TINYINT NOT NULL DEFAULT 0,
    non_cpu_intensive       TINYINT NOT NULL DEFAULT 0,
    locality_scheduling     INT NOT NULL DEFAULT 0,
    n_size_classes          SMALLINT NOT NULL DEFAULT 0,
    fraction_done_exact     TINYINT NOT NULL DEFAULT 0,
    UNIQUE KEY name (name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;

CREATE TABLE IF NOT EXISTS app_version (
    id                      INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    create_time             INT NOT NULL,
    appid                   INT NOT NULL,
    version_num             INT NOT NULL,
    platformid              INT NOT NULL,
    xml_doc                 MEDIUMBLOB,
    min_core_version        INT NOT NULL DEFAULT 0,
    max_core_version        INT NOT NULL DEFAULT 0,
    deprecated              TINYINT NOT NULL DEFAULT 0,
    plan_class              VARCHAR(128) NOT NULL DEFAULT '',
    pfc_n                   DOUBLE NOT NULL DEFAULT 0,
    pfc_avg                 DOUBLE NOT NULL DEFAULT 0,
    pfc_scale               DOUBLE NOT NULL DEFAULT 0,
    expavg_credit           DOUBLE NOT NULL DEFAULT 0,
    expavg_time             DOUBLE NOT NULL DEFAULT 0,
    beta                    TINYINT NOT NULL DEFAULT 0,
    UNIQUE KEY apvp (appid, platformid, version_num, plan_class)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;

CREATE TABLE IF NOT EXISTS user (
    id                      INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    create_time             INT NOT NULL,
    email_addr              VARCHAR(191) NOT NULL,
    name                    VARCHAR(191),
    authenticator           VARCHAR(191),
    country                 VARCHAR(254),
    postal_code             VARCHAR(254),
    total_credit            DOUBLE NOT NULL,
    expavg_credit           DOUBLE NOT NULL,
    expavg_time             DOUBLE NOT NULL,
    global_prefs            BLOB,
    project_prefs           BLOB,
    teamid                  INT NOT NULL,
    venue                   VARCHAR(254) NOT NULL,
    url                     VARCHAR(254),
    send_email              SMALLINT NOT NULL,
    show_hosts              SMALLINT NOT NULL,
    posts                   SMALLINT NOT NULL,
    seti_id                 INT NOT NULL,
    seti_nresults           INT NOT NULL,
    seti_last_result_time   INT NOT NULL,
    seti_total_cpu          DOUBLE NOT NULL,
    signature               VARCHAR(254),
    has_profile             SMALLINT NOT NULL,
    cross_project_id        VARCHAR(254) NOT NULL,
    passwd_hash             VARCHAR(254) NOT NULL,
    email_validated         SMALLINT NOT NULL,
    donated                 SMALLINT NOT NULL,
    login_token             CHAR(32) NOT NULL DEFAULT '',
    login_token_time        DOUBLE NOT NULL DEFAULT 0,
    previous_email_addr     VARCHAR(254) NOT NULL DEFAULT '',
    email_addr_change_time  DOUBLE NOT NULL DEFAULT 0,
    UNIQUE KEY email_addr (email_addr),
    UNIQUE KEY authenticator (authenticator),
    UNIQUE KEY name (name),
    KEY ind_tid (teamid),
    KEY user_tot (total_credit DESC),
    KEY user_avg (expavg_credit DESC),
    KEY user_email_time (email_addr_change_time)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;

CREATE TABLE IF NOT EXISTS team (
    id                      INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    create_time             INT NOT NULL,
    userid                  INT NOT NULL,
    name                    VARCHAR(191) NOT NULL,
    name_lc                 VARCHAR(254),
    url                     VARCHAR(254),
    type                    INT NOT NULL,
    name_html               VARCHAR(254),
    description             TEXT,
    nusers                  INT NOT NULL,
    country                 VARCHAR(254),
    total_credit            DOUBLE NOT NULL DEFAULT 0,
    expavg_credit           DOUBLE NOT NULL DEFAULT 0,
    expavg_time             DOUBLE NOT NULL,
    seti_id                 INT NOT NULL DEFAULT 0,
    ping_user               INT NOT NULL DEFAULT 0,
    ping_time               INT UNSIGNED NOT NULL DEFAULT 0,
    joinable                TINYINT NOT NULL DEFAULT 1,
    mod_time                TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP
                            ON UPDATE CURRENT_TIMESTAMP,
    UNIQUE KEY name (name),
    FULLTEXT KEY team_name_desc (name, description),
    KEY team_avg (expavg_credit DESC),
    KEY team_tot (total_credit DESC),
    KEY team_userid (userid)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;

CREATE TABLE IF NOT EXISTS host (
    id                      INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    create_time             INT NOT NULL,
    userid                  INT NOT NULL,
    rpc_seqno               INT NOT NULL,
    rpc_time                INT NOT NULL,
    total_credit            DOUBLE NOT NULL,
    expavg_credit           DOUBLE NOT NULL,
    expavg_time             DOUBLE NOT NULL,
    timezone                INT NOT NULL,
    domain_name             VARCHAR(254),
    serialnum               VARCHAR(254),
    last_ip_addr            VARCHAR(254),
    nsame_ip_addr           INT NOT NULL,
    on_frac                 DOUBLE NOT NULL,
    connected_frac          DOUBLE NOT NULL,
    active_frac             DOUBLE NOT NULL,
    cpu_efficiency          DOUBLE NOT NULL,
    duration_correction_factor DOUBLE NOT NULL,
    p_ncpus                 INT NOT NULL,
    p_vendor                VARCHAR(254),
    p_model                 VARCHAR(254),
    p_fpops                 DOUBLE NOT NULL,
    p_iops                  DOUBLE NOT NULL,
    p_membw                 DOUBLE NOT NULL,
    os_name                 VARCHAR(254),
    os_version              VARCHAR(254),
    m_nbytes                DOUBLE NOT NULL,
    m_cache                 DOUBLE NOT NULL,
    m_swap                  DOUBLE NOT NULL,
    d_total                 DOUBLE NOT NULL,
    d_free                  DOUBLE NOT NULL,
    d_boinc_used_total      DOUBLE NOT NULL,
    d_boinc_used_project    DOUBLE NOT NULL,
    d_boinc_max             DOUBLE NOT NULL,
    n_bwup                  DOUBLE NOT NULL,
    n_bwdown                DOUBLE NOT NULL,
    credit_per_cpu_sec      DOUBLE NOT NULL,
    venue                   VARCHAR(254) NOT NULL,
    nresults_today          INT NOT NULL,
    avg_turnaround          DOUBLE NOT NULL,
    host_cpid               VARCHAR(254),
    external_ip_addr        VARCHAR(254),
    max_results_day         INT NOT NULL,
    error_rate              DOUBLE NOT NULL DEFAULT 0,
    product_name            VARCHAR(254) NOT NULL,
    gpu_active_frac         DOUBLE NOT NULL,
    p_ngpus                 INT NOT NULL,
    p_gpu_fpops             DOUBLE NOT NULL,
    misc                    TEXT NOT NULL DEFAULT '',
    KEY host_userid_cpid (userid, host_cpid),
    KEY host_domain_name (domain_name),
    KEY host_avg (expavg_credit DESC),
    KEY host_tot (total_credit DESC)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;

CREATE TABLE IF NOT EXISTS host_app_version (
    host_id                 INT NOT NULL,
    app_version_id          BIGINT NOT NULL,
    pfc_n                   DOUBLE NOT NULL,
    pfc_avg                 DOUBLE NOT NULL,
    et_n                    DOUBLE NOT NULL,
    et_avg                  DOUBLE NOT NULL,
    et_var                  DOUBLE NOT NULL,
    et_q                    DOUBLE NOT NULL,
    max_jobs_per_day        INT NOT NULL,
    n_jobs_today            INT NOT NULL,
    turnaround_n            DOUBLE NOT NULL,
    turnaround_avg          DOUBLE NOT NULL,
    turnaround_var          DOUBLE NOT NULL,
    turnaround_q            DOUBLE NOT NULL,
    consecutive_valid       INT NOT NULL,
    PRIMARY KEY (host_id, app_version_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;

CREATE TABLE IF NOT EXISTS workunit (
    id                      BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    create_time             INT NOT NULL,
    appid                   INT NOT NULL,
    name                    VARCHAR(191) NOT NULL,
    xml_doc                 BLOB,
    batch                   INT NOT NULL,
    rsc_fpops_est           DOUBLE NOT NULL,
    rsc_fpops_bound         DOUBLE NOT NULL,
    rsc_memory_bound        DOUBLE NOT NULL,
    rsc_disk_bound          DOUBLE NOT NULL,
    need_validate           SMALLINT NOT NULL,
    canonical_resultid      BIGINT NOT NULL,
    canonical_credit        DOUBLE NOT NULL,
    transition_time         INT NOT NULL,
    delay_bound             INT NOT NULL,
    error_mask              INT NOT NULL,
    file_delete_state       INT NOT NULL,
    assimilate_state        INT NOT NULL,
    hr_class                INT NOT NULL,
    opaque                  DOUBLE NOT NULL,
    min_quorum              INT NOT NULL,
    target_nresults         INT NOT NULL,
    max_error_results       INT NOT NULL,
    max_total_results       INT NOT NULL,
    max_success_results     INT NOT NULL,
    result_template_file    VARCHAR(63) NOT NULL,
    priority                INT NOT NULL,
    mod_time                TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP
                            ON UPDATE CURRENT_TIMESTAMP,
    rsc_bandwidth_bound     DOUBLE NOT NULL,
    fileset_id              INT NOT NULL,
    app_version_id          INT NOT NULL,
    transitioner_flags      TINYINT NOT NULL,
    size_class              SMALLINT NOT NULL DEFAULT -1,
    keywords                VARCHAR(254) NOT NULL,
    app_version_num         INT NOT NULL,
    UNIQUE KEY name (name),
    KEY wu_val (appid, need_validate),
    KEY wu_timeout (transition_time),
    KEY wu_filedel (file_delete_state),
    KEY wu_assim (appid, assimilate_state),
    KEY wu_batch (batch)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;

CREATE TABLE IF NOT EXISTS result (
    id                      BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    create_time             INT NOT NULL,
    workunitid              BIGINT NOT NULL,
    server_state            INT NOT NULL,
    outcome                 INT NOT NULL,
    client_state            INT NOT NULL,
    hostid                  INT NOT NULL,
    userid                  INT NOT NULL,
    report_deadline         INT NOT NULL,
    sent_time               INT NOT NULL,
    received_time           INT NOT NULL,
    name                    VARCHAR(191) NOT NULL,
    cpu_time                DOUBLE NOT NULL,
    xml_doc_in              BLOB,
    xml_doc_out             BLOB,
    stderr_out              BLOB,
    batch                   INT NOT NULL,
    file_delete_state       INT NOT NULL,
    validate_state          INT NOT NULL,
    claimed_credit          DOUBLE NOT NULL,
    granted_credit          DOUBLE NOT NULL,
    opaque                  DOUBLE NOT NULL,
    random                  INT NOT NULL,
    app_version_num         INT NOT NULL,
    appid                   INT NOT NULL,
    exit_status             INT NOT NULL,
    teamid                  INT NOT NULL,
    priority                INT NOT NULL,
    mod_time                TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP
                            ON UPDATE CURRENT_TIMESTAMP,
    elapsed_time            DOUBLE NOT NULL,
    flops_estimate          DOUBLE NOT NULL,
    app_version_id          INT NOT NULL,
    runtime_outlier         TINYINT NOT NULL,
    size_class              SMALLINT NOT NULL DEFAULT -1,
    peak_working_set_size   DOUBLE NOT NULL,
    peak_swap_size          DOUBLE NOT NULL,
    peak_disk_usage         DOUBLE NOT NULL,
    UNIQUE KEY name (name),
    KEY res_wuid (workunitid),
    KEY ind_res_st (server_state, priority),
    KEY res_app_state (appid, server_state),
    KEY res_filedel (file_delete_state),
    KEY res_userid_id (userid, id DESC),
    KEY res_userid_val (userid, validate_state),
    KEY res_hostid_id (hostid, id DESC),
    KEY res_batch (batch)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;

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

CREATE TABLE IF NOT EXISTS msg_from_host (
    id                      INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    create_time             INT NOT NULL,
    hostid                  INT NOT NULL,
    variety                 VARCHAR(254) NOT NULL,
    handled                 SMALLINT NOT NULL,
    xml                     MEDIUMTEXT,
    KEY message_handled (handled),
    KEY message_hostid (hostid)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;

CREATE TABLE IF NOT EXISTS msg_to_host (
    id                      INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    create_time             INT NOT NULL,
    hostid                  INT NOT NULL,
    variety                 VARCHAR(254) NOT NULL,
    handled                 SMALLINT NOT NULL,
    xml                     MEDIUMTEXT,
    KEY msg_to_host (hostid, handled)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;

CREATE TABLE IF NOT EXISTS assignment (
    id                      INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    create_time             INT NOT NULL,
    target_id               INT NOT NULL,
    target_type             INT NOT NULL,
    multi                   TINYINT NOT NULL,
    workunitid              BIGINT NOT NULL,
    resultid                BIGINT NOT NULL,
    KEY asgn_target (target_type, target_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;

CREATE TABLE IF NOT EXISTS credited_job (
    userid                  INT NOT NULL,
    workunitid              BIGINT NOT NULL,
    PRIMARY KEY (userid, workunitid),
    KEY credited_job_user (userid),
    KEY credited_job_wu (workunitid)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;

CREATE TABLE IF NOT EXISTS credit_user (
    userid                  INT NOT NULL,
    appid                   INT NOT NULL,
    njobs                   INT NOT NULL,
    total                   DOUBLE NOT NULL,
    expavg                  DOUBLE NOT NULL,
    expavg_time             DOUBLE NOT NULL,
    credit_type             INT NOT NULL,
    PRIMARY KEY (userid, appid, credit_type),
    KEY cu_total (appid, total),
    KEY cu_avg (appid, expavg)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;

CREATE TABLE IF NOT EXISTS credit_team (
    teamid                  INT NOT NULL,
    appid                   INT NOT NULL,
    njobs                   INT NOT NULL,
    total                   DOUBLE NOT NULL,
    expavg                  DOUBLE NOT NULL,
    expavg_time             DOUBLE NOT NULL,
    credit_type             INT NOT NULL,
    PRIMARY KEY (teamid, appid, credit_type),
    KEY ct_total (appid, total),
    KEY ct_avg (appid, expavg)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;

CREATE TABLE IF NOT EXISTS user_deleted (
    userid                  INT NOT NULL PRIMARY KEY,
    public_cross_project_id VARCHAR(254) NOT NULL,
    create_time             DOUBLE NOT NULL,
    KEY user_deleted_create (create_time)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;

CREATE TABLE IF NOT EXISTS host_deleted (
    hostid                  INT NOT NULL PRIMARY KEY,
    public_cross_project_id VARCHAR(254) NOT NULL,
    create_time             DOUBLE NOT NULL,
    KEY host_deleted_create (create_time)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;

CREATE TABLE IF NOT EXISTS consent_type (
    id                      INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    shortname               VARCHAR(255) NOT NULL,
    description             VARCHAR(255) NOT NULL,
    enabled                 INT NOT NULL,
    project_specific        INT NOT NULL,
    privacypref             INT NOT NULL,
    KEY consent_name (shortname(191))
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;

INSERT INTO consent_type (shortname, description, enabled, project_specific, privacypref)
    SELECT 'ENROLL', 'The terms of use of this project', 0, 0, 0 FROM DUAL
    WHERE NOT EXISTS (SELECT 1 FROM consent_type WHERE shortname = 'ENROLL');

CREATE TABLE IF NOT EXISTS consent (
    id                      INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    userid                  INT NOT NULL,
    consent_type_id         INT NOT NULL,
    consent_time            INT NOT NULL,
    consent_flag            TINYINT NOT NULL,
    consent_not_required    TINYINT NOT NULL,
    source                  VARCHAR(255) NOT NULL,
    KEY userid_timestamp (userid, consent_time),
    KEY consent_timestamp (consent_time),
    KEY flag_timestamp (consent_flag, consent_time)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
