#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The same as real_client_submission.sh, behind Apache.
export LC_ALL=C.UTF-8 CDPATH=
command -v apache2 >/dev/null || exit 77
exec "$(dirname "$0")/real_client_submission.sh" apache-proxy-fcgi
