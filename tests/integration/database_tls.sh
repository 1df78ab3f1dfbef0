#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A database on another machine, by TLS: it is spoken to only with the right certificate, whatever
# stands in the way; and what check-config says of passwords that everybody can read.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need openssl mariadb mariadbd

# certificate NAME SUBJECT-ALT-NAME: a key and a certificate of the authority "ca".
certificate() {
    openssl req -newkey rsa:2048 -nodes -keyout "$work/$1.key" -subj "/CN=$1" \
        -out "$work/$1.csr" 2>/dev/null &&
        openssl x509 -req -in "$work/$1.csr" -CA "$work/$3.pem" -CAkey "$work/$3.key" -days 2 \
            -CAcreateserial -extfile <(echo "subjectAltName=$2") -out "$work/$1.pem" 2>/dev/null
}
authority() {
    openssl req -x509 -newkey rsa:2048 -nodes -keyout "$work/$1.key" -subj "/CN=$1" -days 2 \
        -out "$work/$1.pem" 2>/dev/null
}
authority ca && authority stranger && certificate here IP:127.0.0.1 ca &&
    certificate elsewhere DNS:db.example.org ca && certificate client DNS:client ca || exit 1

take_port
database=$work/db # of our own
start_database() { # CERTIFICATE
    "$QM_SOURCE_DIR/tools/private-mariadb" stop "$database"
    "$QM_SOURCE_DIR/tools/private-mariadb" start --port "$port" "$database" -- \
        --ssl-ca="$work/ca.pem" --ssl-cert="$work/$1.pem" --ssl-key="$work/$1.key"
}
start_database here || exit $?
trap '"$QM_SOURCE_DIR/tools/private-mariadb" stop "$database"; clean_up' EXIT
QM_TEST_SOCKET=$(readlink -f "$database/socket")
new_project ""
sql -e "CREATE USER far@'%' IDENTIFIED BY 'open sesame' REQUIRE SSL; GRANT ALL ON *.* TO far@'%';
    CREATE USER shown@'%' IDENTIFIED BY 'open sesame' REQUIRE X509; GRANT ALL ON *.* TO shown@'%'"

# configure USER ELEMENT...: by TCP.
configure() {
    local user=$1
    shift
    write_config "<db_socket></db_socket>" "<db_host>127.0.0.1:$port</db_host>" \
        "<db_user>$user</db_user>" "<db_passwd>open sesame</db_passwd>" "$@"
    chmod 640 "$project/config.xml"
}
# shellcheck disable=SC2317 # claim() calls it
ask() { "$QM_BINARY_DIR/qmctl" app list --project "$project" >"$work/said" 2>&1; }
ca="<db_tls_ca>$work/ca.pem</db_tls_ca>"

configure far
claim "without TLS the database refuses" not ask
configure far "$ca"
claim "with the authority it answers" ask
claim "with what it has" grep -q work "$work/said"
configure far "<db_tls_ca>$work/stranger.pem</db_tls_ca>"
claim "a certificate of another authority is not taken" not ask
claim "and the reason is said" grep -qi 'certificate' "$work/said"
configure far "<db_tls_ca>$work/nothing.pem</db_tls_ca>"
claim "an authority that is not there is an error" not ask
configure shown "$ca"
claim "a client certificate is missing" not ask
configure shown "$ca" "<db_tls_cert>$work/client.pem</db_tls_cert>" \
    "<db_tls_key>$work/client.key</db_tls_key>"
claim "with it the database answers" ask
start_database elsewhere
configure far "$ca"
claim "a certificate for another name is not taken" not ask
"$QM_SOURCE_DIR/tools/private-mariadb" stop "$database"
"$QM_SOURCE_DIR/tools/private-mariadb" start --port "$port" "$database" -- --skip-ssl
claim "a server without TLS is not spoken to" not ask

check() { "$QM_BINARY_DIR/qmctl" check-config --project "$project" --no-db >"$work/said" 2>&1; }
check
claim "a file that few can read is no finding" not grep -q 'password' "$work/said"
chmod 644 "$project/config.xml"
check
claim "one that everybody can read is" grep -q 'warning.*password.*chmod' "$work/said"

printf 'open sesame\n' >"$work/password"
"$QM_BINARY_DIR/qmctl" init "$work/q" --url http://127.0.0.1/q/ --name Q --db-name "${schema}_q" \
    --db-host "127.0.0.1:1" --db-user far --db-passwd-file "$work/password" >"$work/said" 2>&1
claim "init reads a password from a file" grep -q '<db_passwd>open sesame</db_passwd>' "$work/q/config.xml"
finish
