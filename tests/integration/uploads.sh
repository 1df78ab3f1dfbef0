#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2317 # functions are called by claim and within
# The upload handler behind nginx and behind Apache: whole files, files in parts, what breaks and what
# is hostile. After each of it the folder holds whole files under their names, and nothing else but
# what is in .partial.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx apache2

upload_dir=$work/upload
mkdir -m 777 "$upload_dir"
options=("<upload_dir>$upload_dir</upload_dir>" "<uldl_dir_fanout>1024</uldl_dir_fanout>"
    "<upload_min_free_gb>0</upload_min_free_gb>")
new_project "${options[@]}"
key=$project/keys/upload_private
load() { "$QM_BINARY_DIR/tests/upload_load" "$key" "$@"; }
head -c 3000000 /dev/urandom >"$work/data"
head -c 20000000 /dev/urandom >"$work/large"
size() { stat -c %s "$1"; }

# upload NAME FILE [CURL-OPTION...]: whole, as a client does; the reply is in $work/reply.
upload() {
    local name=$1 file=$2
    shift 2
    load head "$name" "$(size "$file")" 0 "$(size "$file")" \
        "$(md5sum "$file" | cut -c 1-32)" >"$work/body.$name"
    cat "$file" >>"$work/body.$name"
    send "$work/body.$name" "$@"
}
send() {
    local body=$1
    shift
    curl -s --max-time 60 -H 'Expect:' --data-binary "@$body" -o "$work/reply" "$@" "$uploads" || return 1
    [ "$(size "$work/reply")" -lt 8192 ]
}
status() { sed -n 's|.*<status>\(.*\)</status>.*|\1|p' "$work/reply"; }
# is_stored NAME FILE
is_stored() { cmp -s "$2" "$(find "$upload_dir" -name "$1" -not -path '*/.partial/*')"; }
has_name() { find "$upload_dir" -name "$1" -not -path '*/.partial/*' | grep -q .; }
answered() { # STATUS COMMAND...
    local wanted=$1
    shift
    "$@" && [ "$(status)" = "$wanted" ]
}
refused() { # WORDS COMMAND...: for good, and these say why
    local words=$1
    shift
    answered -1 "$@" && grep -q "<message>$words" "$work/reply"
}
logged() { grep -q "$1" "$work/uploads.log"; }
# With a name of its own for each front.
check_front() {
    local front=$1
    uploads=${url%cgi}file_upload_handler
    claim "$front: a file is stored" answered 0 upload "${front}_1" "$work/data"
    claim "$front: it is the same" is_stored "${front}_1" "$work/data"
    claim "$front: by HTTP/1.0" answered 0 upload "${front}_2" "$work/data" --http1.0
    claim "$front: it is the same" is_stored "${front}_2" "$work/data"
    claim "$front: once more changes nothing" answered 0 upload "${front}_1" "$work/data"
    load head "${front}_5" 3000000 0 3000000 >"$work/cut" # no checksum: its length alone tells
    cat "$work/data" >>"$work/cut"
    curl -s -m 2 -H 'Expect:' --limit-rate 500k -o /dev/null --data-binary "@$work/cut" "$uploads"
    sed "s/>${front}_1</>${front}_3</" "$work/body.${front}_1" >"$work/forged"
    claim "$front: a forged name is refused for good, and the client hears it" \
        answered -1 send "$work/forged"
    sed 's|<max_nbytes>.*</max_nbytes>||' "$work/body.${front}_1" >"$work/forged"
    claim "$front: no certificate either" answered -1 send "$work/forged"
    load head "${front}_4" 20000001 0 20000000 >"$work/forged"
    cat "$work/large" >>"$work/forged"
    claim "$front: more than is allowed is refused, however much of it comes" \
        answered -1 send "$work/forged"
    for number in 3 4 5; do
        claim "$front: what was refused or cut is no file ($number)" not has_name "${front}_$number"
    done
}

# --- as a CGI program whose web server keeps standard input open: what follows the body is not ours
cgi() { # BODY: whole, or refused before it is read
    QM_UPLOAD=1 QM_PROJECT=$project REQUEST_METHOD=POST CONTENT_LENGTH=$(size "$1") "$program" \
        --log "$work/cgi.log" >"$work/reply"
}
reads_its_body_alone() { # BODY
    { cat "$1" && printf next; } >"$work/stdin"
    [ "$({ cgi "$1" && cat; } <"$work/stdin")" = next ]
}
{ load head cgi_0_0 3000000 0 3000000 && cat "$work/data"; } >"$work/forged"
claim "a CGI program reads the body and no more" reads_its_body_alone "$work/forged"
claim "the file is stored" is_stored cgi_0_0 "$work/data"
sed -i 's/>cgi_0_0</>cgi_0_1</' "$work/forged"
claim "nor more of one that is refused" reads_its_body_alone "$work/forged"
claim "which is answered" [ "$(status)" = -1 ]
rm -rf "${upload_dir:?}"/* "$upload_dir/.partial"

# --- Apache, first since the handler of these may be of its own processes
for front in apache-fcgid apache-cgi; do
    start_web "web_$front" $front --program "$program" || exit 1
    check_front $front
    end_process "${started[-1]}"
    find "$upload_dir" -type f -delete
    chmod -R a+rwX "$upload_dir"
done
rm -rf "${upload_dir:?}"/* "$upload_dir/.partial"
start_uploads
start_web web_proxy apache-proxy-fcgi --socket "$work/none.socket" || exit 1
check_front apache-proxy
claim "cut five times, through Apache" load file "$uploads" "$work/data" cut_0_0 5 0
claim "it arrives whole" is_stored cut_0_0 "$work/data"
end_process "${started[-1]}"

# --- nginx
start_nginx "$work/none.socket"
check_front nginx
claim "cut ten times" load file "$uploads" "$work/large" cut_1_0 10 0
claim "it arrives whole" is_stored cut_1_0 "$work/large"
claim "two hundred at once" load many "$uploads" 200 3000
# With certificates, so that nothing else is in their way.
for name in .. . ../x x/y .x "$(printf 'n%.0s' {1..242})" 'a</../b'; do
    { load head "$name" 1 0 1 && printf x; } >"$work/forged"
    claim "no file can be named ${name:0:20}" refused 'the name cannot be' send "$work/forged" --max-time 2
done
for number in 3.9 -1 1e99 '' 99999999999999999999; do
    { load head n 1 0 20000000 && printf x; } | sed "s|<nbytes>1<|<nbytes>$number<|" >"$work/forged"
    claim "'$number' is no size" refused 'nbytes is not a number' send "$work/forged" --max-time 2
done
# A client of 3.00 to 6.12 that was started again echoes its state file inside the signed block.
echoes() { # NAME NBYTES FILE
    local lines="<nbytes>$2<\/nbytes>\n<md5_cksum><\/md5_cksum>\n<status>1<\/status>"
    load head "$1" "$(size "$3")" 0 "$(size "$3")" "$(md5sum "$3" | cut -c 1-32)" |
        sed "0,/<name>/s/<name>.*/&\n$lines/" >"$work/forged"
    cat "$3" >>"$work/forged"
    send "$work/forged"
}
claim "an echoed size of a file that was not there yet" answered 0 echoes echo_0_0 0.000000 "$work/data"
claim "is not the file's" is_stored echo_0_0 "$work/data"
claim "nor is an echoed nothing" answered 0 echoes echo_1_0 0 "$work/data"
claim "the file is whole" is_stored echo_1_0 "$work/data"
: >"$work/nothing"
claim "a file of no bytes is one" answered 0 echoes echo_2_0 0 "$work/nothing"
claim "it is stored" is_stored echo_2_0 "$work/nothing"
head -c 300000 /dev/urandom >"$work/forged"
claim "bytes without a head" answered 1 send "$work/forged" --max-time 2

# --- slow lines
claim "lines of 100 bytes a second hold nobody up" load slow "$uploads" 100 3 50 10000
write_config "${options[@]}" "<upload_patience>1</upload_patience>"
kill -HUP "$uploads_pid"
within 5 logged event=reloaded
claim "the log says what a reload changes" logged 'event=config_changed option=upload_patience was=[0-9]* is=1'
cut_off() { # COMMAND...: curl fails, and not by its own time limit
    local status=0
    "$@" || status=$?
    [ "$status" -ne 0 ] && [ "$status" -ne 28 ]
}
claim "one byte a second is too slow" cut_off curl -s -m 20 -H 'Expect:' --limit-rate 1 -f \
    -o /dev/null --data-binary "@$work/body.nginx_1" "$uploads"
open_line() { # BODY: in $line, a request of which no more will come than this
    local address=${uploads#http://}
    local host=${address%%/*}
    exec {line}<>"/dev/tcp/127.0.0.1/${host##*:}"
    { printf 'POST /%s HTTP/1.0\r\nContent-Length: 99999\r\n\r\n' "${address#*/}" && cat "$1"; } >&"$line"
}
load head silent_0_0 3000000 0 3000000 >"$work/forged"
open_line "$work/forged"
hears_the_end() { timeout 20 cat <&"$line" >/dev/null; }
claim "a line that falls silent behind its head is cut" hears_the_end
exec {line}>&-
write_config "${options[@]}" "<upload_patience>20</upload_patience>"
kill -HUP "$uploads_pid"
reloaded_twice() { [ "$(grep -c event=reloaded "$work/uploads.log")" -ge 2 ]; }
within 5 reloaded_twice
{ load head broken_0_0 3000000 0 3000000 && head -c 50000 "$work/data"; } >"$work/forged"
open_line "$work/forged"
within 5 test -s "$upload_dir/.partial/broken_0_0"
claim "a client goes on while its old line is not known to be dead" \
    within 15 answered 0 upload broken_0_0 "$work/data"
exec {line}>&-
write_config "${options[@]}"
kill -HUP "$uploads_pid"

# --- two at once
load head both_0_0 3000000 0 3000000 >"$work/body.both"
cat "$work/data" >>"$work/body.both"
curl -s -m 30 -H 'Expect:' --limit-rate 1500k -o /dev/null --data-binary "@$work/body.both" "$uploads" &
first=$!
started+=("$first")
within 5 test -s "$upload_dir/.partial/both_0_0"
claim "the second of two is asked to come again" answered 1 send "$work/body.both"
wait $first
claim "the first is stored" is_stored both_0_0 "$work/data"

# --- stopped by the project
touch "$project/stop_upload"
claim "no uploads while stop_upload is there" answered 1 upload stopped_0_0 "$work/data"
rm "$project/stop_upload"

# --- killed
load head killed_0_0 20000000 0 20000000 "$(md5sum "$work/large" | cut -c 1-32)" >"$work/body.killed"
cat "$work/large" >>"$work/body.killed"
curl -s -m 30 -H 'Expect:' --limit-rate 4m -o /dev/null --data-binary "@$work/body.killed" "$uploads" &
first=$!
started+=("$first")
within 5 test -s "$upload_dir/.partial/killed_0_0"
sleep 0.5
kill -KILL "$uploads_pid"
wait "$uploads_pid" $first 2>/dev/null
claim "what came before a kill is there" test -s "$upload_dir/.partial/killed_0_0"
claim "no file of that name is there" not has_name killed_0_0
claim "what was taken before is there" is_stored nginx_1 "$work/data"
start_uploads
claim "the client goes on after it" load file "$uploads" "$work/large" killed_0_0 1 0
claim "it arrives whole" is_stored killed_0_0 "$work/large"
for number in 1 2 3 4 5 6; do
    load many "$uploads" 60 3000 >/dev/null &
    first=$!
    started+=("$first")
    sleep "0.$number"
    kill -KILL "$uploads_pid"
    wait "$uploads_pid" $first 2>/dev/null
    start_uploads
done
many() { find "$upload_dir" -name 'many_*' -not -path '*/.partial/*' "$@"; }
claim "after six kills in the midst of many every file under its name is whole" \
    test "$(many -exec md5sum {} + | cut -c 1-32 | sort | uniq -c | awk 'END { print NR, ($1 > 200) }')" = '1 1'

# --- a stop
load head stopped_0_0 20000000 0 20000000 >"$work/body.stopped"
cat "$work/large" >>"$work/body.stopped"
curl -s -m 60 -H 'Expect:' --limit-rate 100k -o /dev/null --data-binary "@$work/body.stopped" "$uploads" &
started+=($!)
within 5 test -s "$upload_dir/.partial/stopped_0_0"
end_process "$uploads_pid" 20
claim "a stop cuts what does not end" logged 'event=upload_cut .*name=stopped_0_0'
claim "and ends" logged event=stopped

# --- limits of the process
printf '#!/bin/sh\nulimit -f 4000; ulimit -n 200; exec %s "$@"\n' "$program" >"$work/limited"
chmod 755 "$work/limited"
head -c 600000 "$work/data" >"$work/part"
program=$work/limited start_uploads
claim "a file beyond the limit of the process is asked for later" answered 1 upload limit_0_0 "$work/data"
claim "which takes others meanwhile" answered 0 upload limit_1_0 "$work/part"
claim "more lines than it may have descriptors wait and are taken" load slow "$uploads" 100 2 5 10000
silent=()
for _ in {1..70}; do
    open_line /dev/null
    silent+=("$line")
done
claim "lines that say nothing give way where they hold all" answered 0 upload limit_2_0 "$work/part"
for line in "${silent[@]}"; do exec {line}>&-; done
end_process "$uploads_pid" 20

# --- few connections
write_config "${options[@]}" "<upload_connections>20</upload_connections>"
start_uploads
load drip "$uploads" 23 1000000 5 10000 >"$work/drip.log"
claim "files are taken beside more slow lines than there are connections" \
    grep -q '^beside: 5 of 5 taken' "$work/drip.log"
claim "since the slow ones give way" not grep -q 'ended 0 times' "$work/drip.log"
cat "$work/drip.log"
end_process "$uploads_pid" 20

# --- a full disk
if mkdir "$work/small" && mount -t tmpfs -o size=1m none "$work/small" 2>/dev/null; then
    write_config "<upload_dir>$work/small</upload_dir>" "<upload_min_free_gb>0</upload_min_free_gb>"
    start_uploads
    claim "a file that finds no space is asked for later" answered 1 upload full_0_0 "$work/data"
    head -c 900000 /dev/zero >"$work/small/other"
    claim "when the disk fills up meanwhile too" answered 1 upload full_1_0 "$work/part"
    rm "$work/small/other"
    claim "with space again it is taken" answered 0 upload full_1_0 "$work/part"
    claim "and is the same" cmp -s "$work/part" "$work/small/full_1_0"
    rm "$work/small/full_1_0"
    # All of the disk, in 45 announcements of which nothing comes.
    load drip "$uploads" 45 $(($(df --output=avail -B1 "$work/small" | tail -n 1) / 45)) 10 10000 >"$work/drip.log"
    claim "who only announces takes no place of others" grep -q 'asked to come again 0 times' "$work/drip.log"
    cat "$work/drip.log"
    end_process "$uploads_pid"
    umount -l "$work/small"
fi

prints_figures() {
    "$QM_SOURCE_DIR/tests/cost/upload-figures" --bytes 100000 --rate 1000000 --cuts 1 --files 5 \
        --lines 2 --fast 2 --seconds 1 "$QM_BINARY_DIR" >"$work/figures" && grep -q '5 of 5 taken' "$work/figures"
}
claim "the command for figures prints them" prints_figures
claim "no other file came into the folder" test -z "$(find "$upload_dir" -mindepth 1 -type f \
    -not -path '*/.partial/*' -not -name '*_[0-9]*')"
finish
