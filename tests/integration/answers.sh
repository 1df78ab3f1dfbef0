#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What an administrator sees of jobs and their answers, and the folder that answers are copied to:
# whatever names are, whatever is missing, and however often it is interrupted.
# shellcheck disable=SC2317 # claim and within call the functions
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

new_project "<upload_url>http://127.0.0.1:1/</upload_url>" "<upload_dir>$project/upload</upload_dir>" \
    "<download_dir>$project/download</download_dir>" "<download_url>http://127.0.0.1:1/d/</download_url>"
qmctl() { "$QM_BINARY_DIR/qmctl" --project "$project" "$@"; }
mkdir -p "$project/upload"
out=$work/answers
echo data >"$work/in"
cat >"$work/out.xml" <<'XML'
<file_info><name><OUTFILE_0/></name><generated_locally/><upload_when_present/><max_nbytes>100000</max_nbytes><url><UPLOAD_URL/></url></file_info>
<file_info><name><OUTFILE_1/></name><generated_locally/><upload_when_present/><max_nbytes>100000</max_nbytes><url><UPLOAD_URL/></url></file_info>
<result>
<file_ref><file_name><OUTFILE_0/></file_name><open_name>out</open_name></file_ref>
<file_ref><file_name><OUTFILE_1/></file_name><open_name>log</open_name><optional/></file_ref>
</result>
XML
# jobs create refuses a name that leads out of a folder; other programs do not.
create() {
    seq -f "--wu_name ${1}_%.0f $work/in" "$2" | qmctl jobs create --app work --in "$QM_SOURCE_DIR/tools/demo/in.xml" \
        --out "$work/out.xml" --stdin --quiet "${@:3}" >"$work/create.log" 2>&1 &&
        rows "UPDATE result SET xml_doc_in = REPLACE(xml_doc_in, '<open_name>log</open_name>', '<open_name>../log</open_name>')"
}
# The hosts' part: results are over, with files where the upload handler would put them (fanout 0).
compute() { # CONDITION [THEIR-STATE]
    rows "UPDATE result SET server_state = 5, outcome = 1, hostid = 7, sent_time = 1000, received_time = 2000,
        stderr_out = CONCAT('<core_client_version>8.0.2</core_client_version>\n<![CDATA[\n<stderr_txt>\nsaid ', name,
        '\n</stderr_txt>\n]]>') WHERE ${2:-server_state = 2} AND $1"
    rows "SELECT REGEXP_SUBSTR(xml_doc_in, '[a-z0-9_]+_r[0-9]+_0') FROM result WHERE server_state = 5 AND outcome = 1
        AND $1" | while read -r name; do echo "answer of $name" >"$project/upload/$name"; done
}
accept() { # CONDITION
    rows "UPDATE workunit SET canonical_resultid = (SELECT MIN(id) FROM result WHERE workunitid = workunit.id),
        assimilate_state = 1 WHERE $1"
}
export_to() { qmctl jobs export "$@" >"$work/export.log" 2>&1; }
# The same beside the test, its number in $exporter. What the last one said is gone before, or it would be heard again.
export_beside() {
    : >"$work/export.log"
    "$QM_BINARY_DIR/qmctl" --project "$project" jobs export "$@" >"$work/export.log" 2>&1 &
    exporter=$!
    started+=("$exporter")
}
says() { grep -qE -- "$1" "$work/export.log"; }
manifest() { tail -n +2 "$out/manifest.tsv" | cut -f "$1"; }
exits() { # STATUS ARGUMENT...: of qmctl
    local status
    timeout 20 "$QM_BINARY_DIR/qmctl" --project "$project" "${@:2}" >/dev/null 2>&1
    status=$?
    is "$status" "$1"
}
is() { [ "$1" = "$2" ] || { say "is \"$1\", wanted \"$2\""; false; }; }

sed -i 's|</config>|<uldl_dir_fanout>0</uldl_dir_fanout></config>|' "$project/config.xml"
claim "jobs are made" create first 20 --batch 3
claim "with a warning that nobody takes their files" grep -q '^warning: output files cannot be' "$work/create.log"
claim "and some without a batch" create second 5

# --- lists
compute "name LIKE 'first%' AND id <= 12"
accept "name LIKE 'first%' AND id <= 10"
rows "UPDATE workunit SET error_mask = 2, assimilate_state = 1 WHERE name = 'second_5';
    UPDATE result SET server_state = 5, outcome = 3, exit_status = 1 WHERE name = 'second_5_0'"
claim "jobs by state" is "$(qmctl jobs list --count --batch 3 --tsv | tail -n +2 | cut -f 2-3 | tr '\t\n' ' ;')" \
    'done 10;unsent 8;waiting for validation 2;'
claim "failed ones say why" is "$(qmctl jobs list --state failed --tsv | tail -n +2 | cut -f 2,11)" $'second_5\ttoo many errors'
claim "the newest first, page by page" is "$(qmctl jobs list --most 2 \
    --before "$(rows "SELECT id FROM workunit WHERE name = 'second_4'")" --tsv 2>/dev/null | tail -n +2 | cut -f 2 |
    tr '\n' ' ')" 'second_3 second_2 '
claim "by name" is "$(qmctl jobs list --name second_ --json | wc -l)" 5
claim "a word that is none" exits 2 jobs list --state burnt
claim "a number that is none" exits 2 jobs results --most all
claim "a count has no pages" exits 2 jobs list --count --most 3
claim "who ends by itself does not follow" exits 2 jobs export "$out" --wait --follow
claim "who does not stay has no time between looks" exits 2 jobs export "$out" --every 3
claim "a batch that is none" exits 1 jobs export "$work/of_none" --batch 99
claim "and no folder for it" test ! -e "$work/of_none"
claim "lines name their own files" exits 2 jobs create --app work --stdin --remote_file "http://127.0.0.1/x,1,0"
for list in jobs results; do
    words="$list"
    [ $list = jobs ] && words=list
    claim "there are no $list" is "$(qmctl jobs $words --batch 99 2>&1 >/dev/null)" "no $list"
    claim "which programs see themselves" is "$(qmctl jobs $words --batch 99 --json 2>&1)" ""
done
claim "none to be counted" is "$(qmctl jobs list --count --batch 99 2>&1 >/dev/null)" "no jobs"
claim "batches" is "$(qmctl batch list --tsv | tail -n +2 | cut -f 1,6-11 | tr '\t' ' ')" '3 20 10 0 0 50 8'
claim "results by outcome" is "$(qmctl jobs results --outcome 'client error' --tsv | tail -n +2 | cut -f 2,13)" $'second_5_0\t1'
qmctl jobs show first_1 >"$work/shown"
claim "a job with its results" grep -qE '^first_1_0 +over +success +init +7 .* yes' "$work/shown"
claim "its file with path and size" grep -qE "^first_1_0 +out +[0-9]+ +present +$project/upload/first_1_0_r[0-9]+_0" "$work/shown"
claim "an optional file that was not made" grep -qE '^first_1_0 +\.\./log +-1 +not made' "$work/shown"
claim "standard error" grep -q '^said first_1_0$' "$work/shown"
claim "by number, for programs" is "$(qmctl jobs show --id 1 --json | grep -c '^{.*}$')" 4
claim "a job that is none" not qmctl jobs show first
# what volunteers' programs write: Latin-1, a terminal's control sequences, NUL
rows "UPDATE result SET stderr_out = CONCAT('<stderr_txt>\nna', X'ef', 've \"caf', X'c3a9', '\" ', X'c29b', '2J', X'001bfe', '\n</stderr_txt>')
    WHERE name = 'first_2_0'"
qmctl jobs show first_2 --json >"$work/shown"
claim "JSON is UTF-8" iconv -f UTF-8 -t UTF-8 -o /dev/null "$work/shown"
claim "and JSON" is "$(while read -r line; do
    sql -e "SELECT JSON_VALID(CONVERT(UNHEX('$(printf %s "$line" | od -An -v -tx1 | tr -d ' \n')') USING utf8mb4))"
done <"$work/shown" | sort -u)" 1
claim "with what can be read" grep -qF 'na\ufffdve \"café\" ' "$work/shown"
qmctl jobs show first_2 >"$work/shown"
claim "nothing controls the terminal" not env LC_ALL=C grep -qP '\x1b|\xc2\x9b|\xfe|\x00' "$work/shown"
claim "the rest is shown" grep -qF 'na?ve "café" ?2J???' "$work/shown"

# --- export
claim "an export" export_to "$out" --batch 3
claim "says what it copied, and what is to come" says '^10 results, 30 files, .*; 10 jobs open$'
claim "an answer" grep -q '^answer of first_1_0_r' "$out/first_1/out"
claim "standard error" is "$(cat "$out/first_1/stderr.txt")" 'said first_1_0'
claim "the manifest lists it" is "$(manifest 1,12-15 | grep -P '^first_1\t' | cut -f 2,3,5 | tr '\t\n' ' ;')" \
    'out first_1/out copied;../log  not made;stderr.txt first_1/stderr.txt stderr;'
before=$(cksum <"$out/manifest.tsv")
touch -d '2001-01-01 UTC' "$out/first_1/out"
claim "again: nothing" export_to "$out" --batch 3
claim "says so" says '^0 results'
claim "the manifest stays" is "$(cksum <"$out/manifest.tsv")" "$before"
accept "name IN ('first_11', 'first_12')"
claim "two more" export_to "$out"
claim "just those" says '^2 results, 6 files'
claim "what was there was left alone" is "$(stat -c %Y "$out/first_1/out")" 978307200
claim "other names than files may have" test ! -e "$work/log"

# --- what is not there
compute "name LIKE 'first%' AND id BETWEEN 13 AND 16"
accept "id BETWEEN 13 AND 16"
rm "$project"/upload/first_13_0_r*
mv "$project"/upload/first_14_0_r* "$work/later"
rows "UPDATE result SET file_delete_state = 2 WHERE name = 'first_15_0'"
rm "$project"/upload/first_15_0_r*
claim "with files missing" export_to "$out"
claim "warns" says '2 results without an output file'
claim "and lists them" is "$(manifest 1,15 | grep -P '^first_1[3-6]\t(missing|deleted)' | tr '\t\n' ' ;')" \
    'first_13 missing;first_14 missing;first_15 deleted;first_15 deleted;'
size=$(wc -l <"$out/manifest.tsv")
claim "still missing" export_to "$out"
claim "is not listed twice" is "$(wc -l <"$out/manifest.tsv")" "$size"
mv "$work/later" "$project/upload/$(rows "SELECT REGEXP_SUBSTR(xml_doc_in, 'first_14_0_r[0-9]+_0') FROM result
    WHERE name = 'first_14_0'")"
claim "one came later" export_to "$out"
claim "it is copied" says '^1 result,'
claim "to its place" test -f "$out/first_14/out"
claim "once more" export_to "$out"
claim "it is not new any more" says '^0 results'
mv "$project/upload" "$work/away"
claim "a folder of uploads that is away" not export_to "$work/none" --batch 3
claim "is no answer without files" says 'upload_dir .*No such file'
mv "$work/away" "$project/upload"
claim "so all come later" export_to "$work/none" --batch 3
claim "as many" says '^16 results'

# --- a file that is optional is known to be not made only where others lie
rows "UPDATE result SET xml_doc_in = REPLACE(xml_doc_in, '<open_name>out</open_name>', '<open_name>out</open_name><optional/>')
    WHERE name = 'second_4_0'"
compute "name = 'second_4_0'"
accept "name = 'second_4'"
mv "$project/upload" "$work/away"
mkdir "$project/upload"
claim "a folder with nothing mounted" export_to "$work/optional" --name second_4
rmdir "$project/upload"
claim "nor one that is away, without which no file is looked for" not export_to "$work/optional" --name second_4
mv "$work/away" "$project/upload"
claim "and the disk again" export_to "$work/optional" --name second_4
claim "brings the file" grep -q '^answer of second_4_0' "$work/optional/second_4/out"

# --- two files of one name
rows "UPDATE result SET xml_doc_in = REPLACE(xml_doc_in, '<open_name>../log</open_name>', '<open_name>out</open_name>')
    WHERE name = 'second_5_0'; UPDATE workunit SET error_mask = 0 WHERE name = 'second_5'"
compute "name = 'second_5_0'" "server_state = 5"
accept "name = 'second_5'"
second=$(rows "SELECT REGEXP_SUBSTR(xml_doc_in, 'second_5_0_r[0-9]+_1') FROM result WHERE name = 'second_5_0'")
echo "the second" >"$project/upload/$second"
claim "both are copied" export_to "$work/twice" --name second_5
claim "the first by its name" grep -q '^answer of second_5_0' "$work/twice/second_5/out"
claim "the second by its number" grep -qx 'the second' "$work/twice/second_5/@1"

# --- names with odd characters: jobs of other tools
rows "UPDATE workunit SET name = '../evil' WHERE id = 17; UPDATE workunit SET name = 'a\tb\nc' WHERE id = 18;
    UPDATE workunit SET name = 'größe \'\$(x)' WHERE id = 19; UPDATE workunit SET name = '.' WHERE id = 20"
compute "workunitid BETWEEN 17 AND 20"
accept "id BETWEEN 17 AND 20"
rows "UPDATE result SET xml_doc_in = REPLACE(xml_doc_in, '<open_name>out</open_name>', '<open_name>stderr.txt</open_name>')
    WHERE workunitid = 19"
compute "name = 'second_2_0'"
accept "name = 'second_2'"
rows "UPDATE workunit SET name = 'manifest.tsv' WHERE name = 'second_2'"
claim "odd names" export_to "$out"
claim "stay in the folder" is "$(cd "$out" && echo @*) $(find "$work" -name '*evil*')" "@17 @18 @20 @$(rows "SELECT id FROM workunit WHERE name = 'manifest.tsv'") "
claim "others are kept" test -d "$out/größe '\$(x)"
claim "a file may not be called as ours" test -f "$out/größe '\$(x)/@0"
claim "the manifest has whole lines" is "$(awk -F '\t' '{ print NF }' "$out/manifest.tsv" | sort -u)" 15

# --- all successful results, where nobody validates
compute "name LIKE 'second_1%'"
claim "all" export_to "$work/all" --all --name second
claim "by result" test -f "$work/all/second_1/second_1_0/out"

# --- interruptions: the manifest was cut in a line, files are there that it does not list
claim "many jobs" create many 2000 --batch 9
compute "batch = 9"
accept "batch = 9"
big=$work/big
export_beside "$big" --batch 9
within 20 test -d "$big/many_300"
kill -KILL "$exporter" 2>/dev/null
wait "$exporter" 2>/dev/null
truncate -s -5 "$big/manifest.tsv"
claim "killed, and again" export_to "$big" --batch 9
claim "all answers are there" is "$(find "$big" -name out | wc -l)" 2000
claim "each has its lines" is "$(tail -n +2 "$big/manifest.tsv" | cut -f 4 | sort | uniq -c | awk '$1 != 3' | wc -l)" 0
claim "each is listed once" is "$(tail -n +2 "$big/manifest.tsv" | cut -f 4,12 | sort | uniq -d | wc -l)" 0
claim "and whole" is "$(tail -n +2 "$big/manifest.tsv" | grep -c $'\tcopied$')" 2000
claim "no file is left over" is "$(find "$big" -name .part | wc -l)" 0
# no room, as far as a limit can show it
full=$work/full
(
    trap '' XFSZ
    ulimit -f 64
    export_to "$full" --batch 9
)
claim "no room ends it with words" says 'qmctl: .*manifest.tsv: File too large'
lines=$(wc -l <"$full/manifest.tsv")
claim "what is listed is there" is "$(tail -n +2 "$full/manifest.tsv" | cut -f 13 | grep . |
    while read -r file; do [ -f "$full/$file" ] || echo "$file"; done)" ""
claim "the manifest ends with a line" is "$(tail -c 1 "$full/manifest.tsv" | od -An -c | tr -d ' ')" '\n'
claim "with room it goes on" export_to "$full" --batch 9
claim "to the end" is "$(tail -n +2 "$full/manifest.tsv" | cut -f 4 | sort -u | wc -l) $((lines > 1))" '2000 1'
echo "no manifest" >"$work/manifest.tsv"
claim "another's file is left alone" not export_to "$work"
mkdir "$work/mine"
printf 'notes' >"$work/mine/manifest.tsv"
claim "however short" not export_to "$work/mine"
claim "and stays" is "$(cat "$work/mine/manifest.tsv")" notes
mv "$work/mine/manifest.tsv" "$work/mine/first_1"
claim "a folder of somebody's files" not export_to "$work/mine"
claim "says to choose another" says 'choose another'

# --- a folder of another project, or of long ago
old=$work/old
mkdir -p "$old/first_1"
head -n 1 "$out/manifest.tsv" >"$old/manifest.tsv"
tr '[:lower:]' '[:upper:]' <"$out/first_1/out" >"$old/first_1/out"
claim "what is not listed" export_to "$old" --batch 3
claim "is no answer, however long it is" cmp "$out/first_1/out" "$old/first_1/out"
cp "$old/manifest.tsv" "$work/listed"
sed -i 's/first_\([0-9]*\)_0/other_\1_0/' "$old/manifest.tsv"
claim "where numbers were other results" not export_to "$old" --batch 3
claim "says so" says 'another project'
sed 's/\t2000\t/\t1999\t/' "$work/listed" >"$old/manifest.tsv"
claim "or were at another time" not export_to "$old" --batch 3

# --- long lists come in parts
all=$(rows "SELECT COUNT(*) FROM workunit")
claim "every job is there once" is "$(qmctl jobs list --most 10000 --tsv | tail -n +2 | cut -f 1 | sort -u | wc -l)" "$all"
claim "in one table" is "$(qmctl jobs list --most 10000 | wc -l)" $((all + 1))
claim "and by name" is "$(qmctl jobs list --name m --most 10000 --tsv | tail -n +2 | cut -f 1 | sort -u | wc -l)" \
    "$(rows "SELECT COUNT(*) FROM workunit WHERE name LIKE 'm%'")"
claim "every result" is "$(qmctl jobs results --most 10000 --json | sort -u | wc -l)" "$(rows "SELECT COUNT(*) FROM result")"
claim "by name too" is "$(qmctl jobs results --name many --most 10000 --json | sort -u | wc -l)" 2000
claim "as many as asked for" is "$(qmctl jobs results --most 2001 --tsv 2>"$work/more" | tail -n +2 | wc -l)" 2001
claim "with the number to go on" grep -q '^there may be more: --before [0-9]' "$work/more"

# --- as they come
create last 6 --batch 11
export_beside "$work/last" --batch 11 --wait --every 1
sleep 2
claim "one folder has one writer" not qmctl jobs export "$work/last"
compute "batch = 11 AND name < 'last_4'"
accept "batch = 11 AND name < 'last_4'"
claim "the first come" within 10 test -f "$work/last/last_3/out"
compute "batch = 11"
accept "batch = 11"
claim "and with the last it ends" within 10 ended "$exporter"
claim "all are there" is "$(find "$work/last" -name out | wc -l)" 6
export_beside "$work/last" --batch 11 --follow --every 1
within 10 says 'so far'
kill -TERM "$exporter"
claim "a signal ends it, well" wait "$exporter"
create rest 1 --batch 14
export_beside "$work/rest" --batch 14 --wait --every 1
within 10 says 'so far, 1 job open'
kill -TERM "$exporter"
claim "who waits for all has not got them by a signal" not wait "$exporter"
claim "and says so" says 'stopped by a signal'

# --- a table that is locked, a query that is killed
export_beside "$work/rest" --batch 14 --wait --every 1
within 10 says 'so far'
rows "LOCK TABLES result WRITE; SELECT SLEEP(3)" >/dev/null &
locker=$!
waiting() {
    query=$(rows "SELECT id FROM information_schema.processlist WHERE db = '$schema' AND state LIKE 'Waiting for table%'")
    [ -n "$query" ]
}
claim "it waits for the lock" within 5 waiting
rows "KILL QUERY $query"
wait $locker
claim "a query that ends so is asked again" within 5 says 'interrupted'
compute "batch = 14"
accept "batch = 14"
claim "until all are there" within 20 ended "$exporter"
claim "which they are" test -f "$work/rest/rest_1/out"

# --- a job whose maker had its number before others, and commits after them
rows "SET sql_mode = ''; INSERT INTO workunit SET id = 90000, appid = 1, name = 'quick', batch = 15"
export_beside "$work/slow" --batch 15 --follow --every 1
claim "the newest job is known" within 10 says 'so far, 1 job open'
rows "KILL $(rows "SELECT id FROM information_schema.processlist WHERE db = '$schema' AND id <> CONNECTION_ID() LIMIT 1")"
rows "SET sql_mode = ''; BEGIN; INSERT INTO workunit SET id = 89990, appid = 1, name = 'slow', batch = 15,
    canonical_resultid = 89990, assimilate_state = 1; INSERT INTO result SET id = 89990, workunitid = 89990, appid = 1,
    name = 'slow_0', server_state = 5, outcome = 1, received_time = 2000, stderr_out = 'at last'; COMMIT"
claim "an older one that comes later is not left out" within 10 test -f "$work/slow/slow/stderr.txt"
kill -TERM "$exporter"
wait "$exporter" || true

# --- with --all: results that are reported after their time, far behind the newest
create late 3 --batch 12
rows "SET sql_mode = ''; INSERT INTO result SET id = 100000, workunitid = 1, name = 'far', appid = 1, server_state = 5, outcome = 3;
    UPDATE result SET server_state = 5, outcome = 4, hostid = 7, sent_time = 1000 WHERE name = 'late_1_0';
    UPDATE result SET server_state = 4, hostid = 7, sent_time = 1000 WHERE name = 'late_2_0'"
export_beside "$work/late" --batch 12 --all --follow --every 1
claim "it follows" within 10 says '0 results so far, 2 results open'
rows "UPDATE result SET server_state = 5, outcome = 4 WHERE name = 'late_2_0'"
compute "name = 'late_3_0'"
claim "one comes" within 10 test -f "$work/late/late_3/late_3_0/out"
compute "name IN ('late_1_0', 'late_2_0')" "outcome = 4"
claim "those that are late" within 10 test -f "$work/late/late_1/late_1_0/out"
claim "come too" within 10 test -f "$work/late/late_2/late_2_0/out"
kill -TERM "$exporter"
wait "$exporter" || true
claim "each is told once" says '^3 results, 9 files'

# --- with --all and --wait: a result failed, and the next one is not made yet
create gap 1 --batch 13
rows "UPDATE result SET server_state = 5, outcome = 3 WHERE name = 'gap_1_0';
    UPDATE workunit SET transition_time = UNIX_TIMESTAMP() WHERE name = 'gap_1'"
export_beside "$work/gap" --batch 13 --all --wait --every 1
claim "the transitioner is waited for" within 10 says 'so far, 0 results open'
sleep 2
claim "for longer than a look" runs "$exporter"
rows "UPDATE workunit SET transition_time = 2147483647 WHERE name = 'gap_1'"
claim "and no longer" within 10 ended "$exporter"
finish
