#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Which addresses a real client takes for a project, and how it writes them: each of
# unit/data/master_urls, by which unit/test_master_url.c judges what we say of an address.
# shellcheck disable=SC2317 # claim calls the functions
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need boinc boinccmd

take_port
client=$work/client
mkdir "$client"
cat >"$client/cc_config.xml" <<'XML'
<cc_config><options><skip_cpu_benchmarks>1</skip_cpu_benchmarks>
<dont_contact_ref_site>1</dont_contact_ref_site><no_info_fetch>1</no_info_fetch></options></cc_config>
XML
(cd "$client" && exec boinc --allow_multiple_clients --gui_rpc_port "$port" --no_gpus) >"$work/client.log" 2>&1 &
started+=($!)
control() {
    (cd "$client" && boinccmd --host "127.0.0.1:$port" --passwd "$(cat gui_rpc_auth.cfg)" "$@") 2>>"$work/control.log"
}
is_up() { control --get_cc_status >/dev/null; }
attached() { control --get_project_status | sed -n 's/^ *master URL: //p'; }
is_attached_to() { [ "$(attached)" = "$1" ]; }

within 30 is_up || {
    claim_failed "the client answers"
    finish
}
while IFS=$'\t' read -r address _ known; do
    [ "${address:0:1}" != '#' ] || continue
    control --project_attach "$address" "$account"
    found=$(attached)
    claim "$address: $known" test "${found:--}" = "$known"
    [ -z "$found" ] || control --project "$found" detach
    within 5 is_attached_to '' || claim_failed "$address is left"
done <"$QM_SOURCE_DIR/tests/unit/data/master_urls"
finish
