#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Whoever makes jobs with output files is told when nothing right answers where clients upload to.
# shellcheck disable=SC2317 # claim calls the functions
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need nginx

new_project "<upload_url>http://127.0.0.1:1/file_upload_handler</upload_url>"
start_server server
start_nginx "$work/server.socket"
take_port
echo data >"$work/in"
qmctl() { "$QM_BINARY_DIR/qmctl" --project "$project" "$@"; }
upload_to() {
    write_config "<upload_url>$1</upload_url>" "<upload_dir>$project/upload</upload_dir>" \
        "<download_dir>$project/download</download_dir>" "<download_url>http://127.0.0.1:1/d/</download_url>"
}
create_by() { # RESULT-TEMPLATE: what is said
    qmctl jobs create --app work --in "$QM_SOURCE_DIR/templates/simple_in.xml" --out "$1" "$work/in" 2>&1
}
create() { create_by "$QM_SOURCE_DIR/templates/$1"; }
warns() { create simple_out.xml | grep -E "^warning: .*: $1"; }
checks() { { qmctl check-config "$@" || true; } | grep -E '^warning: output files cannot be uploaded'; }

upload_to "http://127.0.0.1:$port/file_upload_handler"
claim "a job without output files" not eval 'create none_out.xml | grep warning'
claim "no template has any" not checks
claim "nobody listens" warns "(Couldn't|Could not) connect to server"
sed 's|<UPLOAD_URL/>|http://127.0.0.1:1/file_upload_handler|' "$QM_SOURCE_DIR/templates/simple_out.xml" >"$work/elsewhere_out.xml"
claim "which is nothing to a job whose files go elsewhere" \
    eval "create_by $work/elsewhere_out.xml >$work/said && ! grep warning $work/said"
claim "the check says so too" checks --no-db
claim "unless it is not to ask" not checks --no-web
upload_to "${url%/*}/nothing/file_upload_handler"
claim "no such page" warns "HTTP status 404"
upload_to "$url?file_upload_handler"
claim "another page" warns 'another page answers: ".*scheduler'
mkdir -p "$project/upload"
moves=$port
cat >"$work/moves.conf" <<CONF
daemon off; pid $work/moves.pid; error_log $work/moves.log;
$([ "$(id -u)" -ne 0 ] || echo "user root;")
events {}
http {
    access_log off; client_body_temp_path $work/moves.body; fastcgi_temp_path $work/moves.fastcgi;
    proxy_temp_path $work/moves.proxy; uwsgi_temp_path $work/moves.uwsgi; scgi_temp_path $work/moves.scgi;
    server {
        listen 127.0.0.1:$moves;
        location /301 { return 301 ${url%cgi}file_upload_handler; }
        location /302 { return 302 ${url%cgi}file_upload_handler; }
        location /308 { return 308 ${url%cgi}file_upload_handler; }
        location /round { return 307 http://127.0.0.1:$moves/round; }
        location /page { default_type text/html; return 200 "<html><body>Welcome</body></html>"; }
        location /mute { return 444; }
    }
}
CONF
nginx -p "$work" -c "$work/moves.conf" -e "$work/moves.log" &
started+=($!)
within 10 curl -s -o "$work/page" "http://127.0.0.1:$moves/page"
upload_to "http://127.0.0.1:$moves/page/file_upload_handler"
claim "a page for people" warns 'another page answers: "<html><body>Welcome'
upload_to "http://127.0.0.1:$moves/mute/file_upload_handler"
claim "no answer at all" warns "Empty reply from server"
upload_to "http://127.0.0.1:$moves/round/file_upload_handler"
claim "round and round" warns "Maximum \\([0-9]+\\) redirects followed"
upload_to "${url%cgi}file_upload_handler"
start_uploads
claim "an upload handler" not eval 'create simple_out.xml | grep warning'
claim "the check is content" not checks
kill -STOP "$uploads_pid"
create simple_out.xml >"$work/asking" &
asking=$!
started+=("$asking")
is_asking() { grep -q '^job ' "$work/asking"; }
claim "a job is made before it is asked" within 5 is_asking
claim "and whoever deletes input files does not wait for the answer" within 2 flock -n -x "$project/download" true
claim "which is still to come" runs "$asking"
kill -CONT "$uploads_pid"
wait "$asking"
claim "and is heard" not grep warning "$work/asking"
for status in 301 308; do
    upload_to "http://127.0.0.1:$moves/$status/file_upload_handler"
    claim "moved by $status, where a file arrives" not eval 'create simple_out.xml | grep warning'
done
upload_to "http://127.0.0.1:$moves/302/file_upload_handler"
claim "moved by 302, where none does" warns "it redirects by a status of 302 or 303"
upload_to "${url%cgi}file_upload_handler"
claim "which a proxy of this machine's has no part in" not eval 'http_proxy=http://127.0.0.1:1 create simple_out.xml | grep warning'
upload_to "${url%cgi}uploads"
claim "clients download from a URL of another name" warns "it lacks file_upload_handler: clients take it"
claim "which check-config says without asking it" eval \
    '{ qmctl check-config --no-db --no-web || true; } | grep "^error: .*: upload_url: .* lacks file_upload_handler"'
claim "and an order to upload a file is refused" eval '{ qmctl files get a --host 1 2>&1 || true; } | grep "upload_url lacks"'
claim "nothing was stored" test "$(find "$project/upload" -type f -not -name .figures | wc -l)" = 0
finish
