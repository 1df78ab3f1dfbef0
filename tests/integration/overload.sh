#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A server that measures itself oversold keeps its clients away for longer with each that comes, and
# takes their reports all the same. How busy it may be is set so low that three requests are a crowd.
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"

need curl nginx
new_project "<load_target>0.0001</load_target>"
add_host
start_server one --threads 1
start_nginx "$work/one.socket"

# In whole seconds, rounded as in the log.
delay() { sed -n 's|.*<request_delay>\([0-9.]*\).*|\1|p' "$work/reply" | xargs -r printf '%.0f'; }
claim "the first request is answered" reply
claim "and asks for no delay: nothing was measured yet" test -z "$(delay)"
last=0
for number in 2 3 4; do
    claim "request $number is answered in full" reply_has '<userid>'
    now=$(delay)
    say "delay $now s"
    claim "for longer than the one before" test "${now:-0}" -gt "$last"
    last=${now:-0}
done
claim "never for longer than four hours" test "$last" -le 14400
claim "the log says it" log_has one "delay=$last"

end_process "$server_pid"
write_config "<load_target>0</load_target>"
start_server one --threads 1
for number in 1 2 3; do reply; done
claim "without a target no load counts" test -z "$(delay)"
finish
