#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A scientist's program brings files and jobs to a project over HTTP, once as BOINC's Python client speaks and once as
# its Condor bridge does; a real client computes them; the program fetches the answers and retires the batches.
# shellcheck disable=SC2317,SC2119 # claim calls the functions; start_submission takes options too
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=lib_client.sh
. "$(dirname "$0")/lib_client.sh"
need python3
front=${1:-nginx} # see tools/private-web

sed 's/^steps=.*/steps=100000; sleep 2/' "$demo/app" >"$work/app"
chmod 755 "$work/app"
client_project "$work/app" "<submission>1</submission>" "<submission_url_keys>1</submission_url_keys>"
cp "$demo/in.xml" "$project/templates/demo_in"
cp "$demo/out.xml" "$project/templates/demo_out"
in_project --project "$project" submitter add volunteer@example.org --app demo
start_uploads
start_submission
start_client --cpus 2

coproc scientist { python3 "$QM_SOURCE_DIR/tests/integration/submission/scientist.py"; }
post_to() { # PAGE ENCODING XML [FILE...]: what is understood is in $work/heard
    local status page=$1 encoding=$2
    printf '%s' "$3" >"$work/request"
    shift 3
    printf '%s\n' "${master}$page $encoding $work/request $work/heard $*" >&"${scientist[1]}"
    read -r -u "${scientist[0]}" status
    return "$status"
}
value() { sed -n "s|^$1 '\(.*\)'\$|\1|p" "$work/heard"; }
auth="<authenticator>$key</authenticator>"

# --- as the Python client: files inline
post_to submit_rpc_handler.php urlencoded "<submit_batch>$auth<batch><app_name>demo</app_name><batch_id>0</batch_id><app_version_num>0</app_version_num>
<job><name>python_1</name><rsc_fpops_est>20000000000.000000</rsc_fpops_est><command_line>-x</command_line><input_file><mode>inline</mode><source>one two
three</source></input_file></job></batch></submit_batch>"
claim "the Python client submits" test -n "$(value submit_batch/batch_id)"
python=$(value submit_batch/batch_id)

# --- and with a file that it brings
printf 'seven eight\n' >"$work/more"
post_to submit_rpc_handler.php urlencoded "<create_batch>$auth<app_name>demo</app_name><batch_name>brought</batch_name><expire_time>0</expire_time></create_batch>"
brought=$(value create_batch/batch_id)
post_to job_file.php urlencoded "<query_files>$auth<batch_id>$brought</batch_id><delete_time>0</delete_time><phys_name>more_1</phys_name></query_files>"
claim "it asks for its file" test "$(value query_files/absent_files/file)" = 0
post_to job_file.php multipart "<upload_files>$auth<batch_id>$brought</batch_id><delete_time>0</delete_time><phys_name>more_1</phys_name></upload_files>" "$work/more"
claim "and brings it" test "$(value upload_files/success)" = 1
post_to submit_rpc_handler.php urlencoded "<submit_batch>$auth<batch><app_name>demo</app_name><batch_id>$brought</batch_id><app_version_num>0</app_version_num>
<job><name>python_2</name><rsc_fpops_est>20000000000.000000</rsc_fpops_est><input_file><mode>local_staged</mode><source>more_1</source></input_file></job></batch></submit_batch>"
claim "and submits" test "$(value submit_batch/batch_id)" = "$brought"

# --- as the Condor bridge, with its names: a batch, files that are asked for and sent, then the jobs
condor_name=condor#submit.example.org#Work#1470782967
post_to submit_rpc_handler.php multipart "<create_batch>$auth<app_name>demo</app_name><batch_name>$condor_name</batch_name><expire_time>$(($(date +%s) + 3600)).000000</expire_time></create_batch>"
condor=$(value create_batch/batch_id)
printf 'four five six\n' >"$work/words"
name=$(md5sum <"$work/words" | cut -c 1-32).txt
post_to job_file.php multipart "<query_files>$auth<batch_id>$condor</batch_id><phys_name>$name</phys_name></query_files>"
claim "the bridge asks for its file" test "$(value query_files/absent_files/file)" = 0
post_to job_file.php multipart "<upload_files>$auth<batch_id>$condor</batch_id><phys_name>$name</phys_name><phys_name>$name</phys_name></upload_files>" "$work/words" "$work/words"
claim "and brings it, from two paths" test "$(value upload_files/success)" = 1
post_to submit_rpc_handler.php multipart "<submit_batch>$auth<batch><batch_id>$condor</batch_id><app_name>demo</app_name><app_version_num>100</app_version_num>
<job_params><rsc_disk_bound>0.000000</rsc_disk_bound><rsc_fpops_est>0.000000</rsc_fpops_est><rsc_fpops_bound>0.000000</rsc_fpops_bound><rsc_memory_bound>0.000000</rsc_memory_bound><delay_bound>0.000000</delay_bound></job_params>
<job><name>$condor_name#28.0</name><command_line>-a -b </command_line><input_file><mode>local_staged</mode><source>$name</source></input_file></job>
<job><name>$condor_name#28.1</name><command_line></command_line><input_file><mode>local_staged</mode><source>$name</source></input_file></job></batch></submit_batch>"
claim "and submits" test "$(value submit_batch/batch_id)" = "$condor"
post_to submit_rpc_handler.php multipart "<abort_jobs>$auth<job_name>$condor_name#28.1</job_name></abort_jobs>"
claim "it aborts a job" test "$(value abort_jobs/success)" = 1
post_to submit_rpc_handler.php multipart "<set_expire_time>$auth<batch_name>$condor_name</batch_name><expire_time>$(($(date +%s) + 7200)).000000</expire_time></set_expire_time>"
claim "it renews its lease" test "$(value set_expire_time/success)" = 1

# --- a client computes them
"$QM_BINARY_DIR/qmctl" --project "$project" transition --loop 1 --trust --assimilate none --delete-files >"$work/transition.log" 2>&1 &
started+=($!)
done_words() {
    post_to submit_rpc_handler.php multipart "<query_batch2>$auth<min_mod_time>0.000000</min_mod_time><batch_name>$condor_name</batch_name></query_batch2>"
    [ "$(value query_batch2/job/status | tr '\n' ' ')" = "DONE ERROR " ]
}
is_complete() {
    post_to submit_rpc_handler.php urlencoded "<query_batch>$auth<batch_id>$1</batch_id><get_cpu_time>0</get_cpu_time><get_job_details>1</get_job_details></query_batch>"
    [ "$(value query_batch/state)" = 2 ]
}
all_are_done() { control --project "$master" update; sleep 3; done_words && is_complete "$python" && is_complete "$brought"; }
claim "all are done" within 150 all_are_done
post_to submit_rpc_handler.php multipart "<get_templates>$auth<job_name>$condor_name#28.0</job_name></get_templates>"
claim "the bridge hears the names of outputs" grep -q "output_template.*open_name 'out'" "$work/heard"
post_to submit_rpc_handler.php multipart "<query_completed_job>$auth<job_name>$condor_name#28.0</job_name></query_completed_job>"
claim "the bridge hears how it ended" test "$(value query_completed_job/completed_job/exit_status)" = 0
claim "and what it said" grep -q 'words 3' "$work/heard"
claim "it fetches the answer" grep -q '^words 3' <(curl -s "${master}get_output.php?cmd=workunit_file&wu_name=${condor_name//\#/%23}%2328.0&file_num=0&auth_str=$key")
curl -s "${master}get_output.php?cmd=batch_files&batch_id=$python&auth_str=$(printf '%s' "$key$python" | md5sum | cut -c 1-32)" >"$work/answers.zip"
claim "the Python client fetches all" python3 -c 'import sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
assert len(archive.namelist()) == 1 and b"words 3" in archive.read(archive.namelist()[0])' "$work/answers.zip"
stored() { find "$project/upload" -name '*_0_r*_0' | grep -c . || true; }
claim "answers stay until then" test "$(stored)" = 3
post_to submit_rpc_handler.php multipart "<retire_batch>$auth<batch_name>$condor_name</batch_name></retire_batch>"
claim "the bridge retires its batch" test "$(value retire_batch/success)" = 1
claim "the Python client gets an answer by itself" grep -q '^words 2' <(curl -s "${master}get_output.php?cmd=result_file&result_name=python_2_0&file_num=0&auth_str=$(printf '%s' "${key}python_2_0" | md5sum | cut -c 1-32)")
post_to submit_rpc_handler.php urlencoded "<retire_batch>$auth<batch_id>$brought</batch_id></retire_batch>"
claim "and retires its batch" test "$(value retire_batch/success)" = 1

# --- as the manual says
sed -n '/^    import sys, time$/,/^[^ ]/s/^    //p' "$QM_SOURCE_DIR/server/submission/submission.7.md" >"$work/example.py"
python3 "$work/example.py" "$master" "$key" demo "$work/words.zip" >"$work/example.out" 2>&1 &
example=$!
started+=("$example")
is_over() { control --project "$master" update; sleep 3; ! kill -0 "$example"; } 2>/dev/null
claim "the manual's program ends" within 200 is_over
claim "without a failure" wait "$example"
claim "with three answers" python3 -c 'import sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
answers = sorted(line for name in archive.namelist() for line in archive.read(name).split(b"\n") if line.startswith(b"words "))
assert answers == [b"words 1", b"words 2", b"words 5"], answers' "$work/words.zip"
one_is_left() { [ "$(stored)" = 1 ]; }
claim "whose answers go" within 60 one_is_left
finish
