#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every requirement stands once in tests/requirements.md; what is said to show it is there, and so it
# is with the complaints of tests/scenarios/README.md. Prints how many are shown and how many are to
# come.
set -euo pipefail
cd "$(dirname "$0")/.."

table=requirements.md
# All numbers that there are, in order; 3-20 to 3-29 were never given, and others of groups 5 and 6 are of other parts.
known=$(for group in '0 1 15' '1 1 16' '2 1 26' '3 1 19' '3 30 45' '4 1 25' '5 1 56' '5 60 60' '6 1 3' '6 5 5' '6 12 14' '6 18 18' \
    '6 20 27' '7 1 26' '8 1 12'; do
    read -r of first last <<<"$group"
    seq -f "$of-%g" "$first" "$last"
done)
failed=0
complain() {
    echo "$table: $*" >&2
    failed=1
}

# --- numbers
rows=$(sed -n 's/^| \([0-9]-[0-9]*\) |.*/\1/p' $table)
others=$(sed -n '/^Nothing to show/,$p' $table | grep -oE '\b[0-8]-[0-9]+\b')
if ! diff <(echo "$rows") <(sort -t- -k1,1n -k2,2n <<<"$rows") >/dev/null; then
    complain "rows are not sorted"
fi
missing=$(diff <(echo "$known" | sort) <(printf '%s\n%s\n' "$rows" "$others" | sort) || true)
[ -z "$missing" ] || complain "numbers missing (<) or too often (>):
$missing"

# --- what is named
# is_list NUMBER BY: whether BY is a list of tests; complains of those that are not there.
is_list() {
    local number=$1 by=$2 test file words word content
    if [[ ! $by =~ ^\ \`[^\`]+\`(\;\ \`[^\`]+\`)*\ $ ]]; then
        complain "$number: no list of tests:$by"
        return 1
    fi
    while IFS= read -r test; do
        file=${test%%:*}
        words=${test#"$file"}
        words=${words#: }
        if [ ! -f "$file" ]; then
            complain "$number: there is no $file"
            continue
        fi
        [ -n "$words" ] || continue
        content=$(<"$file")
        if [[ $content != *"$words"* ]]; then
            complain "$number: $file has no $words"
        fi
        # A case of cmocka counts where it is run, not only where it is written.
        word="[^A-Za-z0-9](test_)?${words}[^A-Za-z0-9_]"
        if [[ $file == *.c && ! $content =~ $word.*$word ]]; then
            complain "$number: $file does not run $words"
        fi
    done < <(grep '^[a-z]' <<<"${by//\`/$'\n'}")
}

shown=0 pending=0
while IFS='|' read -r _ number _ _ by _; do
    number=${number// /}
    if [[ $by =~ ^\ to\ come:\ [A-Za-z\ ]+\ $ ]]; then
        pending=$((pending + 1))
        continue
    fi
    if is_list "$number" "$by"; then
        shown=$((shown + 1))
    fi
done < <(grep -E '^\| [0-9]' $table)

[ "$shown" -gt 0 ] || complain "no row is shown by anything"

# --- complaints: each number once, and each scenario of one under its number
table=scenarios/README.md
complaints=0 others_do=0 complained=
while IFS='|' read -r _ numbers _ by _; do
    for number in ${numbers//,/ }; do
        [[ " $complained " != *" $number "* ]] || complain "$number stands twice"
        complained+=" $number"
    done
    if [[ $by =~ ^\ not\ the\ dispatcher\'s:\ .+ ]]; then
        others_do=$((others_do + 1))
    elif is_list "${numbers// /}" "$by"; then
        complaints=$((complaints + 1))
    fi
done < <(grep -E '^\| (CVE-)?[0-9]' $table)
for file in scenarios/*-issue-[0-9]*.scenario; do
    number=${file##*-issue-}
    number=${number%.scenario}
    grep -qE "^\| ([0-9]+, )*${number}[, ].*\`$file\`" $table || complain "$number does not name $file"
done
[ "$complaints" -gt 0 ] || complain "no table of complaints"

# --- the compatibility tests of the README: each number once, each file there or waiting
numbers=$(sed -n 's/^| \([0-9]*\) |.*/\1/p' README.md)
if [ "$numbers" != "$(seq 25)" ]; then
    echo "README.md: the compatibility tests are not 1 to 25" >&2
    failed=1
fi
waiting=0 named=0
while IFS= read -r file; do
    named=$((named + 1))
    if [ -f "$file.pending" ]; then
        waiting=$((waiting + 1))
    elif [ ! -f "$file" ]; then
        echo "README.md: there is no $file" >&2
        failed=1
    fi
done < <(sed -n '/^## Compatibility/,$p' README.md | tr '`' '\n' | grep '^[a-z]*/.*\.s[a-z]*$')

if [ $named -eq 0 ]; then
    echo "README.md: the compatibility tests name no files" >&2
    failed=1
fi

echo "compatibility: 25 numbers, $waiting waiting for their feature"
echo "complaints: $complaints shown, $others_do not the dispatcher's"
echo "requirements: $shown shown, $pending to come, $(wc -w <<<"$others") with nothing to show"
exit $failed
