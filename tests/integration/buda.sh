#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A science app (BUDA) comes to a running server: until then nothing is searched for the names of science apps, and
# what is nonetheless a job of one waits; afterwards it goes out with the files of its variant.
# shellcheck disable=SC2317 # within() calls functions
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx

new_project ""
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
waits() { ask && ! grep -q '<result>' "$work/reply" && [ "$(rows "SELECT server_state FROM result")" = 2 ]; }

refused() { ask && grep -q 'event=job_not_sent .*why="job of a science app without a variant"' "$work/one.log"; }
claim "without a folder buda_apps the job is not sent" within 20 refused
claim "and waits" waits
mkdir -p "$project/buda_apps/fold1/intel_cpu"
printf '%s\n' '{"name": "fold1", "long_name": "Folding"}' >"$project/buda_apps/fold1/desc.json"
printf '%s\n' '{"cpu_type": "intel", "plan_class": "", "file_infos": "<file_info>\n<name>buda_fold1_cc</name>\n</file_info>\n",
    "file_refs": "<file_ref>\n<file_name>buda_fold1_cc</file_name>\n</file_ref>\n"}' >"$project/buda_apps/fold1/intel_cpu/variant.json"
claim "its variant goes with it as soon as there is one" within 20 gets '<file_name>buda_fold1_cc</file_name>'
claim "the log has the science app's files" grep -q 'event=config_loaded' "$work/one.log"
loaded=$(grep -c event=keys_loaded "$work/one.log")
mv "$project/buda_apps" "$work/"
loads() { [ "$(grep -c event=keys_loaded "$work/one.log")" -gt "$loaded" ]; }
claim "a folder that goes away is noticed" within 20 loads
rows "UPDATE result SET server_state = 2, hostid = 0, userid = 0, outcome = 0"
unknown() { ask && grep -q 'reason=buda_app ' "$work/one.log"; }
claim "and the host hears that nobody knows the science app" within 20 unknown
claim "while the job waits" waits
finish
