#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Whether emulated hosts (qmvolunteers) ask as real clients do. A real client whose clock goes faster
# and one emulated host, with the same processors, jobs, buffer and shares, live the same hours with
# projects of their own. Both should ask for as much, as often, and hold as many jobs.
#
#   real_client_day.sh [HOURS [SPEED [MINUTES [BUFFER [EXTRA [SHARE...]]]]]]
#
# HOURS of their time (3), of which SPEED (240) pass in one; jobs of MINUTES (10); BUFFER days of work
# (0.02) and EXTRA ones (0.02); a project for each SHARE (100). A day with two projects:
#
#   real_client_day.sh 24 240 30 0.1 0.5 200 100
#
# With QM_SHOW=1 every request is shown. QM_FETCH and QM_RUN: another way of the emulated host.
# shellcheck disable=SC2317 # within and claim call them
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx boinc boinccmd
hours=${1:-3}
speed=${2:-240}
minutes=${3:-10}
buffer=${4:-0.02}
extra=${5:-0.02}
shift $(($# < 5 ? $# : 5))
shares=("${@:-100}")
cpus=4
margin=0.2 # by which figures may differ
emulated_begin=1767225600
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

# A job takes as long as a processor of 1e9 FLOPS does for it: what a client that made no benchmark
# says of itself.
length=$(number "$minutes * 60")
cat >"$work/app" <<APP
#!/bin/sh
sleep $length
echo 0 >boinc_finish_called
APP
chmod 755 "$work/app"
sed "s|\(<rsc_fpops_est>\).*\(</.*\)|\1$(number "$length * 1e9")\2|
     s|\(<rsc_fpops_bound>\).*\(</.*\)|\11e18\2|; s|\(<delay_bound>\).*\(</.*\)|\1604800\2|" \
    "$QM_SOURCE_DIR/tools/demo/in.xml" >"$work/in.xml"
seq 10 >"$work/numbers"
count=$(number "int(2 * $cpus * ($hours / 24 + $buffer + $extra) * 1440 / $minutes) + 20")
for ((i = 1; i <= count; i++)); do
    echo "--wu_name job_$i $work/numbers"
done >"$work/jobs"

# new_side NAME SHARE SERVER-OPTION...: a project with its jobs, a server and a web server that keeps
# what is asked. Adds to $urls (of schedulers), $masters and $keys.
new_side() {
    local name=$1 share=$2 port
    shift 2
    schema=qm_integration_$$_$name
    project=$work/$name
    program=$work/bin/quartermaster-$name
    cp "$QM_BINARY_DIR/quartermaster" "$program"
    take_port
    web_port=$port
    masters+=("http://127.0.0.1:$port/test/")
    in_project init "$project" --url "${masters[-1]}" --name "$name" --db-name "$schema" \
        --db-user root --db-socket "$QM_TEST_SOCKET" --scheduler "http://127.0.0.1:$port/test_cgi/cgi"
    in_project --project "$project" app add demo
    in_project --project "$project" version add demo 1.00 x86_64-pc-linux-gnu "$work/app"
    keys+=("$("$QM_BINARY_DIR/qmctl" --project "$project" user add volunteer@example.org \
        --name Volunteer | grep -oE '[0-9a-f]{32}' | head -n 1)")
    rows "UPDATE user SET project_prefs = '<project_preferences>
<resource_share>$share</resource_share>
</project_preferences>
'"
    in_project --project "$project" jobs create --app demo --in "$work/in.xml" \
        --out "$QM_SOURCE_DIR/tools/demo/out.xml" --stdin <"$work/jobs"
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
    preload=$clock new_side "real$i" "${shares[$i]}"
done
mkdir "$work/client"
cat >"$work/client/cc_config.xml" <<XML
<cc_config>
<log_flags><task>1</task><sched_ops>1</sched_ops><sched_op_debug>1</sched_op_debug></log_flags>
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
take_port
(
    cd "$work/client" || exit
    LD_PRELOAD=$clock exec boinc --dir "$work/client" --allow_multiple_clients --gui_rpc_port "$port" \
        --no_gpus >client.log 2>&1 </dev/null
) &
client=$!
started+=("$client")
has_jobs() { [ "$(of_side real0 "SELECT COUNT(*) FROM result WHERE sent_time > 0")" -gt 0 ]; }
claim "the real client gets jobs" within 60 has_jobs
real_begin=$(of_side real0 "SELECT MIN(sent_time) FROM result WHERE sent_time > 0")
sleep "$(number "($real_begin + $span - $begin) / $speed + $begin - $(date +%s.%N)")"
end_process "$client" 30
unset QM_FAST_CLOCK

# --- the emulated one
urls=() masters=() keys=()
for i in "${!shares[@]}"; do new_side "emulated$i" "${shares[$i]}" --clock=request; done
# Today's clients fetch by two marks and run their projects side by side.
cat >"$work/host" <<HOST
hosts 1
days $(number "$hours / 24")
begin $emulated_begin
always_on 1
cpus_min $cpus
cpus_max $cpus
projects_min ${#shares[@]}
projects_max ${#shares[@]}
shares ${shares[*]}
fetch ${QM_FETCH:-marks}
run ${QM_RUN:-robin}
flops_mean 1e9
flops_min 1e9
flops_max 1e9
error_rate 0
abandon_rate 0
estimate_sigma 0
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
    local i
    for i in "${!shares[@]}"; do
        sed -E 's/.*"date": "([0-9.]*)".*/\1 &/' "$work/$1$i.requests" | awk -v project="$i" '
            function element(name) {
                return match($0, "<" name ">[-0-9.e+]*<") ?
                    substr($0, RSTART + length(name) + 2) + 0 : 0
            }
            { printf "%.0f %d %.0f %g %d\n", ($1 + 0 > 0 ? $1 + 0 : element("now")), project,
                element("cpu_req_secs"), element("cpu_req_instances"), gsub(/<final_cpu_time>/, "") }'
    done | sort -n >"$work/$1.asked"
    awk -v from="$2" -v span="$span" -v kind="$1" '
        $1 >= from - 60 && $1 <= from + span {
            rpcs++
            asking += $3 > 0
            sum += $3
            if (ENVIRON["QM_SHOW"] != "")
                printf "%-8s %6.0f s: asks project %d for %8.0f s, %g idle, reports %d\n", kind,
                    $1 - from, $2, $3, $4, $5 >"/dev/stderr"
        }
        END { print "rpcs", rpcs + 0; print "asking", asking + 0; printf "asked_s %.0f\n", sum }
        ' "$work/$1.asked"
    for i in "${!shares[@]}"; do
        of_side "$1$i" "SELECT 'sent_$i', COUNT(*) FROM result WHERE sent_time BETWEEN 1 AND $2 + $span;
            SELECT 'reported_$i', COUNT(*) FROM result WHERE received_time BETWEEN $2 AND $2 + $span;
            SELECT 'held_$i', ROUND(SUM(LEAST(IF(received_time = 0, 4e9, received_time), $2 + $span) -
                LEAST(sent_time, $2 + $span)) / $span, 1) FROM result WHERE sent_time > 0"
    done
}
with_sum() { awk '{ print } /^held_/ { sum += $2 } END { print "held", sum }'; }
figures real "$real_begin" | with_sum >"$work/real.figures"
figures emulated "$emulated_begin" | with_sum >"$work/emulated.figures"
for i in "${!shares[@]}"; do
    claim "both have as many processors" test \
        "$(of_side "emulated$i" "SELECT p_ncpus FROM host"),$(of_side "real$i" "SELECT p_ncpus FROM host")" = \
        "$cpus,$cpus"
done
printf '%-10s %12s %12s  %s\n' '' real emulated ratio
join <(sort "$work/real.figures") <(sort "$work/emulated.figures") |
    awk '{ printf "%-10s %12s %12s  %.2f\n", $1, $2, $3, ($2 > 0 ? $3 / $2 : 0) }' | tee "$work/table"
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
claim "they ask for as much" alike asked_s 0
claim "by as many contacts" alike rpcs 2 # of the few of a short run
claim "they get as many jobs" alike "sent_.*" $((2 * cpus))
claim "and report as many" alike "reported_.*" $((2 * cpus))
# Of which project is a matter of whom they happened to ask first.
claim "and hold as many" alike held $cpus
finish
