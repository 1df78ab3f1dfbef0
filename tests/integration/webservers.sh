#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The samples of config/ in front of the server, as they are shipped: nginx, and Apache by
# mod_proxy_fcgi, mod_fcgid and plain CGI, which is there beside BOINC's own configuration. Each gives
# the same reply to the same request, however it is sent, and lets bodies through that their defaults
# would refuse.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx apache2 openssl

# body BYTES: a request of that size, most of it the standard error of a job that nobody knows.
body() {
    local bytes=$1 head=$work/head
    grep -v '</scheduler_request>' "$request" >"$head"
    {
        cat "$head"
        for ((i = 0; i < bytes / 60000; i++)); do
            printf '<result>\n<name>unknown_%d</name>\n<state>5</state>\n<stderr_out>' "$i"
            head -c 59900 /dev/zero | tr '\0' x
            printf '</stderr_out>\n</result>\n'
        done
        echo '</scheduler_request>'
    }
}

same_reply() { # FRONT HOW CURL-OPTION...
    local front=$1 how=$2
    shift 2
    post "$url" "$request" "$@" >"$work/$front.reply"
    claim "$front: a reply ($how)" is_reply "$work/$front.reply"
    [ -f "$work/first.reply" ] || cp "$work/$front.reply" "$work/first.reply"
    claim "$front: the same reply ($how)" cmp "$work/first.reply" "$work/$front.reply"
}

check_front() { # FRONT, behind $url
    local front=$1 type
    for type in application/x-www-form-urlencoded text/xml application/octet-stream; do
        same_reply "$front" "$type" -H "Content-Type: $type"
    done
    same_reply "$front" "HTTP/1.0" --http1.0
    same_reply "$front" "chunked" -H "Transfer-Encoding: chunked"
    post "$url" "$request" -o /dev/null -D "$work/head"
    claim "$front: status 200" grep -q '^HTTP/1.1 200' "$work/head"
    claim "$front: content type" grep -qi '^content-type: text/xml' "$work/head"
    post "$url" "$request" -o /dev/null -D "$work/head" --http1.0
    claim "$front: no chunks for HTTP/1.0" not grep -qi '^transfer-encoding' "$work/head"

    post "$url" /dev/null >"$work/$front.reply"
    claim "$front: an empty request gets a reply" is_reply "$work/$front.reply"
    claim "$front: which wipes nothing" grep -q '<message priority="low">' "$work/$front.reply"
    post "$url" "$work/30mb" >"$work/$front.reply"
    claim "$front: 30 MB get a reply" is_reply "$work/$front.reply"
    claim "$front: with all acks" \
        test "$(grep -c '<result_ack>' "$work/$front.reply")" = "$(grep -c '<result>' "$work/30mb")"
    post "$url" "$work/40mb" -D "$work/head" >"$work/$front.reply"
    claim "$front: 40 MB get status 200" grep -q '^HTTP/1.1 200' "$work/head"
    claim "$front: and a reply" is_reply "$work/$front.reply"
    claim "$front: that says why" grep -q 'too large' "$work/$front.reply"
    claim "$front: a look with GET gets words" answers "$url"
    curl -s "${url%_cgi/cgi}/" >"$work/$front.master"
    claim "$front: the master page" grep -q '<scheduler>' "$work/$front.master"
    claim "$front: a file to download" is_file download/some
    claim "$front: a piece of it" test "$(curl -sf -r 1-2 "${url%_cgi/cgi}/download/some")" = at
    curl -s -H 'Accept-Encoding: gzip' -D "$work/head" -o /dev/null "${url%_cgi/cgi}/download/packed.gz"
    claim "$front: a packed file" grep -q '^HTTP/1.1 200' "$work/head"
    claim "$front: is not said to be packed on the way" not grep -qi '^content-encoding' "$work/head"
    curl -s -H 'Accept-Encoding: gzip' -D "$work/head" -o /dev/null "${url%_cgi/cgi}/download/long.xml"
    claim "$front: nor is a long one" not grep -qi '^content-encoding' "$work/head"
    post "$url" "$work/reports" -H 'Accept-Encoding: gzip' -D "$work/head" | gunzip >"$work/$front.reply"
    claim "$front: a reply is packed for whoever can read it" is_reply "$work/$front.reply"
    claim "$front: and says so" grep -qi '^content-encoding: gzip' "$work/head"
    claim "$front: keys are nobody's business" not is_file keys/some
}
# shellcheck disable=SC2317 # claim calls it
upload_is_ours() { post "${url%cgi}file_upload_handler" /dev/null | grep -q '<data_server_reply>'; }
status() { curl -s -o /dev/null -w '%{http_code}' "$@"; }
# shellcheck disable=SC2317 # claim calls it
is_file() { [ "$(curl -sf "${url%_cgi/cgi}/$1")" = data ]; }

new_project "<upload_dir>$project/upload</upload_dir>" "<upload_url>http://127.0.0.1/test_cgi/file_upload_handler</upload_url>"
add_host
echo data >"$project/download/some"
echo data >"$project/keys/some"
gzip <"$project/config.xml" >"$project/download/packed.gz"
seq -f '<number>%g</number>' 1000 >"$project/download/long.xml"
body 600000 >"$work/reports"
body 30000000 >"$work/30mb"
body 40000000 >"$work/40mb"
start_server one --threads 2
socket=$work/one.socket

start_nginx "$socket"
check_front nginx
curl -s "$url/metrics" >"$work/metrics"
claim "nginx: the counters are shown to this machine" \
    grep -qE '^quartermaster_requests_total [1-9]' "$work/metrics"
claim "nginx: reasons among them" grep -q '^quartermaster_no_work_total{reason="memory"} 0' "$work/metrics"
curl -s -H 'QM_PAGE: metrics' -H 'QM-PAGE: metrics' "$url" >"$work/no-metrics"
claim "nginx: a client cannot ask for them elsewhere" not grep -q _total "$work/no-metrics"
claim "nginx: to this machine alone" test "$(status "$url/metrics" --interface 127.0.0.2)" = 403

curl -s -D "$work/head" "$url/status" >"$work/status"
claim "nginx: the status page is shown to this machine" grep -q '<h1>Integration</h1>' "$work/status"
claim "nginx: as a page" grep -qi '^content-type: text/html; charset=utf-8' "$work/head"
claim "nginx: with a policy" grep -qi "^content-security-policy: default-src 'none'; style-src 'sha256-" "$work/head"
claim "nginx: the status page to this machine alone" test "$(status "$url/status" --interface 127.0.0.2)" = 403
claim "nginx: the page of the project is shown to this machine" grep -q '<title>[^<]*: Integration (Project)</title>' <(curl -s "$url/project")
claim "nginx: it too to this machine alone" test "$(status "$url/project" --interface 127.0.0.2)" = 403
public="${url%_cgi/cgi}/server_status.php?xml=1"
claim "nginx: what anybody may know is shown to anybody" \
    within 20 grep -q '<results_ready_to_send>[0-9]' <(curl -s "$public" --interface 127.0.0.2)
claim "nginx: so are the jobs by state, asked for as programs do that submit some" \
    grep -q '<wus_need_validate>[0-9]' <(curl -s -d '<request/>' "${public%xml=1}counts=1" --interface 127.0.0.2)
curl -s -H 'QM_PAGE: status' -H 'QM-PAGE: status' "$url" >"$work/no-status"
claim "nginx: a client cannot ask for it elsewhere" not grep -q '<h1>' "$work/no-status"

# Apache beside a configuration such as BOINC's make_project writes, and what a machine may have set for
# all of its sites. Nothing of the project's own programs may answer.
mkdir -p "$project/cgi-bin"
for name in cgi file_upload_handler; do
    printf '#!/bin/sh\necho Content-Type: text/plain\necho\necho BOINC\n' >"$project/cgi-bin/$name"
    chmod +x "$project/cgi-bin/$name"
done
cat >"$work/boinc.conf" <<CONF
Alias /test/download $project/download
Alias /test $project/html/user
ScriptAlias /test_cgi $project/cgi-bin
<Directory $project/cgi-bin>
    AllowOverride None
    Require all granted
</Directory>
<Directory $project/html>
    Require all granted
</Directory>
AddEncoding x-gzip .gz
AddType text/xml .xml
AddOutputFilterByType DEFLATE text/xml
RemoteIPHeader X-Client
CONF
start_apache() { # FRONT KIND [OPTION...]
    local front=$1 kind=$2
    shift 2
    start_web "$front" "$kind" --beside "$work/boinc.conf" "$@" && check_front "$front"
}
no_one_else() { # FRONT: its counters
    claim "$1: the counters are shown to this machine" \
        test "$(curl -s "$url/metrics" | grep -cE '^quartermaster_requests_total [1-9]')" = 1
    claim "$1: to this machine alone" test "$(status "$url/metrics" -H 'X-Client: 192.0.2.1')" = 403
    claim "$1: the status page is shown to this machine" grep -q '<h1>Integration</h1>' <(curl -s "$url/status")
    claim "$1: it too to this machine alone" test "$(status "$url/status" -H 'X-Client: 192.0.2.1')" = 403
    claim "$1: so is the page of the project" grep -q '<title>[^<]*: Integration (Project)</title>' <(curl -s "$url/project")
    claim "$1: it too to this machine alone" test "$(status "$url/project" -H 'X-Client: 192.0.2.1')" = 403
}
chmod 777 "$project/upload" # Apache's programs run as another user
start_uploads
start_apache proxy_fcgi apache-proxy-fcgi --socket "$socket"
no_one_else proxy_fcgi
claim "proxy_fcgi: uploads are ours" upload_is_ours
claim "proxy_fcgi: their counters" grep -q '^quartermaster_uploads_done_total 0' \
    <(curl -s "${url%cgi}file_upload_handler/metrics")
claim "proxy_fcgi: to this machine alone" \
    test "$(status "${url%cgi}file_upload_handler/metrics" -H 'X-Client: 192.0.2.1')" = 403
end_process "$uploads_pid"
rm -r "$project/upload/.partial"
start_apache fcgid apache-fcgid --program "$program"
no_one_else fcgid
claim "fcgid: uploads are ours" upload_is_ours
start_apache cgi apache-cgi --program "$program"
claim "cgi: uploads are ours" upload_is_ours
claim "cgi: the page says that all is well" grep -q '^State: ok' <(curl -s "$url")
touch "$project/stop_sched"
claim "cgi: a program of one request sees stop_sched" reply_has '<project_is_down/>'
claim "cgi: the page says so" grep -q '^State: FAILED: it is stopped' <(curl -s "$url")
claim "cgi: with a status for monitors" test "$(status "$url")" = 503
rm "$project/stop_sched"

# Nobody answers: the web server says so itself, in a reply that clients read.
says_down() { # FRONT, behind $url
    local front=$1
    post "$url" "$request" -D "$work/head" >"$work/$front.down"
    claim "$front: nobody lives: status 200" grep -q '^HTTP/1.1 200' "$work/head"
    claim "$front: nobody lives: xml" grep -qi '^content-type: text/xml' "$work/head"
    claim "$front: nobody lives: a reply" is_reply "$work/$front.down"
    claim "$front: nobody lives: down" grep -q '^<project_is_down/>' "$work/$front.down"
    claim "$front: nobody lives: come again" \
        grep -qE '^<request_delay>[1-9][0-9]{2,3}</' "$work/$front.down"
}
start_nginx "$work/nobody.socket" && says_down nginx
start_web proxy_down apache-proxy-fcgi --socket "$work/nobody.socket" && says_down proxy_fcgi
start_web fcgid_down apache-fcgid --program /bin/false && says_down fcgid
start_web cgi_down apache-cgi --program /bin/false && says_down cgi

# What qmctl deploy writes, in front of the same server, by http and https, beside the page that answers
# whom nobody else knows, and a project with another kind of name, for nginx in a server block that is
# there already.
openssl req -x509 -newkey rsa:2048 -nodes -keyout "$work/web.key" -subj /CN=127.0.0.1 -days 2 \
    -addext subjectAltName=IP:127.0.0.1 -out "$work/web.pem" 2>/dev/null
mkdir -p "$work/deployed/nginx" "$work/deployed/inside" "$work/deployed/apache" "$work/other/html/user" "$work/other/download"
sed "s|http://127.0.0.1/|http://localhost/a/my-|" "$project/config.xml" >"$work/other/config.xml"
take_port
http=$port
take_port
https=$port
# One that has its host for itself, and a scheduler where it was when the project was below a path.
mkdir -p "$work/whole/html/user" "$work/whole/download"
sed -e "s|http://127.0.0.1/test/|http://root.example/|" -e "s|</config>|<scheduler_url>http://root.example/old_cgi/cgi</scheduler_url>&|" \
    "$project/config.xml" >"$work/whole/config.xml"
echo '<scheduler>' >"$work/whole/html/user/index.html"
echo data >"$work/whole/download/some"
# shellcheck disable=SC2317 # claim calls it
deploy() { # PROJECT KIND NAME [OPTION...]
    "$QM_BINARY_DIR/qmctl" --project "$1" deploy "$2" --file "$work/deployed/$2/$3" --port "$http" --tls-port "$https" \
        --certificate "$work/web.pem" --key "$work/web.key" --socket "$socket" \
        --uploads "$work/uploads.socket" "${@:4}" >>"$work/deploy.log" 2>&1
}
within 10 test ! -S "$work/uploads.socket"
rm -rf "$project/upload/.partial"
start_uploads
user() { [ "$(id -u)" -ne 0 ] || echo "$@"; }
# shellcheck disable=SC2317 # within calls it
is_up() { curl -sk --max-time 5 "$1" | grep -q scheduler; }
deployed_nginx() {
    {
        user "user root;"
        cat <<CONF
daemon off; pid $work/deployed/pid; error_log $work/deployed/error.log; events {}
http {
    access_log off; client_body_temp_path $work/body; fastcgi_temp_path $work/fastcgi;
    proxy_temp_path $work/proxy; uwsgi_temp_path $work/uwsgi; scgi_temp_path $work/scgi;
    server {
        listen 127.0.0.1:$http default_server;
        listen 127.0.0.1:$https default_server ssl;
        ssl_certificate $work/web.pem;
        ssl_certificate_key $work/web.key;
        server_name _;
        location / { return 404; }
        include $work/deployed/inside/*;
    }
    include $work/deployed/nginx/*;
}
CONF
    } >"$work/deployed/nginx.conf"
    exec nginx -p "$work" -c "$work/deployed/nginx.conf" -e "$work/deployed/error.log"
}
deployed_apache() {
    {
        cat <<CONF
ServerRoot $work/deployed
ServerName somewhere.else
Listen 127.0.0.1:$http
Listen 127.0.0.1:$https
PidFile $work/deployed/pid
ErrorLog $work/deployed/error.log
DefaultRuntimeDir $work/deployed
Mutex file:$work/deployed
Define APACHE_LOG_DIR $work/deployed
CONF
        for module in mpm_event authz_core authz_host unixd alias asis dir env log_config proxy proxy_fcgi setenvif ssl; do
            printf '<IfModule !%s_module>\nLoadModule %s_module /usr/lib/apache2/modules/mod_%s.so\n</IfModule>\n' \
                "$module" "$module" "$module"
        done
        user "User nobody"
        user "Group nogroup"
        echo 'LogFormat "%r" combined'
        printf '<VirtualHost *:%s>\nRedirect 404 /\n</VirtualHost>\n' "$http"
        echo "IncludeOptional $work/deployed/apache/*"
    } >"$work/deployed/apache.conf"
    exec apache2 -d "$work/deployed" -f "$work/deployed/apache.conf" -DFOREGROUND 2>>"$work/deployed/error.log"
}
for kind in nginx apache; do
    options=() more=()
    [ $kind = apache ] || options=(--address 127.0.0.1) more=(--locations "$work/deployed/inside/other.conf")
    claim "$kind: is deployed" deploy "$project" $kind test.conf "${options[@]}"
    claim "$kind: and the other project" deploy "$work/other" $kind other.conf "${options[@]}" "${more[@]}"
    claim "$kind: and the one at the root of a host" deploy "$work/whole" $kind whole.conf "${options[@]}"
    [ "$(id -u)" != 0 ] || chown nobody "$work/deployed"
    if [ $kind = nginx ]; then deployed_nginx & else deployed_apache & fi
    started+=($!)
    for url in "http://127.0.0.1:$http/test_cgi/cgi" "https://127.0.0.1:$https/test_cgi/cgi"; do
        scheme=${url%%:*} other=${url/127.0.0.1/localhost}
        other=${other/test_cgi/a\/my-test_cgi}
        within 10 is_up "$url"
        post "$url" "$request" --cacert "$work/web.pem" >"$work/$kind.reply"
        claim "$kind, $scheme: the same reply" cmp "$work/first.reply" "$work/$kind.reply"
        claim "$kind, $scheme: the master page" grep -q '<scheduler>' \
            <(curl -s --cacert "$work/web.pem" -L "${url%_cgi/cgi}")
        claim "$kind, $scheme: a file to download" \
            test "$(curl -sf --cacert "$work/web.pem" "${url%_cgi/cgi}/download/some")" = data
        claim "$kind, $scheme: uploads" grep -q '<data_server_reply>' \
            <(post "${url%_cgi/cgi}/file_upload_handler" /dev/null --cacert "$work/web.pem")
        claim "$kind, $scheme: the other project" \
            grep -q '<scheduler_reply>' <(post "$other" "$request" -k)
        whole=${url%/test_cgi/cgi} port=${url%/test_cgi/cgi}
        whole=${whole/127.0.0.1/root.example} port=${port##*:}
        whole_get() { curl -sk --max-time 10 --connect-to "root.example:$port:127.0.0.1:$port" "$@"; }
        claim "$kind, $scheme, root: the same reply" cmp "$work/first.reply" <(whole_get --data-binary "@$request" "$whole/old_cgi/cgi")
        claim "$kind, $scheme, root: the master page" grep -q '<scheduler>' <(whole_get "$whole")
        claim "$kind, $scheme, root: a file to download" grep -q '^data' <(whole_get "$whole/download/some")
        claim "$kind, $scheme, root: uploads" grep -q '<data_server_reply>' <(whole_get -d '' "$whole/file_upload_handler")
        claim "$kind, $scheme, root: slashes that are doubled" grep -q '^data' <(whole_get "$whole//download//some")
        claim "$kind, $scheme, root: and before the scheduler" grep -q '<scheduler_reply>' <(whole_get --data-binary "@$request" "$whole//old_cgi/cgi")
        claim "$kind, $scheme, root: not for other hosts" not grep -q '<scheduler' <(curl -sk -d '' "${url%/test_cgi/cgi}/old_cgi/cgi")
    done
    end_process "${started[-1]}"
done

# spawn-fcgi gives the listening socket as standard input.
if command -v spawn-fcgi >/dev/null; then
    QM_PROJECT=$project spawn-fcgi -n -s "$work/spawned.socket" -M 0666 -- "$program" \
        --log "$work/spawned.log" &
    started+=($!)
    within 10 test -S "$work/spawned.socket"
    start_nginx "$work/spawned.socket"
    same_reply spawn-fcgi "inherited socket"
fi
finish
