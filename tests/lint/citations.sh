#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a comment or a page cites is in the tree. There are two forms: "policy(7) N.M" or "protocol(7) N.M" (also
# "N.M, N.M" and "N.M to N.M"), a section of that page; and "requirement N-M", a row of tests/requirements.md. Numbers of
# sections of no page, and texts that are not here, are refused. Prints how many citations there are.
set -euo pipefail
cd "$(dirname "$0")/../.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sed -nE 's/^### ([0-9]+\.[0-9]+) .*/policy(7) \1/p' server/policy/policy.7.md >"$work/known"
sed -nE 's/^### ([0-9]+\.[0-9]+) .*/protocol(7) \1/p' server/protocol.7.md >>"$work/known"
{
    sed -nE 's/^\| ([0-9]+-[0-9]+) \|.*/\1/p' tests/requirements.md
    sed -n '/^Nothing to show/,$p' tests/requirements.md | grep -oE '\b[0-9]+-[0-9]+\b'
} | sed 's/^/requirement /' >>"$work/known"
if [ "$(sort "$work/known" | uniq -d | wc -l)" -gt 0 ]; then
    echo "sections that are there twice:" >&2
    sort "$work/known" | uniq -d >&2
    exit 1
fi

find . \( -name .git -o -name build -o -name captures -o -name 'corpus*' -o -name pictures \) -prune -o -type f -print |
    sed 's|^\./||' | grep -vE '^(LICENSE|tests/lint/citations\.sh)$|\.(png|pem|svg)$' | sort | while read -r file; do
        if grep -qI . "$file"; then echo "$file"; fi
    done >"$work/files"

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
    kind = name ~ /\.(c|h|def)$/ ? "c" : name ~ /\.md$/ ? "md" : name ~ /\.sql$/ ? "sql" : "sh"
}
kind == "md" {
    if ($0 ~ /^$/ || $0 ~ /^[|#-]/)
        put()
    add($0)
    next
}
kind == "c" {
    rest = $0
    while (rest != "") {
        if (!inside) {
            at = index(rest, "/*")
            if (at == 0)
                break
            rest = substr(rest, at + 2)
            inside = 1
        }
        at = index(rest, "*/")
        add(at > 0 ? substr(rest, 1, at - 1) : rest)
        if (at == 0)
            break
        rest = substr(rest, at + 2)
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
    while (match(rest, /(policy|protocol)\(7\),? [0-9]+(\.[0-9]+)?((,| to|, and| and) [0-9]+\.[0-9]+)*|[Rr]equirements? [0-9]+-[0-9]+((,| to|, and| and) [0-9]+-[0-9]+)*/)) {
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

# In a page itself "(N.M)" is one of its own sections; elsewhere it is nobody's.
for page in policy protocol; do
    file=$(find server -name "$page.7.md")
    grep -noE '\([0-9]+\.[0-9]+\)' "$file" | tr -d '()' |
        sed -E "s|^([0-9]+):(.*)|$file:\1\t$page(7) \2|" >>"$work/cited"
done

failed=0
awk -F '\t' 'NR == FNR { known[$0] = 1; next } !($2 in known) { print $1 ": there is no " $2; bad = 1 } END { exit bad }' \
    "$work/known" "$work/cited" >&2 || failed=1

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
refuse "a section of no page" $'(^|[ \t])\\([0-9]{1,2}\\.[0-9]{1,2}( to [0-9.]+)?[,;)]'
grep -E '^[^:]*\.(c|h|def):' "$work/comments" >"$work/texts" || true
refuse "a section of no page" $'(^|\t)[0-9]{1,2}(\\.[0-9]{1,2}){1,2}(:|,| *$)'

echo "citations: $(wc -l <"$work/cited")"
exit "$failed"
