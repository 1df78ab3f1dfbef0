#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A real client at the other end of `qmctl files`: it is ordered to get a file, to upload it, and to
# delete it. The file database shows each stage, and each order ends.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=lib_client.sh
. "$(dirname "$0")/lib_client.sh"

files_schema=${schema}_files
printf '#!/bin/sh\n' >"$work/app"
chmod 755 "$work/app"
client_project "$work/app" "<files_db_name>$files_schema</files_db_name>"
in_project --project "$project" files init
start_uploads

host() { rows "SELECT id FROM host"; }
files() { "$QM_BINARY_DIR/qmctl" --project "$project" files "$@"; }
# What became of an order: its state.
state() { files orders --tsv | awk -F'\t' -v order="$1" -v file="$2" '$3 == order && $2 == file {print $4}'; }
# shellcheck disable=SC2317 # called by within
on_client() { find "$client/projects" -name "$1" | grep -q .; }
# shellcheck disable=SC2317 # called by within
transferred() { [ "$(said "Finished $1 of genome_1")" -gt 0 ]; }
listed() { files --host "$(host)" --tsv | awk -F'\t' '$2 == "genome_1" {print $4}'; }

head -c 300000 /dev/urandom >"$work/genome_1"

# A picture for the client's window, in the form that BOINC documents, all in one line.
head -c 5000 /dev/urandom >"$project/download/icon_1.png"
echo "<?xml version=\"1.0\"?><file_info><name>icon_1.png</name><url>${master}download/icon_1.png</url>" \
    "<md5_cksum>$(md5sum "$project/download/icon_1.png" | cut -c 1-32)</md5_cksum><nbytes>5000</nbytes></file_info>" \
    "<project_files><file_ref><file_name>icon_1.png</file_name><open_name>stat_icon</open_name></file_ref>" \
    "</project_files>" >"$project/project_files.xml"
start_client --cpus 1
# shellcheck disable=SC2317 # called by within
has_icon() { cmp -s "$project/download/icon_1.png" "$(find "$client/projects" -name icon_1.png)"; }
claim "the client downloads a file of the project" within 30 has_icon
claim "under the name for its window too" within 10 on_client stat_icon

in_project --project "$project" files send "$work/genome_1" --host "$(host)"
claim "an order waits" test "$(state send genome_1)" = waits
update_client
claim "the client is told" test "$(state send genome_1)" = sent
claim "it downloads the file" within 60 transferred download
files get genome_1 --host "$(host)" >"$work/get.txt" 2>&1
claim "who orders is told that the host does not list the file yet" \
    grep -q 'does not list genome_1' "$work/get.txt"
update_client
claim "it lists the file" test "$(listed)" = 1
claim "the order is done" test "$(state send genome_1)" = "done"
claim "and is told no more" test "$(grep -c '<name>genome_1</name>' "$last_reply")" -eq 1
claim "the client is told to upload" test "$(state get genome_1)" = sent
claim "it uploads the file" within 60 transferred upload
claim "the order is done as soon as the file is here" test "$(state get genome_1)" = "done"
claim "it is the same file" cmp -s "$work/genome_1" "$(find "$project/upload" -name genome_1)"
claim "with its certificate" grep -q 'event=upload status=0 .*name=genome_1' "$work/uploads.log"

in_project --project "$project" files delete genome_1 --host "$(host)" --yes
update_client
claim "the client is told to delete" test "$(state delete genome_1)" = sent
claim "it deletes the file" within 60 not on_client genome_1
update_client
claim "it lists the file no more" test -z "$(listed)"
claim "that order is done too" test "$(state delete genome_1)" = "done"
claim "nothing failed in the server" not grep -q 'level=\(critical\|error\)' "$work/server.log"
finish
