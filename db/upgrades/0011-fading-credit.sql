-- SPDX-License-Identifier: Apache-2.0
-- Which server lets the credit a day of those who get none any more fade, and counts teams' users.
INSERT IGNORE INTO qm_duty (name, due) VALUES ('fading credit', 0);
