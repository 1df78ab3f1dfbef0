# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A running project of BOINC's as Quartermaster finds it: the tables of a year, and the folder as
# make_project leaves it. To be sourced after lib.sh.

# boinc_tables SCHEMA YEAR: the project's tables as of the end of 2010, 2012, 2018, or of today. Those
# of today are db/schema.sql with numbers of 32 bits and BOINC's keys; of older ones what came later is
# taken away, so that the columns stand where they stood.
boinc_tables() {
    local schema=$1 year=$2
    sql -e "CREATE DATABASE $schema CHARACTER SET $([ "$year" = today ] && echo utf8mb4 || echo latin1)"
    {
        echo "SET sql_mode = '';"
        if [ "$year" = today ]; then
            cat "$QM_SOURCE_DIR/db/schema.sql"
        else
            sed 's/utf8mb4 COLLATE=utf8mb4_general_ci/latin1/' "$QM_SOURCE_DIR/db/schema.sql"
        fi
        cat <<'SQL'
ALTER TABLE host_app_version DROP PRIMARY KEY, ADD UNIQUE KEY hap (host_id, app_version_id);
ALTER TABLE credited_job DROP PRIMARY KEY, ADD UNIQUE KEY credited_job_user_wu (userid, workunitid);
ALTER TABLE workunit MODIFY id INT NOT NULL AUTO_INCREMENT, MODIFY canonical_resultid INT NOT NULL;
ALTER TABLE result MODIFY id INT NOT NULL AUTO_INCREMENT, MODIFY workunitid INT NOT NULL;
ALTER TABLE assignment MODIFY workunitid INT NOT NULL, MODIFY resultid INT NOT NULL;
SQL
        [ "$year" = today ] && return
        # Revisions 27029 to 27032, and the unique names of users.
        cat <<'SQL'
ALTER TABLE host DROP COLUMN misc;
ALTER TABLE workunit DROP KEY wu_batch, MODIFY name VARCHAR(254) NOT NULL;
ALTER TABLE result DROP KEY res_batch, ADD KEY res_wu_user (workunitid, userid), MODIFY name VARCHAR(254) NOT NULL;
ALTER TABLE user DROP KEY name, MODIFY email_addr VARCHAR(254) NOT NULL;
SQL
        [ "$year" = 2018 ] && return
        # 27001 to 27028.
        cat <<'SQL'
ALTER TABLE app DROP COLUMN n_size_classes, DROP COLUMN fraction_done_exact;
ALTER TABLE app_version DROP COLUMN beta;
ALTER TABLE host DROP COLUMN product_name, DROP COLUMN gpu_active_frac, DROP COLUMN p_ngpus,
    DROP COLUMN p_gpu_fpops, DROP KEY host_userid_cpid, DROP KEY host_domain_name, ADD KEY host_user (userid);
ALTER TABLE workunit DROP COLUMN size_class, DROP COLUMN keywords, DROP COLUMN app_version_num;
ALTER TABLE result DROP COLUMN size_class, DROP COLUMN peak_working_set_size, DROP COLUMN peak_swap_size,
    DROP COLUMN peak_disk_usage;
ALTER TABLE team DROP COLUMN mod_time;
ALTER TABLE user DROP COLUMN login_token, DROP COLUMN login_token_time, DROP COLUMN previous_email_addr,
    DROP COLUMN email_addr_change_time;
ALTER TABLE batch DROP COLUMN expire_time;
ALTER TABLE user_submit DROP COLUMN max_jobs_in_progress;
DROP TABLE IF EXISTS credit_user, credit_team, user_deleted, host_deleted, consent, consent_type, token;
DROP VIEW IF EXISTS latest_consent;
SQL
        [ "$year" = 2012 ] && return
        # 23635 to 27000.
        cat <<'SQL'
ALTER TABLE app DROP COLUMN homogeneous_app_version, DROP COLUMN non_cpu_intensive, DROP COLUMN locality_scheduling;
ALTER TABLE workunit DROP COLUMN app_version_id, DROP COLUMN transitioner_flags;
ALTER TABLE result DROP COLUMN runtime_outlier;
ALTER TABLE assignment DROP KEY asgn_target;
DROP TABLE batch, user_submit, user_submit_app, job_file;
SQL
    } | sql "$schema"
}

# boinc_folder DIR SCHEMA [ELEMENT...]: config.xml with daemons and tasks, keys, pages, logs and what else
# make_project makes; the elements go into config.xml.
boinc_folder() {
    local dir=$1 schema=$2
    shift 2
    mkdir -p "$dir"/{keys,upload,download,templates,bin,cgi-bin,html/{user,ops,inc},log_host1}
    cat >"$dir/config.xml" <<XML
<?xml version="1.0" ?>
<boinc>
    <config>
        <long_name>Old & good</long_name>
        <master_url>http://127.0.0.1/test/</master_url>
        <db_name>$schema</db_name>
        <db_user>root</db_user>
        <db_socket>$QM_TEST_SOCKET</db_socket>
        <shmem_key>0x1111b0c1</shmem_key>
        <download_url>http://127.0.0.1/test/download</download_url>
        <download_dir>$dir/download</download_dir>
        <upload_url>http://127.0.0.1/test_cgi/file_upload_handler</upload_url>
        <upload_dir>$dir/upload</upload_dir>
        <key_dir>$dir/keys</key_dir>
        <log_dir>$dir/log_host1</log_dir>
        <uldl_dir_fanout>1024</uldl_dir_fanout>
        <cache_md5_info>1</cache_md5_info>
        <shmem_work_items>2000</shmem_work_items>
        <feeder_query_size>4000</feeder_query_size>
        <max_wus_to_send>50</max_wus_to_send>
        <daily_result_quota>500</daily_result_quota>
        <send_result_abort>1</send_result_abort>
        <show_results>1</show_results>
        <!-- an option stands before </config> -->
$(printf '        %s\n' "$@")
    </config>
    <tasks>
        <task>
            <cmd>antique_file_deleter -d 2</cmd>
            <period>24 hours</period>
            <disabled>1</disabled>
        </task>
        <task>
            <cmd>run_in_ops ./update_profile_pages.php</cmd>
            <period>24 hours</period>
        </task>
        <task>
            <cmd>show_shmem</cmd>
        </task>
    </tasks>
    <daemons>
        <daemon>
            <cmd>feeder -d 3 --priority_order</cmd>
        </daemon>
        <daemon>
            <cmd>nice -n 5 ./bin/transitioner -d 3</cmd>
        </daemon>
        <daemon>
            <cmd>sample_bitwise_validator -d 3 --app work</cmd>
        </daemon>
        <daemon>
            <cmd>heaven_maker --daily</cmd>
        </daemon>
    </daemons>
</boinc>
XML
    echo 22000 >"$dir/db_revision"
    : >"$dir/bin/start"
    echo '<boinc><platform><name>x86_64-pc-linux-gnu</name></platform></boinc>' >"$dir/project.xml"
    # shellcheck disable=SC2016 # PHP's
    echo '<?php readfile("schedulers.txt"); echo "<scheduler>$url</scheduler>";' >"$dir/html/user/index.php"
    echo '<!-- <scheduler>http://127.0.0.1/test_cgi/cgi</scheduler> -->' >"$dir/html/user/schedulers.txt"
    "$QM_BINARY_DIR/qmctl" --project "$dir" keys >/dev/null
}

# boinc_writes SCHEMA: what BOINC's programs write into jobs, by position and by name, as statements made from
# the columns that are there now; to be run when others have been at the tables.
boinc_writes() {
    local table
    for table in workunit result; do
        # shellcheck disable=SC2016 # a database's quotes
        sql -e "SELECT CONCAT('INSERT INTO $table VALUES (', GROUP_CONCAT(CASE
            WHEN COLUMN_NAME = 'id' THEN '0'
            WHEN COLUMN_NAME = 'name' THEN '\'written_by_position\''
            WHEN COLUMN_NAME = 'mod_time' THEN 'CURRENT_TIMESTAMP'
            WHEN COLUMN_NAME = 'workunitid' THEN '1'
            WHEN DATA_TYPE LIKE '%char' OR DATA_TYPE LIKE '%blob' OR DATA_TYPE LIKE '%text' THEN '\'\''
            ELSE ORDINAL_POSITION END ORDER BY ORDINAL_POSITION), ');')
            FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = '$1' AND TABLE_NAME = '$table'"
    done
    for table in host host_app_version msg_to_host assignment; do
        sql -e "SELECT CONCAT('INSERT INTO $table SET ', GROUP_CONCAT(COLUMN_NAME, ' = ', ORDINAL_POSITION
            ORDER BY ORDINAL_POSITION), ';')
            FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = '$1' AND TABLE_NAME = '$table' AND COLUMN_NAME <> 'id'"
    done
    echo "UPDATE workunit SET need_validate = 1, transition_time = 7 WHERE name = 'written_by_position';"
    echo "UPDATE result SET server_state = 5, outcome = 1, validate_state = 1 WHERE name = 'written_by_position';"
}
# boinc_reads SCHEMA: the feeder's way to unsent jobs, which names an index and reads columns by position.
boinc_reads() {
    sql "$1" -e "SELECT r1.id, r1.priority, r1.server_state, r1.report_deadline, workunit.*
        FROM result r1 FORCE INDEX (ind_res_st), workunit, app
        WHERE r1.server_state = 2 AND r1.workunitid = workunit.id AND workunit.appid = app.id AND app.deprecated = 0
        ORDER BY r1.priority DESC, r1.workunitid LIMIT 200"
}

# tables_of SCHEMA: how the project's tables are made, as the database says it; ours (qm_) left out.
tables_of() {
    local name
    sql -e "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = '$1' AND TABLE_NAME NOT LIKE 'qm\\_%'
        ORDER BY TABLE_NAME" | while read -r name; do
        sql "$1" -e "SHOW CREATE TABLE $name" | sed 's/ AUTO_INCREMENT=[0-9]*//; s/\\n/\n/g'
    done
}
