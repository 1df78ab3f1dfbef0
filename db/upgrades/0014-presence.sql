-- SPDX-License-Identifier: Apache-2.0
-- How much of the time the host could compute between its contacts, as
-- server/policy/version/presence.h writes it; empty: nothing is known.
ALTER TABLE qm_host ADD COLUMN IF NOT EXISTS presence VARBINARY(255) NOT NULL DEFAULT '';
