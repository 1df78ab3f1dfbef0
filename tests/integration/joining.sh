#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Volunteers join a project that `qmctl init` made, from a real client by boinccmd: an account is
# created, looked up and attached. Then what a client does not send: wrong passwords, odd names, a
# query of a megabyte, many at once, by every web server; and what is said while nobody answers.
# shellcheck disable=SC2317 # functions that `within` and `claim` call
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=lib_demo.sh
. "$(dirname "$0")/lib_demo.sh"
need curl nginx boinc boinccmd
[ -S "$QM_TEST_SOCKET" ] || skip "no private MariaDB at $QM_TEST_SOCKET"

cp "$QM_BINARY_DIR/quartermaster" "$program"
take_port
web_port=$port
page=http://127.0.0.1:$port/test
in_project init "$project" --url "$page/" --name "Bees & Wasps" --db-name "$schema" \
    --db-user root --db-socket "$QM_TEST_SOCKET" --scheduler "http://127.0.0.1:$port/test_cgi/cgi"
chmod -R a+rX "$project" # CGI programs run as the web server's user
start_server server
start_web web nginx --socket "$work/server.socket" || exit 1
nginx=${started[-1]}

# --- a real client -------------------------------------------------------------------------------
client=$work/client
mkdir "$client"
cat >"$client/cc_config.xml" <<'XML'
<cc_config><options><skip_cpu_benchmarks>1</skip_cpu_benchmarks><start_delay>0</start_delay>
<dont_contact_ref_site>1</dont_contact_ref_site><no_info_fetch>1</no_info_fetch>
<allow_multiple_clients>1</allow_multiple_clients></options></cc_config>
XML
take_port
control_port=$port
(cd "$client" && exec boinc --dir "$client" --allow_multiple_clients --gui_rpc_port "$control_port" \
    --no_gpus) >"$client/client.log" 2>&1 </dev/null &
started+=($!)
control() {
    (cd "$client" && timeout 60 boinccmd --host "127.0.0.1:$control_port" \
        --passwd "$(cat gui_rpc_auth.cfg)" "$@") 2>&1 | tee -a "$work/control.log"
}
client_listens() { control --get_cc_status | grep -q 'network connection status'; }
within 20 client_listens || claim_failed "the client starts"
key_in() { sed -n 's/^account key: \([0-9a-f]\{32\}\)$/\1/p'; }

password='geheim & süß' email=Bob+boinc@Example.com name='Bob "der" Bär'
claim "a name with quotes is refused" grep -q 'bad username' <(control --create_account "$page" "$email" "$password" "$name")
name='Bob der Bär'
key=$(control --create_account "$page" "$email" "$password" "$name" | key_in)
claim "boinccmd creates an account" test -n "$key"
claim "its row" test "$(rows "SELECT CONCAT_WS('|', email_addr, name, authenticator, LENGTH(passwd_hash)) FROM user")" = \
    "bob+boinc@example.com|$name|$key|60"
claim "the same again is the same account" \
    test "$(control --create_account "$page" "$email" "$password" "$name" | key_in)" = "$key"
claim "boinccmd looks it up" test "$(control --lookup_account "$page" "$email" "$password" | key_in)" = "$key"
claim "the key is a password" test "$(control --lookup_account "$page" "$email" "$key" | key_in)" = "$key"
claim "a wrong password" grep -q 'bad password' <(control --lookup_account "$page" "$email" wrong)
claim "an unknown address" grep -q "no database rows found" <(control --lookup_account "$page" nobody@example.com wrong)
claim "another password at the same address" \
    grep -q 'not unique' <(control --create_account "$page" "$email" other Rob)
claim "another account with the same name" \
    test -n "$(control --create_account "$page" rob@example.com "$password" "$name" | key_in)"
claim "has a number behind it" \
    test "$(rows "SELECT name REGEXP '^$name [1-9][0-9]*\$' FROM user WHERE email_addr = 'rob@example.com'")" = 1
rows "DELETE FROM user WHERE email_addr = 'rob@example.com'"
control --project_attach "$page/" "$key" >/dev/null
client_has_host() { [ "$(rows "SELECT COUNT(*) FROM host JOIN user ON user.id = userid WHERE authenticator = '$key'")" = 1 ]; }
claim "the client attaches by that key" within 40 client_has_host
claim "no secret is in the logs" \
    not grep -rqE 'passwd_hash|geheim|'"$(printf '%s%s' "$password" bob+boinc@example.com | md5sum | cut -c 1-32)" \
    "$work/server.log" "$work/web" "$work/web.log"

# --- by hand -------------------------------------------------------------------------------------
ask() { curl -s --max-time 60 "$@"; }
number() { sed -n 's|.*<error_num>\(-[0-9]*\)</error_num>.*|\1|p'; }
hash=$(printf '%s%s' secret eve@example.org | md5sum | cut -c 1-32)

check_front() { # FRONT, behind $page
    local front=$1
    ask -D "$work/head" "$page/get_project_config.php" >"$work/config"
    claim "$front: the project is described" grep -q '^<name>Bees &amp; Wasps</name>$' "$work/config"
    claim "$front: status 200" grep -q '^HTTP/1.1 200' "$work/head"
    claim "$front: nobody keeps it" grep -qi '^cache-control: no-store' "$work/head"
    # As client 5.2 writes it: a doubled slash, nothing escaped.
    ask "$page//create_account.php?email_addr=eve@example.org&passwd_hash=$hash&user_name=Eve" >"$work/eve"
    claim "$front: an account" grep -qE '^ *<authenticator>[0-9a-f]{32}</authenticator>$' "$work/eve"
    ask "$page//lookup_account.php?email_addr=eve@example.org&passwd_hash=$hash" >"$work/eve.again"
    claim "$front: the same account" cmp "$work/eve" "$work/eve.again"
    claim "$front: a wrong password" \
        test "$(ask "$page/lookup_account.php?email_addr=eve@example.org&passwd_hash=${hash//[0-9]/0}" | number)" = -206
    claim "$front: no query" test "$(ask "$page/create_account.php" | number)" = -1
    claim "$front: other pages are no pages for joining" \
        not grep -q error_num <(ask "$page/create_account.php.html")
}
check_front nginx
head -c 1000000 /dev/zero | tr '\0' a >"$work/long"
claim "a query of a megabyte is nobody's" \
    not grep -q authenticator <(printf 'GET /test/create_account.php?user_name=%s HTTP/1.0\r\n\r\n' "$(cat "$work/long")" |
        timeout 20 bash -c "exec 3<>/dev/tcp/127.0.0.1/$web_port; cat >&3 2>/dev/null; cat <&3" 2>/dev/null)
claim "a query of 7 KB neither" \
    test "$(ask "$page/create_account.php?email_addr=$(head -c 7000 "$work/long")%40example.org&passwd_hash=$hash&user_name=A" | number)" = -205

# Many at once: each gets an answer.
for ((i = 0; i < 40; i++)); do
    printf 'url = "%s/lookup_account.php?email_addr=many%d@example.org&passwd_hash=%s"\noutput = "%s"\n' \
        "$page" $i "$hash" "$work/many.$i"
done >"$work/urls"
ask --parallel --parallel-max 40 -K "$work/urls" 2>/dev/null
claim "each of 40 at once gets an answer" test "$(cat "$work"/many.* | grep -cE '<error_num>-(1|136|183)<')" = 40
claim "some are heard" grep -q '<error_num>-136<' "$work"/many.*
say "of 40 at once: $(cat "$work"/many.* | number | sort | uniq -c | tr '\n' ' ')"

# --- and leaving ---------------------------------------------------------------------------------
qmctl() { "$QM_BINARY_DIR/qmctl" --project "$project" "$@" >>"$work/qmctl.log" 2>&1; }
everywhere() { for table in $(rows "SHOW FULL TABLES WHERE Table_type = 'BASE TABLE'" | cut -f 1); do rows "SELECT * FROM $table"; done; }
host=$(rows "SELECT id FROM host LIMIT 1")
mkdir -p "$project/time_stats_log/$host" && echo log >"$project/time_stats_log/$host/$host"
claim "a host is deleted" qmctl host delete "$host" --yes
claim "its log too" not test -e "$project/time_stats_log/$host/$host"
# A client that is busy with another request forgets a wish for an update.
update_client() {
    control --project "$page/" update >/dev/null
    sleep 3
}
host_is_new() { update_client && [ "$(rows "SELECT COUNT(*) FROM host WHERE id > $host")" = 1 ]; }
claim "its client gets a new number" within 40 host_is_new
claim "a user is deleted" qmctl user delete bob+boinc@example.com --yes
claim "nothing of the person is left" not grep -qiE "bob|$key" <(everywhere)
key_is_refused() { update_client && log_has server 'account_key'; }
claim "the key opens nothing" within 40 key_is_refused
claim "no host comes back" test "$(rows "SELECT COUNT(*) FROM host")" = 0

touch "$project/stop_sched"
is_stopped() { ask "$page/get_project_config.php" | grep -q '<web_stopped>1<'; }
claim "maintenance: the project says so" within 10 is_stopped
claim "maintenance: accounts wait" \
    test "$(ask "$page/lookup_account.php?email_addr=eve@example.org&passwd_hash=$hash" | number)" = -183
rm "$project/stop_sched"
echo 'Be kind, <b>always</b>.' >"$project/terms_of_use.txt"
has_terms() { ask "$page/get_project_config.php" | grep -q '^Be kind, &lt;b&gt;always&lt;/b&gt;.$'; }
claim "terms of use are shown" within 10 has_terms
end_process "$server_pid"
claim "nobody lives: an error that clients read" \
    test "$(ask "$page/lookup_account.php?email_addr=a@example.org&passwd_hash=$hash" | number)" = -183

# --- Apache --------------------------------------------------------------------------------------
# At the address that the client knows: it joins again behind each front.
is_detached() { ! control --get_project_status | grep -q 'master URL'; }
join_by_client() { # FRONT
    local front=$1
    key=$(control --create_account "$page" "$front@example.org" "$password" "Zoë" | key_in)
    claim "$front: boinccmd creates an account" test -n "$key"
    claim "$front: boinccmd looks it up" \
        test "$(control --lookup_account "$page" "$front@example.org" "$password" | key_in)" = "$key"
    control --project "$page/" detach >/dev/null
    within 20 is_detached || claim_failed "$front: the client detaches"
    control --project_attach "$page/" "$key" >/dev/null
    claim "$front: the client attaches by that key" within 60 client_has_host
}
# Whoever guesses waits three seconds there, and meanwhile has no connection to the database.
guess_by_cgi() {
    REQUEST_METHOD=GET SCRIPT_NAME=/test/lookup_account.php QM_PROJECT=$project REMOTE_ADDR=192.0.2.7 \
        QUERY_STRING="email_addr=eve@example.org&passwd_hash=${hash//[0-9]/0}" \
        "$program" >"$work/guess" 2>"$work/guess.log" </dev/null &
    local guess=$! free=no
    while is_child "$guess" && [ "$(ps -o stat= -p "$guess")" != Z ]; do
        grep -q 'error=-206' "$work/guess.log" &&
            [ "$(sql -e "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = '$schema'")" = 0 ] &&
            is_child "$guess" && free=yes && break
    done
    wait "$guess"
    [ "$free" = yes ] && grep -q '<error_num>-206<' "$work/guess"
}
claim "who waits for another guess holds no connection" guess_by_cgi
if command -v apache2 >/dev/null; then
    end_process "$nginx"
    start_server second
    for kind in apache-proxy-fcgi apache-fcgid apache-cgi; do
        rows "DELETE FROM user WHERE email_addr = 'eve@example.org'"
        start_web "$kind" "$kind" --socket "$work/second.socket" --program "$program" || continue
        check_front "$kind"
        join_by_client "$kind"
        end_process "${started[-1]}"
    done
fi
sed -i 's|<joining>1</joining>||' "$project/config.xml"
is_off() { ! ask "$page/get_project_config.php" | grep -q project_config; }
claim "off: nothing is told" within 5 is_off
finish
