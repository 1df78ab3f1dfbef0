-- SPDX-License-Identifier: Apache-2.0
-- When hosts last waited for a thread of this server (s since 1970, or 0): deletion of files and purge
-- then give way.
ALTER TABLE qm_server ADD COLUMN IF NOT EXISTS hosts_waited BIGINT NOT NULL DEFAULT 0;
