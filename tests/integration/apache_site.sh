#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# qmctl deploy apache on Debian: its commands as it says them, typed into an Apache that is set up as the
# package apache2 does it, beside the page of that package. By each of the three ways a project below a path
# and one that has a host for itself, by http and https, with and without a server that answers.
#
# Where that package is not installed, QM_DEBIAN_APACHE names a folder into which it was unpacked (dpkg -x);
# without either, commands of the same names do what those of Debian do with links.
# shellcheck disable=SC2317 # claim calls the functions
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need curl apache2 openssl

openssl req -x509 -newkey rsa:2048 -nodes -keyout "$work/web.key" -subj /CN=127.0.0.1 -days 2 \
    -addext subjectAltName=IP:127.0.0.1,DNS:root.example -out "$work/web.pem" 2>/dev/null
take_port
http=$port
take_port
https=$port

# --- Debian's Apache, in a folder of its own
debian=$work/apache2
commands=$work/commands
mkdir -p "$commands" "$work/run" "$work/html" "$work/logs"
echo "<title>Apache2 Debian Default Page</title>" >"$work/html/index.html"
unpacked=${QM_DEBIAN_APACHE:-}
[ -n "$unpacked" ] || ! command -v a2enmod >"$work/found" || unpacked=/
if [ -n "$unpacked" ]; then
    cp -r "$unpacked/etc/apache2" "$debian"
    cp -n /etc/apache2/mods-available/* "$debian/mods-available/"
    for name in a2enmod a2ensite a2enconf apache2ctl; do
        ln -s "$(readlink -f "$unpacked/usr/sbin")/$name" "$commands/$name"
    done
    rm -f "$debian"/*-enabled/*
    sed -i "s|/usr/share/apache2/|$(readlink -f "$unpacked")/usr/share/apache2/|" "$debian/mods-available/ssl.conf"
else
    mkdir -p "$debian"/{mods,sites,conf}-{available,enabled}
    for module in /usr/lib/apache2/modules/mod_*.so; do
        name=${module##*/mod_} name=${name%.so}
        echo "LoadModule ${name}_module $module" >"$debian/mods-available/$name.load"
    done
    printf '%s\n' "LoadModule proxy_module /usr/lib/apache2/modules/mod_proxy.so" \
        "LoadModule proxy_fcgi_module /usr/lib/apache2/modules/mod_proxy_fcgi.so" \
        >"$debian/mods-available/proxy_fcgi.load"
    # shellcheck disable=SC2016 # Apache's variables
    printf '%s\n' 'DefaultRuntimeDir ${APACHE_RUN_DIR}' 'PidFile ${APACHE_PID_FILE}' 'User ${APACHE_RUN_USER}' \
        'Group ${APACHE_RUN_GROUP}' 'ErrorLog ${APACHE_LOG_DIR}/error.log' 'IncludeOptional mods-enabled/*.load' \
        'IncludeOptional mods-enabled/*.conf' 'Include ports.conf' \
        'LogFormat "%v:%p %h %l %u %t \"%r\" %>s %O \"%{Referer}i\" \"%{User-Agent}i\"" vhost_combined' \
        'LogFormat "%h %l %u %t \"%r\" %>s %O \"%{Referer}i\" \"%{User-Agent}i\"" combined' \
        '<Directory />' 'Require all denied' '</Directory>' \
        'IncludeOptional conf-enabled/*.conf' 'IncludeOptional sites-enabled/*.conf' >"$debian/apache2.conf"
    : >"$debian/envvars"
    : >"$debian/mime.types"
    cat >"$commands/a2enmod" <<'SH'
#!/bin/bash
kind=${0##*/a2en} suffix=.conf
[ "$kind" != mod ] || suffix=.load
for name; do
    [ "${name#-}" = "$name" ] || continue
    [ -e "$APACHE_CONFDIR/${kind}s-available/$name$suffix" ] || { echo "ERROR: $kind $name does not exist!" && exit 1; }
    ln -sf "../${kind}s-available/$name$suffix" "$APACHE_CONFDIR/${kind}s-enabled/"
done
SH
    cat >"$commands/apache2ctl" <<'SH'
#!/bin/bash
. "$APACHE_ENVVARS"
case $1 in
configtest) exec apache2 -d "$APACHE_CONFDIR" -f apache2.conf -t ;;
*) exec apache2 -d "$APACHE_CONFDIR" -f apache2.conf -k "$1" ;;
esac
SH
    chmod +x "$commands"/*
    ln -s a2enmod "$commands/a2ensite"
fi
cat >>"$debian/envvars" <<CONF
export APACHE_RUN_DIR=$work/run APACHE_LOCK_DIR=$work/run APACHE_PID_FILE=$work/run/pid APACHE_LOG_DIR=$work/logs
export APACHE_RUN_USER=www-data APACHE_RUN_GROUP=www-data
CONF
export APACHE_CONFDIR=$debian APACHE_ENVVARS=$debian/envvars APACHE_STATE_DIRECTORY=$work/state PATH="$commands:$PATH"
mkdir -p "$work/state"
cat >"$debian/sites-available/000-default.conf" <<CONF
<VirtualHost *:$http>
    DocumentRoot $work/html
    <Directory $work/html>
        Require all granted
    </Directory>
    CustomLog \${APACHE_LOG_DIR}/default.log combined
</VirtualHost>
CONF
{
    echo "ServerName somewhere.else"
    echo "Mutex file:$work/run"
} >>"$debian/apache2.conf"
fresh_apache() {
    [ ! -s "$work/run/pid" ] || end_apache
    rm -f "$debian"/*-enabled/* "$debian"/sites-available/[a-z]* "$project"/*.asis "$root"/*.asis
    printf 'Listen 127.0.0.1:%s\n<IfModule ssl_module>\n\tListen 127.0.0.1:%s\n</IfModule>\n' "$http" "$https" >"$debian/ports.conf"
    {
        a2enmod -q alias authz_core authz_host deflate dir env filter mime mpm_event reqtimeout setenvif &&
            a2ensite -q 000-default
    } >>"$work/apache.log" 2>&1 || claim_failed "Debian's modules are enabled"
    [ "$(id -u)" != 0 ] || chown www-data "$work/run"
    apache2ctl start >>"$work/apache.log" 2>&1
    within 10 says Debian "http://127.0.0.1:$http/"
}
end_apache() {
    [ -s "$work/run/pid" ] || return 0
    local pid
    pid=$(cat "$work/run/pid")
    kill -TERM "$pid"
    within 10 ended "$pid"
}
trap 'status=$?; [ ! -s "$work/run/pid" ] || kill -TERM "$(cat "$work/run/pid")"; (exit $status); clean_up' EXIT
get() { curl -s --max-time 20 --cacert "$work/web.pem" --connect-to "root.example:$http:127.0.0.1:$http" --connect-to "root.example:$https:127.0.0.1:$https" "$@"; }
says() { get -L "${@:2}" | grep -q -- "$1"; }

# --- two projects
new_project "<upload_dir>$project/upload</upload_dir>" "<joining>1</joining>"
root=$work/whole
mkdir "$root"
"$QM_BINARY_DIR/qmctl" init "$root" --url "http://root.example:$http/" --name Root --db-name "$schema" \
    --db-socket "$QM_TEST_SOCKET" --db-user root >"$work/init-root.log" 2>&1 || claim_failed "the second project is made"
claim "no address of it has a doubled slash" not grep -q '[^:]//' "$root/config.xml"
chmod -R a+rX "$work"
chmod 777 "$project/upload" "$root/upload"
for folder in "$project" "$root"; do echo data >"$folder/download/some"; done
add_host
start_server one --threads 2 --socket-mode 0666
start_uploads
socket=$work/one.socket

# deploy_site PROJECT NAME HOW: by the commands that it says.
deploy_site() {
    "$QM_BINARY_DIR/qmctl" --project "$1" deploy apache --how "$3" --program "$program" --file "$debian/sites-available/$2.conf" \
        --port "$http" --tls-port "$https" --certificate "$work/web.pem" --key "$work/web.key" --socket "$socket" \
        --uploads "$work/uploads.socket" >"$work/said" 2>&1 || return 1
    ! grep -q '^add' "$work/said" || return 1
    sed -n 's/^run  *\(a2en\|apache2ctl\|apt-get\)/\1/p' "$work/said" | sed 's/systemctl reload apache2/apache2ctl graceful/' >"$work/typed"
    [ "$(wc -l <"$work/typed")" = 2 ] && bash -e "$work/typed" >>"$work/apache.log" 2>&1
}
join_query='email_addr=ada%40example.org&passwd_hash=0123456789abcdef0123456789abcdef'
no_secrets() { not grep -rq 'passwd_hash' "$work/logs"; }
check_site() { # WORDS BASE CGI
    local words=$1 base=$2 cgi=$3
    claim "$words: a reply" says '<scheduler_reply>' --data-binary "@$request" "$cgi"
    claim "$words: the master page" says '<scheduler>' "$base/"
    claim "$words: a file to download" says '^data' "$base/download/some"
    claim "$words: uploads" says '<data_server_reply>' -d '' "$base/file_upload_handler"
    claim "$words: joining" says '<project_config>' "$base/get_project_config.php?$join_query"
    [ "$how" = cgi ] || claim "$words: what anybody may know" within 20 says '<tasks_by_app>' "$base/server_status.php?xml=1"
    [ "$how" = cgi ] || claim "$words: jobs by state" says '<wus_need_validate>[0-9]' -d '<request/>' "$base/server_status.php?counts=1"
    claim "$words: slashes that are doubled" says '<scheduler_reply>' --data-binary "@$request" "${cgi%/*}//cgi"
    claim "$words: before a file, too" says '^data' "$base//download//some"
    claim "$words: and before a page of joining, which is written otherwise, too" says '<project_config>' "$base//%67et_project_config.php?$join_query"
}
check_down() { # WORDS BASE CGI
    claim "$1: nobody answers: clients keep what they have" says '^<project_is_down/>' --data-binary "@$request" "$3"
    get -D "$work/head" "$2/lookup_account.php?$join_query" >"$work/joined"
    claim "$1: nobody answers: who joins is told so" grep -q '<error_num>-183</error_num>' "$work/joined"
    claim "$1: nobody answers: with a status that clients read" grep -q '^HTTP/1.1 200' "$work/head"
    claim "$1: nobody answers: doubled slashes hide nothing" says '<error_num>-183' "$2//%63reate_account.php?$join_query"
}
for how in proxy-fcgi fcgid cgi; do
    fresh_apache
    if [ $how = fcgid ]; then # from here on Apache's user takes the uploads
        end_process "$uploads_pid"
        rm -r "$project/upload/.partial"
    fi
    deploy_site "$project" demo $how || { claim_failed "$how: deployed as it says" && break; }
    claim "$how: and the one with a host of its own" deploy_site "$root" whole $how
    claim "$how: Debian's page is still the default" says Debian "http://127.0.0.2:$http/" --connect-to "127.0.0.2:$http:127.0.0.1:$http"
    within 10 says '<scheduler_reply>' --data-binary "@$request" "https://root.example:$https/cgi"
    for scheme in http https; do
        port=$http
        [ $scheme = http ] || port=$https
        check_site "$how, $scheme" "$scheme://127.0.0.1:$port/test" "$scheme://127.0.0.1:$port/test_cgi/cgi"
        check_site "$how, $scheme, root" "$scheme://root.example:$port" "$scheme://root.example:$port/cgi"
    done
    claim "$how: what is at the root of one host is not on another" not says '<scheduler' -d '' "http://127.0.0.1:$http/cgi"
    claim "$how: no log holds what is secret" no_secrets

    # The same without a server.
    : >"$work/apache.log"
    fresh_apache
    program_was=$program program=/bin/false socket_was=$socket socket=$work/nobody.socket
    claim "$how: deployed without a server" deploy_site "$project" demo $how
    claim "$how: and the other" deploy_site "$root" whole $how
    within 10 says project_is_down -d '' "https://root.example:$https/cgi"
    check_down "$how" "http://127.0.0.1:$http/test" "http://127.0.0.1:$http/test_cgi/cgi"
    check_down "$how, root" "https://root.example:$https" "https://root.example:$https/cgi"
    claim "$how: no log holds what is secret then" no_secrets
    program=$program_was socket=$socket_was
done
end_apache
finish
