# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Projects for real BOINC clients, and the application of tools/demo for them. To be sourced after
# lib.sh.

demo=$QM_SOURCE_DIR/tools/demo

in_project() {
    "$QM_BINARY_DIR/qmctl" "$@" >>"$work/qmctl.log" 2>&1 || {
        claim_failed "qmctl $*"
        exit 1
    }
}

# volunteer_key PROJECT: adds an account to it and prints its key.
volunteer_key() {
    "$QM_BINARY_DIR/qmctl" --project "$1" user add volunteer@example.org --name Volunteer |
        grep -oE '[0-9a-f]{32}' | head -n 1
}

# demo_app PROJECT: the demonstration's application, with less to compute; but a client looks at its
# tasks once in a second, and what ends sooner was nothing to it.
demo_app() {
    sed 's/^steps=.*/steps=100000; sleep 2/' "$demo/app" >"$work/app"
    chmod 755 "$work/app"
    in_project --project "$1" app add demo --friendly "Demo: words counted"
    in_project --project "$1" version add demo 1.00 x86_64-pc-linux-gnu "$work/app"
}

# demo_jobs PROJECT COUNT: as many jobs of it, for CGI programs too, which run as the web server's
# user.
demo_jobs() {
    local project=$1 count=$2 number
    for ((number = 1; number <= count; number++)); do
        seq $((number * 100)) >"$project.numbers_$number"
        echo "--wu_name demo_$number $project.numbers_$number"
    done >"$project.jobs"
    in_project --project "$project" jobs create --app demo --in "$demo/in.xml" \
        --out "$QM_SOURCE_DIR/templates/none_out.xml" --stdin <"$project.jobs"
    chmod -R a+rX "$project"
}
