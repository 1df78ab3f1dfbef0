-- SPDX-License-Identifier: Apache-2.0
-- Clusters want a primary key of every table. Two of a project's tables have only a unique one, over
-- columns that are never NULL: in a database that we made it becomes the primary key. That of a
-- running BOINC project stays as it is; check-config says what its administrator may do.
SET @is_ours = (SELECT COUNT(*) FROM qm_schema WHERE version = 0);
SET @has_key = (SELECT COUNT(*) FROM information_schema.TABLE_CONSTRAINTS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'host_app_version'
    AND CONSTRAINT_TYPE = 'PRIMARY KEY');
SET @change = IF(@is_ours = 0 OR @has_key > 0, 'DO 0', 'ALTER TABLE host_app_version
    DROP INDEX IF EXISTS hap, ADD PRIMARY KEY (host_id, app_version_id)');
EXECUTE IMMEDIATE @change;
SET @has_key = (SELECT COUNT(*) FROM information_schema.TABLE_CONSTRAINTS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'credited_job'
    AND CONSTRAINT_TYPE = 'PRIMARY KEY');
SET @change = IF(@is_ours = 0 OR @has_key > 0, 'DO 0', 'ALTER TABLE credited_job
    DROP INDEX IF EXISTS credited_job_user_wu, ADD PRIMARY KEY (userid, workunitid)');
EXECUTE IMMEDIATE @change;
