#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The page of figures is what Prometheus reads, and every figure that the sample alerts and the sample
# dashboard ask for is on it. tests/metrics/prometheus tries both with a real Prometheus. The requests
# are recorded, and the record does not tell whose they were.
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx awk

new_project "<record_requests/>"
add_host
add_jobs 300
start_server one --threads 2
start_nginx "$work/one.socket"
"$QM_BINARY_DIR/qmload" --authenticator "$account" --hosts 4 --requests 4 --seconds 1 "$url" >"$work/load" 2>&1 ||
    { cat "$work/load"; claim_failed "requests are served"; }
# shellcheck disable=SC2317 # within() calls it
shown() { curl -s "$url/metrics" >"$work/page" && grep -q '^quartermaster_transitions_waiting ' "$work/page"; }
claim "what waits for other programs is shown" within 20 shown

# Each value follows the head of its metric, each series is there once, and a histogram adds up.
awk '
    /^# HELP / { if ($3 in help) print "two heads: " $3; help[$3] = 1; next }
    /^# TYPE / { if (!($3 in help)) print "no help: " $3; type[$3] = $4; next }
    !/^quartermaster_[a-z_]+(\{([a-z]+="[^"]*",?)+\})? -?[0-9][0-9.e+-]*$/ { print "not a value: " $0; next }
    {
        series = $0; sub(/ [^ ]*$/, "", series)
        if (series in seen) print "twice: " series
        seen[series] = 1
        metric = series; sub(/\{.*/, "", metric); base = metric
        sub(/_(bucket|sum|count)$/, "", base)
        if (type[metric] == "" && type[base] != "histogram") print "no head: " series
        if (type[base] == "histogram") {
            if (metric ~ /_bucket$/) {
                if ($NF < last) print "a bucket is smaller than the one before: " series
                last = series ~ /le="\+Inf"/ ? 0 : $NF
                all = $NF
            }
            if (metric ~ /_count$/ && $NF != all) print "the count is not the last bucket: " series
        }
    }
    END { if (NR < 100) print "only " NR " lines" }' "$work/page" >"$work/faults"
[ ! -s "$work/faults" ] || cat "$work/faults"
claim "the page is well-formed" test ! -s "$work/faults"
claim "each step has its times" test "$(grep -c '^quartermaster_request_step_seconds_count' "$work/page")" = 11

claim "requests were timed" grep -q '^quartermaster_request_seconds_count 16$' "$work/page"
claim "so was their wait" grep -q '^quartermaster_request_waiting_seconds_count 16$' "$work/page"
claim "so was the database's part in it" grep -q '^quartermaster_db_wait_seconds_count 16$' "$work/page"
# shellcheck disable=SC2016 # $ is awk's
claim "which is the smaller one" awk '/^quartermaster_db_wait_seconds_sum / { part = $2 }
    /^quartermaster_request_seconds_sum / { whole = $2 } END { exit !(part > 0 && part < whole) }' "$work/page"
claim "jobs are counted by app" grep -qE '^quartermaster_pool_app_jobs\{app="[a-z]+"\} [1-9]' "$work/page"
claim "the version is told" grep -qE '^quartermaster_build_info\{version="[0-9].*"\} 1$' "$work/page"

records=$(cat "$project"/recorded_requests/*.recorded)
claim "each request was recorded" test "$(grep -cx '</recorded>' <<<"$records")" = 16
claim "and counted" grep -qx 'quartermaster_requests_recorded_total 16' "$work/page"
claim "with the jobs that it got" test "$(grep -c '^<job>[0-9].*</job>$' <<<"$records")" -ge 1
claim "for the owner alone" test "$(stat -c %a "$project/recorded_requests" "$project"/recorded_requests/* | xargs)" = "700 600"
while read -r private; do
    claim "\"$private\" is not in it" test -z "$(grep -F -- "$private" <<<"$records")"
done < <(echo "$account"; rows "SELECT DISTINCT domain_name FROM host WHERE LENGTH(domain_name) > 2
    UNION SELECT DISTINCT host_cpid FROM host WHERE host_cpid <> ''
    UNION SELECT DISTINCT last_ip_addr FROM host WHERE last_ip_addr <> ''
    UNION SELECT name FROM result WHERE server_state <> 2 LIMIT 40")

# Jobs that nobody can have are found by qmctl.
"$QM_BINARY_DIR/qmctl" transition --project "$project" >"$work/transition.log" 2>&1 || cat "$work/transition.log"
# shellcheck disable=SC2317 # within() calls it
stuck_shown() { kill -HUP "$server_pid" && curl -s "$url/metrics" >"$work/page" && grep -q '^quartermaster_jobs_without_hosts ' "$work/page"; }
claim "what qmctl found of jobs that nobody can have is shown" within 20 stuck_shown

for sample in prometheus-alerts.yml grafana-dashboard.json; do
    names=$(grep -oE 'quartermaster_[a-z_]+' "$QM_SOURCE_DIR/config/$sample" | sort -u)
    claim "$sample asks for figures" test "$(wc -w <<<"$names")" -ge 10
    for name in $names; do
        claim "$sample: $name is on the page" grep -qE "^${name}[ {]" "$work/page"
    done
done

# The status page shows the same process, and what was read again.
# shellcheck disable=SC2317 # within() calls it
get_status() { curl -s "$url/status" | sed 's/ data-label="[^"]*"//g' >"$work/status"; }
# shellcheck disable=SC2317
status_has() { get_status && grep -qF -- "$1" "$work/status"; }
# Those of the last hour and day are counted at each turn of the watcher, so they come a moment later.
# shellcheck disable=SC2317
status_matches() { get_status && grep -qE -- "$1" "$work/status"; }
claim "the status page has the requests, as many as there were" within 10 status_matches \
    '<th scope="row">requests processed</th><td>[0-9.]+</td><td>16</td><td>16</td><td>16<'
claim "the jobs by app" grep -qE '>Work <code>work</code></th><td class="left">CPU</td><td>[1-9][0-9]*<' "$work/status"
claim "the time of each step" test "$(sed -n '/<section id="steps"/,/<.section>/p' "$work/status" | grep -c '<th scope="row">')" = 11
claim "and no words of volunteers" not grep -qE 'Ada|a@example|\.example' "$work/status"
write_config "<record_requests/>" "<load_target>0.5</load_target>" "<db_passwd>xyzzy77</db_passwd>"
claim "a change of config.xml is on it" within 20 status_has 'load_target: 0.5, was 0.7'
claim "without what is secret" grep -q 'db_passwd: (hidden)' "$work/status"
claim "anywhere" not grep -q xyzzy77 "$work/status"
for option in threads upload_threads request_tries pool_jobs_max load_target no_work_delay catalog_refresh uldl_dir_fanout; do
    echo "<$option>many</$option>"
done >"$work/faulty"
write_config "<record_requests/>" "$(cat "$work/faulty")"
claim "so is one that was refused" within 20 status_has 'threads is &quot;many&quot;; it must be'
claim "as far as there is room" grep -q ' [.][.][.]</td></tr>' "$work/status"
claim "and that an older one is in force" grep -q 'The current config.xml was refused' "$work/status"
write_config "<record_requests/>"

# A config.xml that is refused is told until it is mended.
cp "$project/config.xml" "$work/config.xml"
sed -i 's/<config>/<config><threads>many<\/threads>/' "$project/config.xml"
# shellcheck disable=SC2317 # within() calls it
refused() { curl -s "$url/metrics" | grep -qx "quartermaster_config_refused $1"; }
claim "a refused config.xml is told" within 20 refused 1
cp "$work/config.xml" "$project/config.xml"
claim "and no longer once it is mended" within 20 refused 0
finish
