#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A science app (BUDA) comes to a running server: until then nothing is searched for the names of science apps, and
# what is nonetheless a job of one waits; afterwards it goes out with the files of its variant.
# shellcheck disable=SC2317 # within() calls functions
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx

new_project "<upload_url>http://127.0.0.1/test_cgi/file_upload_handler</upload_url>" \
    "<download_url>http://127.0.0.1/test/download</download_url>" "<download_dir>$project/download</download_dir>"
add_host
echo '<plan_classes><plan_class><name>docker</name><docker/></plan_class></plan_classes>' >"$project/plan_class_spec.xml"
rows "SET sql_mode = ''; INSERT INTO app SET id = 2, create_time = 1, name = 'buda', user_friendly_name = 'BUDA', weight = 1;
    INSERT INTO app_version (id, create_time, appid, version_num, platformid, plan_class, min_core_version, xml_doc)
        SELECT 2, 1, 2, 100, platformid, 'docker', 80200, REPLACE(xml_doc, '<app_name>work', '<app_name>buda') FROM app_version WHERE id = 1"
add_jobs 1
rows "UPDATE workunit SET appid = 2, xml_doc = '<workunit>
<buda_app_name>fold1</buda_app_name>
</workunit>
'; UPDATE result SET appid = 2"
sed '/<dont_send_work>/d; s|<work_req_seconds>[^<]*<|<work_req_seconds>100<|; s|<cpu_req_secs>[^<]*<|<cpu_req_secs>100<|
    s|<core_client_major_version>[^<]*<|<core_client_major_version>8<|; s|<core_client_minor_version>[^<]*<|<core_client_minor_version>2<|
    s|</host_info>|<docker_version>24.0.7</docker_version>\n&|' "$request" >"$work/asks.xml"
start_server one --threads 2
start_nginx "$work/one.socket"
ask() {
    rows "UPDATE host SET rpc_time = 1"
    post "$url" "$work/asks.xml" >"$work/reply"
}
gets() { ask && grep -q "$1" "$work/reply"; }
waits() { ask && ! grep -q '<result>' "$work/reply" && [ "$(rows "SELECT server_state FROM result WHERE id = 1")" = 2 ]; }

refused() { ask && grep -q 'event=job_not_sent .*why="job of a science app without a variant"' "$work/one.log"; }
claim "without a folder buda_apps the job is not sent" within 20 refused
claim "and waits" waits
mkdir -p "$project/buda_apps/fold1/intel_cpu"
printf '%s\n' '{"name": "fold1", "long_name": "Folding"}' >"$project/buda_apps/fold1/desc.json"
printf '%s\n' '{"cpu_type": "intel", "plan_class": "", "file_infos": "<file_info>\n<name>buda_fold1_cc</name>\n</file_info>\n",
    "file_refs": "<file_ref>\n<file_name>buda_fold1_cc</file_name>\n</file_ref>\n"}' >"$project/buda_apps/fold1/intel_cpu/variant.json"
claim "its variant goes with it as soon as there is one" within 20 gets '<file_name>buda_fold1_cc</file_name>'
claim "the log has the science app's files" grep -q 'event=config_loaded' "$work/one.log"

# What BOINC's pages for science apps write, and a batch of jobs as they make it: with a file that all jobs have,
# one of its own for each, and arguments.
cat >"$project/buda_apps/fold1/template_in" <<'XML'
<input_template>
    <file_info>
        <no_delete/>
    </file_info>
    <file_info>
        <no_delete/>
    </file_info>
    <workunit>
        <file_ref>
            <open_name>shared.fa</open_name>
            <copy_file/>
        </file_ref>
        <file_ref>
            <open_name>seq.fa</open_name>
            <copy_file/>
        </file_ref>
        <min_quorum>1</min_quorum>
        <target_nresults>1</target_nresults>
        <max_error_results>2</max_error_results>
        <max_total_results>3</max_total_results>
        <max_success_results>3</max_success_results>
        <max_delay>302400.000000</max_delay>
        <buda_app_name>fold1</buda_app_name>
    </workunit>
</input_template>
XML
cat >"$project/buda_apps/fold1/template_out" <<'XML'
<output_template>
    <file_info>
        <name><OUTFILE_0/></name>
        <generated_locally/>
        <upload_when_present/>
        <max_nbytes>26214400</max_nbytes>
        <url><UPLOAD_URL/></url>
        <gzip_when_done/>
    </file_info>
    <result>
        <file_ref>
            <file_name><OUTFILE_0/></file_name>
            <open_name>out.pdb</open_name>
            <copy_file/>
        </file_ref>
    </result>
</output_template>
XML
qmctl() { "$QM_BINARY_DIR/qmctl" --project "$project" "$@" >"$work/qmctl.out" 2>&1 || sed 's/^/    /' "$work/qmctl.out"; }
rows "UPDATE result SET server_state = 5, outcome = 1"
for name in shared one two; do echo "$name" >"$work/batch_7_$name"; done
qmctl jobs create --app buda --in buda_apps/fold1/template_in --out buda_apps/fold1/template_out --sub_appname "Folding & more" \
    --batch 7 --command_line "--verbose -n 5" --rsc_fpops_bound 3.7152e14 --rsc_fpops_est 1.8576e14 --stdin <<JOBS
--wu_name batch_7__job_a $work/batch_7_shared $work/batch_7_one
--wu_name batch_7__job_b --command_line "--verbose -n 6" $work/batch_7_shared $work/batch_7_two
JOBS
deadlines="SELECT COUNT(*) FROM workunit WHERE batch = 7 AND delay_bound = 302400 AND result_template_file = 'buda_apps/fold1/template_out'"
claim "jobs are made from the templates of a science app, with its deadline" test "$(rows "$deadlines")" = 2
claim "they are sent with its variant's files" within 20 gets '<name>buda_fold1_cc</name>'
claim "and with their own" grep -q '<open_name>seq.fa</open_name>' "$work/reply"
claim "under the name that volunteers see" grep -q '<sub_appname>Folding &amp; more</sub_appname>' "$work/reply"
claim "with their arguments" grep -q -- '--verbose -n [56]' "$work/reply"
claim "and the file to be sent back" grep -q '<gzip_when_done/>' "$work/reply"
rows "UPDATE result SET server_state = 5, outcome = 3, client_state = 3, hostid = 99 WHERE name LIKE 'batch_7__job_a%';
    UPDATE workunit SET transition_time = 1 WHERE name = 'batch_7__job_a'"
qmctl transition
claim "a failed one is tried again, from the template that lies there" test "$(rows "SELECT COUNT(*) FROM result
    WHERE name LIKE 'batch_7__job_a%' AND server_state = 2 AND xml_doc_in LIKE '%<open_name>out.pdb</open_name>%'")" = 1
rows "UPDATE result SET server_state = 5, outcome = 1 WHERE name LIKE 'batch_7%'"

loaded=$(grep -c event=keys_loaded "$work/one.log")
mv "$project/buda_apps" "$work/"
loads() { [ "$(grep -c event=keys_loaded "$work/one.log")" -gt "$loaded" ]; }
claim "a folder that goes away is noticed" within 20 loads
rows "UPDATE result SET server_state = 2, hostid = 0, userid = 0, outcome = 0 WHERE id = 1"
unknown() { ask && grep -q 'reason=buda_app ' "$work/one.log"; }
claim "and the host hears that nobody knows the science app" within 20 unknown
claim "while the job waits" waits
finish
