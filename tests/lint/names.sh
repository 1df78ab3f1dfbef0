#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A name means one thing. Base names of files and tags of structs, enums and unions stand once in the
# whole tree, but for those listed here, which two programs have on purpose. And what the pages for
# people name exists: every path in `backquotes`, and every function in the table "Where is it decided?".
# shellcheck disable=SC2016 # backquotes are Markdown's
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/../.."

# Base names that several programs have: each program begins in its main.c.
shared_files=' main '
# Tags that several programs have.
shared_tags=' '

failed=0
complain() {
    echo "$1" >&2
    failed=1
}

# A name that stands more than once, with the places.
repeated() { awk '{ n[$1]++; at[$1] = at[$1] " " $2 } END { for (k in n) if (n[k] > 1) print k ":" at[k] }' | sort; }

while IFS=: read -r name places; do
    case $shared_files in *" $name "*) ;; *) complain "base name $name stands more than once:$places" ;; esac
done < <(find config db server tools -name '*.[ch]' | sed -E 's/\.[ch]$//' | sort -u |
    awk -F/ '{ print $NF, $0 }' | repeated)

while IFS=: read -r name places; do
    case $shared_tags in *" $name "*) ;; *) complain "tag $name stands more than once:$places" ;; esac
done < <(grep -rnHE '^ *(static |const |typedef )*(struct|enum|union) [a-z_0-9]+ \{' config db server tools \
    --include='*.[ch]' | sed -E 's/^([^:]*):[0-9]+: *((static|const|typedef) )*(struct|enum|union) ([a-z_0-9]+) .*/\5 \1/' |
    sort -u | repeated)

# Paths: FOLDER/FILE in backquotes, from the top of the tree or, as a bare name, anywhere.
all=$(git ls-files 2>/dev/null || find . -type f | sed 's#^\./##')
for page in README.md ARCHITECTURE.md DECISIONS.md SECURITY.md tests/README.md; do
    while IFS= read -r path; do
        case $path in
        build/* | *X*) continue ;;
        *) ;;
        esac
        grep -qxE "(.*/)?${path//./\\.}" <<<"$all" || complain "$page: there is no $path"
    done < <(grep -oE '`[A-Za-z0-9_./-]+\.(c|h|def|sh|md|sql|xml|conf|service)`' "$page" | tr -d '`' | sort -u)
done

while IFS='|' read -r _ _ function file _; do
    function=$(grep -oE '`[a-z_]+`' <<<"$function" | tr -d '`')
    file=$(grep -oE '`[^`]+`' <<<"$file" | head -n 1 | tr -d '`')
    grep -qE "^[a-z].*\b$function\(" "$file" 2>/dev/null || complain "ARCHITECTURE.md: no $function in $file"
done < <(sed -n '/^## Where is it decided/,/^## /p' ARCHITECTURE.md | grep '^| [A-Z]' )
exit "$failed"
