#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy (.clang-tidy says what of it) has nothing to say about the sources that are built. It
# reads the compile commands of a build folder of its own, so that it asks clang's question whatever
# this build was made with. Of each function the analyzer looks at 50,000 states; with
# QM_TIDY_STATES=225000, its own default, it takes five times as long.
set -euo pipefail
cd "$(dirname "$0")/../.."

if ! command -v clang-tidy >/dev/null; then
    echo "clang-tidy is missing" >&2
    exit 1
fi
commands="${QM_BINARY_DIR:-build/debug}/tidy"
cmake -S . -B "$commands" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER=clang \
    -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DBUILD_TESTING=OFF >/dev/null
output="$commands/output"
mapfile -t sources < <(find config db server tools -name '*.c' | sort)
if [ ${#sources[@]} -eq 0 ]; then
    echo "no sources were found" >&2
    exit 1
fi
analyzer=(--extra-arg=-Xclang --extra-arg=-analyzer-config
    --extra-arg=-Xclang --extra-arg="max-nodes=${QM_TIDY_STATES:-50000}")
if printf '%s\n' "${sources[@]}" | xargs -n 4 -P "$(nproc)" clang-tidy --quiet -p "$commands" \
    "${analyzer[@]}" >"$output" 2>"$output.log"; then
    exit 0
fi
grep -hE ': (fatal )?error:' "$output" "$output.log" | sort -u || tail -n 20 "$output.log"
exit 1
