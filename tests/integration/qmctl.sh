#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# qmctl from nothing to a full queue and back, as an administrator types it.
set -uo pipefail

qmctl=$QM_BINARY_DIR/qmctl
demo=$QM_SOURCE_DIR/tools/demo
database=qmctl_$$
dir=$(mktemp -d)
project=$dir/project
failures=0
# shellcheck source=../../tools/processes.sh
. "$QM_SOURCE_DIR/tools/processes.sh"
sql() { mariadb --no-defaults -S "$QM_TEST_SOCKET" -u root -N -B "$@"; }
finish() {
    sql -e "DROP USER IF EXISTS '$database'@localhost, '${database}_least'@localhost; DROP DATABASE IF EXISTS $database; DROP DATABASE IF EXISTS ${database}_files" 2>/dev/null
    rm -rf "$dir"
}
trap finish EXIT
[ -S "$QM_TEST_SOCKET" ] && command -v mariadb >/dev/null || exit 77

# expect STATUS PATTERN COMMAND...: exit status, and an extended pattern in what it says.
expect() {
    local wanted=$1 pattern=$2 got
    shift 2
    "$@" >"$dir/said" 2>&1 </dev/null
    got=$?
    if [ "$got" -ne "$wanted" ] || ! grep -qE -- "$pattern" "$dir/said"; then
        echo "FAILED: $* (exit status $got, wanted $wanted; wanted in the output: $pattern)"
        sed 's/^/    /' "$dir/said"
        failures=$((failures + 1))
    fi
}
joined() { "$@" | tr '\r\n' '  '; return "${PIPESTATUS[0]}"; } # on one line
in_project() { "$qmctl" --project "$project" "$@"; }
from_lines() { in_project jobs create --app demo --in "$demo/in.xml" --out "$QM_SOURCE_DIR/templates/none_out.xml" --stdin "$@" <"$dir/lines"; }
same() {
    [ "$2" = "$3" ] && return
    echo "FAILED: $1: $2, wanted $3"
    failures=$((failures + 1))
}

# --- usage
expect 2 'Subcommands' "$qmctl"
expect 0 'jobs create' "$qmctl" --help
expect 2 'no subcommand' "$qmctl" jobs burn
expect 2 'unknown option --fast$' "$qmctl" queue --fast
expect 2 'no subcommand "statsu"; did you mean status\?' "$qmctl" statsu
expect 2 'no subcommand "job list"; did you mean jobs list\?' "$qmctl" job list
expect 2 'no subcommand "wy 42"; did you mean why\?' "$qmctl" wy 42
expect 2 'no subcommand "xyzzy"$' "$qmctl" xyzzy
expect 2 'unknown option --by-bach; did you mean --by-batch\?' "$qmctl" queue --by-bach
expect 2 'unknown option --min_quorm; did you mean --min_quorum\?' "$qmctl" jobs create --min_quorm 2
for words in "" "jobs create " "files " "adopt "; do
    # shellcheck disable=SC2086 # none, one or two words
    same "lines of qmctl $words--help, but for its example, that are too long" \
        "$("$qmctl" $words--help | sed '/^Example/,$d' | awk 'length > 79')" ""
done
expect 0 '^  files orders ' "$qmctl" files --help
expect 0 '^  host delete ' "$qmctl" host --help
expect 1 'no config.xml in this folder: .* --project DIR' env -C "$dir" "$qmctl" queue
expect 1 '^qmctl: there is no config.xml in /nowhere$' "$qmctl" --project /nowhere queue
same "lines about it" "$(wc -l <"$dir/said")" 1
for group in app files host jobs keys user version; do
    expect 0 "^Usage: qmctl $group" "$qmctl" $group --help
done
expect 0 '^  jobs cancel ' "$qmctl" jobs --help
expect 2 '^  jobs cancel ' "$qmctl" jobs
expect 2 'needs a value' "$qmctl" queue --project
expect 2 'needs --url' "$qmctl" init "$project"
"$qmctl" --help | sed -n 's/^  \([a-z][a-z-]* \?[a-z]*\)  .*/\1/p' | while read -r words; do
    # shellcheck disable=SC2086 # two words are two arguments
    "$qmctl" $words --help >"$dir/help"
    grep -q '^Example:' "$dir/help" || echo "no example: $words"
    grep -q '^  --json ' "$dir/help" || echo "no --json: $words"
done >"$dir/lacks"
same "subcommands without an example, or for people alone" "$(cat "$dir/lacks")" "no --json: completion
no --json: manual"

# --- an address that no client takes
for url in http://localhost/demo/ https://localhost:8080/demo 'http://[::1]/demo/' http://localhost./demo/ http://.org/; do
    expect 2 '^qmctl: --url: "http.* BOINC clients refuse such an address' \
        "$qmctl" init "$dir/refused" --url "$url" --name Refused --db-name "$database"
done
expect 2 'begins neither with http' "$qmctl" init "$dir/refused" --url ftp://example.org/ --name R --db-name "$database"
expect 2 'a character that no URL has' "$qmctl" init "$dir/refused" --url 'http://example.org/my demo/' --name R --db-name "$database"
same "what a refusal has made" "$(ls -d "$dir/refused" 2>/dev/null)" ""

# --- a project, twice
init() {
    "$qmctl" init "$project" --url http://127.0.0.1:1/demo --name 'A & B' --db-name "$database" \
        --db-user "$database" --db-admin root --db-socket "$QM_TEST_SOCKET" \
        --scheduler http://127.0.0.1:1/cgi --scheduler http://127.0.0.1:2/cgi
}
strict() (umask 077 && "$@")
closed() { find "$project" -type d ! -perm -0005; } # to web servers and services, which are other users
expect 0 'config.xml +made' strict init
same "folders of a new project that others cannot enter" "$(closed)" ""
same "warnings of its address, which lacks a slash" "$(grep -c '^warning' "$dir/said")" 0
expect 0 'on all tables' in_project deploy mariadb --db-admin root --apply # what follows needs no more
find "$project" -type f -exec md5sum {} + | sort >"$dir/before"
expect 0 'tables +existed' init
expect 0 'platforms +0 added' "$qmctl" init "$project"
expect 0 '^\{"what": "platforms", "state": "0 added"\}$' "$qmctl" init "$project" --json
# What config.xml says otherwise is not passed over in silence.
for words in "--url http://127.0.0.1:1/other/" "--name B" "--db-name other" "--db-user other" "--db-host other" \
    "--db-socket other" "--db-passwd other" "--scheduler http://127.0.0.1:1/cgi"; do
    # shellcheck disable=SC2086 # an option and its value
    expect 1 "config.xml (says|contains) .*: change it there, or omit ${words%% *}\$" "$qmctl" init "$project" $words
done
expect 0 'config.xml +existed' "$qmctl" init "$project" --url http://127.0.0.1:1/demo/ --name 'A & B' --db-name "$database"
find "$project" -type f -exec md5sum {} + | sort >"$dir/after"
same "init again changes files" "$(diff "$dir/before" "$dir/after")" ""
same "schedulers on the master page" \
    "$(grep -c '^<scheduler>http://127.0.0.1:[12]/cgi</scheduler>$' "$project/html/user/index.html")" 2
expect 0 'master page +made' "$qmctl" init "$dir/usual" --url http://127.0.0.1:1/demo --name Usual \
    --db-name "$database" --db-user root --db-socket "$QM_TEST_SOCKET"
same "limits of a new project, and those of the scenarios" \
    "$(grep -oE '<(daily_result_quota|max_wus_to_send|send_result_abort)>[0-9]+' "$dir/usual/config.xml" | tr -d '<' | tr '>' ' ')" \
    "$(sed -n 's/^config //p' "$QM_SOURCE_DIR/tests/scenarios/init-limits.inc")"
same "the usual scheduler is that of the web servers' samples" \
    "$(grep '^<scheduler>' "$dir/usual/html/user/index.html")" \
    '<scheduler>http://127.0.0.1:1/demo_cgi/cgi</scheduler>'
expect 0 '^ *[0-9]+ +x86_64-pc-linux-gnu +Linux on 64-bit x86$' in_project platform list
expect 0 '^warning: clients spell HTTP://Example.ORG:1//demo as http://example.org:1/demo/, and so does config.xml$' \
    "$qmctl" init "$dir/usual_odd" --url HTTP://Example.ORG:1//demo --name Odd \
    --db-name "$database" --db-user root --db-socket "$QM_TEST_SOCKET"
same "where it is written so" "$(grep -c 'http://example.org:1/demo/<' "$dir/usual_odd/config.xml")" 1
sed -i 's|http://example.org:1/demo/<|http://localhost/demo/<|' "$dir/usual_odd/config.xml"
expect 0 '^warning: master_url http://localhost/demo/ has no dot' "$qmctl" init "$dir/usual_odd"

# --- every list that is empty says so to people, and is an empty list to programs
empty_list() {
    expect 0 '^no [a-z]+$' in_project "$@"
    same "$* has one line" "$(wc -l <"$dir/said")" 1
    same "$* --json has none" "$(in_project "$@" --json 2>&1)" ""
    same "$* --tsv has titles" "$(in_project "$@" --tsv 2>&1 | wc -l)" 1
}
sql -e "CREATE TABLE $database.kept LIKE $database.platform; INSERT INTO $database.kept SELECT * FROM $database.platform;
    DELETE FROM $database.platform"
lists=0
while read -r -a words; do
    [ "${words[0]}" != files ] || continue # there is no file database yet
    empty_list "${words[@]}"
    lists=$((lists + 1))
done < <("$qmctl" --help | sed -n 's/^  \([a-z][a-z-]* \?[a-z]*\)  *\(Lists\|Counts\) .*/\1/p')
same "lists that were looked at" "$lists" 11
sql -e "INSERT INTO $database.platform SELECT * FROM $database.kept; DROP TABLE $database.kept"
same "mode of private keys" "$(stat -c %a "$project"/keys/*_private | sort -u)" 600
same "anonymous platform" "$(sql -e "SELECT COUNT(*) FROM $database.platform WHERE name = 'anonymous'")" 1

# --- configurations of other programs
file=$dir/demo.conf
deploy() { "$qmctl" --project "$dir/usual" deploy "$@" --file "$file"; }
expect 3 '^\+    server unix:/run/quartermaster/demo.socket ' deploy nginx --dry-run
same "a dry run writes nothing" "$(ls "$file" 2>/dev/null)" ""
expect 0 '^written +/.*/demo.conf$' deploy nginx
same "the rest of a URL" "$(grep -cE '^    (listen 1|server_name 127.0.0.1);$' "$file")" 2
[ ! -e /proc/net/if_inet6 ] || same "IPv6" "$(grep -cF 'listen [::]:1;' "$file")" 1
same "what does not hold is not there" "$(grep -cE 'ssl|#<|@[A-Z_]+@' "$file")" 0
expect 0 '^same +/' deploy nginx
expect 0 '^same +/' deploy nginx --dry-run
expect 0 "^warning +$dir cannot be entered by www-data" deploy nginx
expect 0 "^run .*/quartermaster --upload .*/run/quartermaster/demo-upload.socket --socket-group www-data" deploy nginx
chmod 755 "$dir"
: >"$dir/socket" && chmod 600 "$dir/socket"
expect 0 "^warning +$dir/socket cannot be written to by www-data \(mode 600\): start quartermaster with --socket-group www-data" \
    deploy nginx --socket "$dir/socket" --force
chmod 660 "$dir/socket"
deploy nginx --socket "$dir/socket" --group "$(id -gn)" --no-uploads >"$dir/said"
same "a socket of the web server's group" "$(grep -c 'socket' "$dir/said")" 0
chmod 700 "$dir"
expect 0 '^written ' deploy nginx
expect 3 '^-    listen 1;' deploy nginx --port 81 --dry-run
expect 0 '^written ' deploy nginx --port 81
echo '# mine' >>"$file"
cp "$file" "$dir/mine"
expect 1 'was changed, or written by somebody else: nothing was written' deploy nginx
expect 3 '^-# mine' deploy nginx --dry-run
expect 3 '^\{"step": "changed", "words": "/.*demo.conf"\}' deploy nginx --dry-run --json
same "what was changed stays" "$(cmp "$file" "$dir/mine")" ""
expect 0 '^written ' deploy nginx --force
same "unless it is forced" "$(grep -c '# mine' "$file")" 0
rm "$file"
echo mine >"$dir/usual/scheduler-down.asis"
expect 1 'scheduler-down.asis was changed' deploy apache
same "of several files none is written then" "$(ls "$file" 2>/dev/null)" ""
expect 0 'scheduler-down.asis' deploy apache --how fcgid --force
expect 0 "^add +Include $file to the configuration of Apache" deploy apache --how cgi --certificate /c --key /k
expect 0 '^run +a2enmod cgid asis ssl$' deploy apache --how cgi --certificate /c --key /k
file_was=$file file=$dir/apache2/sites-available/mine.conf
mkdir -p "$dir"/apache2/{sites,conf,mods}-available
expect 0 '^run +a2enmod cgid asis ssl && a2ensite mine$' deploy apache --how cgi --certificate /c --key /k
printf 'Listen 80\n#Listen 1\nListen 81 https\n' >"$dir/apache2/ports.conf"
expect 0 "^add +Listen 1 to $dir/apache2/ports.conf$" deploy apache
printf '\tListen [::]:1\n' >>"$dir/apache2/ports.conf"
deploy apache >"$dir/said"
same "a port that Apache listens on" "$(grep -c Listen "$dir/said")" 0
expect 0 '^run +apt-get install libapache2-mod-fcgid$' deploy apache --how fcgid
file=$dir/apache2/conf-available/mine.conf
expect 0 '^run +a2enmod proxy_fcgi asis && a2enconf mine$' deploy apache
file=$file_was
expect 0 '^warning +.*/config.xml cannot be (read|entered)|cannot be entered' deploy apache --how cgi
expect 2 'wanted proxy-fcgi, fcgid or cgi' deploy apache --how php
chown daemon:daemon "$dir/usual/config.xml" && chmod 640 "$dir/usual/config.xml"
[ "$(id -u)" != 0 ] || expect 0 '^run +usermod -a -G daemon www-data && systemctl restart apache2$' deploy apache --how cgi
# What clients and web servers would refuse is said before anything is written.
certificate() { # NAME HOST DAYS
    openssl req -x509 -newkey rsa:2048 -nodes -keyout "$dir/$1.key" -out "$dir/$1.pem" -subj "/CN=$2" \
        -addext "subjectAltName=IP:$2" -days "$3" 2>/dev/null
}
certificate ours 127.0.0.1 100 && certificate others 127.0.0.2 100 && certificate short 127.0.0.1 3
with_certificate() { deploy nginx --dry-run --certificate "$dir/$1" --key "$dir/$2"; }
expect 3 'warning +certificate: .*/absent: No such file or directory$' with_certificate ours.pem absent
expect 3 'warning +certificate: .*/others.key is not the key of the certificate$' with_certificate ours.pem others.key
expect 3 'warning +certificate: .*/others.pem is not for 127.0.0.1$' with_certificate others.pem others.key
expect 3 'warning +certificate: .*/short.pem expires in [0-3] days?$' with_certificate short.pem short.key
with_certificate ours.pem ours.key >"$dir/said"
same "nothing is wrong with a good one" "$(grep -c 'warning.*certificate' "$dir/said")" 0
mv "$dir/usual/keys/upload_private" "$dir/upload_private.kept"
expect 3 'warning +.*/upload_private' with_certificate ours.pem ours.key
mv "$dir/upload_private.kept" "$dir/usual/keys/upload_private"
expect 2 'must be used together' deploy nginx --certificate /c
expect 2 'not a whole number from 1 to 65535' deploy nginx --port http
expect 1 'no group nobodies' deploy nginx --group nobodies
expect 1 'cannot be part of a configuration' deploy nginx --socket '/run/a;b'
expect 1 'scheduler_url is .*:1/cgi, but .* would serve /demo_cgi/cgi' in_project deploy nginx --file "$file"
# Downloads that something else serves stay where they are: the rest is written.
cp "$dir/usual/config.xml" "$dir/usual/config.kept"
sed -i 's|/download</download_url>|/elsewhere</download_url>|' "$dir/usual/config.xml"
for server in nginx apache; do
    file=$dir/beside.$server
    expect 0 '^warning +download_url is .*/elsewhere: nothing is written for it' deploy "$server" --force
    same "$server: no location for downloads" "$(grep -c '/download' "$file")" 0
    same "$server: one for the scheduler" "$(grep -q '_cgi/cgi' "$file" && echo there)" there
done
file=$dir/demo.conf
mv "$dir/usual/config.kept" "$dir/usual/config.xml"
touch "$dir/usual/html/user/index.php"
expect 0 'warning +the project has BOINC.s web pages' deploy nginx
same "which the web server shows otherwise" "$(grep -c 'alias.*html/user' "$file")" 0
rm "$dir/usual/html/user/index.php"

units() {
    "$qmctl" --project "$dir/usual" deploy systemd --units "$dir/units" --projects "$dir/projects" --group "$(id -gn)" "$@"
}
mkdir "$dir/units" "$dir/projects"
expect 3 "^new +$dir/projects/demo -> $dir/usual" units --dry-run
same "a dry run makes no units" "$(find "$dir/units" "$dir/projects" -mindepth 1)" ""
mkdir "$dir/units/quartermaster@demo.socket.d"
echo mine >"$dir/units/quartermaster@demo.socket.d/deploy.conf"
expect 1 'deploy.conf was changed, or written by somebody else: nothing was written' units
same "nor is a folder made" "$(ls "$dir/units")" quartermaster@demo.socket.d
rm -r "$dir/units/quartermaster@demo.socket.d"
expect 0 "^written +$dir/units/quartermaster@demo.socket.d/deploy[.]conf" units
expect 0 '^run +systemctl .* quartermaster@demo quartermaster-upload@demo quartermaster-transition@demo' units
expect 0 "^same +$dir/projects/demo" units --dry-run
mkdir "$dir/usual/bin" && : >"$dir/usual/bin/start"
expect 0 '^run +systemctl .* quartermaster@demo quartermaster-upload@demo$' units # BOINC has its own transitioner
rm -r "$dir/usual/bin" "$dir/projects/demo" && mkdir "$dir/projects/demo"
expect 1 'is another project' units

# --- rights
granted=$dir/granted least=${database}_least
expect 0 'tables +existed' "$qmctl" init "$granted" --url http://127.0.0.1:1/demo --name Granted \
    --db-name "$database" --db-user "$least" --db-socket "$QM_TEST_SOCKET" --db-admin root
rights() { "$qmctl" --project "$granted" deploy mariadb "$@"; }
works() { "$qmctl" --project "$granted" check-config --no-web; }
expect 1 'refuses the user or the password' works
expect 0 "^GRANT SELECT, INSERT, UPDATE, DELETE ON .*TO '$least'@'localhost';" rights
expect 1 'refuses the user or the password' works
expect 0 "user $least from localhost" rights --db-admin root --apply
expect 0 '^0 errors' works
sed -n 's|.*<db_passwd>\(.*\)</db_passwd>.*|\1|p' "$granted/config.xml" >"$dir/password"
expect 1 'user .* from localhost, if there was none: .*(denied|CREATE USER)' \
    rights --apply --db-admin "$least" --db-admin-passwd-file "$dir/password"
expect 1 'refuses the user|Access denied' rights --apply --db-admin "$least"
for right in SELECT INSERT UPDATE DELETE; do
    sql -e "REVOKE $right ON \`${database//_/\\_}\`.* FROM '$least'@localhost"
    expect 1 'forbids the user|refuses the user|is not there under this name' works
    expect 0 'SELECT, INSERT' rights --db-admin root --apply
done
expect 0 '^0 errors' works
same "and no more rights than these" "$(sql -e "SELECT GROUP_CONCAT(PRIVILEGE_TYPE ORDER BY 1) FROM
    information_schema.SCHEMA_PRIVILEGES WHERE GRANTEE LIKE '%$least%'")" DELETE,INSERT,SELECT,UPDATE
sed -i 's|<db_passwd>.*|<db_passwd>other</db_passwd>|' "$granted/config.xml"
expect 1 'the user already existed and has a different password' rights --db-admin root --apply
expect 0 'IDENTIFIED VIA unix_socket;' rights --user demo
sed -i 's|<db_socket>.*|<db_host>db.example.org</db_host>|' "$granted/config.xml"
expect 2 '^qmctl: the database is at db.example.org: give --from' rights
expect 0 "'$least'@'10.0.0.7'" rights --from 10.0.0.7
sed -i '/<db_user>/d' "$granted/config.xml"
expect 2 'name that user with --user' rights --from 10.0.0.7
sql -e "DROP USER '$least'@localhost"

# The rights that quartermaster(8) gives to the user who makes a project are enough for that.
needed=$(sed -n 's/^ *GRANT \(.*\) ON demo[.].*/\1/p' "$QM_SOURCE_DIR/server/quartermaster.8.md")
sql -e "CREATE USER '$least'@localhost IDENTIFIED BY 'x'; GRANT $needed ON \`${database}_made\`.* TO '$least'@localhost"
echo x >"$dir/password"
expect 0 'tables of Quartermaster +from 0' "$qmctl" init "$dir/made" --url http://127.0.0.1:1/demo --name Made \
    --db-name "${database}_made" --db-user "$least" --db-passwd-file "$dir/password" --db-socket "$QM_TEST_SOCKET"
expect 0 '^0 errors' "$qmctl" --project "$dir/made" check-config --no-web
sql -e "DROP DATABASE \`${database}_made\`; DROP USER '$least'@localhost"

# --- catalog and accounts
expect 0 'application 1' in_project app add demo --friendly 'Demo'
expect 1 '^qmctl: application demo: it already exists \(.*Duplicate' in_project app add demo
expect 1 'no application "other"' in_project version add other 1.0 x86_64-pc-linux-gnu "$demo/app"
expect 1 'no platform "vax"' in_project version add demo 1.0 vax "$demo/app"
expect 1 '^qmctl: there is no version "999", nor any other \(qmctl version add\)$' in_project version deprecate 999
expect 1 '^qmctl: there is no application "deno"; did you mean demo\?$' in_project app deprecate deno
expect 1 'no platform "vax"; there are: ' in_project version add demo 1.0 vax "$demo/app"
expect 1 'no platform "x86_64-pc-linux"; did you mean x86_64-pc-linux-gnu' in_project version add demo 1.0 x86_64-pc-linux "$demo/app"
expect 2 '^qmctl: version 0.9 may mean 0.09 or 0.90: write which$' in_project version add demo 0.9 x86_64-pc-linux-gnu "$demo/app"
# What is set of an application; other columns stay as they are.
expect 2 'app set needs one of --beta, ' in_project app set demo
expect 2 'target_nresults: "100" is not a whole number from 0 to 99' in_project app set demo --target_nresults 100
expect 2 'only -1 has a meaning' in_project app set demo --weight -0.5
expect 0 'warning: app demo: target_nresults is 2, but without one_result_per_user_per_wu' in_project app set demo --target_nresults 2
same "what of it was changed" "$(grep -c '^demo *target_nresults *0 *2$' "$dir/said")" 1
expect 0 'servers use this within a second; .* within 60 s' in_project app set demo --user-friendly-name "It's a demo" --target_nresults 0
same "the settings of the row" "$(sql -e "SELECT user_friendly_name, target_nresults, weight FROM $database.app" | tr '\t' '|')" "It's a demo|0|1"
expect 0 'warning: no version in use is as new as min_version' in_project app set demo --min_version 1.05
expect 0 '^\{"setting": "min_version", "value": "1.05", "usual": "0", "meaning": "' in_project app show demo --json
expect 0 '^ *1 +demo +It.s a demo +no +min_version 1.05$' in_project app list
expect 0 '^\{"app": "demo", "setting": "min_version", "was": "1.05", "is": "0"\}$' in_project app set demo --min_version 0 --json
expect 0 '^trial is application [0-9]+$' in_project app add trial --beta yes --homogeneous_redundancy 1
same "an application with settings" "$(sql -e "SELECT user_friendly_name, beta, homogeneous_redundancy FROM $database.app WHERE name = 'trial'" | tr '\t' ' ')" "trial 1 1"
expect 2 'beta: "perhaps" is not yes or no' in_project app add wrong --beta perhaps
same "none is added with a setting that is none" "$(sql -e "SELECT COUNT(*) FROM $database.app")" 2
sql -e "DELETE FROM $database.app WHERE name = 'trial'; ALTER TABLE $database.app RENAME COLUMN locality_scheduling TO kept"
expect 1 'locality_scheduling: the database has no column' in_project app set demo --locality_scheduling 1 --beta yes
same "then nothing is changed" "$(sql -e "SELECT beta FROM $database.app")" 0
sql -e "ALTER TABLE $database.app RENAME COLUMN kept TO locality_scheduling"
expect 2 'reports the platform x86_64-pc-linux-gmu; did you mean x86_64-pc-linux-gnu\?' in_project platform add x86_64-pc-linux-gmu
expect 2 'contains a blank' in_project platform add 'x 86'
expect 0 'warning: no known client reports the platform vax' in_project platform add vax --friendly VAX
expect 1 'platform vax is there already' in_project platform add vax
sql -e "DELETE FROM $database.platform WHERE name = 'sparc-sun-solaris'"
expect 0 '"platform": "sparc-sun-solaris", "friendly_name": "Solaris on 32-bit SPARC"\}$' in_project platform add sparc-sun-solaris --json
expect 0 '^\{"app": "demo", "deprecated": "yes"\}$' in_project app deprecate demo --json
expect 0 '^demo is in use$' in_project app deprecate demo --undo
expect 2 'not a version' in_project version add demo one x86_64-pc-linux-gnu "$demo/app"
expect 0 '^\{"id": 1, "app": "demo", "version": "1.00", "platform": "x86_64-pc-linux-gnu", "files": 1\}$' \
    in_project version add demo 1.00 x86_64-pc-linux-gnu "$demo/app" --json
expect 0 '^\{"id": 1, "deprecated": "yes"\}$' in_project version deprecate 1 --json
expect 0 '^version 1 is in use$' in_project version deprecate 1 --undo
expect 0 '^demo 1.00 x86_64-pc-linux-gnu +min_core_version +0 +7.2.0$' in_project version set 1 --min-core-version 7.2
expect 2 'above max_core_version: no client' in_project version set 1 --max_core_version 7.1.0
expect 0 'warning: there is no plan class nowhere' in_project version set 1 --plan_class nowhere
expect 0 '^ *1 +demo +1.00 +x86_64-pc-linux-gnu +nowhere +no +0 +min_core_version 7.2.0$' in_project version list
expect 1 'there is no version "2"; there are: 1 \(demo 1.00 x86_64-pc-linux-gnu \(nowhere\)\)$' in_project version set 2 --beta no
expect 0 '"setting": "plan_class", "was": "nowhere", "is": ""' in_project version set 1 --plan-class '' --min_core_version 0 --json
# What fails leaves nothing behind, though gzip has read it; where it is packed is for TMPDIR to say.
cp "$demo/app" "$dir/packed"
pack() { in_project version add demo 1.90 x86_64-pc-linux-gnu --gzip "$dir/packed" "$@"; }
expect 1 'nowhere: stat: No such file' pack "$dir/nowhere"
same "files of a version that failed" "$(find "$project/download" -name 'demo_1.90*')" ""
expect 1 'a temporary file \(TMPDIR\): create: No such file' env TMPDIR="$dir/nowhere" "$qmctl" --project "$project" \
    version add demo 1.90 x86_64-pc-linux-gnu --gzip "$dir/packed"
same "files of a version that cannot be packed" "$(find "$project/download" -name 'demo_1.90*')" ""
echo '# built anew' >>"$dir/packed"
# Whoever starts the command may take no notice of what becomes of processes.
expect 0 'demo 1.90 for x86_64-pc-linux-gnu, 1 file' env --ignore-signal=CHLD "$qmctl" --project "$project" \
    version add demo 1.90 x86_64-pc-linux-gnu --gzip "$dir/packed"
same "the version, packed" "$(zcat "$project/download/demo_1.90_x86_64-pc-linux-gnu.gz" | tail -n 1)" '# built anew'
sql -e "DELETE FROM $database.app_version WHERE version_num = 190"
rm "$project/download/demo_1.90_x86_64-pc-linux-gnu"{,.gz}
# Folders as BOINC's update_versions reads them.
tree=$dir/apps folder=$dir/apps/demo/1.07/x86_64-pc-linux-gnu__mt
mkdir -p "$folder/lib" "$tree/demo/1.08/windows_x86_64" "$tree/demo/1.5/x86_64-pc-linux-gnu" "$tree/other/1.00/x86_64-pc-linux-gnu"
cp "$demo/app" "$folder/main_107" && echo API_VERSION_8.2.0 >>"$folder/main_107" && echo help >"$folder/lib/helper_107" && echo data >"$folder/table_107"
echo signed >"$tree/demo/1.08/windows_x86_64/app_108.exe"
in_project sign "$tree/demo/1.08/windows_x86_64/app_108.exe" >"$tree/demo/1.08/windows_x86_64/app_108.exe.sig"
echo one >"$tree/demo/1.5/x86_64-pc-linux-gnu/app_15"
cat >"$folder/version.xml" <<'XML'
<version>
    <file><physical_name>main_107</physical_name><main_program/></file>
    <file><physical_name>lib/helper_107</physical_name><logical_name>helper</logical_name><copy_file/></file>
    <file><physical_name>table_107</physical_name><gzip/></file>
    <needs_network/>
    <beta/>
</version>
XML
from_folders() { in_project version add --from "$tree" "$@"; }
expect 1 'it has no folder nobody.VERSION.PLATFORM' from_folders nobody
mv "$project/keys/code_sign_private" "$dir"
expect 1 '^demo +1.07 .*FAILED .*code_sign_private.*, nor is there lib/helper_107.sig' from_folders demo
same "what is signed needs no private key" "$(grep -c '^demo *1.08 *windows_x86_64 *added' "$dir/said")" 1
same "1.5 is two versions" "$(grep -c '^demo *1.5 *x86_64-pc-linux-gnu *FAILED *version 1.5 may mean 1.05 or 1.50' "$dir/said")" 1
same "files of the one that failed" "$(find "$project/download" -name '*_107*')" ""
mv "$dir/code_sign_private" "$project/keys"
rm -r "$tree/demo/1.5"
expect 1 '^other .*FAILED *there is no application' from_folders
same "what was added" "$(awk '/^demo/ { print $2, $NF }' "$dir/said")" "1.07 added
1.08 already"
expect 0 '"state": "there already", "words": ""\}$' from_folders demo --json
mkdir "$tree/demo/1.7" && cp -r "$folder" "$tree/demo/1.7"
expect 0 '^demo +1.7 +x86_64-pc-linux-gnu +mt +there already' from_folders demo 1.7
rm -r "$tree/demo/1.7"
document=$(sql -e "SELECT REPLACE(xml_doc, '\n', '') FROM $database.app_version WHERE version_num = 107")
for part in '<gzipped_url>' '<needs_network/>' '<open_name>helper</open_name>        <copy_file/>' '<api_version>8.2.0</api_version>' '<name>helper_107</name>'; do
    same "the document has $part" "$(grep -cF "$part" <<<"$document")" 1
done
same "a test version" "$(sql -e "SELECT beta, plan_class FROM $database.app_version WHERE version_num = 107" | tr '\t' ' ')" "1 mt"
same "the table, packed" "$(zcat "$project/download/table_107.gz")" data
echo changed >"$folder/table_107"
mv "$tree/demo/1.07" "$tree/demo/1.09"
expect 1 '1.09 .*FAILED .*table_107 exists with different content' from_folders demo 1.09
echo other >"$tree/demo/1.08/windows_x86_64/app_108.exe" && mv "$tree/demo/1.08" "$tree/demo/1.10"
mv "$tree/demo/1.10/windows_x86_64/app_108.exe" "$tree/demo/1.10/windows_x86_64/app_110.exe"
mv "$tree/demo/1.10/windows_x86_64/app_108.exe.sig" "$tree/demo/1.10/windows_x86_64/app_110.exe.sig"
expect 1 '1.10 .*FAILED .*app_110.exe.sig: .*clients would refuse the file' from_folders demo 1.10
sql -e "DELETE FROM $database.app_version WHERE version_num > 100"
expect 1 '^qmctl: version 1.00 of demo for x86_64-pc-linux-gnu: it already exists \(.*Duplicate' \
    in_project version add demo 1.00 x86_64-pc-linux-gnu "$demo/app"
expect 1 '^qmctl: application x+: a text is too long for its column' in_project app add "$(printf 'x%.0s' {1..200})"
echo '#!/bin/sh' >"$dir/app"
expect 1 'different content' in_project version add demo 1.00 x86_64-pc-linux-gnu "$dir/app"
same "the program is executable" \
    "$(stat -c %a "$project/download/demo_1.00_x86_64-pc-linux-gnu")" 755
expect 0 'account_key +[0-9a-f]{32}' in_project user add Ada@Example.org --name Ada
expect 0 ' ada@example\.org +Ada ' in_project user list
expect 1 '^qmctl: account ada@example.org: it already exists \(.*Duplicate' in_project user add ada@example.org
expect 0 'account_key +[0-9a-f]{32}' in_project user show ada@example.org
expect 1 'no such account' in_project user show bob@example.org
expect 0 '^[0-9a-f]{64}$' in_project sign "$demo/app"
expect 0 '^\{"file": ".*/demo/app", "signature": "[0-9a-f]{64}\\u000a.*"\}$' in_project sign "$demo/app" --json
expect 0 '^\{"id": [0-9]+, "email": "eve@example.org", "account_key": "[0-9a-f]{32}"\}$' in_project user add eve@example.org --json
expect 0 '^\{"id": [0-9]+, "email": "eve@example.org", "name": "eve", .* "team": 0, "credit": 0, ' \
    in_project user show eve@example.org --json
expect 0 '^\{"hosts": 0, "results": 0\}$' in_project user delete eve@example.org --yes --json

# --- jobs
echo data >"$dir/in1"
expect 0 'job single' in_project jobs create --app demo --in "$demo/in.xml" --out "$QM_SOURCE_DIR/templates/none_out.xml" \
    --name single "$dir/in1"
same "a quorum of one, said with the first job" "$(grep -c '^note: min_quorum is 1, so the first result' "$dir/said")" 1
same "the single job's result" \
    "$(sql -e "SELECT name, server_state FROM $database.result" | tr '\t' ' ')" 'single_0 2'
expect 1 'wants 1 file with each job, given: 0' in_project jobs create --app demo --in "$demo/in.xml" --out "$QM_SOURCE_DIR/templates/none_out.xml"
expect 1 'delay_bound: not a whole number' in_project jobs create --app demo --delay_bound 1.5
printf '<workunit>\n<rsc_fpops_est>much</rsc_fpops_est>\n</workunit>\n' >"$project/templates/bad_in.xml"
expect 1 'templates/bad_in.xml:2: <rsc_fpops_est>: not a number' in_project jobs create \
    --app demo --in templates/bad_in.xml --out "$QM_SOURCE_DIR/templates/none_out.xml"
expect 1 'templates/bad_in.xml:2: <rsc_fpops_est>: not a number' in_project check-config
printf '<workunit>\n<rsc_fpop_est>1e10</rsc_fpop_est>\n</workunit>\n' >"$project/templates/bad_in.xml"
misspelt='warning: .*bad_in.xml:2: <rsc_fpop_est>: .*did you mean <rsc_fpops_est>'
expect 0 "$misspelt" in_project jobs create --app demo --in templates/bad_in.xml \
    --out "$QM_SOURCE_DIR/templates/none_out.xml" --name misspelt
expect 0 "$misspelt" in_project check-config
sql -e "DELETE FROM $database.result WHERE name = 'misspelt_0'; DELETE FROM $database.workunit WHERE name = 'misspelt'"
rm "$project/templates/bad_in.xml"

# What the template says wins, and that is said.
sed 's|<workunit>|<workunit><delay_bound>6000</delay_bound>|' "$demo/in.xml" >"$project/templates/wins_in.xml"
grep -q delay_bound "$demo/in.xml" && sed 's|<delay_bound>[0-9]*|<delay_bound>6000|' "$demo/in.xml" >"$project/templates/wins_in.xml"
expect 0 'warning: .*wins_in.xml:[0-9]+: <delay_bound>: 6000 counts, not --delay_bound 60$' in_project jobs create --app demo \
    --in templates/wins_in.xml --out "$QM_SOURCE_DIR/templates/none_out.xml" --name wins --delay_bound 60 "$dir/in1"
same "what counts" "$(sql -e "SELECT delay_bound FROM $database.workunit WHERE name = 'wins'")" 6000
sql -e "DELETE FROM $database.result WHERE name = 'wins_0'; DELETE FROM $database.workunit WHERE name = 'wins'"
rm "$project/templates/wins_in.xml"

# A file that lies elsewhere, a priority of its own, and names that cannot be.
from_line() { echo "$1" >"$dir/lines" && shift && from_lines "$@"; }
expect 0 '^1 job, 1 result' from_line '--wu_name far --priority 7 --remote_file http://127.0.0.1/data 5 0cc175b9c0f1b6a831c399e269772661'
same "where the file lies" "$(sql -e "SELECT xml_doc LIKE '%<name>jf_0cc175b9c0f1b6a831c399e269772661</name>%',
    xml_doc LIKE '%<url>http://127.0.0.1/data</url>%', xml_doc LIKE '%<nbytes>5</nbytes>%', priority
    FROM $database.workunit WHERE name = 'far'" | tr '\t' ' ')" '1 1 1 7'
sql -e "DELETE FROM $database.result WHERE name = 'far_0'; DELETE FROM $database.workunit WHERE name = 'far'"
expect 0 '^1 job, 1 result' from_line "$(printf '\357\273\277')--wu_name marked $dir/in1"
same "a quorum of one is said once" "$(grep -c '^note:' "$dir/said")" 0
same "a byte order mark is no part of the first line" "$(sql -e "SELECT COUNT(*) FROM $database.workunit WHERE name = 'marked'")" 1
sql -e "DELETE FROM $database.result WHERE name = 'marked_0'; DELETE FROM $database.workunit WHERE name = 'marked'"
expect 1 'the job.s name "a/b" contains a slash' from_line "--wu_name a/b $dir/in1"
expect 1 'priority needs a value' from_line "$dir/in1 --priority"
seq -f '--wu_template none_%.0f' 101 | sed "s|\$| $dir/in1|" >"$dir/lines"
for number in {1..101}; do cp "$demo/in.xml" "$project/none_$number"; done
expect 1 'more than 100 different templates' from_lines
rm "$project"/none_*
# Files of which the template tells all but the name, or the name; and two parts of a command line.
reference='<workunit><file_ref><open_name>in</open_name></file_ref></workunit>'
echo "<file_info><nbytes>5</nbytes><url>http://127.0.0.1/</url><md5_cksum>0cc175b9c0f1b6a831c399e269772661</md5_cksum></file_info>
$reference" >"$dir/told_in.xml"
echo "<file_info><physical_name>in1</physical_name></file_info>$reference" >"$dir/named_in.xml"
job_of() { in_project jobs create --app demo --in "$dir/$1" --out "$QM_SOURCE_DIR/templates/none_out.xml" --name "$2" "${@:3}"; }
document_has() { sql -e "SELECT xml_doc LIKE '%$2%' FROM $database.workunit WHERE name = '$1'"; }
expect 0 'job told' job_of told_in.xml told far_file
same "where the template says" "$(document_has told '<url>http://127.0.0.1/far_file</url>')" 1
expect 1 'the file name "../far_file" begins with a dot' job_of told_in.xml wrong ../far_file
expect 0 '^\{"jobs": 1, "results": 1, "last_job": "named"\}$' job_of named_in.xml named --json
same "the file of the template" "$(document_has named '<name>in1</name>')" 1
expect 0 '^1 job' from_line "--wu_name parts --command_line --fast $dir/in1" --command_line --far
same "both parts" "$(document_has parts '--far --fast')" 1
sql -e "DELETE FROM $database.result WHERE name IN ('told_0', 'named_0', 'parts_0');
    DELETE FROM $database.workunit WHERE name IN ('told', 'named', 'parts')"
# A result template is read again later: where it is, or its copy in the project.
one_job() { in_project jobs create --app demo --in "$demo/in.xml" --name "$1" --out "$2" "$dir/in1"; }
stored() { sql -e "SELECT result_template_file FROM $database.workunit WHERE name = '$1'"; }
expect 0 'job inside' one_job inside "$project/templates/none_out.xml"
same "a path from the project's folder" "$(stored inside)" templates/none_out.xml
sed 's|<result>|<result><!-- other -->|' "$QM_SOURCE_DIR/templates/none_out.xml" >"$dir/none_out.xml"
expect 1 'exists with different content' one_job other "$dir/none_out.xml"
expect 1 'No such file' one_job other "$dir/absent_out.xml"
# Nothing of a command that failed stays: neither a template that is wrong, nor a right one without a job.
files_there() { find "$project/templates" "$project/download" -type f | sort; }
left() { files_there | comm -13 "$dir/files_before" -; }
files_there >"$dir/files_before"
echo '<result><file_ref></file_ref></result>' >"$dir/fresh_out.xml"
expect 1 'fresh_out.xml:1: <file_ref>: needs a <file_name>' one_job other "$dir/fresh_out.xml"
same "what is left of a faulty template" "$(left)" ''
cp "$dir/none_out.xml" "$dir/fresh_out.xml"
expect 1 'no such file' in_project jobs create --app demo --in "$demo/in.xml" --out "$dir/fresh_out.xml" "$dir/absent"
same "what is left without the input file" "$(left)" ''
echo fresh >"$dir/fresh_in"
fresh_lines() { in_project jobs create --app demo --in "$demo/in.xml" --out "$dir/fresh_out.xml" --stdin <"$dir/lines"; }
printf '%s\n' "$dir/fresh_in" "$dir/absent" >"$dir/lines"
expect 1 'line 2' fresh_lines
same "what is left of two lines" "$(left)" ''
expect 0 'job fresh' one_job fresh "$dir/fresh_out.xml"
same "the copy" "$(stored fresh)" templates/fresh_out.xml
same "which is the same" "$(cat "$project/templates/fresh_out.xml")" "$(cat "$dir/fresh_out.xml")"
sql -e "DELETE FROM $database.result WHERE name = 'fresh_0'; DELETE FROM $database.workunit WHERE name = 'fresh'"
rm "$project/templates/fresh_out.xml"
long=$(printf 'n%.0s' {1..60})
cp "$dir/none_out.xml" "$project/templates/$long.xml"
expect 1 'the path has more than 63 bytes' one_job other "templates/$long.xml"
rm "$project/templates/$long.xml"
sql -e "DELETE FROM $database.result WHERE name = 'inside_0'; DELETE FROM $database.workunit WHERE name = 'inside'"

seq -f '--wu_name many_%.0f '"$dir/in1" 10000 >"$dir/lines"
from_lines --batch 7 >"$dir/said" 2>&1 || same "10,000 jobs" "$(cat "$dir/said")" "made"
same "10,000 jobs" "$(sql -e "SELECT COUNT(*) FROM $database.result WHERE server_state = 2 AND batch = 7")" 10000

# A failing line in the middle leaves neither rows nor files.
echo other >"$dir/in2"
{
    seq -f '--wu_name rest_%.0f '"$dir/in2" 2000
    echo '--wu_name wrong no-such-file'
    seq -f '--wu_name tail_%.0f '"$dir/in2" 10
} >"$dir/lines"
from_lines >"$dir/said" 2>&1
same "exit status of a failing line" $? 1
same "the line is named" "$(grep -c 'line 2001: no-such-file' "$dir/said")" 1
same "jobs of a failed batch" "$(sql -e "SELECT COUNT(*) FROM $database.workunit WHERE name LIKE 'rest%'")" 0
same "files of a failed batch" "$(find "$project/download" -name in2)" ""

# So does a name that is taken, and its line is named.
{
    seq -f '--wu_name twice_%.0f '"$dir/in2" 3
    echo '# a comment'
    echo "--wu_name Twice_2 $dir/in2"
} >"$dir/lines"
expect 1 '^qmctl: line 5: the name Twice_2 is taken in line 2 already$' from_lines
{
    seq -f '--wu_name twice_%.0f '"$dir/in2" 600
    echo "--wu_name twice_7 $dir/in2"
} >"$dir/lines"
expect 1 '^qmctl: line 601: the name twice_7 is taken already, from before or in an earlier line$' from_lines
echo "--wu_name single $dir/in1" >"$dir/lines"
expect 1 '^qmctl: line 1: the name single is taken already' from_lines
same "jobs of these lines" "$(sql -e "SELECT COUNT(*) FROM $database.workunit WHERE name LIKE 'twice%'")" 0

# What was committed before it stays, with its files; the rest is made when the lines are given again.
echo first >"$dir/in3"
{
    seq -f '--wu_name piece_%.0f '"$dir/in3" 2000
    echo "--wu_name piece_2001 $dir/in2"
    echo 'no-such-file'
    yes "$dir/in2" | head -n 10
} >"$dir/lines"
from_lines --name part --commit_every 600 >"$dir/said" 2>&1
same "exit status of a failing line behind a commit" $? 1
same "what is said of the rest" \
    "$(grep -c '^1024 jobs made, which stay; .* again, with --name part --go_on$' "$dir/said")" 1
same "jobs of committed lines" \
    "$(sql -e "SELECT COUNT(*), SUM(name = 'piece_1024') FROM $database.workunit WHERE name LIKE 'piece\_%'" | tr '\t' ' ')" "1024 1"
same "files of a batch of which a part was committed" "$(find "$project/download" -name 'in[23]' -exec cat {} +)" first
sed -i "s|no-such-file|$dir/in2|" "$dir/lines"
from_lines --name part --go_on >"$dir/said" 2>&1
same "the rest" "$(grep -c '^988 jobs, 988 results; 1024 were there$' "$dir/said")" 1
same "names go on" "$(sql -e "SELECT COUNT(*), SUM(name IN ('part_2001', 'part_2011')) FROM $database.workunit WHERE name REGEXP '^(piece|part)_'" | tr '\t' ' ')" "2012 2"
from_lines --name part --go_on >"$dir/said" 2>&1
same "nothing is left" "$(grep -c '^0 jobs, 0 results; 2012 were there$' "$dir/said")" 1
from_lines --name part >"$dir/said" 2>&1
same "a name that is taken" $? 1
expect 2 'needs --stdin and the --name' from_lines --go_on
expect 2 'commit_every: "some" is not a whole number' from_lines --commit_every some
# A command that is killed leaves whole jobs, those of the first lines.
mkfifo "$dir/fifo"
"$qmctl" --project "$project" jobs create --app demo --in "$demo/in.xml" --out "$QM_SOURCE_DIR/templates/none_out.xml" --stdin \
    --name killed --commit_every 500 <"$dir/fifo" >"$dir/said" 2>&1 &
killed=$!
exec 8>"$dir/fifo"
yes "$dir/in2" | head -n 3000 >&8
given_again() { from_lines --name killed --go_on; }
made() { sql -e "SELECT COUNT(*) FROM $database.workunit WHERE name LIKE 'killed\_%'"; }
are_made() { [ "$(made)" -ge 2048 ]; }
within 30 are_made || echo "FAILED: jobs are not seen before the last line"
kill -KILL "$killed"
exec 8>&-
wait "$killed"
same "jobs of a killed command" "$(sql -e "SELECT COUNT(*), COUNT(DISTINCT workunitid), MAX(CAST(SUBSTR(name, 8) AS INT))
    FROM $database.result WHERE name LIKE 'killed\_%'" | tr '\t' ' ')" "$(made) $(made) $(($(made) - 1))"
yes "$dir/in2" | head -n 3000 >"$dir/lines"
expect 0 "^$((3000 - $(made))) jobs, .* were there" given_again
same "jobs of a killed command, given again" "$(made)" 3000
sql -e "DELETE FROM $database.result WHERE name LIKE 'killed\_%'; DELETE FROM $database.workunit WHERE name LIKE 'killed\_%'"
sql -e "DELETE FROM $database.result WHERE name REGEXP '^(piece|part)_'; DELETE FROM $database.workunit WHERE name REGEXP '^(piece|part)_'"
echo strict >"$dir/in4"
chmod 600 "$dir/in4"
echo "--wu_name piece_4 $dir/in4" >"$dir/lines"
expect 0 '^1 job, 1 result$' strict from_lines
same "folders of input files that others cannot enter" "$(closed)" ""
within=$(dirname "$(find "$project/download" -name 'in4*')")
chmod 0700 "$within"
expect 0 "download_dir: 1 folder in .*/download, such as ${within##*/}, closed to other users" in_project check-config
chmod 0755 "$within"
same "folders that are open and named" "$(in_project check-config | grep -c 'closed to other users')" 0
same "input files that others cannot read" "$(find "$project/download" -name 'in4*' -perm -0444 | wc -l)" 1
sql -e "DELETE FROM $database.result WHERE name LIKE 'piece\_4%'; DELETE FROM $database.workunit WHERE name = 'piece_4'"
echo "--wu_name $(head -c 5000 /dev/zero | tr '\0' x)" >"$dir/lines"
from_lines >"$dir/said" 2>&1
same "a line that is too long" "$(grep -c 'line 1: more than 4095 bytes' "$dir/said")" 1

# Jobs for given hosts, users or teams: no results yet, and the transitioner leaves them alone.
sql -e "SET sql_mode = ''; INSERT INTO $database.host SET id = 42, userid = 1;
    INSERT INTO $database.team SET id = 3, name = 'T', userid = 1, type = 1"
for_whom() {
    local name=$1
    shift
    in_project jobs create --app demo --in "$demo/in.xml" --out "$QM_SOURCE_DIR/templates/none_out.xml" --name "$name" "$@" "$dir/in1"
}
expect 2 'needs --for' for_whom x --multi
expect 2 'made by the server' for_whom x --for host:42 --transitioner
for whom in host host:0 host:x land:1 '' host:; do
    expect 1 'must be host:ID, user:ID, team:ID or all' for_whom x --for "$whom"
done
expect 1 'not for a host' for_whom x --for host:42 --multi
expect 1 'there is no user:99' for_whom x --for user:99
expect 0 'warning: enable_assignment is off' for_whom to_host --for host:42
same "a job for a host has one instance" "$(sql -e "SELECT max_total_results, max_error_results, max_success_results
    FROM $database.workunit WHERE name = 'to_host'" | tr '\t' ' ')" '1 1 1'
expect 1 'one host gets one instance of a job' for_whom x --for host:42 --target_nresults 2
sed -i 's|</config>|<enable_assignment/><enable_assignment_multi/></config>|' "$project/config.xml"
expect 0 '^job to_user$' for_whom to_user --for user:1
expect 0 '^job to_team$' for_whom to_team --for team:3 --multi
expect 0 '^job to_all$' for_whom to_all --for all
same "no warning with the options on" "$(grep -c warning "$dir/said")" 0
seq -f '--wu_name each_%.0f '"$dir/in1" 600 >"$dir/lines"
from_lines --for user:1 >"$dir/said" 2>&1
same "600 jobs for a user" "$(sql -e "SELECT COUNT(*), COUNT(DISTINCT workunitid), MIN(target_type), MAX(target_id),
    MAX(multi) FROM $database.assignment a JOIN $database.workunit w ON w.id = workunitid
    WHERE w.name LIKE 'each%'" | tr '\t' ' ')" '600 600 2 1 0'
same "assignments" "$(sql -e "SELECT w.name, target_type, target_id, multi, transitioner_flags, transition_time
    FROM $database.assignment JOIN $database.workunit w ON w.id = workunitid WHERE w.name LIKE 'to%'
    ORDER BY w.id" | tr '\t' ' ')" 'to_host 1 42 0 2 2147483647
to_user 2 1 0 2 2147483647
to_team 3 3 1 1 2147483647
to_all 0 0 1 1 2147483647'
same "no results of them" "$(sql -e "SELECT COUNT(*) FROM $database.result WHERE name LIKE 'to%' OR name LIKE 'each%'")" 0
sql -e "DELETE FROM $database.workunit WHERE name LIKE 'to%' OR name LIKE 'each%'; DELETE FROM $database.assignment;
    DELETE FROM $database.host WHERE id = 42"

# --- classes of homogeneous redundancy, estimates
expect 1 'no application "deno"; did you mean demo' in_project app classes deno
expect 0 '^no classes$' in_project app classes demo
sql -e "SET sql_mode = ''; UPDATE $database.app SET homogeneous_redundancy = 2;
    UPDATE $database.workunit SET hr_class = IF(id % 2, 258, 514) WHERE name LIKE 'many%';
    INSERT INTO $database.host SET id = 42, userid = 1, rpc_time = UNIX_TIMESTAMP(), os_name = 'Linux', p_vendor = 'GenuineIntel'"
expect 3 '^ +514 +Darwin +5000 +0 +0 +DIED OUT' in_project app classes demo
same "the other class" "$(grep -cE '^ +258 +Linux +5000 +0 +1 +ok$' "$dir/said")" 1
expect 0 'unfinished jobs stay bound to classes of the former kind' in_project app set demo --homogeneous_redundancy 1
expect 0 '^\{"class": 514, "released": 5000, "kept": 0\}$' in_project app classes demo --release 514 --json
same "jobs of the other class" "$(sql -e "SELECT COUNT(*) FROM $database.workunit WHERE hr_class = 258")" 5000
sql -e "UPDATE $database.workunit SET hr_class = 0; UPDATE $database.app SET homogeneous_redundancy = 0; DELETE FROM $database.host WHERE id = 42"
expect 0 '^demo +all +0 +0.000 .*too few results to tell$' in_project app estimates
sql -e "UPDATE $database.result SET server_state = 5, outcome = 1, elapsed_time = 3600, flops_estimate = 4e9, app_version_id = 1
    WHERE name LIKE 'many%' ORDER BY id LIMIT 20"
expect 0 '"version": "demo 1.00 x86_64-pc-linux-gnu", "results": 20, .*"advice": "rsc_fpops_est is ' in_project app estimates demo --json
sql -e "UPDATE $database.result SET server_state = 2, outcome = 0 WHERE server_state = 5 AND name LIKE 'many%'"
sql -e "SET sql_mode = ''; INSERT INTO $database.host_app_version SET host_id = 42, app_version_id = 1, et_n = 5"
expect 0 'would reset the statistics of demo, of 1 pairs' in_project app forget demo --dry-run
expect 0 '^\{"app": "demo", "host_versions": 1\}$' in_project app forget demo --yes --json
sql -e "DELETE FROM $database.host_app_version"

# --- what cannot be undone is asked for at a terminal, and needs --yes elsewhere
asked() { # ANSWER COMMAND...
    local answer=$1
    shift
    script -qec "$(printf '%q ' "$qmctl" --project "$project" "$@")" /dev/null <<<"$answer"
}
sql -e "SET sql_mode = ''; INSERT INTO $database.host SET id = 42, userid = 1; INSERT INTO $database.host SET id = 41, userid = 99;
    INSERT INTO $database.batch SET id = 7, name = 'seven', state = 1;
    INSERT INTO $database.result SET name = 'lost', workunitid = 99999999, server_state = 2;
    INSERT INTO $database.result SET name = 'left', workunitid = (SELECT MIN(id) FROM $database.workunit), server_state = 4, hostid = 41"
counts() { sql -e "SELECT (SELECT COUNT(*) FROM $database.workunit WHERE error_mask = 0), (SELECT COUNT(*) FROM $database.host),
    (SELECT COUNT(*) FROM $database.user)"; }
before=$(counts)
mkdir -p "$project/buda_apps/fold"
echo '{"name": "fold"}' >"$project/buda_apps/fold/desc.json"
asking=0
while read -r -a words; do
    case ${words[*]} in
    "user delete") words+=(ada@example.org) ;;
    "host delete") words+=(42) ;;
    "app forget") words+=(demo) ;;
    "buda forget") words+=(fold) ;;
    "jobs cancel") words+=(--batch 7) ;;
    "batch abort") words+=(7) ;;
    "host sweep" | "jobs sweep") words+=(--delete) ;;
    "files delete") words+=(genome --host 42) ;;
    "files sweep") words+=(--delete) ;;
    purge) words+=(--no-archive) ;;
    *) words+=(whatever) ;;
    esac
    expect 2 'cannot be undone: without a terminal to ask at it needs --yes' in_project "${words[@]}"
    expect 1 'This cannot be undone. Type .* nothing was done' joined asked no "${words[@]}"
    asking=$((asking + 1))
done < <("$qmctl" --help | sed -n 's/^  \([a-z][a-z-]* \?[a-z]*\)  .*/\1/p' | while read -r words; do
    # shellcheck disable=SC2086 # two words are two arguments
    "$qmctl" $words --help | grep -q '^  --yes ' && echo "$words"
done | grep -v '^adopt$') # which asks too: adoption.sh
rm -r "$project/buda_apps"
same "commands that ask" "$asking" 11
same "and do nothing meanwhile" "$(counts)" "$before"
expect 0 'deleted: 1 host' asked 42 host delete 42
expect 0 '^1 host whose account is gone .--delete deletes.$' in_project host sweep
expect 0 '^1 host whose account is gone .--delete deletes.$' in_project host sweep --delete --dry-run
expect 0 '^\{"hosts": 1, "results": 1\}$' in_project host sweep --delete --yes --json
expect 0 '^0 hosts deleted; 0 results' in_project host sweep --delete --yes
sql -e "UPDATE $database.result SET hostid = 41 WHERE name = 'left'"
expect 0 '^1 result whose job is gone, 1 whose host is gone .--delete' in_project jobs sweep
expect 0 '^1 result whose job is gone, 1 whose host is gone .--delete' in_project jobs sweep --delete --dry-run
expect 0 '^1 result whose job is gone, 1 whose host is gone: the former were deleted' in_project jobs sweep --delete --yes
expect 0 '^\{"without_job": 0, "without_host": 0, "looked_at": [0-9]+\}$' in_project jobs sweep --delete --json
sql -e "DELETE FROM $database.result WHERE name = 'left'"

expect 0 '^demo +10001 +0 +0 ' in_project queue
expect 0 '"unsent": 10000.*"batch": 7' in_project queue --by-batch --json
expect 0 '^\{"jobs": 1, "unsent": 1, "in_progress": 0\}$' in_project jobs cancel single --yes --json
expect 1 'the job is left alone .finished, or cancelled before.$' in_project jobs cancel single --yes
expect 1 'no such job' in_project jobs cancel nobody
# Every change selects jobs alike, and counts them beforehand.
printf '# some\n\nmany_1\nmany_2\nmny_3\n' >"$dir/names"
for change in cancel priority retry revalidate transition; do
    which=(jobs "$change")
    [ $change != priority ] || which+=(--priority 5)
    expect 2 "jobs $change needs a job's name, --name, --file, --ids, --batch, --app or --lost" in_project "${which[@]}"
    expect 2 'neither a number nor two' in_project "${which[@]}" --ids 7-
    expect 2 "jobs $change takes the name of one job; for several, --file$" in_project "${which[@]}" many_1 many_2
    expect 2 'an empty name stands for all jobs' in_project "${which[@]}" --name ''
    expect 0 '^0 jobs' in_project "${which[@]}" --lost --dry-run
    expect 1 'no application "dmeo"' in_project "${which[@]}" --app dmeo
    expect 1 'there is no such job .qmctl jobs list' in_project "${which[@]}" --name nobody --dry-run
    expect 1 'nowhere: No such file' in_project "${which[@]}" --file "$dir/nowhere"
    expect 2 'names stand there' in_project "${which[@]}" many_1 --file "$dir/names"
    expect 0 '^\{"jobs": [0-9]+, "left_alone": [0-9]+\}$' in_project "${which[@]}" --batch 7 --dry-run --json
done
expect 2 'needs --priority N' in_project jobs priority --batch 7
expect 1 '1 name in the list without a job; the first is "mny_3", line 5$' \
    in_project jobs priority --file "$dir/names" --priority -5
same "of which the others are done" "$(sql -e "SELECT COUNT(*) FROM $database.workunit JOIN $database.result r
    ON r.workunitid = workunit.id WHERE workunit.priority = -5 AND r.priority = -5")" 2
expect 1 'the first is "mny_3"' sh -c "'$qmctl' --project '$project' jobs priority --file - --priority 0 <'$dir/names'"
expect 0 '^0 jobs would be tried again; left alone: 10000 jobs .not failed, cancelled, or with lost input files.$' in_project jobs retry --batch 7 --dry-run
expect 0 '10000 jobs cancelled' asked 7 jobs cancel --batch 7
expect 0 $'^demo\t0\t0\t10001' in_project queue --tsv
expect 2 'needs a job' in_project jobs cancel
expect 1 'no such host' in_project host 99
expect 1 'there is no host 99 .qmctl hosts' in_project host ban 99
expect 2 '"x" is not the number of a host' in_project host clear x
expect 2 '"fast" is none of newest, contact, failures, jobs, speed' in_project hosts --order fast
expect 1 'there is no platform "linux" .qmctl platform list' in_project hosts --platform linux
expect 1 'there is no account "nobody"' in_project hosts --user nobody
sql -e "SET sql_mode = ''; INSERT INTO $database.host SET id = 42, rpc_time = UNIX_TIMESTAMP();
    INSERT INTO $database.host_app_version SET host_id = 42, app_version_id = 3, n_jobs_today = 5,
        max_jobs_per_day = 4"
sed -i 's|<daily_result_quota>500<|<daily_result_quota>0<|' "$project/config.xml"
expect 0 'app version 3: 5 jobs today, no quota' in_project host 42
sql -e "SET sql_mode = ''; UPDATE $database.host SET userid = 1 WHERE id = 42; INSERT INTO $database.host SET id = 43, userid = 99;
    INSERT INTO $database.qm_host_fate VALUES (42, 9, 9, UNIX_TIMESTAMP())"
expect 0 '^\{"id": 42, "user": "ada@example.org",.*"in_progress": 0, "ended": 9, "failed": 9, .*"state": "FAILS"\}$' \
    in_project hosts --days 1 --json
expect 0 '^\{"host": 42, "banned": 1, "was_banned": 0\}$' in_project host ban 42 43 --json
same "both are banned" "$(in_project hosts --banned --order failures --tsv | cut -f 1,13 | tail -n +2)" $'42\tBANNED\n43\tBANNED'
expect 0 'banned: it gets no jobs' in_project host 42
expect 0 '^host 42 was banned before$' in_project host ban 42
expect 0 '^host 42 may get jobs again$' in_project host unban 42 43
expect 0 '^host 42 was not banned$' in_project host unban 42
same "nor is any shown so" "$(in_project hosts --tsv | cut -f 1,13 | tail -n +2)" $'43\tno owner\n42\tFAILS'
expect 0 '^host 42: quotas of 1 version and counts of failures reset$' in_project host clear 42
expect 0 '"failed": 0, .*"state": "ok"' in_project hosts --user ada@example.org --json
expect 0 'app version 3: 0 jobs today' in_project host 42
sql -e "UPDATE $database.host_app_version SET n_jobs_today = 5, max_jobs_per_day = 4; DELETE FROM $database.host WHERE id = 43;
    UPDATE $database.host SET userid = 0"

# --- settings of accounts
expect 2 'needs at least one setting' in_project user set ada@example.org
expect 2 'needs an e-mail address or --id' in_project user set --name Ada
expect 2 '"perhaps" is neither yes nor no' in_project user set ada@example.org --donated perhaps
expect 2 '"ada" is not an e-mail address' in_project user set ada@example.org --email ada
expect 1 'there is no such account' in_project user set nobody@example.org --name x
expect 2 'unknown option --total_credit' in_project user set ada@example.org --total_credit 5
before=$(sql -e "SELECT total_credit, authenticator, passwd_hash, teamid FROM $database.user WHERE id = 1")
expect 0 '^user 1: 4 settings written$' in_project user set ada@example.org --country Peru --send-email no --own-jobs-only yes --donated yes
expect 0 '"country": "Peru", .*"send_email": 0, .*"donated": 1, "own_jobs_only": 1' in_project user show --id 1 --json
expect 0 'own_jobs_only +yes' joined in_project user show ada@example.org
expect 0 'the old password does not fit' in_project user set ada@example.org --email Lovelace@Example.org --own-jobs-only no
same "the former address" "$(sql -e "SELECT email_addr, previous_email_addr, email_addr_change_time > 0, seti_id, country
    FROM $database.user WHERE id = 1" | tr '\t' ' ')" 'lovelace@example.org ada@example.org 1 0 Peru'
expect 0 '1 setting written' in_project user set --id 1 --email ada@example.org
same "all else" "$(sql -e "SELECT total_credit, authenticator, passwd_hash, teamid FROM $database.user WHERE id = 1")" "$before"
expect 0 '^\{"id": 42, .*"error": 0\}$' in_project host 42 --json
sed -i 's|<daily_result_quota>0<|<daily_result_quota>8<|' "$project/config.xml"
expect 0 'app version 3: 5 jobs today, of at most 4 for each processor' in_project host 42
sql -e "UPDATE $database.host SET rpc_time = rpc_time - 100000 WHERE id = 42"
expect 0 'app version 3: 0 jobs today' in_project host 42
sql -e "DELETE FROM $database.host WHERE id = 42; DELETE FROM $database.host_app_version"

# --- files on hosts
expect 1 'files_db_name is not set' in_project files --host 7
sed -i "s|</config>|<files_db_name>${database}_files</files_db_name><deletion_policy_expire/></config>|" \
    "$project/config.xml"
expect 0 'warning: file database: .*qmctl files init' in_project check-config
expect 1 'denied' in_project files init
expect 0 ' exists' in_project files init --db-admin root
expect 0 'on all tables' in_project deploy mariadb --db-admin root --apply
expect 0 "^\{\"files_db_name\": \"${database}_files\"\}\$" in_project files init --json --db-admin root
expect 0 'warning: .*config.xml:[0-9]+: deletion_policy_expire: .*60 days' in_project check-config
sql -e "ALTER TABLE ${database}_files.file_order DROP tries, DROP ended, DROP outcome"
expect 0 'warning: file database: .*qmctl files init' in_project check-config
expect 0 ' exists' in_project files init --db-admin root
empty_list files --host 7
empty_list files --file genome
empty_list files orders
sql -e "INSERT INTO ${database}_files.host_file VALUES
    (7, 'genome', 3e9, 1, 1, 9, 100, 200, 150), (8, 'genome', 3e9, 1, 5, 9, 100, 200, 150),
    (7, 'coming', 5, 0, 1, 9, 0, 0, 150)"
same "files of a host" "$(in_project files --host 7 --tsv | cut -f 1-3 | tail -n +2)" $'7\tgenome\t3000000000'
same "hosts of a file" "$(in_project files --file genome --tsv | cut -f 1 | tail -n +2)" $'7\n8'
expect 0 'there are more: --after 7' in_project files --file genome --most 1
same "the rest of the hosts" "$(in_project files --file genome --after 7 --tsv | cut -f 1 | tail -n +2)" 8
expect 0 'there are more' in_project files --host 7 --most 1
expect 2 'needs --host' in_project files delete genome
expect 0 'host 7 gets the order to delete genome' in_project files delete genome --host 7 --yes
expect 0 'host 7 does not list log' in_project files get log --host 7
expect 0 'host 8 gets the order to send in1' in_project files send "$dir/in1" --host 8
expect 1 'no-such-file' in_project files send no-such-file --host 8
expect 0 '^ *8 +in1 +send +waits ' in_project files orders --host 8
same "an upload certificate" "$(sql -e "SELECT xml FROM ${database}_files.file_order WHERE action = 2" |
    grep -c '<xml_signature>')" 1
fanout=$(sed -n 's|.*<uldl_dir_fanout>\(.*\)</uldl_dir_fanout>.*|\1|p' "$project/config.xml")
digits=$(printf log | md5sum)
folder=$(printf '%x' $((16#${digits:1:7} % fanout)))
mkdir -p "$project/upload/$folder"
echo data >"$project/upload/$folder/log"
expect 0 '^ *7 +log +get +done ' in_project files orders --host 7
same "an order that is done" "$(sql -e "SELECT COUNT(*) FROM ${database}_files.file_order
    WHERE hostid = 7 AND ended > 0")" 1
expect 1 'log already exists in upload_dir' in_project files get log --host 7
sql -e "UPDATE ${database}_files.file_order SET created = 1 WHERE name = 'in1'"
expect 0 '^ *8 +in1 +send +expired ' in_project files orders
expect 0 'host 8 gets the order to send in1' in_project files send "$dir/in1" --host 8
expect 0 '^ *8 +in1 +send +waits ' in_project files orders
sql -e "UPDATE ${database}_files.file_order SET ended = 1 WHERE ended > 0"
same "ends are forgotten" "$(in_project files orders --tsv | grep -c log)" 0
expect 1 'neither .* nor msg_to_host' in_project files delete genome --host 7 --message --yes
echo unsent >"$dir/unsent_1"
expect 1 'neither .* nor msg_to_host' in_project files send "$dir/unsent_1" --host 7 --message
same "what is left of it" "$(find "$project/download" -name 'unsent_1')" ''
sed -i "s|</config>|<msg_to_host/></config>|" "$project/config.xml"
expect 0 '^\{"host": 7, "order": "delete", "file": "genome"\}$' in_project files delete genome --host 7 --message --yes --json
same "a message" "$(sql -e "SELECT xml FROM $database.msg_to_host WHERE hostid = 7")" \
    '<delete_file_info>genome</delete_file_info>\n'

# exp_days becomes sticky_lifetime, now that the policy is on.
sed 's|<file_info>|<file_info><sticky/><exp_days>10</exp_days>|' "$demo/in.xml" >"$project/templates/kept_in.xml"
expect 0 'job kept' in_project jobs create --app demo --in templates/kept_in.xml --out "$QM_SOURCE_DIR/templates/none_out.xml" \
    --name kept "$dir/in1"
same "sticky_lifetime" "$(sql -e "SELECT xml_doc FROM $database.workunit WHERE name = 'kept'" |
    grep -c '<sticky_lifetime>864000</sticky_lifetime>')" 1

# --- a host goes, though the database drops the connection in the midst
sql -e "SET sql_mode = ''; INSERT INTO $database.host SET id = 8, userid = 1; CREATE TABLE $database.post (user INT)"
sql "$database" -e "BEGIN; SELECT id FROM host WHERE id = 8 FOR UPDATE; SELECT SLEEP(60)" >/dev/null 2>&1 &
locker=$!
# runs_query PATTERN: by a connection to this database, in $id.
runs_query() {
    id=$(sql -e "SELECT id FROM information_schema.processlist WHERE db = '$database' AND info LIKE '$1' LIMIT 1")
    [ -n "$id" ]
}
within 10 runs_query 'SELECT SLEEP%'
lock=$id
in_project host delete 8 --yes >"$dir/deleted" 2>&1 </dev/null &
deleter=$!
within 10 runs_query '%FOR UPDATE%'
sql -e "KILL $id; KILL $lock"
wait "$deleter"
same "deleting goes on by another connection" "$? $(grep '^deleted' "$dir/deleted")" \
    "0 deleted: 1 host; 0 results made anonymous"
wait "$locker" 2>/dev/null
same "of the host is left" "$(sql -e "SELECT COUNT(*) FROM $database.host WHERE id = 8")" 0
same "and of its files and orders" "$(sql -e "SELECT (SELECT COUNT(*) FROM ${database}_files.host_file WHERE hostid = 8) +
    (SELECT COUNT(*) FROM ${database}_files.file_order WHERE hostid = 8)")" 0
same "tables that are not known are named" "$(grep -c '^not examined, although it may contain personal data: table post$' "$dir/deleted")" 1
sql -e "DROP TABLE $database.post; DROP DATABASE ${database}_files"

# --- keys
expect 0 '^\{"old_key": "old_key_0", "versions": 1\}$' in_project keys rotate --json
expect 0 '^old_key_0 ' in_project keys

# --- no more jobs, and again
expect 0 '^\{"drained": "yes", "was_drained": "no"\}$' in_project drain --json
expect 0 'but take reports; qmctl resume ends this \(as before\)' in_project drain
expect 0 '^the servers hand out jobs$' in_project resume
expect 0 '\(as before\)$' in_project resume
same "nothing is left of it" "$(find "$project" -name stop_work)" ""

# --- check-config
expect 0 '0 errors' in_project check-config
sed -i 's|<joining>1</joining>|&<account_creation_rpc_require_consent>1</account_creation_rpc_require_consent>|' "$project/config.xml"
expect 1 'consent: without terms_of_use.txt .* nobody can join' in_project check-config
echo 'Be kind.' >"$project/terms_of_use.txt"
expect 0 '0 errors' in_project check-config
grep -q 'edf_min_queue' "$dir/said" && { echo "FAILED: a deadline of days is none to warn of"; failures=$((failures + 1)); }
sql -e "UPDATE $database.workunit SET delay_bound = 43200 ORDER BY id DESC LIMIT 1"
in_project check-config | grep 'edf_min_queue' && { echo "FAILED: nobody idles"; failures=$((failures + 1)); }
# Hosts store a day of work; the client of one is an old one, of another nobody knows which. One does
# not come any more.
sql -e "SET sql_mode = ''; UPDATE $database.user SET global_prefs =
    '<global_preferences><work_buf_min_days>1</work_buf_min_days></global_preferences>' WHERE id = 1;
    INSERT INTO $database.host (userid, rpc_time, misc) VALUES
    (1, UNIX_TIMESTAMP(), '{\"client_version\":\"6.12.34\"}'),
    (1, UNIX_TIMESTAMP(), '{\"client_version\":\"8.0.2\"}'),
    (1, UNIX_TIMESTAMP(), ''),
    (1, UNIX_TIMESTAMP() - 31 * 86400, '{\"client_version\":\"5.10.45\"}')"
expect 0 'jobs of demo are due 12.0 hours .* 1 of the 3 hosts .* older than 7.0: .* 1.00 to 1.00 days.*when_not_idle' \
    in_project check-config
sed -i 's|</config>|<edf_min_queue>always</edf_min_queue></config>|' "$project/config.xml"
expect 0 'warning: jobs of demo are due 12.0 hours .* 3 of the 3 hosts' in_project check-config
# Whatever number a volunteer writes.
sql -e "UPDATE $database.user SET global_prefs = REPLACE(global_prefs, '>1<', '>1e300<') WHERE id = 1"
expect 0 'warning: jobs of demo are due 12.0 hours .* 3 of the 3 hosts' in_project check-config
sql -e "UPDATE $database.user SET global_prefs = REPLACE(global_prefs, '>1e300<', '>1<') WHERE id = 1"
sed -i 's|<edf_min_queue>always</edf_min_queue>||' "$project/config.xml"
sed -i 's|</config>|<edf_min_queue>when_not_idle</edf_min_queue></config>|' "$project/config.xml"
in_project check-config | grep 'edf_min_queue' && { echo "FAILED: a warning heeded"; failures=$((failures + 1)); }
sed -i 's|when_not_idle</edf|when_idle</edf|' "$project/config.xml"
expect 1 'config.xml:[0-9]+: edf_min_queue is "when_idle"; it must be one of by_client, always,' in_project check-config
same "how often it is said" "$(grep -c 'edf_min_queue is' "$dir/said")" 1
sed -i 's|when_idle</edf|never</edf|' "$project/config.xml"
for folder in upload download; do
    chmod o+w "$project/$folder"
    expect 0 "warning: .*config.xml:[0-9]+: ${folder}_dir: everybody on this machine .*chmod o-w" in_project check-config
    chmod o-w "$project/$folder"
done
in_project check-config | grep 'everybody on' && { echo "FAILED: a warning heeded"; failures=$((failures + 1)); }
# Each thing that is missing or wrong is told. changed COMMAND...: what is done to config.xml, for one look.
look() { # STATUS PATTERN CHANGE-OF-SED
    cp "$project/config.xml" "$dir/config.before"
    sed -i "$3" "$project/config.xml"
    expect "$1" "$2" in_project check-config
    cp "$dir/config.before" "$project/config.xml"
}
for option in master_url long_name download_url upload_url; do
    look 1 "error: config.xml: $option is not given" "/<$option>/d"
done
look 0 'anybody can upload' 's|</config>|<ignore_upload_certificates/>&|'
look 0 'refuses files of jobs without a certificate' 's|</config>|<dont_generate_upload_certificates/>&|'
look 1 'octal digits up to 0777' 's|</config>|<fuh_set_completed_permission>888</fuh_set_completed_permission>&|'
look 0 'without files_db_name no file' 's|</config>|<delete_from_self/>&|; s|<files_db_name>.*</files_db_name>||'
look 1 'error: .*config.xml:[0-9]+: db_name: the database is not there' 's|<db_name>.*</db_name>|<db_name>nowhere_at_all</db_name>|'
chmod 644 "$project/keys/upload_private"
expect 0 'upload_private can be read by others' in_project check-config
chmod 600 "$project/keys/upload_private"
mv "$project/upload" "$project/templates" "$dir"
expect 1 'error: .*config.xml:[0-9]+: upload_dir: .*/upload: No such file' in_project check-config
expect 1 'warning: the folder templates is missing' in_project check-config
mv "$dir/upload" "$dir/templates" "$project"
echo '<config/>' >"$project/plan_class_spec.xml"
expect 1 'not a <plan_classes> file' in_project check-config
rm "$project/plan_class_spec.xml"
mkdir -p "$project/buda_apps/fold" "$project/buda_apps/other"
echo '{"name": "fold", "long_name": "Fold"}' >"$project/buda_apps/fold/desc.json"
echo '{' >"$project/buda_apps/other/desc.json"
expect 0 'warning: buda_apps/other/desc.json: line 2 is no JSON' in_project check-config
expect 0 'warning: buda_apps/fold/desc.json: there is no variant that can be used' in_project check-config
expect 1 'buda_apps/other/desc.json +line 2 is no JSON' in_project buda check
expect 1 '"file": "buda_apps/fold/desc.json", "words": "there is no variant that can be used"' in_project buda check --json
sql -e "SET sql_mode = ''; INSERT INTO $database.workunit SET id = 9000001, name = 'science', appid = 1, xml_doc = '<workunit><buda_app_name>fold</buda_app_name></workunit>';
    INSERT INTO $database.workunit SET id = 9000002, name = 'nobodys', appid = 1, xml_doc = '<workunit><buda_app_name>none</buda_app_name></workunit>';
    INSERT INTO $database.result SET id = 9000001, workunitid = 9000001, appid = 1, name = 'science_0', server_state = 2;
    INSERT INTO $database.result SET id = 9000002, workunitid = 9000002, appid = 1, name = 'nobodys_0', server_state = 4"
expect 0 'warning: buda_apps: 1 waiting job for the science app fold' in_project check-config
expect 0 $'^fold\tFold\t0\t1\t0' in_project buda list --tsv
expect 0 $'^none\t\t0\t0\t1' in_project buda list --tsv
mkdir "$project/buda_apps/fold/arm_cpu"
echo '{"cpu_type": "arm", "plan_class": "", "file_infos": "<file_info/>", "file_refs": "<file_ref/>"}' >"$project/buda_apps/fold/arm_cpu/variant.json"
rm -r "$project/buda_apps/other"
expect 0 '' in_project buda check
expect 0 $'^arm_cpu\tarm\t\t23' in_project buda show fold --tsv
expect 0 '"app": "fold", "long_name": "Fold", "variants": 1, "unsent": 1, "in_progress": 0' in_project buda list --json
expect 1 'there is no science app' in_project buda show fald
sql -e "SET @variant = CONV(LEFT(MD5('fold/arm_cpu'), 15), 16, 10); SET sql_mode = '';
    INSERT INTO $database.result SET id = 9000003, name = 'science_1', workunitid = 9000001, appid = 1, server_state = 5, outcome = 1,
        elapsed_time = 100, flops_estimate = 2e9, app_version_id = 1;
    INSERT INTO $database.result SET id = 9000004, name = 'science_2', workunitid = 9000001, appid = 1, server_state = 5, outcome = 3;
    UPDATE $database.workunit SET rsc_fpops_est = 1e12 WHERE id = 9000001;
    INSERT INTO $database.qm_result_variant VALUES (9000003, @variant), (9000004, @variant);
    INSERT INTO $database.qm_host_variant VALUES (1, @variant, 4, 5e-10, 0, 0), (2, @variant, 1, 5e-10, 0, 0)"
expect 0 $'^arm_cpu\tarm\t\t23\t0\t1\t1\t0\t2\t2.000' in_project buda show fold --tsv
expect 0 'demo.*, fold/arm_cpu +1 ' in_project app estimates demo
expect 0 'would forget the run times of fold, of 2 pairs' in_project buda forget fold --dry-run
expect 0 '^\{"app": "fold", "host_variants": 2\}$' in_project buda forget fold --yes --json
expect 0 $'^arm_cpu\tarm\t\t23\t0\t1\t1\t0\t0\t' in_project buda show fold --tsv
mkdir "$project/buda_apps/fold/intel_cpu"
sed 's/arm/intel/' "$project/buda_apps/fold/arm_cpu/variant.json" >"$project/buda_apps/fold/intel_cpu/variant.json"
sql -e "UPDATE $database.app SET homogeneous_app_version = 1; UPDATE $database.app_version SET plan_class = 'docker'"
expect 0 'warning: app demo: homogeneous_app_version binds a job to a version of the wrapper, not to a variant of its science app, as fold has' \
    in_project check-config
rm -r "$project/buda_apps/fold/intel_cpu"
same "one variant binds by itself" "$(in_project check-config | grep -c 'binds a job to')" 0
sql -e "UPDATE $database.app SET homogeneous_app_version = 0; UPDATE $database.app_version SET plan_class = ''"
sql -e "DELETE FROM $database.workunit WHERE id > 9000000; DELETE FROM $database.result WHERE id > 9000000"
rm -r "$project/buda_apps"
sql "$database" -e "SET sql_mode = ''; INSERT INTO workunit (name, appid, rsc_fpops_est, delay_bound, assimilate_state, error_mask)
    SELECT CONCAT('slack_', seq), (SELECT id FROM app WHERE name = 'demo'), 1e13, 40000 * POW(10, seq - 1), 2, 0 FROM seq_1_to_2"
sed -i 's|</config>|<extend_deadlines>1</extend_deadlines></config>|' "$project/config.xml"
expect 0 'some jobs of demo with priority 0 have [0-9]+ times as long .* a higher priority; .* set deadline_margin 2,' in_project check-config
sed -i 's|<extend_deadlines>.*</extend_deadlines>|<extend_deadlines>0</extend_deadlines>|' "$project/config.xml"
expect 0 'some jobs of demo with priority 0 have [0-9]+ times as long .* Set deadline_margin 3,' in_project check-config
sql -e "UPDATE $database.workunit SET priority = 100 + RIGHT(name, 1) WHERE name LIKE 'slack\_%'"
in_project check-config >"$dir/said"
same "warnings of tight jobs that go first" "$(grep -c 'with priority 10[12] have .* times as long' "$dir/said")" 0
sed -i 's|<extend_deadlines>0</extend_deadlines>||' "$project/config.xml"
sql -e "DELETE FROM $database.workunit WHERE name LIKE 'slack\_%'"
sql -e "UPDATE $database.app_version SET plan_class = 'none_such' LIMIT 1"
expect 0 'app_version [0-9]+: there is no plan class none_such, so it is never sent' in_project check-config
sql -e "UPDATE $database.app_version SET plan_class = ''"
sql -e "UPDATE $database.app SET target_nresults = 2 LIMIT 1"
expect 0 'app [a-z]*: target_nresults is 2, but without one_result_per_user_per_wu a host may be' in_project check-config
sql -e "UPDATE $database.app SET target_nresults = 100 LIMIT 1"
expect 0 'target_nresults is 100; at most 99 results of a job are compared' in_project check-config
sql -e "UPDATE $database.app SET target_nresults = 0"
sed 's|<max_total_results>.*|<max_total_results>2</max_total_results>|' "$demo/in.xml" >"$project/templates/less_in.xml"
expect 1 'templates/less_in.xml: max_error_results \(3\) must not be above max_total_results \(2\)' in_project check-config
rm "$project/templates/less_in.xml"
empty() { # TABLE STATUS PATTERN
    sql -e "RENAME TABLE $database.$1 TO $database.kept; CREATE TABLE $database.$1 LIKE $database.kept"
    expect "$2" "$3" in_project check-config
    sql -e "DROP TABLE $database.$1; RENAME TABLE $database.kept TO $database.$1"
}
empty app 1 'there is no application' # of the jobs that there are
empty app_version 0 'no application has a version'
empty platform 1 'there are no platforms'
sql -e "ALTER TABLE $database.host_app_version DROP PRIMARY KEY"
expect 0 'table host_app_version has no primary key.*ADD PRIMARY KEY \(host_id, app_version_id\)' in_project check-config
sql -e "ALTER TABLE $database.host_app_version ADD PRIMARY KEY (host_id, app_version_id)"
# The server's own check says the same.
server() { "$QM_BINARY_DIR/quartermaster" --project "$project" --check-config; }
rm "$project/keys/upload_public"
expect 1 'error: .*upload_public' in_project check-config
expect 1 'error: .*upload_public' server
same 'what both checks say' "$(server 2>&1)" "$(in_project check-config --no-web)"
expect 1 '"severity": "error", "topic": "keys", "words": ".*upload_public' in_project check-config --json
mv "$project/keys/code_sign_public" "$dir"
expect 1 'error: .*code_sign_public' server
mv "$dir/code_sign_public" "$project/keys"
sed -i 's|<long_name>.*|<long_name>A|; s|<uldl_dir_fanout>.*|<uldl_dir_fanout>many</uldl_dir_fanout>|' \
    "$project/config.xml"
expect 1 'config.xml:[0-9]+: ' in_project check-config
expect 1 'config.xml:[0-9]+: ' server
expect 1 'config.xml' in_project queue
expect 1 . "$qmctl" --project "$dir/nowhere" queue

# --- root works for the project's owner: what it makes belongs to whom the folder belongs to
if [ "$(id -u)" = 0 ]; then
    expect 0 'config.xml +made' "$qmctl" init "$dir/theirs" --url http://127.0.0.1:1/demo --name Theirs \
        --db-name "$database" --db-user root --db-socket "$QM_TEST_SOCKET"
    chown -R nobody:nogroup "$dir/theirs"
    in_project() { "$qmctl" --project "$dir/theirs" "$@"; }
    expect 0 . in_project app add theirs
    sql -e "DELETE FROM $database.app_version" # of keys that this project does not have
    expect 0 . in_project version add theirs 1.00 x86_64-pc-linux-gnu "$demo/app"
    expect 0 'old_key_0' in_project keys rotate
    expect 0 . in_project jobs create --app theirs --in "$demo/in.xml" --out "$demo/out.xml" "$QM_SOURCE_DIR/LICENSE"
    expect 0 . in_project drain
    expect 0 . in_project purge --min-age-days 0
    rm "$dir/theirs/html/user/index.html"
    expect 0 'master page +made' "$qmctl" init "$dir/theirs"
    same "files and folders that are root's" "$(find "$dir/theirs" -user root)" ""
    same "files that root made" "$(find "$dir/theirs" -name 'old_private_0' -o -name stop_work -o -path '*/download/*' -type f | wc -l)" 4
fi

[ "$failures" -eq 0 ] || echo "$failures failed"
[ "$failures" -eq 0 ]
