-- SPDX-License-Identifier: GPL-2.0-only
--
-- next_schema.sql follows common/store/schema.sql in the schema of `make next`, and in that to which unit tests migrate: what a
-- newer schema may add. Rows that were there before get the defaults.

ALTER TABLE capture ADD COLUMN grade TEXT NOT NULL DEFAULT 'none';
ALTER TABLE capture ADD COLUMN score INTEGER;

CREATE TABLE remark(
	capture_id INTEGER NOT NULL REFERENCES capture,
	text TEXT NOT NULL
) STRICT;

CREATE VIEW graded AS
SELECT c.capture_id, c.grade, c.score, r.text FROM capture c LEFT JOIN remark r USING(capture_id);

DROP VIEW hot_function;
CREATE VIEW hot_function AS
SELECT s.capture_id, c.grade, f.function, sum(s.samples) AS samples FROM sample s JOIN capture c USING(capture_id)
JOIN stack_frame k USING(stack_id) JOIN frame f USING(frame_id) WHERE k.position = 0 GROUP BY 1, 3;
