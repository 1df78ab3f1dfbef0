# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A Galera cluster of $nodes nodes on this machine, for campaigns that keep theirs in the folder $state:
# node N lies in STATE/dbN. To be sourced, after processes.sh, by a script with $tools and give_up.
# shellcheck disable=SC2154 # that script sets what is not set here

provider=/usr/lib/galera/libgalera_smm.so
group_port=() catch_up_port=() copy_port=()

# can_make_cluster: Galera is installed, and what it copies nodes with.
can_make_cluster() {
    local need
    for need in "$provider" "$(command -v rsync)" "$(command -v wsrep_sst_rsync)"; do
        [ -e "$need" ] || return 1
    done
}

member_options() { # NODE [new]: new is the first of a cluster
    local base=${group_port[$1]} one members=''
    for ((one = 1; one <= nodes; one++)); do members+=,127.0.0.1:${group_port[one]}; done
    printf '%s\n' --wsrep-on=ON "--wsrep-provider=$provider" --wsrep-cluster-name=campaign \
        "--wsrep-cluster-address=gcomm://${members#,}" "--wsrep-node-name=node$1" \
        "--wsrep-node-address=127.0.0.1:$base" \
        "--wsrep-provider-options=base_port=$base;ist.recv_addr=127.0.0.1:${catch_up_port[$1]};gmcast.listen_addr=tcp://127.0.0.1:$base;evs.suspect_timeout=PT3S;evs.inactive_timeout=PT6S;evs.keepalive_period=PT0.5S;evs.inactive_check_period=PT0.5S;pc.recovery=false" \
        --wsrep-sst-method=rsync "--wsrep-sst-receive-address=127.0.0.1:${copy_port[$1]}" \
        --binlog-format=ROW --innodb-autoinc-lock-mode=2 --wsrep-slave-threads=2
    [ "${2:-}" != new ] || echo --wsrep-new-cluster
}

start_member() { # NODE [new]
    local options=() user=()
    mapfile -t options < <(member_options "$@")
    # What copies a node writes as nobody where root runs it.
    if [ "$(id -u)" = 0 ]; then
        mkdir -p "$state/db$1"
        chown -R nobody "$state/db$1"
        user=(setpriv --reuid=nobody --clear-groups)
    fi
    "${user[@]}" "$tools/private-mariadb" start "$state/db$1" -- --max-connections=300 \
        "${options[@]}" >>"$state/logs/database$1.log" 2>&1 9>&-
}

told_by_member() { # NODE VARIABLE
    timeout 60 mariadb --no-defaults -S "$state/db$1/socket" -u root -N -B -e "SHOW STATUS LIKE '$2'" 2>/dev/null | cut -f2
}
is_synced() { # NODE
    [ "$(told_by_member "$1" wsrep_local_state_comment)" = Synced ] &&
        [ "$(told_by_member "$1" wsrep_cluster_size)" = "$nodes" ]
}

start_cluster() {
    local node first=1 last=-1 seqno
    for ((node = 1; node <= nodes; node++)); do
        find_port || give_up "no free port on loopback"
        group_port[node]=$port
        find_port || give_up "no free port on loopback"
        catch_up_port[node]=$port
        find_port || give_up "no free port on loopback"
        copy_port[node]=$port
    done
    # The last node to end says that it may begin; else the one that knows of the last transaction begins.
    for ((node = 1; node <= nodes; node++)); do
        seqno=$(sed -n 's/^seqno: *//p' "$state/db$node/data/grastate.dat" 2>/dev/null)
        ! grep -qs 'safe_to_bootstrap: 1' "$state/db$node/data/grastate.dat" || seqno=9999999999
        [ "${seqno:--1}" -le "$last" ] || { last=$seqno && first=$node; }
    done
    sed -i 's/safe_to_bootstrap: 0/safe_to_bootstrap: 1/' "$state/db$first/data/grastate.dat" 2>/dev/null
    start_member "$first" new || give_up "node $first of the database did not start, see $state/db$first/log"
    for ((node = 1; node <= nodes; node++)); do
        [ $node -eq $first ] || start_member "$node" ||
            give_up "node $node of the database did not start, see $state/db$node/log"
    done
    for ((node = 1; node <= nodes; node++)); do
        within 60 is_synced "$node" || give_up "node $node is not synchronous"
    done
}
