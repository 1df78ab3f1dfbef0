#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Pages that developers read have lines of 100 characters at most, and no paragraph or item of more
# than ten lines. Rows of tables, code and pictures may be longer.
set -euo pipefail
cd "$(dirname "$0")/../.."

pages=(ARCHITECTURE.md DECISIONS.md server/policy/edf/README.md server/pool/README.md)

failed=0
for page in "${pages[@]}"; do
    # Of a character of several bytes only the first counts.
    LC_ALL=C sed 's/[\x80-\xBF]//g' "$page" | awk -v name="$page" '
        function too_long() {
            if (lines > 10) {
                printf "%s:%d: a paragraph of %d lines\n", name, first, lines
                failed = 1
            }
            lines = 0
        }
        /^```/ { code = !code; too_long(); next }
        code || /^\|/ { too_long(); next }
        length($0) > 100 {
            printf "%s:%d: %d characters\n", name, NR, length($0)
            failed = 1
        }
        /^ *$/ || /^#/ || /^ *([-*]|[0-9]+\.) / { too_long() }
        !/^ *$/ && !/^#/ { if (lines++ == 0) first = NR }
        END { too_long(); exit failed }' >&2 || failed=1
done
echo "pages: ${#pages[@]}"
exit "$failed"
