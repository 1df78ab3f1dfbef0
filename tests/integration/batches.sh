#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Batches as an administrator has them: jobs made under a name, counted while they end, aborted, retired; and who may submit.
# shellcheck disable=SC2317 # claim calls them
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

new_project "<download_dir>$work/p/download</download_dir>" "<download_url>http://127.0.0.1/download</download_url>"
qmctl() { "$QM_BINARY_DIR/qmctl" --project "$project" "$@"; }
demo=$QM_SOURCE_DIR/tools/demo
create() { qmctl jobs create --app work --in "$demo/in.xml" --out "$QM_SOURCE_DIR/templates/none_out.xml" "$@" 2>"$work/said"; }
state() { qmctl batch list --tsv | awk -F '\t' -v batch="$1" '$2 == batch { print $5 "," $6 "," $10 "%" }'; }
exits() { # STATUS WORDS...: what is said is in $work/said
    local wanted=$1
    shift
    qmctl "$@" >"$work/said" 2>&1 </dev/null
    [ $? -eq "$wanted" ]
}
said() { grep -qE -- "$1" "$work/said"; }
is() { [ "$1" = "$2" ] || { say "    it is \"$1\", not \"$2\""; return 1; }; }
qmctl user add eve@example.org >/dev/null
echo x >"$work/input"

# --- jobs under a name
seq 5 | sed "s|.*|--wu_name one_& $work/input|" | create --batch genomes --stdin >/dev/null
claim "a new batch is told" said '^note: there is no batch "genomes" yet; this one is new: [1-9]'
claim "a new name is a new batch" is "$(state genomes)" "in progress,5,0%"
create --batch genomes --name one_6 "$work/input" >/dev/null
claim "one that is there is not" not said "no batch"
claim "a known name is the same batch" is "$(rows "SELECT COUNT(*), COUNT(DISTINCT workunit.batch) FROM batch JOIN workunit ON batch = batch.id" | tr '\t' ' ')" "6 1"
create --batch "$(rows "SELECT id FROM batch")" --name one_7 "$work/input" >/dev/null
claim "so is its number" is "$(state genomes)" "in progress,7,0%"
create --batch 77 --name alone "$work/input" >/dev/null
claim "a number may have no name" is "$(qmctl batch show 77 --tsv | tail -n 1 | cut -f 1,2,5,6)" "$(printf '77\t\tin progress\t1')"
create --batch bad --name one_8 "$work/nothing" >/dev/null
claim "a batch whose first job cannot be made is not made" is "$(rows "SELECT COUNT(*) FROM batch")" 1
for name in " x" "$(printf 'a\tb')" "$(printf '%256s' '' | tr ' ' x)"; do
    create --batch "$name" --name one_8 "$work/input" >/dev/null
    claim "a name that is none: \"${name:0:8}\"" is "$?" 2
done
create --batch -3 --name one_8 "$work/input" >/dev/null
claim "a number that is none" not grep -q '' <(rows "SELECT 1 FROM workunit WHERE name = 'one_8'")
claim "by the batch's name" is "$(qmctl jobs list --batch genomes --tsv | tail -n +2 | wc -l)" 7
claim "by a name that is none" exits 1 jobs list --batch nobody
claim "which is said" said 'there is no batch "nobody"'

# --- its row follows its jobs
rows "UPDATE workunit SET canonical_resultid = id WHERE name IN ('one_1', 'one_2', 'one_3')" 2>>"$work/sql.log"
qmctl transition >/dev/null
claim "transition counts" is "$(rows "SELECT state, njobs, ROUND(fraction_done * 7) FROM batch" | tr '\t' ' ')" "1 7 3"
rows "INSERT INTO qm_batch_outputs SELECT id, fraction_done, nerror_jobs, 0, 1234000000, 1234000000 FROM batch WHERE id = 1" 2>>"$work/sql.log"
qmctl status >"$work/status"
claim "bytes wait in outputs" grep -q '1.1 GiB in outputs of 1 batch not retired' "$work/status"
claim "which the list says" is "$(qmctl batch show genomes --tsv | tail -n 1 | cut -f 17)" 1234000000
claim "what is unfinished is not retired" exits 1 batch retire genomes
claim "because" said '4 jobs of batch 1 are unfinished'
claim "an abort asks first" exits 2 batch abort genomes
claim "and is done" exits 0 batch abort genomes --yes
claim "to what has no answer" is "$(rows "SELECT COUNT(*), SUM(error_mask = 16) FROM workunit WHERE batch = 1" | tr '\t' ' ')" "7 4"
claim "which the list says" is "$(state genomes)" "aborted,7,100%"
claim "it is retired" exits 0 batch retire genomes
claim "then no bytes wait" is "$(qmctl batch show genomes --tsv | tail -n 1 | cut -f 17)" 0
claim "which the list says" is "$(state genomes)" "retired,7,100%"
claim "a mere number has no state to change" exits 1 batch abort 77 --yes
claim "which is said" said 'has neither name nor owner'
claim "a number that nobody has" exits 1 batch show 4711

# --- name, owner, end
claim "a batch before its jobs" exits 0 batch add survey --app work --owner eve@example.org --days 30
claim "is new" is "$(state survey)" "new,0,0%"
second=$(rows "SELECT id FROM batch WHERE name = 'survey'")
claim "names are of one batch" exits 1 batch add survey --app work
claim "and no numbers" exits 2 batch add 12 --app work
claim "an owner that nobody is" exits 1 batch set survey --owner bob@example.org
claim "another name, another owner" exits 0 batch set survey --name "a \"second\" survey" --owner none
claim "are there" is "$(rows "SELECT name, user_id FROM batch WHERE id = $second" | tr '\t' ',')" 'a "second" survey,0'
claim "nothing to change" exits 2 batch set "$second"
sed -i '/<send_result_abort>/d; /<one_result_per_host_per_wu>/d' "$project/config.xml"
claim "a hurry" exits 1 batch set "$second" --hurry yes
claim "needs options" said 'needs send_result_abort in config.xml'
sed -i 's|<config>|&<send_result_abort>1</send_result_abort><hurry_batches>1</hurry_batches>|' "$project/config.xml"
claim "each of them" exits 1 batch set "$second" --hurry yes
claim "by its name" said 'needs one_result_per_host_per_wu in config.xml'
"$QM_BINARY_DIR/qmctl" --project "$project" check-config >"$work/said" 2>&1
claim "which check-config says too" said 'hurry_batches does nothing without one_result_per_host_per_wu'
sed -i 's|<config>|&<one_result_per_host_per_wu>1</one_result_per_host_per_wu>|' "$project/config.xml"
claim "a hurry is yes or no" exits 2 batch set "$second" --hurry maybe
claim "with them it is noted" exits 0 batch set "$second" --hurry yes
claim "and shown" is "$(qmctl batch show "$second" --tsv | tail -n 1 | cut -f 16)" yes
rows "UPDATE qm_hurry SET within = 36000 WHERE batch = $second"
claim "whose last jobs" exits 0 batch show "$second"
claim "are for few hosts" said 'last jobs go to hosts that return results within 10.0 hours'
create --batch "$second" --priority 9 --name last_1 "$work/input" >/dev/null
create --name free_1 "$work/input" >/dev/null
add_host
ask() {
    local body
    body=$(sed "s|<rpc_seqno>.*<|<rpc_seqno>$1<|" "$QM_SOURCE_DIR/tests/captures/002-after-hostid.xml")
    QM_PROJECT=$project REQUEST_METHOD=POST CONTENT_LENGTH=${#body} "$program" <<<"$body" >"$work/reply" 2>"$work/cgi.log"
}
ask 1
claim "plain CGI gives them to nobody else" is "$(rows "SELECT server_state FROM result WHERE name = 'last_1_0'")" 2
claim "who gets other jobs" grep -q '<result>' "$work/reply"
rows "UPDATE host SET avg_turnaround = 36000, rpc_time = 0"
ask 2
claim "but to these" is "$(rows "SELECT server_state FROM result WHERE name = 'last_1_0'")" 4
claim "where all are in a hurry it cannot be taken back" exits 0 batch set "$second" --hurry no
claim "which is said" said '^note: hurry_batches is set'
claim "from one" is "$(qmctl batch show "$second" --tsv | tail -n 1 | cut -f 16)" yes
sed -i '/<hurry_batches>/s|<hurry_batches>1</hurry_batches>||' "$project/config.xml"
claim "else it can" exits 0 batch set "$second" --hurry no
claim "by no" is "$(qmctl batch show "$second" --tsv | tail -n 1 | cut -f 16)" no
create --batch "$second" --name two_1 "$work/input" >/dev/null
rows "UPDATE batch SET expire_time = UNIX_TIMESTAMP() - 10 WHERE id = $second"
qmctl transition >/dev/null
claim "whose time is over is aborted and retired" is "$(rows "SELECT state, expire_time FROM batch WHERE id = $second" | tr '\t' ' ')" "4 0"
claim "with its jobs" is "$(rows "SELECT error_mask FROM workunit WHERE name = 'two_1'")" 16

# --- who may submit
claim "somebody may submit" exits 0 submitter add eve@example.org --app work --quota 2.5 --max-jobs 9
claim "as BOINC's pages read it" is "$(rows "SELECT quota, submit_all, manage_all, max_jobs_in_progress, app_id FROM user_submit
    JOIN user_submit_app USING (user_id)" | tr '\t' ' ')" "2.5 0 0 9 1"
claim "once" exits 1 submitter add eve@example.org --app work
claim "an application that is none" exits 1 submitter set eve@example.org --app wurk
claim "a share of nothing" exits 2 submitter set eve@example.org --quota 0
claim "neither yes nor no" exits 2 submitter set eve@example.org --manage perhaps
claim "all applications" exits 0 submitter set eve@example.org --all-apps yes --not-app work
claim "and what was not given stays" is "$(qmctl submitter list --tsv | tail -n 1 | cut -f 4-7 | tr '\t' ' ')" "2.50 9 no all"
claim "no more" exits 0 submitter remove eve@example.org
claim "nobody is left" is "$(rows "SELECT (SELECT COUNT(*) FROM user_submit) + (SELECT COUNT(*) FROM user_submit_app)")" 0
claim "who was none" exits 1 submitter remove eve@example.org
claim "nor is to be changed" exits 1 submitter set eve@example.org --max-jobs 3
finish
