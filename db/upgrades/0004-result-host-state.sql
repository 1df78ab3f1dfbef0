-- SPDX-License-Identifier: Apache-2.0
-- Every request asks what its host has in progress. BOINC's index by host leads through all results
-- that the host ever had and that are not purged yet: with some hundred of them that was half of the
-- database's work.
CREATE INDEX IF NOT EXISTS qm_result_host_state ON result (hostid, server_state);
