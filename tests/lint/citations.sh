#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a comment or a page cites is in the tree. There are three forms: "policy(7) N.M", "protocol(7) N.M" or "glossary(7) N"
# (also "N.M, N.M" and "N.M to N.M"), a section of that page; "requirement N-M", a row of tests/requirements.md; and the name
# of a file, with or without folders. Numbers of sections of no page, and texts that are not here, are refused. So is a row of
# tests/mutants that explains a line which its file does not have. Prints how many citations there are.
set -euo pipefail
cd "$(dirname "$0")/../.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Pages whose sections have numbers.
pages='
policy    server/policy/policy.7.md
protocol  server/protocol.7.md
glossary  server/glossary.7.md
moving    server/moving.7.md
'
while read -r page file; do
    [ -z "$page" ] || sed -nE "s/^##+ ([0-9]+(\.[0-9]+)?) .*/$page(7) \1/p" "$file"
done <<<"$pages" >"$work/known"
{
    sed -nE 's/^\| ([0-9]+-[0-9]+) \|.*/\1/p' tests/requirements.md
    sed -n '/^Nothing to show/,$p' tests/requirements.md | grep -oE '\b[0-9]+-[0-9]+\b'
} | sed 's/^/requirement /' >>"$work/known"
if [ "$(sort "$work/known" | uniq -d | wc -l)" -gt 0 ]; then
    echo "sections that are there twice:" >&2
    sort "$work/known" | uniq -d >&2
    exit 1
fi

find . \( -name .git -o -name build -o -name captures -o -name '*corpus*' -o -name pictures \) -prune -o -type f -print |
    sed 's|^\./||' | grep -vE '^(LICENSE|tests/mutants|tests/lint/citations\.sh)$|\.(png|pem|svg|json|yml)$' |
    { xargs -d '\n' grep -lI . || true; } | sort >"$work/files"

# Each comment, or paragraph of a page, as one line: FILE:LINE, a tab, its text.
cat >"$work/texts.awk" <<'AWK'
function put() {
    if (text != "")
        print name ":" line "\t" text
    text = ""
}
function add(words) {
    gsub(/^[ \t]*(\*|#|--)?[ \t]*/, "", words)
    if (text == "")
        line = FNR
    text = text (text == "" ? "" : " ") words
}
FNR == 1 {
    put()
    inside = 0
    name = FILENAME
    kind = name ~ /\.(c|h|def)$/ ? "c" : name ~ /\.md$/ ? "md" : name ~ /\.sql$/ ? "sql" : name ~ /\.xml$/ ? "xml" : "sh"
    begins = kind == "xml" ? "<!--" : "/*"
    ends = kind == "xml" ? "-->" : "*/"
}
kind == "md" {
    if ($0 ~ /^$/ || $0 ~ /^[|#-]/)
        put()
    add($0)
    next
}
kind == "c" || kind == "xml" {
    rest = $0
    while (rest != "") {
        if (!inside) {
            at = index(rest, begins)
            if (at == 0)
                break
            rest = substr(rest, at + length(begins))
            inside = 1
        }
        at = index(rest, ends)
        add(at > 0 ? substr(rest, 1, at - 1) : rest)
        if (at == 0)
            break
        rest = substr(rest, at + length(ends))
        inside = 0
        put()
    }
    next
}
{
    mark = kind == "sql" ? "--" : "#"
    at = match($0, kind == "sql" ? /(^|[ \t])--/ : /(^|[ \t])#/)
    if (at > 0)
        add(substr($0, at + index(substr($0, at), mark) - 1))
    if (at == 0 || $0 !~ (kind == "sql" ? /^[ \t]*--/ : /^[ \t]*#/))
        put()
}
END { put() }
AWK
xargs -d '\n' awk -f "$work/texts.awk" <"$work/files" >"$work/texts"

# What the texts cite, one a line: FILE:LINE, a tab, the form that stands in the list of what is known.
cat >"$work/cited.awk" <<'AWK'
BEGIN { FS = "\t" }
{
    rest = $2
    while (match(rest, /(policy|protocol|glossary|moving)\(7\),? [0-9]+(\.[0-9]+)?((,| to|, and| and) [0-9]+\.[0-9]+)*|[Rr]equirements? [0-9]+-[0-9]+((,| to|, and| and) [0-9]+-[0-9]+)*/)) {
        found = substr(rest, RSTART, RLENGTH)
        rest = substr(rest, RSTART + RLENGTH)
        page = found ~ /^[Rr]eq/ ? "requirement" : substr(found, 1, index(found, ")"))
        sub(/^[^ ]* /, "", found)
        gsub(/,|to|and/, " ", found)
        count = split(found, numbers, / +/)
        for (i = 1; i <= count; i++)
            if (numbers[i] != "")
                print $1 "\t" page " " numbers[i]
    }
}
AWK
awk -f "$work/cited.awk" "$work/texts" >"$work/cited"

# In a page itself "(N.M)" and "section N.M" are its own sections; elsewhere they are nobody's.
while read -r page file; do
    [ -n "$page" ] || continue
    { grep -noE '\([0-9]+\.[0-9]+\)|\b[Ss]ections? [0-9]+(\.[0-9]+)?((,| to| and) [0-9]+(\.[0-9]+)?)*' "$file" || true; } |
        sed -E 's/[()]|[Ss]ections? //g; s/,| to| and//g' |
        awk -F: -v page="$page(7) " -v file="$file" '{
            count = split($2, numbers, " ")
            for (i = 1; i <= count; i++)
                print file ":" $1 "\t" page numbers[i]
        }' >>"$work/cited"
done <<<"$pages"

failed=0
if [ ! -s "$work/texts" ] || [ ! -s "$work/cited" ]; then
    echo "no texts or no citations: the places where this looks are empty" >&2
    failed=1
fi
awk -F '\t' 'NR == FNR { known[$0] = 1; next } !($2 in known) { print $1 ": there is no " $2; bad = 1 } END { exit bad }' \
    "$work/known" "$work/cited" >&2 || failed=1

# Files. X in a name stands for any word; the others here are examples of what a reader may call a file of his own.
find . \( -name .git -o -name build -o -name .quickstart \) -prune -o -type f -print | sed 's|^\./||' >"$work/tree"
cat >"$work/named.awk" <<'AWK'
BEGIN {
    FS = "\t"
    count = split("crowd.scenario move.sh tables.md", examples, " ")
    for (i = 1; i <= count; i++)
        known[examples[i]] = 1
}
FILENAME ~ /\/tree$/ {
    count = split($0, parts, "/")
    name = ""
    for (i = count; i > 0; i--) {
        name = parts[i] (name == "" ? "" : "/" name)
        known[name] = 1
    }
    next
}
{
    rest = " " $2
    while (match(rest, /[^A-Za-z0-9_.<\/{}$-][A-Za-z0-9_][A-Za-z0-9_.\/-]*\.(c|h|def|sh|md|sql|scenario|inc|conf|service)($|[^A-Za-z0-9_(-])/)) {
        name = substr(rest, RSTART + 1, RLENGTH - 1)
        rest = substr(rest, RSTART + RLENGTH - 1)
        sub(/[^A-Za-z0-9_]$/, "", name)
        if (name !~ /X/ && name !~ /^(build|work|root|a\.b)\// && name != "a.b.c" && !(name in known)) {
            print $1 ": there is no " name
            bad = 1
        }
        named++
    }
}
END {
    if (named == 0) {
        print "no text names a file"
        bad = 1
    }
    exit bad
}
AWK
awk -f "$work/named.awk" "$work/tree" "$work/texts" >&2 || failed=1

# refuse WHY PATTERN: no text has it.
refuse() {
    if grep -E "$2" "$work/texts" >"$work/refused"; then
        while IFS=$'\t' read -r place text; do
            echo "$place: $1: $(grep -oE "$2" <<<"$text" | head -1)" >&2
        done <"$work/refused"
        failed=1
    fi
}
refuse "say protocol(7) N.M" '\bprotocol (section )?[0-9]'
refuse "a text that is not in the tree" 'database-and-policy|\bdesign\.md|\bdesign [0-9]+\.[0-9]|protocol\.md|\bthe old text'
refuse "say requirement N-M" '\b[Ss]eeds? ([0-9]+-[0-9]+|00[0-9])'
grep -vE '^[^:]*\.md:' "$work/texts" >"$work/comments" || true
cp "$work/comments" "$work/texts"
refuse "say policy(7) N.M, or whose section it is" '\b[Ss]ections? [0-9]+\.[0-9]'
refuse "a section of no page" $'(^|[ \t])\\([0-9]{1,2}\\.[0-9]{1,2}( to [0-9.]+)?[,;)]'
grep -E '^[^:]*\.(c|h|def):' "$work/comments" >"$work/texts" || true
refuse "a section of no page" $'(^|\t)[0-9]{1,2}(\\.[0-9]{1,2}){1,2}(:|,| *$)'

# A change that no test notices is explained by the text of its line.
while IFS= read -r row; do
    file=${row%% *} line=${row#* \"}
    line=${line%%\" [\[]*}
    if ! grep -qxF -- "$line" <(sed 's/^ *//' "$file"); then
        echo "tests/mutants explains a line that $file does not have: $line" >&2
        failed=1
    fi
done < <(grep '^[a-z].* survives: ' tests/mutants)

echo "citations: $(wc -l <"$work/cited")"
exit "$failed"
