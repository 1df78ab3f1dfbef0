#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What scientists do from their desk, behind the samples for nginx and Apache, with a program that speaks
# and reads as BOINC's Python and C++ clients do.
# shellcheck disable=SC2317,SC2119,SC2120 # claim calls the functions; some have no arguments here
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx apache2 python3

new_project "<submission>1</submission>" "<download_dir>$project/download</download_dir>" \
    "<download_url>http://127.0.0.1/download</download_url>" "<uldl_dir_fanout>1024</uldl_dir_fanout>" "<upload_dir>$project/upload</upload_dir>" "<upload_min_free_gb>0</upload_min_free_gb>" "<upload_url>http://127.0.0.1/upload</upload_url>" "<join_tries_of_address>20</join_tries_of_address>" \
    "<submission_db_user>${schema}_s</submission_db_user>" "<submission_db_passwd>it's \\ one</submission_db_passwd>"
qmctl() { "$QM_BINARY_DIR/qmctl" --project "$project" "$@"; }
demo=$QM_SOURCE_DIR/tools/demo
bob=b0b00000000000000000000000000b0b
eve=e5e00000000000000000000000000e5e
rows "SET sql_mode = ''; INSERT INTO user (id, create_time, email_addr, name, authenticator) VALUES
    (2, 1700000000, 'bob@example.org', 'Bob', '$bob'), (3, 1700000000, 'eve@example.org', 'Eve', '$eve');
    INSERT INTO app (id, create_time, name) VALUES (2, 1700000000, 'rare');"
qmctl submitter add a@example.org --app work >/dev/null
qmctl submitter add bob@example.org --all-apps yes >/dev/null
cp "$demo/in.xml" "$project/templates/work_in"
cp "$QM_SOURCE_DIR/templates/none_out.xml" "$project/templates/work_out"
echo x >"$work/input"
rows "RENAME TABLE batch_file_assoc TO elsewhere"
qmctl deploy mariadb --db-admin root --apply >"$work/grants" 2>&1
claim "a right needs its table" grep -q 'batch_file_assoc.*(qmctl init makes tables that are missing)' "$work/grants"
rows "RENAME TABLE elsewhere TO batch_file_assoc"
# No more rights than qmctl deploy mariadb gives.
qmctl deploy mariadb | grep "'${schema}_s'" >"$work/grants.sql"
database() { mariadb --no-defaults -S "$QM_TEST_SOCKET" "$@"; }
database -u root <"$work/grants.sql" || claim_failed "the process gets a user of the database"
start_server server
start_submission

encoding=urlencoded
page=submit_rpc_handler.php
desk() { printf '%s/%s' "${url%_cgi/cgi}" "$page"; }
coproc scientist { python3 "$QM_SOURCE_DIR/tests/integration/submission/scientist.py"; }
# post_request [FILE...]: $work/request; what is understood is in $work/heard
post_request() {
    local status
    printf '%s\n' "$(desk) $encoding $work/request $work/heard $*" >&"${scientist[1]}"
    read -r -u "${scientist[0]}" status
    return "$status"
}
# ask ROOT XML [KEY]
ask() {
    printf '<%s>\n<authenticator>%s</authenticator>\n%s\n</%s>' "$1" "${3-$account}" "$2" "$1" >"$work/request"
    post_request
}
heard() { grep -qE -- "$1" "$work/heard" || { sed 's/^/    /' "$work/heard"; false; }; }
refused() { # WORDS ROOT XML [KEY]
    local words=$1
    shift
    ask "$@"
    [ $? -eq 1 ] && heard "/error/error_num '-1'" && heard "$words"
}
value() { sed -n "s|^$1 '\(.*\)'\$|\1|p" "$work/heard"; }
is() { [ "$1" = "$2" ] || { say "    it is \"$1\", not \"$2\""; return 1; }; }
reloads() { grep -c 'event=reloaded' "$work/submission.log"; }
reload_submission() {
    local before
    before=$(reloads)
    kill -HUP "$submission_pid"
    within 10 eval "[ \$(reloads) -gt $before ]"
}
raw() { # BODY [CURL-OPTION...]
    local body=$1
    shift
    curl -s --data-urlencode "request=$body" "$@" "$(desk)" >"$work/raw"
}

check_frame() { # FRONT
    for encoding in urlencoded multipart; do
        claim "$1, $encoding: ping" ask ping ' ' ''
        claim "$1, $encoding: is answered" heard "^ping/success '1'"
        claim "$1, $encoding: no such command" refused "no command foo" foo x
        claim "$1, $encoding: an unknown root has its error twice" heard "^error/error_num '-1'"
    done
    encoding=urlencoded
    raw '<ping/>'
    claim "$1: an empty root" grep -q '<success>1<' "$work/raw"
    raw 'this is <no XML'
    claim "$1: no XML" grep -q '<error_num>-1<' "$work/raw"
    raw '<!DOCTYPE a [<!ENTITY b "c">]><ping>&b;</ping>'
    claim "$1: entities" grep -q '<error_num>-1<' "$work/raw"
    raw "<!DOCTYPE a [<!ENTITY b SYSTEM \"${url%test_cgi/cgi}fetched\">]><ping>&b;</ping>"
    claim "$1: entities from elsewhere" grep -q '<error_num>-1<' "$work/raw"
    claim "$1: which are not fetched" not grep -rq fetched "$work/nginx1" "$work/server.log"
    curl -s -D "$work/head" -d 'other=1' "$(desk)" >"$work/raw"
    claim "$1: no field" grep -q '<error_num>-1<' "$work/raw"
    claim "$1: with status 200" grep -q '^HTTP/1.1 200' "$work/head"
    claim "$1: as XML" grep -qi '^content-type: text/xml; charset=utf-8' "$work/head"
    curl -s -H 'Expect: 100-continue' --form-string "request=<ping> </ping>" "$(desk)" >"$work/raw"
    claim "$1: with Expect" grep -q '<success>1<' "$work/raw"
    curl -s -d 'request=<ping/>' "${url%test_cgi/cgi}test//submit_rpc_handler.php" >"$work/raw"
    claim "$1: with two slashes" grep -q '<success>1<' "$work/raw"
    claim "$1: a look with GET" grep -q 'nothing to be seen' <(curl -s "$(desk)")
}

start_nginx "$work/server.socket"
check_frame nginx
claim "the counters are shown" grep -q '^quartermaster_submissions_answered_total [1-9]' <(curl -s "$(desk)/metrics")

# --- who may do what
claim "no key" refused 'no authenticator' query_batches '' ''
claim "the process is a user of its own" test "$(rows "SELECT COUNT(*) FROM information_schema.processlist WHERE user = '${schema}_s'")" -gt 0
claim "another's key" refused 'no account' query_batches '' 00000000000000000000000000000000
claim "a key that is none" refused 'no account' query_batches '' "1' OR '1"
claim "a key in the other case" refused 'no account' query_batches '' "${account^^}"
claim "one who submits nothing" refused 'may not submit' query_batches '' "$eve"
claim "his own application" ask create_batch '<app_name>work</app_name><batch_name>one</batch_name><expire_time>0.000000</expire_time>'
one=$(value create_batch/batch_id)
claim "not another" refused 'no application rare' create_batch '<app_name>rare</app_name>'
claim "nor one that is not there" refused 'no application none' create_batch '<app_name>none</app_name>'
claim "all applications" ask create_batch '<app_name>rare</app_name><batch_name>one</batch_name>' "$bob"
bobs=$(value create_batch/batch_id)
for root in query_batch abort_batch retire_batch set_expire_time; do
    claim "$root of another's" refused "no batch $one " $root "<batch_id>$one</batch_id><expire_time>5</expire_time>" "$bob"
done
claim "nothing came of it" is "$(rows "SELECT id, state, expire_time FROM batch" | tr '\t\n' ' ;')" "$one 0 0;$bobs 0 0;"
claim "the same name is another batch for each" ask query_batch '<batch_name>one</batch_name>' "$bob"
claim "his" is "$(value query_batch/id)" "$bobs"
claim "names in the other case are others" refused 'no batch ONE' query_batch '<batch_name>ONE</batch_name>'
claim "a batch without a name" refused 'neither' query_batch ''
claim "number 0 is none" ask query_batch '<batch_id>0</batch_id><batch_name>one</batch_name>'
claim "a number that is none" refused 'batch_id is not' query_batch '<batch_id>1x</batch_id>'

# --- names
claim "any name" ask create_batch "<app_name>work</app_name><batch_name>a &lt;b&gt; &amp; 'c' \"d\" ü \$(e)</batch_name>"
claim "is found by it" ask query_batch "<batch_name>a &lt;b&gt; &amp; 'c' \"d\" ü \$(e)</batch_name>"
claim "and told" heard "^query_batch/name .a <b> & .*ü \\$\(e\)"
claim "no control characters" refused 'byte 2' create_batch "<app_name>work</app_name><batch_name>a$(printf '\t')b</batch_name>"
claim "nor too long" refused 'more than 254' create_batch "<app_name>work</app_name><batch_name>$(printf '%255s' '' | tr ' ' x)</batch_name>"
rows "DELETE FROM batch WHERE name LIKE 'a <%'"

# --- jobs
seq 4 | sed "s|.*|--wu_name one_& $work/input|" |
    qmctl jobs create --app work --in "$demo/in.xml" --out "$QM_SOURCE_DIR/templates/none_out.xml" --batch "$one" --stdin >/dev/null
rows "UPDATE workunit SET canonical_resultid = id, canonical_credit = 10 WHERE name = 'one_1';
      UPDATE result SET server_state = 5, outcome = 1, cpu_time = 7, validate_state = 1 WHERE name = 'one_1_0';
      UPDATE result SET stderr_out = 'a <&]]> b', elapsed_time = 9 WHERE name = 'one_1_0';
      UPDATE workunit SET canonical_resultid = (SELECT id FROM result WHERE name = 'one_1_0') WHERE name = 'one_1';
      UPDATE workunit SET error_mask = 2 WHERE name = 'one_2';
      UPDATE result SET server_state = 5, outcome = 3, exit_status = 5 WHERE name = 'one_2_0';
      UPDATE result SET server_state = 4, sent_time = 1700000000, hostid = 1 WHERE name = 'one_3_0';"
thirds() { # DONE: what is told of a batch of three jobs
    ask query_batch "<batch_name>thirds</batch_name>" &&
        is "$(for what in njobs fraction_done nerror_jobs credit_canonical state; do value "query_batch/$what"; done | cut -c 1-8 | tr '\n' ' ')" "$1"
}
ask create_batch '<app_name>work</app_name><batch_name>thirds</batch_name>'
seq 3 | sed "s|.*|--wu_name third_& $work/input|" |
    qmctl jobs create --app work --in "$demo/in.xml" --out "$QM_SOURCE_DIR/templates/none_out.xml" --batch thirds --stdin >/dev/null
rows "UPDATE workunit SET canonical_resultid = 1, canonical_credit = 10 WHERE name = 'third_1';
    UPDATE workunit SET error_mask = 2 WHERE name = 'third_2'; UPDATE result SET server_state = 4 WHERE name = 'third_3_0'"
claim "a valid, a failed and one that is out" thirds '3 0.666666 1 10 1 '
claim "it has no end yet" is "$(value query_batch/completion_time)" 0
rows "UPDATE workunit SET canonical_resultid = 2, canonical_credit = 10 WHERE name = 'third_3'"
claim "the last is valid" within 60 thirds '3 1 1 20 2 '
claim "its end is now" is "$(($(date +%s) - $(value query_batch/completion_time) < 600))" 1
claim "and it is not that of another" is "$(value query_batch/name)" thirds
rows "DELETE FROM result WHERE name LIKE 'third_%'; DELETE FROM workunit WHERE name LIKE 'third_%'; DELETE FROM batch WHERE name = 'thirds'"
claim "his batches" ask query_batches '<get_cpu_time>1</get_cpu_time>'
claim "with what was done" heard "^query_batches/batch/fraction_done '0.5'"
claim "with failures" heard "^query_batches/batch/nerror_jobs '1'"
claim "with credit" heard "^query_batches/batch/credit_canonical '10'"
claim "with CPU time" heard "^query_batches/batch/total_cpu_time '7'"
claim "his alone" is "$(grep -c '^query_batches/batch/id' "$work/heard")" 1
claim "with details" ask query_batch "<batch_id>$one.000000</batch_id><get_job_details>1</get_job_details>"
claim "by status" is "$(sed -n "s|^query_batch/job/status ||p" "$work/heard" | tr -d "'" | tr '\n' ' ')" "done error in_progress queued "
claim "why it failed" heard "^query_batch/job/error 'too_many_error_results'"
claim "how it ended" heard "^query_batch/job/exit_status '5'"
claim "at a glance" ask query_batch2 '<min_mod_time>0.000000</min_mod_time><batch_name>one</batch_name>'
claim "by word" is "$(sed -n "s|^query_batch2/job/status ||p" "$work/heard" | tr -d "'" | tr '\n' ' ')" "DONE ERROR IN_PROGRESS UNSENT "
claim "how many" is "$(value query_batch2/batch_size)" 4
rows "UPDATE workunit SET mod_time = '2020-01-01 00:00:00'"
ask query_batch2 "<min_mod_time>$(value query_batch2/server_time)</min_mod_time><batch_name>one</batch_name>"
claim "what did not change is not told" is "$(value query_batch2/batch_size)" 0
now=$(value query_batch2/server_time)
rows "UPDATE workunit SET priority = 1 WHERE name = 'one_4'"
ask query_batch2 "<min_mod_time>$now</min_mod_time><batch_name>one</batch_name>"
claim "what did is told" is "$(value query_batch2/batch_size)" 1
claim "one unknown name ends all" refused 'no batch two' query_batch2 '<batch_name>one</batch_name><batch_name>two</batch_name>'
claim "too many batches at a glance" refused 'more than 1000' query_batch2 "$(printf '<batch_name>one</batch_name>%.0s' {1..1001})"
claim "an answer" ask query_completed_job '<job_name>one_1</job_name>'
claim "its output" heard "^query_completed_job/completed_job/stderr_out 'a &lt;&amp;\]\]&gt; b'"
claim "its number" heard "^query_completed_job/completed_job/canonical_resultid"
claim "a failure" ask query_completed_job '<job_name>one_2</job_name>'
claim "its number" heard "^query_completed_job/completed_job/error_resultid"
claim "its status" heard "^query_completed_job/completed_job/exit_status '5'"
claim "one that goes on" ask query_completed_job '<job_name>one_3</job_name>'
claim "has no error" is "$(cat "$work/heard")" "query_completed_job/completed_job/error_mask '0'"
claim "one of another" refused 'no job one_1 of yours' query_completed_job '<job_name>one_1</job_name>' "$bob"
claim "one without a name" refused 'names no job' query_completed_job ''
claim "its instances" ask query_job "<job_id>$(rows "SELECT id FROM workunit WHERE name = 'one_1'")</job_id>"
claim "in words" heard "^query_job/instance/state 'Completed and validated'"
claim "templates" ask get_templates '<app_name>work</app_name>'
claim "whole" heard '^get_templates/templates/input_template/'
claim "of a job" ask get_templates '<job_name>one_1</job_name>'

# --- the end
claim "one of another is not aborted" refused 'no job one_1 of yours' abort_jobs '<job_name>one_1</job_name>' "$bob"
claim "none is, where one is not there" refused 'no job none' abort_jobs '<job_name>one_4</job_name><job_name>none</job_name>'
claim "so far" is "$(rows "SELECT COUNT(*) FROM workunit WHERE error_mask & 16")" 0
claim "some jobs" ask abort_jobs '<job_name>one_4</job_name><job_name>one_1</job_name>'
claim "with success" heard "^abort_jobs/success '1'"
claim "but what has its answer" is "$(rows "SELECT GROUP_CONCAT(name) FROM workunit WHERE error_mask & 16")" one_4
claim "an end by time" ask set_expire_time "<batch_name>one</batch_name><expire_time>2000000000.000000</expire_time>"
claim "is kept" is "$(rows "SELECT expire_time FROM batch WHERE id = $one")" 2000000000
claim "the whole batch" ask abort_batch "<batch_id>$one</batch_id>"
claim "is aborted" is "$(rows "SELECT state FROM batch WHERE id = $one")" 3
claim "retired" ask retire_batch "<batch_id>$one</batch_id>"
claim "is so" is "$(rows "SELECT state FROM batch WHERE id = $one")" 4
claim "again" ask retire_batch "<batch_id>$one</batch_id>"
ask query_batches ''
claim "and is not listed" is "$(cat "$work/heard")" 'query_batches '"'\\n'"

# --- jobs are submitted
file() { echo "<input_file><mode>$1</mode><source>$2</source></input_file>"; }
job() { # NAME CONTENT [MORE]
    echo "<job><name>$1</name>$(file inline "$2")${3-}</job>"
}
submit() { # HEAD JOBS [KEY]
    ask submit_batch "<batch><app_name>work</app_name>$1$2</batch>" "${3-$account}"
}
count() { rows "SELECT COUNT(*) FROM $1"; }
# not_made WORDS HEAD JOBS: it is refused, and nothing came of it: no row, no file.
not_made() {
    local before after
    before="$(count batch) $(count workunit) $(find "$project/download" "$project/templates" -type f | sort)"
    refused "$1" submit_batch "<batch><app_name>work</app_name>$2$3</batch>" || return 1
    after="$(count batch) $(count workunit) $(find "$project/download" "$project/templates" -type f | sort)"
    is "$after" "$before"
}
in_hierarchy() { find "$project/download" -name "$1" -printf '%P\n'; }
claim "jobs without a batch" submit '<batch_id>0</batch_id><app_version_num>0</app_version_num>' "$(job first hello)$(job second hello)"
new=$(value submit_batch/batch_id)
claim "make one" is "$(rows "SELECT state, njobs, user_id, app_id, expire_time, description, project_state FROM batch WHERE id = $new" | tr '\t' ' ')" "1 2 1 1 0  0"
claim "with a usual name" grep -qE '^Ada:work:[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} \+0000$' <(rows "SELECT name FROM batch WHERE id = $new")
claim "the file lies where clients fetch it" is "$(in_hierarchy 'jf_*')" 340/jf_5d41402abc4b2a76b9719d911017c592
claim "as it was" is "$(cat "$project/download/340/jf_5d41402abc4b2a76b9719d911017c592")" hello
claim "the jobs are due" is "$(rows "SELECT COUNT(*) FROM workunit WHERE batch = $new AND transition_time < 2147483647")" 2
qmctl transition >/dev/null
claim "and get results" is "$(rows "SELECT COUNT(*), MIN(server_state), MAX(batch) FROM result WHERE name LIKE 'first%'" | tr '\t' ' ')" "1 2 $new"
ask create_batch '<app_name>work</app_name><batch_name>mine</batch_name>'
mine=$(value create_batch/batch_id)
claim "jobs for a batch that is there" submit "<batch_id>$mine</batch_id><priority>7</priority>" "$(job third hello)$(job fourth '' '<priority>3</priority>')"
claim "are its own" is "$(value submit_batch/batch_id)" "$mine"
claim "with priorities" is "$(rows "SELECT GROUP_CONCAT(priority ORDER BY id) FROM workunit WHERE batch = $mine")" 7,3
claim "a file without content" is "$(in_hierarchy 'jf_d41d*')" "$(in_hierarchy jf_d41d8cd98f00b204e9800998ecf8427e)"
claim "not twice" not_made 'has its jobs already' "<batch_id>$mine</batch_id>" "$(job fifth hello)"
ask create_batch '<app_name>work</app_name><batch_name>ended</batch_name>'
ended=$(value create_batch/batch_id)
ask abort_batch "<batch_id>$ended</batch_id>"
claim "nor for one that was aborted before" not_made "batch $ended is aborted" "<batch_id>$ended</batch_id>" "$(job fifth hello)"
ask retire_batch "<batch_id>$ended</batch_id>"
claim "nor retired" not_made "batch $ended is retired" "<batch_id>$ended</batch_id>" "$(job fifth hello)"
claim "a file that is not escaped is not shortened" not_made 'job 1: source has elements in it' '' "$(job fifth '<b>one</b>')"
claim "a job for somebody" not_made 'job 1: jobs for a user' '' "$(job fifth hello '<target_user>2</target_user>')"
claim "nor of another" not_made "no batch $bobs" "<batch_id>$bobs</batch_id>" "$(job fifth other)"
claim "nor of nobody" not_made 'no batch 4711' '<batch_id>4711</batch_id>' "$(job fifth other)"
claim "no jobs" not_made 'has no jobs' '' ''
claim "a file too many" not_made 'job 2: .*1 file with each job, given: 2' '' "$(job fifth a)$(job sixth b "$(file inline c)")"
claim "a name that is taken" not_made 'job 2: the name first is taken already, from before' '' "$(job fifth a)$(job first b)"
claim "a name twice" not_made 'job 2: the name fifth is taken in job 1 already' '' "$(job fifth a)$(job fifth b)"
claim "a name of many taken" not_made 'job 5001: the name first is taken' '' "$(seq 5000 | awk '{ print "<job><name>many_" $1 "</name><input_file><mode>inline</mode><source>" $1 % 20 "</source></input_file></job>" }'; job first b)"
for mode in foo local semilocal ''; do
    claim "mode \"$mode\"" not_made 'are not taken' '' "<job>$(file "$mode" /etc/passwd)</job>"
done
claim "a path" not_made 'input file' '' "<job>$(file local_staged ../config.xml)</job>"
claim "a file that is not there" not_made 'no input file nothing' '' "<job>$(file local_staged nothing)</job>"
echo staged >"$project/download/staged_1"
claim "one that is" submit '' "<job>$(file local_staged staged_1)</job>"
sum() { rows "SELECT xml_doc FROM workunit WHERE name = '$1'" | grep -oE '<md5_cksum>[^<]*' | cut -c 12-; }
staged=$project/download/$(in_hierarchy staged_1 | grep /)
printf '%032d 7.000000000000000e+00\n' 5 >"$staged.md5"
claim "its sum is not read again" submit '' "<job><name>summed</name>$(file local_staged staged_1)</job>"
claim "where it lies beside the file" is "$(sum summed)" "$(printf '%032d' 5)"
printf '%032d 8\n' 5 >"$staged.md5"
claim "unless it is of another size" submit '' "<job><name>resized</name>$(file local_staged staged_1)</job>"
claim "then the file is read" is "$(sum resized)" "$(md5sum <"$staged" | cut -c 1-32)"
printf '%032d 7\n' 5 >"$staged.md5"
touch "$staged"
claim "or older than the file" submit '' "<job><name>changed</name>$(file local_staged staged_1)</job>"
claim "which is read then too" is "$(sum changed)" "$(md5sum <"$staged" | cut -c 1-32)"
rm "$staged.md5"
remote() { echo "<job><name>$1</name><input_file><mode>remote</mode><url>http://example.org/a</url><nbytes>5.000000</nbytes><md5>$2</md5></input_file></job>"; }
claim "one elsewhere" submit '' "$(remote far 5d41402abc4b2a76b9719d911017c592)"
claim "is named by its checksum" grep -q 'jf_5d41402abc4b2a76b9719d911017c592.*http://example.org/a' <(rows "SELECT REPLACE(xml_doc, '\n', ' ') FROM workunit WHERE name = 'far'" | tr '\n' ' ')
claim "which it needs" not_made 'MD5' '' "$(remote far2 5d41402)"
claim "no name" submit '' "$(for ((i = 0; i < 300; i++)); do echo "<job>$(file inline hello)</job>"; done)"
claim "is one for each" is "$(rows "SELECT COUNT(DISTINCT name) FROM workunit WHERE batch = $(value submit_batch/batch_id)")" 300
claim "a line with all that is odd" submit '' "$(job odd hello "<command_line>--a 'b' \"c\" \$(d) \\ ; ü &amp;&lt;</command_line>")"
claim "is kept" grep -qF "\n--a 'b' \"c\" \$(d) \\\\ ; &#195;&#188; &amp;&lt;\n" <(rows "SELECT xml_doc FROM workunit WHERE name = 'odd'")
claim "of very many words" submit '' "$(job words hello "<command_line>$(seq -s ' ' 200)</command_line>")"
claim "all of them" grep -q ' 198 199 200' <(rows "SELECT xml_doc FROM workunit WHERE name = 'words'")
claim "but one line" not_made 'command_line has a control character' '' "$(job odd2 hello "<command_line>a
b</command_line>")"
claim "not too long" not_made 'more than 4096' '' "$(job odd2 hello "<command_line>$(printf '%4097s' '' | tr ' ' x)</command_line>")"
for name in "a'b" 'a b' 'a/b' '..' "$(printf '%300s' '' | tr ' ' x)"; do
    claim "a job's name: ${name:0:8}" not_made 'job 1: the name' '' "$(job "$name" hello)"
done
for name in '../x; id' '/etc/passwd' '.hidden' "a'b"; do
    claim "a template's name: $name" not_made 'template_filename is not' "<input_template_filename>$name</input_template_filename>" "$(job odd2 hello)"
done
output='<output_template><result/></output_template>'
in_it='<input_template><file_info></file_info><workunit><file_ref><open_name>in</open_name></file_ref><rsc_fpops_est>5e9</rsc_fpops_est></workunit></input_template>'
claim "templates of its own" submit '' "$(job own_1 hello "$in_it$output")$(job own_2 hello "$in_it$output")"
claim "lie where retries find them" is "$(ls "$project/templates/tmp")" 8cee2b27587f799a1f4b3e2aae814b07
claim "and are named" is "$(rows "SELECT result_template_file, rsc_fpops_est FROM workunit WHERE name = 'own_2'" | tr '\t' ' ')" "templates/tmp/8cee2b27587f799a1f4b3e2aae814b07 5000000000"
quoted="<output_template><file_info><name><OUTFILE_0/></name><generated_locally/><upload_when_present/><max_nbytes>5</max_nbytes><url>http://x/it's</url></file_info><result><file_ref><file_name><OUTFILE_0/></file_name><open_name>out</open_name></file_ref></result></output_template>"
submit '' "$(job quoted hello "$in_it$quoted")" || sed 's/^/    /' "$work/heard"
qmctl transition >/dev/null
claim "quotes of a template are in its result" grep -q "<url>http://x/it's</url>" <(rows "SELECT xml_doc_in FROM result WHERE name = 'quoted_0'")
claim "which are no templates" not_made 'job 1' '' "$(job own_3 hello '<output_template><foo/></output_template>')"

# --- numbers
rows "UPDATE user SET expavg_credit = 200"
ask estimate_batch '<batch><app_name>work</app_name><job><rsc_fpops_est>3e9</rsc_fpops_est></job><job><rsc_fpops_est>3000000000.000000</rsc_fpops_est></job></batch>'
claim "an estimate" is "$(value estimate_batch/seconds)" 2
claim "of numbers that a job may have" refused 'job 1: rsc_fpops_est: 1e\+308 is not between' estimate_batch '<batch><app_name>work</app_name><job><rsc_fpops_est>1e308</rsc_fpops_est></job><job><rsc_fpops_est>1e308</rsc_fpops_est></job></batch>'
rows "UPDATE user SET expavg_credit = 0"
ask estimate_batch '<batch><app_name>work</app_name><job><rsc_fpops_est>3e9</rsc_fpops_est></job></batch>'
claim "without statistics" is "$(value estimate_batch/seconds)" 3
# Twenty jobs of the application took an hour each, and so many of the project went out within this hour, however much of it is over, that none waits long.
rows "SET sql_mode = ''; INSERT INTO qm_fate VALUES (UNIX_TIMESTAMP() DIV 3600, 77, 1, 1, 0, 1, 0, 1000000);
    INSERT INTO result (id, name, workunitid, appid, server_state, outcome, validate_state, sent_time, received_time)
    SELECT 900000 + seq, CONCAT('past_', seq), 0, (SELECT id FROM app WHERE name = 'work'), 5, 1, 1, UNIX_TIMESTAMP() - 7200, UNIX_TIMESTAMP() - 3600 FROM seq_1_to_20;
    UPDATE batch SET est_completion_time = 1900000000.5 WHERE state = 1"
ask estimate_batch '<batch><app_name>work</app_name><job><rsc_fpops_est>3e9</rsc_fpops_est></job></batch>'
claim "by how long jobs took of late" is "$(value estimate_batch/seconds | awk '{ print ($1 >= 3500 && $1 < 4500) }')" 1
claim "for most batches it is later" is "$(paste <(value estimate_batch/seconds) <(value estimate_batch/seconds_most) | awk '{ print ($2 > $1) }')" 1
ask query_batches ''
claim "when a batch will be done" heard "^query_batches/batch/est_completion_time '1900000000.5"
rows "DELETE FROM qm_fate WHERE process = 77; DELETE FROM result WHERE id > 900000"
rows "UPDATE user_submit SET quota = IF(user_id = 1, 1, 3), logical_start_time = IF(user_id = 1, UNIX_TIMESTAMP() + 1000000, 0);
    UPDATE app_version SET expavg_credit = 200000, expavg_time = UNIX_TIMESTAMP()"
start=$(rows "SELECT CAST(logical_start_time AS SIGNED) FROM user_submit WHERE user_id = 1")
claim "by his share" submit '<allocation_priority/><priority>7</priority>' "$(job share_1 hello '<rsc_fpops_est>2e15</rsc_fpops_est>')"
claim "a priority" is "$(rows "SELECT priority FROM workunit WHERE name = 'share_1'")" "-$((start + 8000))"
claim "an end" is "$(rows "SELECT CAST(logical_end_time AS SIGNED) FROM batch WHERE id = $(value submit_batch/batch_id)")" "$((start + 8000))"
submit '<allocation_priority/>' "$(job share_2 hello '<rsc_fpops_est>2e15</rsc_fpops_est>')"
claim "the next comes later" is "$(rows "SELECT priority FROM workunit WHERE name = 'share_2'")" "-$((start + 16000))"
# Where submitters have streams, these are their shares.
sed -i 's|<submission>1|<submitter_streams>1</submitter_streams>&|' "$project/config.xml"
end_process "$submission_pid"
rm -f "$work/submission.socket"
start_submission
submit '<allocation_priority/>' "$(job share_3 hello '<rsc_fpops_est>2e15</rsc_fpops_est>')"
claim "with streams it has no priority" is "$(rows "SELECT priority FROM workunit WHERE name = 'share_3'")" 0
open=$(rows "SELECT COUNT(*) FROM workunit JOIN batch ON batch.id = batch WHERE user_id = 1 AND state = 1 AND error_mask = 0 AND canonical_resultid = 0")
qmctl submitter set a@example.org --max-jobs $((open + 1)) >/dev/null
claim "one more" not_made "you have $open jobs in progress and may have $((open + 1)): 2 more" '' "$(job limit_1 hello)$(job limit_2 hello)"
claim "is as much as he may" submit '' "$(job limit_1 hello)"
claim "and no more" not_made 'too many' '' "$(job limit_2 hello)"
qmctl submitter set a@example.org --max-jobs $((open + 51)) >/dev/null
printf '<submit_batch><authenticator>%s</authenticator><batch><app_name>work</app_name>%s</batch></submit_batch>' "$account" \
    "$(for ((i = 0; i < 30; i++)); do echo "<job>$(file inline hello)</job>"; done)" >"$work/thirty"
for ((i = 0; i < 4; i++)); do curl -s --data-urlencode "request@$work/thirty" "$(desk)" >"$work/answer$i" & answers[i]=$!; done
wait "${answers[@]}"
claim "of four at once one" is "$(cat "$work"/answer? | grep -c batch_id)" 1
rows "UPDATE user_submit SET max_jobs_in_progress = 0"

# --- files
# files ROOT NAMES [FILE...]: names a blank apart
files() {
    local root=$1 names='' name
    for name in $2; do names+="<phys_name>$name</phys_name>"; done
    shift 2
    printf '<%s><authenticator>%s</authenticator><batch_id>%s</batch_id><delete_time>%s</delete_time>%s</%s>' \
        "$root" "${key:-$account}" "${batch:-0}" "${until:-0}" "$names" "$root" >"$work/request"
    page=job_file.php encoding=multipart
    post_request "$@"
    local status=$?
    page=submit_rpc_handler.php encoding=urlencoded
    return $status
}
no_files() { # WORDS NAMES [FILE...]: they are refused, and nothing came of it
    local before words=$1
    shift
    before="$(count job_file) $(find "$project/download" -type f | sort)"
    files upload_files "$@"
    [ $? -eq 1 ] && heard "$words" && is "$(count job_file) $(find "$project/download" -type f | sort)" "$before"
}
printf hello >"$work/hello"
printf other >"$work/other"
hello=5d41402abc4b2a76b9719d911017c592.txt
claim "files that are not there" files query_files "$hello in_1.dat"
claim "are told by their place" is "$(value query_files/absent_files/file | tr '\n' ' ')" "0 1 "
claim "are sent" files upload_files "$hello in_1.dat" "$work/hello" "$work/other"
claim "in their order" is "$(cat "$project/download/383/$hello" "$project/download/25/in_1.dat")" helloother
claim "which web servers, as other users, may read" is "$(find "$project/download/383" "$project/download/25" ! -perm -0444)" ''
claim "with a sum beside" is "$(cat "$project/download/383/$hello.md5")" '5d41402abc4b2a76b9719d911017c592 5'
claim "one of three" files query_files "none_1 in_1.dat none_2"
claim "is there" is "$(value query_files/absent_files/file | tr '\n' ' ')" "0 2 "
claim "a name twice, with the same content" files upload_files "$hello $hello" "$work/hello" "$work/hello"
claim "then they are there" files query_files "$hello in_1.dat"
claim "which no client takes for nothing" is "$(cat "$work/heard")" "query_files/absent_files '\\n'"
claim "the same again" files upload_files "$hello in_1.dat" "$work/hello" "$work/other"
claim "is a success" heard "^upload_files/success '1'"
claim "no files at all" files upload_files ''
claim "is a success too" heard "^upload_files/success '1'"
until=2000000000 batch=$mine.0 files query_files in_1.dat
claim "a later end counts" is "$(rows "SELECT delete_time FROM job_file WHERE name = 'in_1.dat'")" 2000000000
claim "for a batch" is "$(rows "SELECT batch_id FROM batch_file_assoc")" "$mine"
batch=$bobs
claim "not for another's" no_files "no batch $bobs" in_2.dat "$work/hello"
batch=0
claim "other content of a name" no_files 'with other content' "in_2.dat in_1.dat" "$work/other" "$work/hello"
claim "content that is not that of the name" no_files 'its MD5 is' "$hello" "$work/other"
claim "too few" no_files '2 files named, but 1 came' "in_2.dat in_3.dat" "$work/hello"
claim "too many" no_files 'more files came' in_2.dat "$work/hello" "$work/other"
key=$bob
claim "another's file is not there for him" files query_files in_1.dat
claim "as he hears" is "$(value query_files/absent_files/file | tr '\n' ' ')" "0 "
claim "its name is not free, whatever the content" no_files 'not free' in_1.dat "$work/other"
batch=$bobs
claim "for a batch either" no_files 'not free' in_1.dat "$work/hello"
batch=0
claim "a name that is made of the content is for all who have it" files upload_files "$hello" "$work/hello"
key=$account
for name in a/b .. .hidden -x a.md5 'a;b' "$(printf '%192s' '' | tr ' ' x)"; do
    claim "the name ${name:0:10}" no_files 'cannot be the name of a file' "$name" "$work/hello"
done
page=job_file.php raw "<query_files><authenticator>$account</authenticator><phys_name>a
b</phys_name></query_files>"
claim "a name of two lines" grep -q 'cannot be the name of a file' "$work/raw"
echo program >"$project/download/work_1"
claim "the name of a program" no_files 'a file of the project' work_1 "$work/hello"
claim "a name but for capitals" no_files 'only by capitals' IN_1.dat "$work/hello"
claim "nor what came before it" no_files 'only by capitals' 'in_4.dat IN_1.dat' "$work/hello" "$work/hello"
flock -F -s "$project/download" sleep 600 &
holder=$!
within 10 not flock -xn "$project/download" true
claim "while others make jobs neither" no_files 'only by capitals' 'in_4.dat IN_1.dat' "$work/hello" "$work/hello"
end_process "$holder"
key=$eve
claim "of nobody who submits" no_files 'may not submit' in_2.dat "$work/hello"
key=$account
names=$(seq -s ' ' -f 'many_%g' 60)
paths=()
for ((i = 0; i < 60; i++)); do paths+=("$work/hello"); done
claim "sixty at once" files upload_files "$names" "${paths[@]}"
head -c 50000000 /dev/zero >"$work/large"
claim "a large one" files upload_files large.bin "$work/large"
claim "arrives whole" cmp "$work/large" "$(find "$project/download" -name large.bin)"
claim "and is used by a job" submit '' "<job><name>uses</name>$(file local_staged in_1.dat)</job>"
peak() { sed -n 's/^VmHWM: *\([0-9]*\) kB/\1/p' "/proc/$submission_pid/status"; }
before=$(peak)
head -c 1000000 /dev/zero >"$work/piece"
{
    printf 'form-string = "request=<upload_files><authenticator>%s</authenticator>' "$account"
    seq -f '<phys_name>piece_%g</phys_name>' 1000 | tr -d '\n'
    printf '</upload_files>"\n'
    seq -f "form = \"file_%g=@$work/piece\"" 1000
} >"$work/thousand"
curl -s -K "$work/thousand" "${url%_cgi/cgi}/job_file.php" >"$work/raw"
claim "a thousand files, 1 GB" grep -q '<success>1<' "$work/raw"
claim "are there" is "$(find "$project/download" -name 'piece_*[0-9]' -size 1000000c | wc -l)" 1000
claim "in memory that does not grow with them" test $(($(peak) - before)) -lt 100000
find "$project/download" -name 'piece_*' -delete
claim "nothing is left behind" is "$(find "$project/download" -name '*.new')" ''

# --- files of a sandbox, as BOINC's web pages keep them
sandbox=$project/sandbox
boxed() { echo "<job><name>$1</name>$(file sandbox "$2")</job>"; }
named() { rows "SELECT xml_doc FROM workunit WHERE name = '$1'" | grep -oE '<(name|nbytes|md5_cksum)>[^<]*' | cut -d '>' -f 2 | sort | tr '\n' ' '; }
claim "a file of the sandbox is not there without one" not_made 'the project has no sandboxes' '' "$(boxed box_0 none)"
mkdir -p "$sandbox/2"
claim "nor without his own" not_made 'you have no sandbox' '' "$(boxed box_0 none)"
mkdir "$sandbox/1"
claim "nor one that he has not brought" not_made '"none" of the sandbox: there is none' '' "$(boxed box_0 none)"
printf hello >"$sandbox/1/a b.txt"
claim "a file of his sandbox" submit '' "$(boxed box_1 'a b.txt')"
claim "is named by its content" is "$(named box_1)" "5 5d41402abc4b2a76b9719d911017c592 jf_5d41402abc4b2a76b9719d911017c592 "
claim "as is the same that came inline" is "$(named first)" "$(named box_1)"
claim "never by its name" is "$(in_hierarchy "jf_$(printf 'a b.txt' | md5sum | cut -c 1-32)")" ''
printf 'sand and more' >"$sandbox/1/sand"
sand=jf_$(md5sum <"$sandbox/1/sand" | cut -c 1-32)
claim "one in two jobs" submit '' "$(boxed box_2 sand)$(boxed box_3 sand)"
claim "and in two calls" submit '' "$(boxed box_4 sand)"
claim "lies there once" is "$(in_hierarchy "$sand" | wc -l) $(cat "$project/download/$(in_hierarchy "$sand")")" "1 sand and more"
rm "$sandbox/1/sand"
claim "and stays when he deletes it" is "$(in_hierarchy "$sand" | wc -l)" 1
claim "though for new jobs it is gone" not_made 'there is none' '' "$(boxed box_5 sand)"
older=$(printf older | md5sum | cut -c 1-32)
printf 'sb 5 %s' "$older" >"$sandbox/1/old.txt"
claim "a link without its content" not_made 'content that is not there' '' "$(boxed box_6 old.txt)"
content=$project/download/$(printf '%x' $((16#$(printf 'sb_1_%s' "$older" | md5sum | cut -c 2-8) % 1024)))/sb_1_$older
mkdir -p "${content%/*}"
printf 'older, and more' >"$content"
claim "one that lies about its size" not_made 'another size' '' "$(boxed box_6 old.txt)"
printf elder >"$content"
claim "a content that is another" not_made 'not the one that was put there' '' "$(boxed box_6 old.txt)"
printf older >"$content"
claim "a link of older pages" submit '' "$(boxed box_6 old.txt)"
claim "leads to the content" is "$(named box_6)" "5 $older jf_$older "
rm "$content"
mkdir "$sandbox/1/.md5"
claim "where newer pages are, such a text is a file" submit '' "$(boxed box_7 old.txt)"
claim "like any other" is "$(named box_7 | tr ' ' '\n' | grep -cx 37)" 1
printf theirs >"$sandbox/2/theirs"
printf 'sb 5 %s' "$older" >"$sandbox/2/theirs.old"
ln -s ../2/theirs "$sandbox/1/linked"
ln -s "$project/config.xml" "$sandbox/1/config"
mkdir "$sandbox/1/folder"
mkfifo "$sandbox/1/pipe"
for name in linked config folder pipe; do
    claim "$name of the sandbox is not read" not_made 'not a plain file' '' "$(boxed box_8 "$name")"
done
for name in ../2/theirs .. . .md5 /etc/passwd folder/a '' "a
b" "$(printf '%256s' '' | tr ' ' x)"; do
    claim "the name ${name:0:12} of the sandbox is not taken" not_made 'a sandbox has no file' '' "$(boxed box_8 "$name")"
done
claim "a good file before a bad one leaves nothing" not_made 'job 3: .*not a plain file' '' "$(boxed box_8 'a b.txt')<job>$(file inline 'only for this')</job>$(boxed box_9 linked)"
before=$(peak)
truncate -s 300000000 "$sandbox/1/large"
claim "a large file of the sandbox" submit '' "$(boxed box_10 large)"
claim "arrives whole" cmp "$sandbox/1/large" "$project/download/$(in_hierarchy "jf_$(md5sum <"$sandbox/1/large" | cut -c 1-32)")"
claim "and piece by piece" test $(($(peak) - before)) -lt 50000
rm "$sandbox/1/large" "$project/download/$(in_hierarchy "jf_$(md5sum <"$sandbox/1/large" | cut -c 1-32)")"
sed -i "s|<submission>1|<upload_min_free_gb>1000000</upload_min_free_gb>&|; s|<upload_min_free_gb>0</upload_min_free_gb>||" "$project/config.xml"
reload_submission
printf 'one too many' >"$sandbox/1/more"
claim "a disk is not filled from a sandbox" not_made 'disk is full' '' "$(boxed box_11 more)"
claim "nor by what is given inline" not_made 'disk is full' '' "$(job box_12 'one too many')"
sed -i "s|<upload_min_free_gb>1000000<|<upload_min_free_gb>0<|" "$project/config.xml"
reload_submission
claim "nothing is left behind of sandboxes" is "$(find "$project/download" -name '*.new')" ''

# --- outputs
auth() { printf '%s' "$account$1" | md5sum | cut -c 1-32; }
output() { # QUERY: the answer is in $work/output, its status in $status
    status=$(curl -s -o "$work/output" -D "$work/head" -w '%{http_code}' "${url%_cgi/cgi}/get_output.php?$1")
}
posted() { # FIELDS [KEY]
    status=$(curl -s -o "$work/output" -d "authenticator=${2-$account}&$1" -w '%{http_code}' "${url%_cgi/cgi}/get_output.php")
}
cp "$QM_SOURCE_DIR/templates/simple_out.xml" "$project/templates/gives_out"
ask create_batch '<app_name>work</app_name><batch_name>gives</batch_name>'
gives=$(value create_batch/batch_id)
submit "<batch_id>$gives</batch_id><output_template_filename>gives_out</output_template_filename>" "$(job gives_1 hello)$(job gives_2 hello)$(job gives_3 hello)"
qmctl transition >/dev/null
rows "UPDATE workunit JOIN result ON result.workunitid = workunit.id SET canonical_resultid = result.id WHERE workunit.name IN ('gives_1', 'gives_2', 'gives_3')"
for i in 1 2; do
    name=$(rows "SELECT REGEXP_SUBSTR(xml_doc_in, '(?<=<name>)[^<]*_r[^<]*') FROM result WHERE name = 'gives_${i}_0'" | head -n 1)
    mkdir -p "$project/upload"
    place=$project/upload/$(printf '%x' $((16#$(printf '%s' "$name" | md5sum | cut -c 2-8) % 1024)))/$name
    mkdir -p "${place%/*}"
    echo "answer $i" >"$place"
done
posted "cmd=workunit_file&wu_name=gives_1&file_num=0"
claim "an answer" is "$status $(cat "$work/output")" "200 answer 1"
posted "cmd=result_file&result_name=gives_2_0&file_num=0"
claim "of a result" is "$status $(cat "$work/output")" "200 answer 2"
rows "UPDATE result SET xml_doc_out = '<file_info><name>../../config.xml</name></file_info><file_info><name>a;id</name></file_info>' WHERE name = 'gives_2_0'"
posted "cmd=result_file&result_name=gives_2_0&file_num=0"
claim "whatever names its host has told" is "$status $(cat "$work/output")" "200 answer 2"
posted "cmd=workunit_file&wu_name=gives_3&file_num=0"
claim "that is not there" is "$status" 404
posted "cmd=workunit_file&wu_name=gives_1&file_num=7"
claim "nor of that number" is "$status" 404
posted "cmd=workunit_file&wu_name=gives_1&file_num=0" "$bob"
claim "of another" is "$status" 404
posted "cmd=workunit_file&wu_name=../../config.xml&file_num=0"
claim "nor of a path" is "$status" 404
for name in gives_1 none_1; do
    posted "cmd=workunit_file&wu_name=$name&file_num=0" 00000000000000000000000000000000
    claim "who has no key does not hear whether there is $name" is "$status" 403
done
rows "UPDATE result SET xml_doc_in = '<file_info><name>a\\rb</name></file_info><result><file_ref><file_name>a\\rb</file_name></file_ref></result>' WHERE name = 'gives_3_0'"
name=$(printf 'a\rb')
place=$project/upload/$(printf '%x' $((16#$(printf '%s' "$name" | md5sum | cut -c 2-8) % 1024)))/$name
mkdir -p "${place%/*}"
echo "answer 3" >"$place"
posted "cmd=workunit_file&wu_name=gives_3&file_num=0"
claim "a name that no header can have" is "$status $(cat "$work/output")" "200 answer 3"
rm "$place"
posted "cmd=batch_files&batch_id=$gives"
claim "all of a batch" is "$status" 200
claim "are an archive" python3 -c 'import sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
assert archive.testzip() is None
assert sorted(archive.read(name) for name in archive.namelist()) == [b"answer 1\n", b"answer 2\n"], archive.namelist()
assert not any("/" in name for name in archive.namelist())' "$work/output"
posted "cmd=batch_files&batch_id=$gives" "$bob"
claim "of another" is "$status" 404
output "cmd=workunit_file&wu_name=gives_1&file_num=0&auth_str=$account"
claim "a key in an address is not taken" is "$status" 403
claim "and why is said" grep -q submission_url_keys "$work/output"
sed -i 's|<submission>1|<submission_url_keys>1</submission_url_keys>&|' "$project/config.xml"
reload_submission
output "cmd=workunit_file&wu_name=gives_1&file_num=0&auth_str=$account"
claim "unless the project allows it" is "$status $(cat "$work/output")" "200 answer 1"
claim "to be kept" grep -qi '^content-disposition: attachment; filename="gives_1_0_r' "$work/head"
output "cmd=result_file&result_name=gives_1_0&file_num=0&auth_str=$(auth gives_1_0)"
claim "by a proof" is "$status $(cat "$work/output")" "200 answer 1"
output "cmd=batch_files&batch_id=$gives&auth_str=$(auth "$gives")"
claim "of a batch" is "$status" 200
output "cmd=batch_files&batch_id=$gives&auth_str=$(auth "$mine")"
claim "but no other proof" is "$status" 404
output "cmd=batch_files&batch_id=$gives"
claim "nor none" is "$status" 404
output "cmd=nothing"
claim "nor another command" is "$status" 400
claim "nobody's key is in a log" not grep -rq "$account" "$work/nginx1" "$work/submission.log"

# --- what becomes of them: whoever submitted jobs fetches the answers, nobody else gets them
qmctl jobs create --app work --in "$demo/in.xml" --out "$QM_SOURCE_DIR/templates/none_out.xml" --name plain "$work/input" 2>/dev/null >&2
rows "UPDATE workunit SET assimilate_state = 1, canonical_resultid = GREATEST(canonical_resultid, 1) WHERE name IN ('gives_1', 'plain')"
# shellcheck disable=SC2016 # the command's variable
printf '#!/bin/sh\necho $QM_JOB >>%s\n' "$work/given" >"$work/take"
chmod +x "$work/take"
qmctl transition --assimilate "$work/take" --delete-files >/dev/null
claim "a job of the project is given to its command, one that was submitted is not" is "$(cat "$work/given")" plain
claim "which is through all the same" is "$(rows "SELECT assimilate_state FROM workunit WHERE name = 'gives_1'")" 2
posted "cmd=workunit_file&wu_name=gives_1&file_num=0"
claim "and its answer stays" is "$status $(cat "$work/output")" "200 answer 1"

# --- a batch that is retired leaves nothing, also where the project has no jobs of its own (BOINC issue 6858)
printf 'for this batch alone' >"$sandbox/1/alone"
alone=jf_$(md5sum <"$sandbox/1/alone" | cut -c 1-32)
submit '' "$(boxed alone_1 alone)$(job alone_2 hello)"
alone_id=$(value submit_batch/batch_id)
qmctl transition >/dev/null
rows "UPDATE workunit JOIN result ON result.workunitid = workunit.id SET server_state = 5, outcome = 1, validate_state = 1, canonical_resultid = result.id WHERE workunit.batch = $alone_id"
claim "it is retired" ask retire_batch "<batch_id>$alone_id</batch_id>"
for _ in 1 2 3; do qmctl transition --assimilate none --delete-files >/dev/null; done
claim "and its files go" is "$(in_hierarchy "$alone")" ''
claim "but for those of others" is "$(in_hierarchy jf_5d41402abc4b2a76b9719d911017c592)" 340/jf_5d41402abc4b2a76b9719d911017c592
claim "with its jobs" is "$(rows "SELECT GROUP_CONCAT(file_delete_state) FROM workunit WHERE batch = $alone_id")" 2,2

# --- behind Apache
nginx_url=$url
start_web apache apache-proxy-fcgi --socket "$work/server.socket"
check_frame Apache
claim "Apache: files" files upload_files in_9.dat "$work/large"
claim "Apache: arrive whole" cmp "$work/large" "$(find "$project/download" -name in_9.dat)"
claim "Apache: jobs" submit '' "<job><name>apache_1</name>$(file local_staged in_9.dat)</job>"
posted "cmd=batch_files&batch_id=$gives"
claim "Apache: outputs" python3 -c 'import sys, zipfile; assert zipfile.ZipFile(sys.argv[1]).testzip() is None' "$work/output"
output "cmd=workunit_file&wu_name=gives_1&file_num=0&auth_str=$account"
claim "Apache: by the key" is "$status $(cat "$work/output")" "200 answer 1"
claim "Apache: which no log has" not grep -rq "$account" "$work/apache"
start_web apache_cgi apache-cgi --program "$program"
chmod -R a+rwX "$project"
claim "Apache, a CGI program: ping" ask ping ''
claim "Apache, a CGI program: jobs" submit '' "<job><name>cgi_1</name>$(file local_staged in_9.dat)</job>"
url=$nginx_url

# --- a process is killed in the middle
nothing_is_under_way() { [ "$(count "batch WHERE description <> ''")" = 0 ]; }
begin_many() { # NAME [JOBS]: a request that is under way
    (
        printf '<submit_batch><authenticator>%s</authenticator><batch><app_name>work</app_name>' "$account"
        seq "${2-20000}" | sed "s|.*|<job><name>$1_&</name><input_file><mode>inline</mode><source>hello</source></input_file></job>|"
        echo '</batch></submit_batch>'
    ) >"$work/many"
    curl -s --data-urlencode "request@$work/many" "$(desk)" >"$work/many.answer" &
    many=$!
    within 60 eval "[ \$(rows \"SELECT COUNT(*) FROM workunit WHERE name LIKE '$1_%'\") -gt 3000 ]"
}
claim "a large batch is under way" begin_many killed
kill -KILL "$submission_pid"
wait "$many"
claim "nobody was told that it is there" not grep -q batch_id "$work/many.answer"
rows "UPDATE batch SET logical_start_time = logical_start_time - 100 WHERE description <> ''"
rm -f "$work/submission.socket"
start_submission
claim "the next process removes it" within 60 nothing_is_under_way
claim "with all its jobs" is "$(count "workunit WHERE name LIKE 'killed_%'")" 0
claim "a large batch is under way again" begin_many whole
wait "$many"
claim "and is made" grep -q '<batch_id>' "$work/many.answer"
claim "whole" is "$(count "workunit WHERE name LIKE 'whole_%' AND transition_time < 2147483647")" 20000
rows "UPDATE workunit SET transition_time = 2147483647 WHERE name LIKE 'whole_%' AND id % 2 = 0;
    UPDATE batch SET description = 'being submitted', logical_start_time = 1 WHERE id = (SELECT MAX(batch) FROM workunit)"
kill -KILL "$submission_pid"
rm -f "$work/submission.socket"
start_submission
claim "what was accepted and not released is" within 60 nothing_is_under_way
claim "whole" is "$(count "workunit WHERE name LIKE 'whole_%' AND transition_time < 2147483647")" 20000
claim "a large batch is under way once more" begin_many ended 60000
ended=$(rows "SELECT MAX(id) FROM batch")
claim "is aborted meanwhile" ask abort_batch "<batch_id>$ended</batch_id>"
wait "$many"
claim "its submitter hears of that" grep -q 'ended meanwhile' "$work/many.answer"
rows "UPDATE batch SET logical_start_time = logical_start_time - 100 WHERE description <> ''"
kill -KILL "$submission_pid"
rm -f "$work/submission.socket"
start_submission
claim "what remains of it" within 60 nothing_is_under_way
claim "is cancelled" is "$(rows "SELECT state FROM batch WHERE id = $ended") $(count "workunit WHERE batch = $ended AND error_mask = 0")" "3 0"

claim "a large batch is under way when the database cuts the line" begin_many cut
for connection in $(rows "SELECT ID FROM information_schema.PROCESSLIST WHERE USER = '${schema}_s'"); do
    rows "KILL $connection" 2>>"$work/sql.log"
done
wait "$many"
claim "its submitter hears of it" grep -q '<error_num>-1' "$work/many.answer"
nothing_is_left_of() { nothing_is_under_way && [ "$(count "workunit WHERE name LIKE '$1\_%'")" = 0 ]; }
claim "and nothing is left" within 60 nothing_is_left_of cut

# --- what a killed process leaves on the disk
inputs() { find "$project/download" -type f | sort; }
age_lists() { touch -d '-100 seconds' "$project"/download/.placed/*; }
lists() { find "$project/download/.placed" -type f | wc -l; }
inputs >"$work/inputs"
seq 5000 | sed "s|.*|<job><name>left_&</name>$in_it<input_file><mode>inline</mode><source>left &</source></input_file></job>|" >"$work/many"
(printf '<submit_batch><authenticator>%s</authenticator><batch><app_name>work</app_name>' "$account"; cat "$work/many"; echo '</batch></submit_batch>') >"$work/left"
curl -s --data-urlencode "request@$work/left" "$(desk)" >"$work/left.answer" &
many=$!
head -c 30000000 /dev/zero >"$work/large"
curl -s --limit-rate 2M -F "request=<upload_files><authenticator>$account</authenticator><phys_name>left.bin</phys_name></upload_files>" \
    -F "file_0=@$work/large" -H 'Expect:' "$(page=job_file.php desk)" >/dev/null &
upload=$!
files_are_placed() { [ "$(inputs | wc -l)" -gt $(($(wc -l <"$work/inputs") + 100)) ] && [ "$(lists)" = 1 ]; }
claim "files are being placed" within 30 files_are_placed
kill -KILL "$submission_pid"
wait "$many" "$upload"
claim "a killed process leaves them, and a list" test "$(lists)" -ge 1
rows "UPDATE batch SET logical_start_time = logical_start_time - 100 WHERE description <> ''"
rm -f "$work/submission.socket"
start_submission
claim "young lists wait" within 60 nothing_is_under_way
command_list=$project/download/.placed/jobs.1 # of qmctl jobs create, whose files only the deletion of inputs can judge
printf '0\t/nothing\t/nothing\n' >"$command_list"
age_lists
kill -KILL "$submission_pid"
rm -f "$work/submission.socket"
start_submission
no_list_is_left() { [ "$(lists)" = 1 ]; }
claim "the next process clears old ones" within 60 no_list_is_left
claim "but for those of commands" rm "$command_list"
claim "of all that was left" cmp "$work/inputs" <(inputs)

# --- an input file that takes long to read, as from a slow disk
slow=$project/download/slow_1
mkfifo "$slow"
printf '<submit_batch><authenticator>%s</authenticator><batch><app_name>work</app_name><job>%s</job></batch></submit_batch>' "$account" "$(file local_staged slow_1)" >"$work/slow"
curl -s --data-urlencode "request@$work/slow" "$(desk)" >"$work/slow.answer" &
reader=$!
while printf '%65536s' ''; do sleep 0.1; done >"$slow" 2>/dev/null &
started+=("$!")
begun() { rows "SELECT logical_start_time FROM batch WHERE description <> ''"; }
has_begun_since() { [ "$(begun)" -ge "$1" ]; }
claim "a slow file is read" within 10 has_begun_since 1
before=$(begun)
rows "UPDATE batch SET logical_start_time = logical_start_time - 40 WHERE description <> ''"
claim "meanwhile nobody takes the batch for abandoned" within 30 has_begun_since "$before"

# --- slow lines, as Apache hands them on
sed -i 's|<submission>1|<submit_threads>2</submit_threads>&|' "$project/config.xml"
end_process "$submission_pid"
wait "$reader"
claim "a process that reads a slow file stops in time" grep -q 'the server stops' "$work/slow.answer"
rm "$slow"
rm -f "$work/submission.socket"
start_submission
for i in 1 2; do
    python3 "$QM_SOURCE_DIR/tests/integration/submission/slow_line.py" "$work/submission.socket" >"$work/slow$i" &
    started+=("$!")
    within 10 grep -q begun "$work/slow$i"
done
sleep 7
claim "slow lines stay while nobody waits behind them" not grep -q cut "$work/slow1" "$work/slow2"
curl -s -m 5 --data-urlencode 'request=<ping/>' "$(desk)" >"$work/raw" &
first=$!
curl -s -m 5 --data-urlencode 'request=<ping/>' "$(desk)" >"$work/raw2"
claim "then one gives way" grep -q '<success>1<' "$work/raw2"
wait "$first"
claim "to all of them" grep -q '<success>1<' "$work/raw"
claim "which hears of it" within 5 grep -q cut "$work/slow1" "$work/slow2"
claim "and but one" is "$(cat "$work/slow1" "$work/slow2" | grep -c cut)" 1

# --- when something is away
sed -i "s|<db_socket>|&/none|" "$project/config.xml"
end_process "$submission_pid"
rm -f "$work/submission.socket"
start_submission
for encoding in urlencoded multipart; do
    for root in create_batch submit_batch estimate_batch query_batches query_batch query_batch2 query_job query_completed_job abort_batch abort_jobs retire_batch set_expire_time get_templates; do
        ask $root '<batch><app_name>work</app_name></batch>'
        claim "without the database, $encoding, $root says so" heard "^$root/error/error_num '-138'"
    done
    for root in query_files upload_files; do
        page=job_file.php ask $root '<phys_name>in_9.dat</phys_name>'
        claim "without the database, $encoding, $root says so" heard "^$root/error/error_num '-138'"
    done
done
encoding=urlencoded
output "cmd=batch_files&batch_id=1&auth_str=$(auth 1)"
claim "without the database there are no outputs" is "$status" 503
sed -i "s|<db_socket>/none|<db_socket>|" "$project/config.xml"
end_process "$submission_pid"
rm -f "$work/submission.socket"
start_submission
touch "$project/stop_web"
ask query_batches ''
claim "the project is stopped" heard "^query_batches/error/error_num '-183'"
rm "$project/stop_web"
for ((i = 0; i < 25; i++)); do ask ping ''; ask query_batches '' "$(printf '%032d' $i)"; done
claim "who guesses has to wait" refused 'too many wrong' query_batches ''
claim "nobody's key is in the log" not grep -q "$account" "$work/submission.log"
kill -TERM "$submission_pid"
own() { database -u "${schema}_s" -p"it's \\ one" "$schema" -e "$1" 2>>"$work/denied"; }
claim "it may read" own 'SELECT 1 FROM user'
for what in 'UPDATE user SET authenticator = 1' 'UPDATE user_submit SET quota = 2' 'DELETE FROM result' 'INSERT INTO app SET id = 9'; do
    claim "but not $what" not own "$what"
done
claim "as the database says" is "$(grep -c denied "$work/denied")" 4
database -u root -e "DROP USER '${schema}_s'@localhost"
claim "it stops" within 10 grep -q event=stopped "$work/submission.log"
ask ping ''
claim "no process answers" heard "^error/error/error_num '-183'"
finish
