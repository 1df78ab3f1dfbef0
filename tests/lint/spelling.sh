#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Words are spelt as dictionaries have them; those that codespell takes for mistakes and are none
# stand in spelling_words.
set -euo pipefail
cd "$(dirname "$0")/../.."

if ! command -v codespell >/dev/null; then
    echo "codespell is missing" >&2
    exit 1
fi
codespell --ignore-words tests/lint/spelling_words \
    --skip './build,./.git,./.quickstart,./tests/captures,*corpus*,./LICENSE,*.pem' .
