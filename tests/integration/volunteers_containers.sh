#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A crowd of Linux and Windows hosts, some of which run containers, some with GPUs that their containers may use,
# works on jobs of a science app (BUDA) for half a day: who gets which variant, and whether both sides reckon alike.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx

cat >"$work/crowd" <<'CROWD'
hosts 30
days 0.5
arrival_days 0.05
always_on 1
cpus_max 4
flops_min 1e9
flops_max 2e10
windows_part 0.5
containers_part 0.7
wsl_gpu_part 0.5
gpu_nvidia 0.7
gpu_speed_max 40
estimate_sigma 0
error_rate 0
abandon_rate 0
seed 3
CROWD

new_project "<max_wus_to_send>0</max_wus_to_send>"
cat >"$project/plan_class_spec.xml" <<'XML'
<plan_classes>
<plan_class><name>docker</name><docker/></plan_class>
<plan_class><name>docker_nv</name><docker/><gpu_type>nvidia</gpu_type><cuda/><cpu_frac>0.1</cpu_frac>
    <gpu_peak_flops_scale>0.2</gpu_peak_flops_scale></plan_class>
</plan_classes>
XML
# variant NAME PLAN-CLASS
variant() {
    mkdir -p "$project/buda_apps/fold/$1"
    printf '{"cpu_type": "intel", "plan_class": "%s", "file_infos": "%s", "file_refs": "%s"}\n' "$2" \
        "<file_info><name>f_$1</name><nbytes>1000</nbytes></file_info>" \
        "<file_ref><file_name>f_$1</file_name><open_name>Dockerfile</open_name></file_ref>" \
        >"$project/buda_apps/fold/$1/variant.json"
}
variant cpu ""
variant gpu docker_nv
echo '{"name": "fold"}' >"$project/buda_apps/fold/desc.json"
add_jobs 2000
rows "SET sql_mode = ''; UPDATE workunit SET rsc_fpops_est = 4e13, rsc_fpops_bound = 1e17,
        xml_doc = '<workunit>\n<buda_app_name>fold</buda_app_name>\n</workunit>\n';
    UPDATE app_version SET plan_class = 'docker', min_core_version = 80200;
    INSERT IGNORE INTO platform SET create_time = 1, name = 'windows_x86_64', user_friendly_name = 'Windows';
    INSERT INTO app_version (create_time, appid, version_num, platformid, plan_class, min_core_version, xml_doc)
        SELECT 1, 1, 100, platform.id, 'docker', 80200, app_version.xml_doc FROM app_version JOIN platform
        WHERE platform.name = 'windows_x86_64'"
start_server one --clock=request
start_nginx "$work/one.socket"
"$QM_BINARY_DIR/qmvolunteers" --quiet --authenticator "$account" "$work/crowd" "$url" >"$work/crowd.json" 2>"$work/crowd.err"
claim "the crowd lives to the end" test $? -eq 0
cat "$work/crowd.json"
figure() { sed -n "s/.*\"$1\": \([0-9.]*\).*/\1/p" "$work/crowd.json"; }

number() { rows "SELECT CONV(LEFT(MD5('fold/$1'), 15), 16, 10)"; }
cpu=$(number cpu) gpu=$(number gpu)
# hosts VARIANT CONDITION: how many hosts of that kind were sent the variant.
hosts() {
    rows "SELECT COUNT(DISTINCT host.id) FROM qm_result_variant JOIN result ON result.id = resultid
        JOIN host ON host.id = hostid WHERE variant = $1 AND ($2)"
}
linux="os_name LIKE 'Linux%'" windows="os_name LIKE '%Windows%'"
containers="misc LIKE '%docker%'" card="misc LIKE '%\"nvidia\"%'"
claim "nothing fails on the way" test "$(figure failed_rpcs),$(figure lost_acks)" = 0,0
claim "every job was sent with a variant" test "$(rows "SELECT COUNT(*) FROM result WHERE server_state IN (4, 5)")" \
    = "$(rows "SELECT COUNT(*) FROM qm_result_variant")"
for system in "$linux" "$windows"; do
    claim "$system: containers get the one for CPUs" test "$(hosts "$cpu" "$system AND $containers")" \
        = "$(rows "SELECT COUNT(*) FROM host WHERE $system AND $containers")"
    claim "and some are without" test "$(rows "SELECT COUNT(*) FROM host WHERE $system AND NOT $containers")" -gt 0
done
claim "nobody else gets it" test "$(hosts "$cpu" "NOT $containers")" = 0
claim "every card of a Linux host gets the one for GPUs" test "$(hosts "$gpu" "$linux")" \
    = "$(rows "SELECT COUNT(*) FROM host WHERE $linux AND $containers AND $card")"
all=$(rows "SELECT COUNT(*) FROM host WHERE $windows AND $containers AND $card") some=$(hosts "$gpu" "$windows")
say "of $all Windows hosts with a card and containers, $some"
claim "of Windows hosts those whose containers see it" test "$some" -gt 0 -a "$some" -lt "$all"
claim "no host without a card" test "$(hosts "$gpu" "NOT ($card)")" = 0
# Beside jobs of a GPU, which take a CPU nearly whole, those of CPUs take longer; the others as long as both reckon.
timed="SELECT COUNT(*) FROM qm_host_variant JOIN host ON host.id = hostid WHERE variant = $cpu AND p_ngpus = 0 AND et_n > 0"
claim "a host takes as long as the server reckons" test "$(rows "$timed AND ABS(et_avg * p_fpops - 1) < 0.001")" \
    = "$(rows "$timed")"
claim "which was seen" test "$(rows "$timed")" -gt 3
claim "hundreds were computed" test "$(figure jobs)" -gt 300
claim "none is late" test "$(figure late)" = 0
say "done: $(figure jobs); $(rows "SELECT COUNT(*), MAX(et_n) FROM qm_host_variant" | tr '\t' ' ') (variants of hosts, most runs)"
finish
