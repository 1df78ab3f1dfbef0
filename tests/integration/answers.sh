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
<file_ref><file_name><OUTFILE_1/></file_name><open_name>../log</open_name><optional/></file_ref>
</result>
XML
create() {
    seq -f "--wu_name ${1}_%.0f $work/in" "$2" | qmctl jobs create --app work --in "$QM_SOURCE_DIR/tools/demo/in.xml" \
        --out "$work/out.xml" --stdin --quiet "${@:3}" >"$work/create.log" 2>&1
}
# The hosts' part: results are over, with files where the upload handler would put them (fanout 0).
compute() { # CONDITION
    rows "UPDATE result SET server_state = 5, outcome = 1, hostid = 7, sent_time = 1000, received_time = 2000,
        stderr_out = CONCAT('<core_client_version>8.0.2</core_client_version>\n<![CDATA[\n<stderr_txt>\nsaid ', name,
        '\n</stderr_txt>\n]]>') WHERE server_state = 2 AND $1"
    rows "SELECT REGEXP_SUBSTR(xml_doc_in, '[a-z0-9_]+_r[0-9]+_0') FROM result WHERE server_state = 5 AND outcome = 1
        AND $1" | while read -r name; do echo "answer of $name" >"$project/upload/$name"; done
}
accept() { # CONDITION
    rows "UPDATE workunit SET canonical_resultid = (SELECT MIN(id) FROM result WHERE workunitid = workunit.id),
        assimilate_state = 1 WHERE $1"
}
export_to() { qmctl jobs export "$@" >"$work/export.log" 2>&1; }
# The same beside the test, its number in $exporter.
export_beside() {
    "$QM_BINARY_DIR/qmctl" --project "$project" jobs export "$@" >"$work/export.log" 2>&1 &
    exporter=$!
    started+=("$exporter")
}
says() { grep -qE -- "$1" "$work/export.log"; }
manifest() { tail -n +2 "$out/manifest.tsv" | cut -f "$1"; }
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
claim "a word that is none" not qmctl jobs list --state burnt
claim "batches" is "$(qmctl jobs batches --tsv | tail -n +2 | cut -f 1,4-9 | tr '\t' ' ')" '3 20 10 0 0 50 8'
claim "results by outcome" is "$(qmctl jobs results --outcome 'client error' --tsv | tail -n +2 | cut -f 2,13)" $'second_5_0\t1'
qmctl jobs show first_1 >"$work/shown"
claim "a job with its results" grep -qE '^first_1_0 +over +success +init +7 .* yes' "$work/shown"
claim "its file with path and size" grep -qE "^first_1_0 +out +[0-9]+ +present +$project/upload/first_1_0_r[0-9]+_0" "$work/shown"
claim "an optional file that was not made" grep -qE '^first_1_0 +\.\./log +-1 +not made' "$work/shown"
claim "standard error" grep -q '^said first_1_0$' "$work/shown"
claim "by number, for programs" is "$(qmctl jobs show --id 1 --json | grep -c '^{.*}$')" 4
claim "a job that is none" not qmctl jobs show first

# --- export
claim "an export" export_to "$out" --batch 3
claim "says what it copied" says '^10 results, 30 files'
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
claim "warns" says '2 results lack an output file'
claim "and lists them" is "$(manifest 1,15 | grep -P '^first_1[3-6]\t(missing|deleted)' | tr '\t\n' ' ;')" \
    'first_13 missing;first_14 missing;first_15 deleted;first_15 deleted;'
size=$(wc -l <"$out/manifest.tsv")
claim "still missing" export_to "$out"
claim "is not listed twice" is "$(wc -l <"$out/manifest.tsv")" "$size"
mv "$work/later" "$project/upload/$(rows "SELECT REGEXP_SUBSTR(xml_doc_in, 'first_14_0_r[0-9]+_0') FROM result
    WHERE name = 'first_14_0'")"
claim "one came later" export_to "$out"
claim "it is copied" says '^1 results'
claim "to its place" test -f "$out/first_14/out"

# --- names with odd characters: jobs of other tools
rows "UPDATE workunit SET name = '../evil' WHERE id = 17; UPDATE workunit SET name = 'a\tb\nc' WHERE id = 18;
    UPDATE workunit SET name = 'größe \'\$(x)' WHERE id = 19; UPDATE workunit SET name = '.' WHERE id = 20"
compute "workunitid BETWEEN 17 AND 20"
accept "id BETWEEN 17 AND 20"
rows "UPDATE result SET xml_doc_in = REPLACE(xml_doc_in, '<open_name>out</open_name>', '<open_name>stderr.txt</open_name>')
    WHERE workunitid = 19"
claim "odd names" export_to "$out"
claim "stay in the folder" is "$(cd "$out" && echo @*) $(find "$work" -name '*evil*')" '@17 @18 @20 '
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
sleep 2
kill -TERM "$exporter"
claim "a signal ends it, well" wait "$exporter"
finish
