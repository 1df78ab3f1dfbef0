#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A name means one thing. Base names of files and tags of structs, enums and unions stand once in the
# whole tree, but for those listed here, which two programs have on purpose. A file of subcommands has one suffix. And what the pages for
# people name exists: every path in `backquotes`, and every function in the table "Where is it decided?".
# (Names of files in plain words and in comments are asked about by citations.sh.)
# shellcheck disable=SC2016 # backquotes are Markdown's
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/../.."

# Base names that several programs have: each program begins in its main.c.
shared_files=' main '
# Tags that several programs have.
shared_tags=' '

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
complain() {
    echo "$1" >&2
    failed=1
}

# looked_at FILE WHAT: where nothing was found, this looks in the wrong place.
looked_at() {
    [ -s "$1" ] || complain "no $2 were found"
}

# A name that stands more than once, with the places.
repeated() { awk '{ n[$1]++; at[$1] = at[$1] " " $2 } END { for (k in n) if (n[k] > 1) print k ":" at[k] }' | sort; }

find config db server tools -name '*.[ch]' | sed -E 's/\.[ch]$//' | sort -u | awk -F/ '{ print $NF, $0 }' >"$work/files"
looked_at "$work/files" "sources"
while IFS=: read -r name places; do
    case $shared_files in *" $name "*) ;; *) complain "base name $name stands more than once:$places" ;; esac
done < <(repeated <"$work/files")

grep -rnHE '^ *(static |const |typedef )*(struct|enum|union) [a-z_0-9]+ \{' config db server tools --include='*.[ch]' |
    sed -E 's/^([^:]*):[0-9]+: *((static|const|typedef) )*(struct|enum|union) ([a-z_0-9]+) .*/\5 \1/' |
    sort -u >"$work/tags" || true
looked_at "$work/tags" "tags"
while IFS=: read -r name places; do
    case $shared_tags in *" $name "*) ;; *) complain "tag $name stands more than once:$places" ;; esac
done < <(repeated <"$work/tags")

# A file of qmctl has subcommands exactly if its name ends in _command.
grep -rlE '^enum exit_code command_' tools/qmctl --include='*.c' | sort >"$work/has_commands" || true
find tools/qmctl -name '*_command.c' | sort >"$work/called_so"
looked_at "$work/has_commands" "subcommands"
while IFS= read -r file; do
    complain "$file: it has subcommands and is not called _command, or the other way round"
done < <(comm -3 "$work/has_commands" "$work/called_so" | tr -d '\t')

# Paths: whatever in backquotes begins with one of our folders, or ends as our files do (then from the
# top of the tree, of tests/, beside the page, or, without a folder, anywhere). Not those with a
# variable part, of a build, or with words behind.
find . \( -name .git -o -name build -o -name .quickstart \) -prune -o -print | sed 's|^\./||' >"$work/tree"
find . \( -name .git -o -name build -o -name .quickstart -o -name captures \) -prune -o -name '*.md' -print |
    sed 's|^\./||' | sort >"$work/pages"
looked_at "$work/pages" "pages"
xargs grep -oHE '`[A-Za-z0-9_./-]+`' <"$work/pages" | tr -d '`' |
    grep -E ':(config|db|server|templates|tests|tools)/|\.(c|h|def|sh|md|sql|conf|service|scenario|inc|cmake)$|:[a-z-]+/[a-z_.-]+\.xml$' |
    grep -vE 'X|:[/.]|:build/|NUMBER|:tables\.md$' | sort -u >"$work/named" || true
looked_at "$work/named" "paths on pages"
awk -F: '
    FILENAME ~ /\/tree$/ {
        exists[$0] = 1
        count = split($0, parts, "/")
        bare[parts[count]] = 1
        next
    }
    {
        name = $2
        sub(/\/$/, "", name)
        folder = $1
        if (!sub(/\/[^\/]*$/, "/", folder))
            folder = ""
        if (!(name in exists) && !(("tests/" name) in exists) && !((folder name) in exists) &&
            (name ~ /\// || !(name in bare)))
            print $1 ": there is no " name
    }' "$work/tree" "$work/named" >"$work/missing"
while IFS= read -r line; do
    complain "$line"
done <"$work/missing"

# The functions.
sed -n '/^## Where is it decided/,/^## [^W]/p' ARCHITECTURE.md | grep '^| [A-Z]' >"$work/functions" || true
looked_at "$work/functions" "rows of \"Where is it decided?\""
while IFS='|' read -r _ question function file _; do
    function=$(grep -oE '`[a-z_]+`' <<<"$function" | tr -d '`') || true
    file=$(grep -oE '`[^`]+`' <<<"$file" | head -n 1 | tr -d '`') || true
    if [ -z "$function" ] || [ -z "$file" ]; then
        complain "ARCHITECTURE.md: no function or no file for$question"
    elif ! grep -qE "^[a-z].*\b$function\(" "$file" 2>/dev/null; then
        complain "ARCHITECTURE.md: no $function in $file"
    fi
done <"$work/functions"
exit "$failed"
