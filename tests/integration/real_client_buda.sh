#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A real client that runs no containers asks a project whose jobs are of a science app (BUDA): it gets none, and its
# volunteer reads why.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=lib_demo.sh
. "$(dirname "$0")/lib_demo.sh"
need curl nginx boinc boinccmd
[ -S "$QM_TEST_SOCKET" ] || skip "no private MariaDB at $QM_TEST_SOCKET"

cp "$QM_BINARY_DIR/quartermaster" "$program"
take_port
web_port=$port
page=http://127.0.0.1:$port
in_project init "$project" --url "$page/test/" --name BUDA --db-name "$schema" --db-user root \
    --db-socket "$QM_TEST_SOCKET" --scheduler "$page/test_cgi/cgi"
echo '<plan_classes><plan_class><name>docker</name><docker/></plan_class></plan_classes>' >"$project/plan_class_spec.xml"
mkdir -p "$project/buda_apps/fold1/intel_cpu"
echo '{"name": "fold1", "long_name": "Folding"}' >"$project/buda_apps/fold1/desc.json"
echo '{"cpu_type": "intel", "plan_class": "", "file_infos": "<file_info><name>f</name></file_info>", "file_refs": "<file_ref><file_name>f</file_name></file_ref>"}' \
    >"$project/buda_apps/fold1/intel_cpu/variant.json"
demo_app "$project"
rows "UPDATE app_version SET plan_class = 'docker', min_core_version = 80200"
key=$(volunteer_key "$project")
demo_jobs "$project" 4
rows "UPDATE workunit SET xml_doc = REPLACE(xml_doc, '</workunit>', '<buda_app_name>fold1</buda_app_name>\n</workunit>')"
start_server one
start_nginx "$work/one.socket"

"$QM_SOURCE_DIR/tools/real-client" --url "$page/test/" --key "$key" --dir "$work/client" --goal 1 --seconds 60 \
    >"$work/client.txt" 2>&1 </dev/null
claim "no job came" not grep -q '<result>' "$work/client/client_state.xml"
claim "the client shows why" grep -q 'it needs Docker or Podman, and BOINC found none when it started' "$work/client/client.log"
claim "the jobs wait" test "$(rows "SELECT COUNT(*) FROM result WHERE server_state = 2")" = 4
claim "nothing failed in the server" not grep -q 'level=\(critical\|error\)' "$work"/one.log
finish
