#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A real BOINC client with an NVIDIA GPU, which driver libraries of ours pretend, and an app that has
# a version for CPUs and one for such GPUs: it gets jobs for both, computes and reports them.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=lib_demo.sh
. "$(dirname "$0")/lib_demo.sh"
need curl nginx boinc boinccmd
[ -S "$QM_TEST_SOCKET" ] || skip "no private MariaDB at $QM_TEST_SOCKET"

goal=8
cp "$QM_BINARY_DIR/quartermaster" "$program"
mkdir "$work/driver"
for name in libcuda.so libnvidia-ml.so.1; do
    cp "$QM_BINARY_DIR/tests/libpretended_gpu.so" "$work/driver/$name"
done

take_port
web_port=$port
page=http://127.0.0.1:$port
in_project init "$project" --url "$page/test/" --name GPU --db-name "$schema" --db-user root \
    --db-socket "$QM_TEST_SOCKET" --scheduler "$page/test_cgi/cgi"
# By its speed on paper the GPU could do all the jobs before a CPU has done one.
sed -i 's|</config>|<max_wus_in_progress_gpu>1</max_wus_in_progress_gpu></config>|' \
    "$project/config.xml"
demo_app "$project"
in_project --project "$project" version add demo 1.00 x86_64-pc-linux-gnu "$work/app" \
    --plan-class cuda_fermi
key=$(volunteer_key "$project")
demo_jobs "$project" $((goal + 8))
start_server one
start_nginx "$work/one.socket"

"$QM_SOURCE_DIR/tools/real-client" --url "$page/test/" --key "$key" --dir "$work/client" \
    --goal "$goal" --seconds 120 --gpu-libraries "$work/driver" >"$work/client.txt" 2>&1 </dev/null
claim "$goal results are acknowledged" test $? -eq 0
cat "$work/client.txt"
claim "the client complains of nothing" grep -q '^complaints: 0$' "$work/client.txt"
claim "it found the GPU" grep -q 'CUDA: NVIDIA GPU 0.*Pretended GPU' "$work/client/client.log"
claim "it asked for jobs for it" grep -q 'Requesting new tasks for CPU and NVIDIA GPU' \
    "$work/client/client.log"
# over WHERE: jobs that were computed with success.
over() {
    rows "SELECT COUNT(*) FROM result JOIN app_version ON app_version.id = result.app_version_id
          WHERE server_state = 5 AND outcome = 1 AND exit_status = 0 AND elapsed_time > 0
          AND stderr_out LIKE '%<stderr_txt>%lines %, words %' AND $1"
}
gpu_jobs=$(over "plan_class = 'cuda_fermi' AND flops_estimate > 1e12")
cpu_jobs=$(over "plan_class = '' AND flops_estimate BETWEEN 1e8 AND 1e12")
claim "the GPU computed jobs ($gpu_jobs)" test "$gpu_jobs" -ge 1
claim "the CPUs computed jobs ($cpu_jobs)" test "$cpu_jobs" -ge 1
claim "nothing else is over" test $((gpu_jobs + cpu_jobs)) = \
    "$(rows "SELECT COUNT(*) FROM result WHERE server_state = 5")"
claim "both versions have statistics of the host" \
    test "$(rows "SELECT COUNT(*) FROM host_app_version WHERE n_jobs_today > 0")" = 2
claim "nothing failed in the server" not grep -q 'level=\(critical\|error\)' "$work"/one.log
finish
