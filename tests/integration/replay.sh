#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Some hours of an emulated crowd are recorded. Put again to the options of then, every outcome is as it
# was; put to others, the differences are those that the options make; and nothing is written.
#
# replay.sh hosts=40 days=7 again=1: a larger crowd; and the same crowd comes again to each of the
# options, in a project of its own, to be compared with what the replay said (tests/README.md).
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx python3
hosts=6 days=0.5 again=
for given; do
    case $given in
    hosts=* | days=* | again=*) eval "$given" ;;
    *)
        say "usage: replay.sh [hosts=N] [days=N] [again=1]"
        exit 2
        ;;
    esac
done

cat >"$work/crowd" <<CROWD
hosts $hosts
days $days
arrival_days 0.1
gpu_nvidia 0.6
gpu_count_max 2
gpu_speed_max 60
seed 5
CROWD

# The class of the GPU version, which the first of them lets on any of these GPUs; the second wants more
# memory than the smaller ones have.
spec() {
    echo "<plan_classes><plan_class><name>gpu</name><gpu_type>nvidia</gpu_type>
        <min_gpu_ram_mb>$1</min_gpu_ram_mb><gpu_ram_used_mb>$1</gpu_ram_used_mb><ngpus>1</ngpus>
        <cpu_frac>0.1</cpu_frac><gpu_peak_flops_scale>0.2</gpu_peak_flops_scale></plan_class></plan_classes>"
}
options=("<record_requests>1</record_requests>" "<max_wus_in_progress>6</max_wus_in_progress>"
    "<max_wus_in_progress_gpu>4</max_wus_in_progress_gpu>" "<next_rpc_delay>7200</next_rpc_delay>")

# run NAME RAM [OPTION...]: a fresh project, and the crowd's days there.
run() {
    local name=$1 ram=$2
    shift 2
    schema=qm_integration_$$_$name
    project=$work/$name
    program=$work/bin/quartermaster-$name
    new_project "${options[@]}" "$@"
    spec "$ram" >"$project/plan_class_spec.xml"
    add_jobs "$(awk "BEGIN { print int(2000 + $hosts * $days * 500) }")"
    rows "UPDATE workunit SET rsc_fpops_est = 1e14 * (1 + id % 3), rsc_fpops_bound = 1e17,
          rsc_memory_bound = IF(id % 4 = 0, 6e8, 1e7)"
    rows "SET sql_mode = ''; INSERT INTO app_version (id, create_time, appid, version_num, platformid, plan_class,
          xml_doc) SELECT 2, create_time, appid, version_num, platformid, 'gpu', REPLACE(xml_doc, '<version_num>',
          '<plan_class>gpu</plan_class><version_num>') FROM app_version WHERE id = 1"
    start_server "$name" --clock=request
    start_nginx "$work/$name.socket"
    "$QM_BINARY_DIR/qmvolunteers" --quiet --authenticator "$account" "$work/crowd" "$url" \
        >"$work/$name.json" 2>"$work/$name.err"
    claim "the crowd lives to the end" test $? -eq 0
    end_process "$server_pid"
}
# replay FORM [ARGUMENT...]: in $said; its exit status is the answer.
replay() { said=$("$QM_BINARY_DIR/qmctl" --project "$project" replay "$@" 2>"$work/replay.err"); }
# figure KIND COLUMN: of the first row of that kind.
figure() {
    awk -F '\t' -v kind="$1" -v column="$2" '$1 == kind { print $column; found = 1; exit }
        END { if (!found) print 0 }' <<<"$said"
}
readonly requests=2 of_hosts=3

run first 100
before=$(sql "$schema" -e "CHECKSUM TABLE host, result, workunit, user, host_app_version")
stamps() { find "$project" -type f -printf '%p %T@ %s\n' | sort; }
stamps >"$work/stamps"

replay --tsv
claim "by the options of then nothing differs" test $? -eq 0
put=$(figure requests $requests)
claim "many were recorded" test "$put" -ge 50
claim "every outcome is as it was" test "$(figure control $requests)" = "$put"
claim "of every host" test "$(figure requests $of_hosts)" = "$hosts"
replay
say "$said"

for changed in "--set max_wus_in_progress=2" "--set max_wus_in_progress_gpu=1" "--plan-classes $work/spec.xml"; do
    spec 12000 >"$work/spec.xml"
    # shellcheck disable=SC2086 # words
    replay --tsv $changed
    claim "with $changed something differs" test $? -eq 3
    claim "and the control holds" test "$(figure control $requests)" = "$put"
    claim "and something stays" test "$(figure same $requests)" -gt 0 -a "$(figure same $requests)" -lt "$put"
    claim "some get fewer jobs" test "$(figure fewer_jobs $of_hosts)" -gt 0
    [ "${changed#--set}" = "$changed" ] || claim "none more" test "$(figure more_jobs $of_hosts)" = 0
    # shellcheck disable=SC2086
    replay $changed
    say "$said"
done
claim "classes of others are an option too" grep -q "plan_class_spec.xml" <<<"$said"
replay --tsv --set max_wus_in_progress=60
claim "with a higher limit some get more" test "$(figure more_jobs $of_hosts)" -gt 0
claim "and none fewer" test "$(figure fewer_jobs $of_hosts)" = 0
claim "which option it is stands there" grep -q "max_wus_in_progress: 6 -> 60" <<<"$said"
replay --json --config "$project"
claim "the project's own options are those of then" test $? -eq 0
claim "for programs it is JSON" python3 -c 'import json, sys
for line in sys.stdin: json.loads(line)' <<<"$said"
claim "nothing was written into the database" test "$before" = "$(sql "$schema" -e \
    "CHECKSUM TABLE host, result, workunit, user, host_app_version")"
claim "nor into the project" cmp <(stamps) "$work/stamps"

# What is damaged costs itself alone.
mkdir "$work/damaged"
{
    sed '/^<head>/s/[0-9]/x/' "$project"/recorded_requests/*.recorded | awk '/^<recorded>/ { n++ } n < 6'
    echo "<recorded>"
    cat "$project"/recorded_requests/*.recorded
    printf '<recorded>\n<format>3</format>\n<und'
} >"$work/damaged/1.recorded"
replay --tsv "$work/damaged"
claim "what is whole is read" test "$(figure control $requests)" = "$put"
claim "what is not is counted" test "$(figure damaged $requests)" = 7
replay --tsv "$work/damaged/2.recorded"
claim "a file that is not there is an error" test $? -eq 1
echo '<config><max_wus_in_progres>2</max_wus_in_progres></config>' >"$work/misspelt.xml"
replay --tsv --config "$work/misspelt.xml"
claim "an option that nobody knows is said" grep -q 'misspelt.xml:1: warning: .*max_wus_in_progres' "$work/replay.err"
replay --set max_wus_in_progres=4
claim "so is an option that is none" test $? -eq 2
replay --tsv /dev/null
claim "and a recording without a record" test $? -eq 1

# The same crowd comes to what was tried. What it gets for one request changes what it asks by the
# next, so of the figures the hosts and the direction are compared.
# sums: jobs sent to each host, for the CPU and for the GPU.
sums() { rows "SELECT hostid, SUM(app_version_id = 1), SUM(app_version_id = 2) FROM result
    WHERE hostid > 0 GROUP BY hostid ORDER BY hostid"; }
if [ -n "$again" ]; then
    sums >"$work/first.sums"
    run second 100 "<max_wus_in_progress>2</max_wus_in_progress>"
    sums >"$work/second.sums"
    run third 100 "<max_wus_in_progress_gpu>1</max_wus_in_progress_gpu>"
    sums >"$work/third.sums"
    run fourth 12000
    sums >"$work/fourth.sums"
    for name in second third fourth; do
        say "$name: hosts with fewer, more, none any more; jobs then, now: CPU, GPU"
        for column in 2 3; do
            join "$work/first.sums" "$work/$name.sums" -a 1 -e 0 -o 0,1.2,1.3,2.2,2.3 |
                awk -v c=$column '{ b = $c; a = $(c + 2); before += b; after += a
                    fewer += a < b; more += a > b; none += b > 0 && a == 0 }
                    END { print fewer + 0, more + 0, none + 0, before, after }'
        done
    done
fi
finish
