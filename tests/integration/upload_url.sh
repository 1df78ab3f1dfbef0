#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Whoever makes jobs with output files is told when nothing right answers where clients upload to.
# shellcheck disable=SC2317 # claim calls the functions
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need nginx

new_project "<upload_url>http://127.0.0.1:1/</upload_url>"
start_server server
start_nginx "$work/server.socket"
take_port
echo data >"$work/in"
qmctl() { "$QM_BINARY_DIR/qmctl" --project "$project" "$@"; }
upload_to() {
    write_config "<upload_url>$1</upload_url>" "<upload_dir>$project/upload</upload_dir>" \
        "<download_dir>$project/download</download_dir>" "<download_url>http://127.0.0.1:1/d/</download_url>"
}
create() { # RESULT-TEMPLATE: what is said
    qmctl jobs create --app work --in "$QM_SOURCE_DIR/templates/simple_in.xml" \
        --out "$QM_SOURCE_DIR/templates/$1" "$work/in" 2>&1
}
warns() { create simple_out.xml | grep -E "^warning: .*: $1"; }
checks() { { qmctl check-config "$@" || true; } | grep -E '^warning: output files cannot be uploaded'; }

upload_to "http://127.0.0.1:$port/"
claim "a job without output files" not eval 'create none_out.xml | grep warning'
claim "no template has any" not checks
claim "nobody listens" warns "(Couldn't|Could not) connect to server"
claim "the check says so too" checks --no-db
claim "unless it is not to ask" not checks --no-web
upload_to "${url%/*}/nothing"
claim "no such page" warns "HTTP status 404"
upload_to "$url"
claim "another page" warns 'another page answers: ".*scheduler'
mkdir -p "$project/upload"
upload_to "${url%cgi}file_upload_handler"
start_uploads
claim "an upload handler" not eval 'create simple_out.xml | grep warning'
claim "the check is content" not checks
claim "nothing was stored" test "$(find "$project/upload" -type f | wc -l)" = 0
finish
