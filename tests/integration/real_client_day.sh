#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Whether emulated hosts (qmvolunteers) ask as real clients do. A real client whose clock goes faster
# and one emulated host, with the same processors, jobs, buffer and shares, live the same hours with
# projects of their own. Both should ask for as much, as often, and hold as many jobs.
#
#   real_client_day.sh [OPTION=NUMBER...] [SHARE[:KIND]...]
#
# A project for each SHARE, with jobs of a KIND: for CPUs (cpu), for GPUs (gpu) or some for each (both);
# 100:both where none is named. Where one has jobs for GPUs the host has one, which driver libraries of
# ours pretend. Options:
#
#   hours=3 speed=180       of their time, of which so much passes in one; half of the speed, and again,
#                           where the machine is too busy for it
#   minutes=15              that jobs take; those for the GPU gpu_minutes=10
#   spread=0                how far they are from that: sigma of a log-normal law
#   gpu_cpus=0.1            CPUs that a job of the GPU uses besides
#   due=168                 hours until they are due
#   buffer=0.02 extra=0.02  days of work to keep
#   on=0 off=0              hours that the host is there and away, in turn; 0: always on
#
# A day with two projects:
#
#   real_client_day.sh hours=24 minutes=30 buffer=0.1 extra=0.5 200:cpu 100:both
#
# With QM_SHOW=1 every request is shown. QM_FETCH and QM_RUN: another way of the emulated host.
# shellcheck disable=SC2317 # within and claim call them
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx boinc boinccmd
declare -A option=([hours]=3 [speed]=180 [minutes]=15 [gpu_minutes]=10 [gpu_cpus]=0.1 [spread]=0
    [due]=168 [buffer]=0.02 [extra]=0.02 [on]=0 [off]=0)
shares=() kinds=() has_gpu=no
for word; do
    if [[ $word == *=* ]]; then
        [ -n "${option[${word%%=*}]:-}" ] || { say "no option: $word" && exit 64; }
        option[${word%%=*}]=${word#*=}
        continue
    fi
    kind=${word#*:}
    [ "$kind" != "$word" ] || kind=cpu
    [[ $kind =~ ^(cpu|gpu|both)$ ]] || { say "no kind: $word" && exit 64; }
    [ "$kind" = cpu ] || has_gpu=yes
    shares+=("${word%%:*}") kinds+=("$kind")
done
[ ${#shares[@]} -gt 0 ] || { shares=(100) kinds=(both) has_gpu=yes; }
hours=${option[hours]} speed=${option[speed]} buffer=${option[buffer]} extra=${option[extra]}
cpus=4
speed_least=45
margin=0.2 # by which figures may differ
emulated_begin=1767225600
# As fast as the pretended GPU says, and a CPU of a client that made no benchmark. Jobs of a version
# without statistics are taken to go ten times as fast on a GPU: so they do.
gpu_flops=20313.6e9
cpu_flops=1e9
gpu_efficiency=$(awk "BEGIN { print 10 * $cpu_flops / $gpu_flops }")
clock=$QM_BINARY_DIR/tests/libfast_clock.so
[ -S "$QM_TEST_SOCKET" ] || skip "no private MariaDB at $QM_TEST_SOCKET"
[ -r "$clock" ] || skip "no $clock"

in_project() {
    "$QM_BINARY_DIR/qmctl" "$@" >>"$work/qmctl.log" 2>&1 || {
        claim_failed "qmctl $*"
        exit 1
    }
}
number() { awk "BEGIN { print $1 }"; }
span=$(number "int($hours * 3600)")

# new_app NAME MINUTES FLOPS INSTANCES: the program, the template of its jobs, and a line for each of
# them. A program that was ended in between goes on at its last checkpoint.
seq 10 >"$work/numbers"
new_app() {
    local length checkpoint count i
    length=$(number "int($2 * 60)")
    checkpoint=$length
    [ "${option[off]}" = 0 ] || checkpoint=300
    cat >"$work/app_$1" <<APP
#!/bin/sh
left=\$(cat left 2>/dev/null || awk -v seed=\$\$ 'BEGIN {
    srand(seed)
    normal = sqrt(-2 * log(1 - rand())) * cos(6.2831853 * rand())
    printf "%d", $length * exp(${option[spread]} * normal)
}')
while [ "\$left" -gt 0 ]; do
    step=\$((left > $checkpoint ? $checkpoint : left))
    sleep \$step
    left=\$((left - step))
    echo \$left >left
done
echo 0 >boinc_finish_called
APP
    chmod 755 "$work/app_$1"
    sed "s|\(<rsc_fpops_est>\).*\(</.*\)|\1$(number "$length * $3")\2|
         s|\(<rsc_fpops_bound>\).*\(</.*\)|\11e18\2|
         s|\(<delay_bound>\).*\(</.*\)|\1$(number "int(${option[due]} * 3600)")\2|" \
        "$QM_SOURCE_DIR/tools/demo/in.xml" >"$work/in_$1.xml"
    count=$(number "int(2 * $4 * ($hours / 24 + $buffer + $extra) * 1440 / $2) + 20")
    for ((i = 1; i <= count; i++)); do
        echo "--wu_name $1_$i $work/numbers"
    done >"$work/jobs_$1"
}
new_app cpu "${option[minutes]}" "$cpu_flops" "$cpus"
new_app gpu "${option[gpu_minutes]}" "$cpu_flops * (10 + ${option[gpu_cpus]})" 1
cat >"$work/plan_class_spec.xml" <<XML
<plan_classes><plan_class>
<name>cuda_day</name><gpu_type>nvidia</gpu_type><cuda/><cpu_frac>0</cpu_frac>
<avg_ncpus>${option[gpu_cpus]}</avg_ncpus><gpu_peak_flops_scale>$gpu_efficiency</gpu_peak_flops_scale>
</plan_class></plan_classes>
XML

# add_jobs_of KIND VERSION-OPTION...
add_jobs_of() {
    local kind=$1
    shift
    in_project --project "$project" app add "$kind"
    in_project --project "$project" version add "$kind" 1.00 x86_64-pc-linux-gnu "$work/app_$kind" "$@"
    in_project --project "$project" jobs create --app "$kind" --in "$work/in_$kind.xml" \
        --out "$QM_SOURCE_DIR/templates/none_out.xml" --stdin <"$work/jobs_$kind"
}
# new_side NAME SHARE KIND SERVER-OPTION...: a project with its jobs, a server and a web server that
# keeps what is asked. Adds to $urls (of schedulers), $masters and $keys.
new_side() {
    local name=$1 share=$2 kind=$3 port
    shift 3
    schema=qm_integration_$$_$name
    project=$work/$name
    program=$work/bin/quartermaster-$name
    cp "$QM_BINARY_DIR/quartermaster" "$program"
    take_port
    web_port=$port
    masters+=("http://127.0.0.1:$port/test/")
    in_project init "$project" --url "${masters[-1]}" --name "$name" --db-name "$schema" \
        --db-user root --db-socket "$QM_TEST_SOCKET" --scheduler "http://127.0.0.1:$port/test_cgi/cgi"
    cp "$work/plan_class_spec.xml" "$project/"
    keys+=("$("$QM_BINARY_DIR/qmctl" --project "$project" user add volunteer@example.org \
        --name Volunteer | grep -oE '[0-9a-f]{32}' | head -n 1)")
    rows "UPDATE user SET project_prefs = '<project_preferences>
<resource_share>$share</resource_share>
</project_preferences>
'"
    [ "$kind" = gpu ] || add_jobs_of cpu
    [ "$kind" = cpu ] || add_jobs_of gpu --plan-class cuda_day
    chmod -R a+rX "$project"
    # The server of a real client goes by the fast date: they agree about deadlines.
    LD_PRELOAD=${preload:-} QM_FAST_CLOCK_DATE_ONLY=1 start_server "$name" "$@"
    start_web "web_$name" nginx --socket "$work/$name.socket" --record "$work/$name.requests" || exit 1
    urls+=("$url")
}
of_side() { sql "qm_integration_$$_$1" -e "$2"; }

# --- the real one
begin=$(date +%s)
export QM_FAST_CLOCK="$begin $speed"
urls=() masters=() keys=()
for i in "${!shares[@]}"; do
    preload=$clock new_side "real$i" "${shares[$i]}" "${kinds[$i]}"
done
mkdir "$work/client" "$work/driver"
cat >"$work/client/cc_config.xml" <<XML
<cc_config>
<log_flags><task>1</task><sched_ops>1</sched_ops><sched_op_debug>1</sched_op_debug>
<work_fetch_debug>${QM_SHOW:-0}</work_fetch_debug></log_flags>
<options>
<ncpus>$cpus</ncpus><skip_cpu_benchmarks>1</skip_cpu_benchmarks><start_delay>0</start_delay>
<dont_contact_ref_site>1</dont_contact_ref_site><no_info_fetch>1</no_info_fetch>
<allow_multiple_clients>1</allow_multiple_clients>
</options>
</cc_config>
XML
cat >"$work/client/global_prefs_override.xml" <<XML
<global_preferences>
<run_on_batteries>1</run_on_batteries><run_if_user_active>1</run_if_user_active>
<run_gpu_if_user_active>1</run_gpu_if_user_active>
<suspend_cpu_usage>0</suspend_cpu_usage><max_ncpus_pct>100</max_ncpus_pct>
<cpu_usage_limit>100</cpu_usage_limit><work_buf_min_days>$buffer</work_buf_min_days>
<work_buf_additional_days>$extra</work_buf_additional_days><disk_max_used_gb>0</disk_max_used_gb>
<disk_min_free_gb>0.01</disk_min_free_gb><disk_max_used_pct>95</disk_max_used_pct>
<ram_max_used_busy_pct>90</ram_max_used_busy_pct><ram_max_used_idle_pct>90</ram_max_used_idle_pct>
</global_preferences>
XML
# The state of a client that was attached before: one project can be named in the command line.
for i in "${!shares[@]}"; do
    name=${masters[$i]#http://}
    name=$(tr ':/' '__' <<<"${name%/}")
    cat >"$work/client/account_$name.xml" <<XML
<account>
    <master_url>${masters[$i]}</master_url>
    <authenticator>${keys[$i]}</authenticator>
<project_preferences>
<resource_share>${shares[$i]}</resource_share>
</project_preferences>
</account>
XML
done
gpus=(--no_gpus)
if [ $has_gpu = yes ]; then
    gpus=()
    for name in libcuda.so libnvidia-ml.so.1; do
        cp "$QM_BINARY_DIR/tests/libpretended_gpu.so" "$work/driver/$name"
    done
fi
take_port
start_client() {
    (
        cd "$work/client" || exit
        LD_LIBRARY_PATH=$work/driver LD_PRELOAD=$clock exec boinc --dir "$work/client" \
            --allow_multiple_clients --gui_rpc_port "$port" "${gpus[@]}" >>client.log 2>&1 </dev/null
    ) &
    client=$!
    started+=("$client")
}
# sleep_until MOMENT: of the fast clock.
sleep_until() {
    local seconds
    seconds=$(number "($1 - $begin) / $speed + $begin - $(date +%s.%N)")
    [[ $seconds == -* ]] || sleep "$seconds"
}
start_client
has_jobs() { [ "$(of_side real0 "SELECT COUNT(*) FROM result WHERE sent_time > 0")" -gt 0 ]; }
claim "the real client gets jobs" within 60 has_jobs
real_begin=$(of_side real0 "SELECT MIN(sent_time) FROM result WHERE sent_time > 0")
end=$(number "$real_begin + $span")
if [ "${option[off]}" != 0 ]; then
    at=$(number "$real_begin + ${option[on]} * 3600")
    while [ "$(number "($at < $end)")" = 1 ]; do
        sleep_until "$at"
        end_process "$client" 30
        at=$(number "$at + ${option[off]} * 3600")
        sleep_until "$at"
        start_client
        at=$(number "$at + ${option[on]} * 3600")
    done
fi
sleep_until "$end"
end_process "$client" 30
unset QM_FAST_CLOCK
# Where others keep the machine busy, a program that is begun costs minutes of the fast clock. So the
# same once more with a slower one.
if [ "${option[off]}" = 0 ] && [[ " ${kinds[*]} " =~ \ (cpu|both)\  ]]; then
    possible=$(number "int(0.85 * $cpus * $span / 60 / ${option[minutes]})")
    done_jobs=$(grep -c 'Computation for task cpu_.* finished' "$work/client/client.log")
    if [ "$done_jobs" -lt "$possible" ] && [ "$speed" -ge $((2 * speed_least)) ]; then
        say "the machine is too busy: $done_jobs jobs were done, not $possible; once more, slower"
        trap - EXIT
        clean_up
        exec "$0" "$@" "speed=$((speed / 2))"
    fi
    claim "the real client has time to compute" test "$done_jobs" -ge "$possible"
fi

# --- the emulated one
urls=() masters=() keys=()
for i in "${!shares[@]}"; do
    new_side "emulated$i" "${shares[$i]}" "${kinds[$i]}" --clock=request
done
# Today's clients fetch by two marks and run their projects side by side.
cat >"$work/host" <<HOST
hosts 1
days $(number "$hours / 24")
begin $emulated_begin
always_on $([ "${option[off]}" = 0 ] && echo 1 || echo 0)
on_shape 100
on_scale $(number "${option[on]} * 3600 / 0.9943 + 1")
off_mu $(number "log(${option[off]} + 1e-9)")
off_sigma 0
cpus_min $cpus
cpus_max $cpus
projects_min ${#shares[@]}
projects_max ${#shares[@]}
shares ${shares[*]}
fetch ${QM_FETCH:-marks}
run ${QM_RUN:-recent}
flops_mean $cpu_flops
flops_min $cpu_flops
flops_max $cpu_flops
gpu_nvidia $([ $has_gpu = yes ] && echo 1 || echo 0)
gpu_speed_min $(number "$gpu_flops / $cpu_flops")
gpu_speed_max $(number "$gpu_flops / $cpu_flops")
gpu_efficiency $gpu_efficiency
error_rate 0
abandon_rate 0
estimate_sigma ${option[spread]}
buffer_min_days $buffer
buffer_max_days $buffer
buffer_extra_days $extra
HOST
given=()
for key in "${keys[@]}"; do given+=(--authenticator "$key"); done
"$QM_BINARY_DIR/qmvolunteers" --quiet "${given[@]}" "$work/host" "${urls[@]}" >"$work/emulated.json" 2>&1
claim "the emulated host lives to the end" test $? -eq 0

# --- what they asked
# figures KIND FROM: a line "name value" for each figure of all projects of a kind, and the jobs of
# each.
figures() {
    local i app
    for i in "${!shares[@]}"; do
        sed -E 's/.*"date": "([0-9.]*)".*/\1 &/' "$work/$1$i.requests" | awk -v project="$i" '
            function element(text, name) {
                return match(text, "<" name ">[-0-9.e+]*<") ?
                    substr(text, RSTART + length(name) + 2) + 0 : 0
            }
            {
                gpu = match($0, /<coproc_cuda>.*<\/coproc_cuda>/) ? substr($0, RSTART, RLENGTH) : ""
                printf "%.0f %d %.0f %g %.0f %g %d %g\n",
                    ($1 + 0 > 0 ? $1 + 0 : element($0, "now")), project,
                    element($0, "cpu_req_secs"), element($0, "cpu_req_instances"),
                    element(gpu, "req_secs"), element(gpu, "req_instances"),
                    gsub(/<final_cpu_time>/, ""), element($0, "on_frac")
            }'
    done | sort -n >"$work/$1.asked"
    awk -v from="$2" -v span="$span" -v kind="$1" '
        $1 >= from - 60 && $1 <= from + span {
            rpcs++
            asking += $3 > 0 || $5 > 0
            cpu_s += $3
            cpu_n += $4
            gpu_s += $5
            gpu_n += $6
            if (ENVIRON["QM_SHOW"] != "")
                printf "%-8s %6.0f s: asks project %d for CPUs %8.0f s, %g idle, GPU %8.0f s, %g idle, " \
                    "reports %d, on %g\n", kind, $1 - from, $2, $3, $4, $5, $6, $7, $8 >"/dev/stderr"
        }
        END {
            print "rpcs", rpcs + 0
            print "asking", asking + 0
            printf "cpu_s %.0f\ncpu_instances %.1f\ngpu_s %.0f\ngpu_instances %.1f\n", cpu_s, cpu_n,
                gpu_s, gpu_n
        }' "$work/$1.asked"
    for i in "${!shares[@]}"; do
        for app in $(of_side "$1$i" "SELECT name FROM app"); do
            of_side "$1$i" "SET @app = (SELECT id FROM app WHERE name = '$app'), @end = $2 + $span;
                SELECT 'sent_$app$i', COUNT(*) FROM result
                    WHERE appid = @app AND sent_time BETWEEN 1 AND @end;
                SELECT 'reported_$app$i', COUNT(*) FROM result
                    WHERE appid = @app AND received_time BETWEEN $2 AND @end;
                SELECT 'late_$app$i', COUNT(*) FROM result WHERE appid = @app AND sent_time > 0 AND
                    IF(received_time > 0, received_time, @end) > report_deadline;
                SELECT 'held_$app$i', ROUND(IFNULL(SUM(
                    LEAST(IF(received_time = 0, 4e9, received_time), @end) -
                    LEAST(sent_time, @end)), 0) / $span, 1)
                    FROM result WHERE appid = @app AND sent_time > 0"
        done
    done
}
with_sums() {
    awk '{ print }
        match($1, /^held_[a-z]*/) { sum[substr($1, 1, RLENGTH)] += $2 }
        END { for (name in sum) print name, sum[name] }'
}
figures real "$real_begin" | with_sums >"$work/real.figures"
figures emulated "$emulated_begin" | with_sums >"$work/emulated.figures"
for i in "${!shares[@]}"; do
    claim "both have as many processors" test \
        "$(of_side "emulated$i" "SELECT p_ncpus FROM host"),$(of_side "real$i" "SELECT p_ncpus FROM host")" = \
        "$cpus,$cpus"
done
if [ $has_gpu = yes ]; then
    claim "the GPUs are as fast" test 1 -eq "$(grep -ho '<peak_flops>[0-9.]*' "$work"/*.requests | sort -u | wc -l)"
fi
printf '%-16s %12s %12s  %s\n' '' real emulated ratio
join <(sort "$work/real.figures") <(sort "$work/emulated.figures") |
    awk '{ printf "%-16s %12s %12s  %.2f\n", $1, $2, $3, ($2 > 0 ? $3 / $2 : 0) }' | tee "$work/table"
# alike PATTERN COUNT: all figures of such names within the margin, or by COUNT.
alike() {
    awk -v name="^($1)\$" -v count="$2" -v margin="$margin" '
        $1 ~ name {
            found = 1
            apart = $2 > $3 ? $2 - $3 : $3 - $2
            if (apart > margin * $2 && apart > count)
                bad = 1
        }
        END { exit !found || bad }' "$work/table"
}
claim "they ask for as much" alike '[cg]pu_s' 0
claim "by as many contacts" alike rpcs 2 # of the few of a short run
claim "they get as many jobs" alike "sent_.*" $((2 * cpus))
claim "and report as many" alike "reported_.*" $((2 * cpus))
# Of which project is a matter of whom they happened to ask first.
claim "and hold as many" alike 'held_[cg]pu' $cpus
finish
