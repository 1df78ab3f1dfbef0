# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# One cell of an experiment, for the script "experiment", which sources this: databases, projects,
# servers, web servers, the crowd. Uses of it: rows_of and expand, $bin, $source_dir, $socket, $work,
# and `cell`, the axes by name.

started=() # processes, in the order of their start

end_processes() {
    local i
    for ((i = ${#started[@]} - 1; i >= 0; i--)); do kill "${started[$i]}" 2>/dev/null; done
    for i in "${started[@]}"; do wait "$i" 2>/dev/null; done
    started=()
}

sql() { mariadb --no-defaults -S "$socket" -u root -N -B "$@"; }

qmctl() {
    "$bin/qmctl" "$@" >>"$work/cell/log" 2>&1 ||
        give_up 1 "qmctl $*: $(tail -n 1 "$work/cell/log")"
}

# write_output_template: with a file of these elements, if the rows want one.
write_output_template() {
    local elements
    elements=$(rows_of output)
    echo '<output_template>'
    [ -z "$elements" ] || echo "<file_info><name><OUTFILE_0/></name><generated_locally/>
        <max_nbytes>1000000000000</max_nbytes><url><UPLOAD_URL/></url>$elements</file_info>"
    echo '<result>'
    [ -z "$elements" ] || echo '<file_ref><file_name><OUTFILE_0/></file_name><open_name>out</open_name></file_ref>'
    echo '</result></output_template>'
}

# fill_project FOLDER SCHEMA: apps, versions and jobs as the rows say and then changed, and an account, its key in $key.
fill_project() {
    local folder=$1 schema=$2 name class count operations deadline rest statement row=0
    write_output_template >"$work/cell/out.xml"
    while read -r name; do qmctl --project "$folder" app add "$name"; done < <(rows_of app)
    while read -r name rest; do
        qmctl --project "$folder" batch add "$name" --app "$rest"
    done < <(rows_of batch)
    while read -r name class; do
        # Plan classes share the program; their copies are named by the class.
        qmctl --project "$folder" version add ${class:+--plan-class "$class"} "$name" 1.00 \
            x86_64-pc-linux-gnu "$source_dir/tools/demo/app"
    done < <(rows_of version)
    while read -r name count operations deadline rest; do
        rest+=" --rsc_fpops_bound $(awk "BEGIN { print $operations * 1000 }")"
        # The same names in every run: servers draw the lots of a simulated request from what it says.
        # No name twice on one host, or the list of its jobs would be another.
        row=$((row + 1))
        seq "$count" | sed "s/.*/--wu_name p${cell[project]}_${name}_${row}_& --command_line &/" \
            >"$work/cell/jobs"
        # shellcheck disable=SC2086 # several options
        qmctl --project "$folder" jobs create --app "$name" --stdin --quiet --in "$work/in.xml" \
            --out "$work/cell/out.xml" --rsc_fpops_est "$operations" \
            --delay_bound "${deadline%%,*}" $rest <"$work/cell/jobs"
        # Jobs take turns, and the server is not there yet.
        [[ $deadline != *,* ]] || sql "$schema" -e "UPDATE workunit
            SET delay_bound = ELT(1 + id % $(tr -dc , <<<"$deadline," | wc -c), $deadline)
            WHERE name LIKE 'p${cell[project]}\\_${name}\\_${row}\\_%'"
    done < <(rows_of jobs)
    rows_of change | while read -r statement; do
        sql "$schema" -e "$statement" || exit 1
    done || give_up 1 "a row change cannot be done"
    key=$("$bin/qmctl" --project "$folder" user add crowd@example.org --name Crowd |
        grep -oE '[0-9a-f]{32}' | head -n 1)
    [ -n "$key" ] || give_up 1 "qmctl user add gave no key"
}

# start_project NUMBER: with a server and a web server of its own; the scheduler is at $url.
start_project() {
    local folder=$work/cell/p$1 schema=qm_experiment_$$_$1 port options
    cell[project]=$1
    sql -e "DROP DATABASE IF EXISTS $schema"
    qmctl init "$folder" --url "http://127.0.0.1/p$1/" --name "Project $1" --db-name "$schema" \
        --db-user root --db-socket "$socket"
    # An experiment has what it says, not the limits that a new project has.
    sed -i -E '/<(daily_result_quota|max_wus_to_send|send_result_abort|delete_delay_hours|extend_deadlines|learn_availability)>/d' "$folder/config.xml"
    rows_of config | sed 's/^/    /' >"$work/cell/config"
    if [ -n "$(rows_of file_database)" ]; then
        sql -e "DROP DATABASE IF EXISTS ${schema}_files"
        echo "    <files_db_name>${schema}_files</files_db_name>" >>"$work/cell/config"
    fi
    sed -i "/<config>/r $work/cell/config" "$folder/config.xml"
    [ -z "$(rows_of file_database)" ] || qmctl --project "$folder" files init
    fill_project "$folder" "$schema"
    read -ra options <<<"$(rows_of server | tr '\n' ' ')"
    # shellcheck disable=SC2094 # what precedes the log joins it
    "$bin/quartermaster" --project "$folder" --listen "unix:$folder.socket" --socket-mode 0666 \
        --clock=request --log "$folder.log" "${options[@]}" >>"$folder.log" 2>&1 </dev/null &
    started+=($!)
    within 20 test -S "$folder.socket" ||
        give_up 1 "the server does not start: $(tail -n 1 "$folder.log")"
    find_port || give_up 1 "no free port on loopback"
    "$source_dir/tools/private-web" --server nginx --dir "$folder.web" --port "$port" --name "p$1" \
        --project "$folder" --socket "$folder.socket" >"$folder.web.log" 2>&1 </dev/null &
    started+=($!)
    url=http://127.0.0.1:$port/p$1_cgi/cgi
    within 20 answers "$url" || give_up 1 "nginx does not start: $(tail -n 1 "$folder.web.log")"
}

# transition_of FOLDER SCHEMA: the shell words of an order to do what is due in a project, if the rows
# want it, after what a program of the project does.
transition_of() {
    local hours options
    read -r hours options < <(rows_of transition)
    [ -n "$hours" ] || return 0
    rows_of program | sed 's/$/;/' >"$1.program"
    [ ! -s "$1.program" ] || echo "sed 's/@now/{now}/g' '$1.program' |" \
        "mariadb --no-defaults -S '$socket' -u root $2 &&"
    echo "'$bin/qmctl' --project '$1' transition --now {now} $options"
}

write_crowd() {
    local hours rest
    echo "hosts ${cell[hosts]}"
    echo "days ${cell[days]}"
    echo "seed ${cell[seed]}"
    while read -r hours rest; do echo "transition_hours $hours"; done < <(rows_of transition)
    rows_of scenario
}

# ask_database FIGURES: what only the first project's database knows beside that file's figures,
# lines "name value".
ask_database() {
    local name query value
    cell[flops_total]=$(awk '$1 == "flops_total" {print $2}' "$1")
    while read -r name query; do
        value=$(sql "qm_experiment_$$_1" -e "$query") || return 1
        echo "$name $value"
    done < <(rows_of sql)
    unset 'cell[flops_total]'
}

# run_cell FOLDER: leaves FOLDER/figures, lines "name value", and what the options want there.
run_cell() {
    local number arguments=() urls=() options order
    rm -rf "$work/cell"
    mkdir -p "$work/cell" "$1"
    cell[folder]=$1
    for ((number = 1; number <= $(expand "${given[projects]:-1}"); number++)); do
        start_project "$number"
        urls+=("$url")
        arguments+=(--authenticator "$key" --metrics "$url/metrics")
        order=$(transition_of "$work/cell/p$number" "qm_experiment_$$_$number" | tr '\n' ' ')
        [ -z "$order" ] || arguments+=(--transition "$order")
    done
    unset 'cell[project]'
    write_crowd >"$work/cell/crowd"
    read -ra options <<<"$(rows_of option | tr '\n' ' ')"
    "$bin/qmvolunteers" --quiet "${arguments[@]}" "${options[@]}" "$work/cell/crowd" \
        "${urls[@]}" >"$work/cell/figures.json" 2>"$work/cell/crowd.log" </dev/null &
    started+=($!)
    # Signals are heard while waiting, not while a command runs.
    wait "${started[-1]}" || give_up 1 "qmvolunteers: $(tail -n 1 "$work/cell/crowd.log")"
    unset 'cell[folder]'
    end_processes
    grep -oE '"[a-z_0-9]+": -?[0-9][0-9.e+-]*' "$work/cell/figures.json" | tr -d '":' |
        grep -vE '^(hosts|days) ' >"$1/figures.new"
    ask_database "$1/figures.new" >>"$1/figures.new" || give_up 1 "a row sql cannot be asked"
    mv "$1/figures.new" "$1/figures"
}
