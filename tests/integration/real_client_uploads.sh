#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A real client computes a job with an output file and uploads it; the upload handler is killed ten
# times while it does. The file arrives whole, and the job is reported as a success.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=lib_client.sh
. "$(dirname "$0")/lib_client.sh"

cuts=10
cat >"$work/app" <<APP
#!/bin/sh
sleep 8
head -c 8000000 /dev/urandom >out
md5sum <out >$work/md5
echo 0 >boinc_finish_called
APP
chmod 755 "$work/app"
client_project "$work/app"
# Clients before 6.13.2 alone need generated_locally and upload_when_present.
sed '/<generated_locally/d; /<upload_when_present/d; s|<open_name>out</open_name>|&<copy_file/>|; s|1000000|9000000|' \
    "$QM_SOURCE_DIR/templates/simple_out.xml" >"$work/out.xml"
echo input >"$work/input"
in_project --project "$project" jobs create --app demo --in "$QM_SOURCE_DIR/templates/simple_in.xml" \
    --out "$work/out.xml" "$work/input"
start_uploads

stored() { find "$project/upload" -type f -not -path '*/.partial/*' | grep .; }
partial() { find "$project/upload/.partial" -type f -not -name .figures -printf '%s\n' | grep . || echo 0; }
# shellcheck disable=SC2317 # called by within
has_grown() { [ "$(partial)" -gt $(($1 + 100000)) ]; }
# shellcheck disable=SC2317 # called by within
uploads_failed() { [ "$(said 'Temporarily failed upload')" -ge "$1" ]; }
# shellcheck disable=SC2317 # called by within
reported() { [ "$(rows "SELECT outcome FROM result WHERE server_state = 5")" = 1 ]; }
start_client --cpus 1
sed -i 's|<global_preferences>|&<max_bytes_sec_up>500000</max_bytes_sec_up>|' "$client/global_prefs_override.xml"
control --read_global_prefs_override

for ((cut = 1; cut <= cuts; cut++)); do
    before=$(partial)
    within 60 has_grown "$before" || claim_failed "part $cut comes"
    kill -KILL "$uploads_pid"
    wait "$uploads_pid" 2>/dev/null
    start_uploads
    within 15 uploads_failed "$cut" || claim_failed "the client notices kill $cut"
    # A client that has failed waits for minutes, but for a wish of its user.
    control --file_transfer "$master" "$(sed -n 's/.*Started upload of //p' "$client/client.log" | head -n 1)" retry
done
claim "the file comes in the end" within 60 stored
claim "it is what the application wrote" test "$(md5sum <"$(stored | head -n 1)")" = "$(cat "$work/md5")"
claim "it was cut ten times" test "$(upload_starts)" -gt "$cuts"
update_client
claim "the job is a success" within 20 reported
claim "the upload handler had no trouble" not grep -q level=critical "$work/uploads.log"
finish
