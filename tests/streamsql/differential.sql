-- Queries that mean the same to StreamSQL and to DuckDB, one statement each.
SELECT mid, node * 2 + 1 AS n FROM machine WHERE node BETWEEN 1 AND 3;

SELECT mid FROM machine WHERE load < 50.0 OR rid = 'r1';

SELECT mid FROM machine WHERE NOT (load < 50.0);

SELECT mid FROM machine WHERE load IS NULL AND rid IN ('r1', 'r3');

SELECT mid, CASE WHEN load > 1.0 THEN 'busy' WHEN load IS NULL THEN 'silent' ELSE 'free' END AS
s FROM machine;

SELECT m.mid, r.level FROM machine m, room r WHERE m.rid = r.rid AND r.lab;

SELECT m.mid, r.level FROM machine m JOIN room r ON m.rid = r.rid AND m.node > r.level;

SELECT a.mid, b.mid AS other FROM machine a, machine b WHERE a.rid = b.rid AND a.node < b.node;

SELECT a.mid, e.dst, r.level FROM machine a, edge e, room r WHERE a.rid = r.rid AND e.src =
r.level;

SELECT rid FROM machine UNION SELECT rid FROM room;

SELECT rid FROM machine UNION ALL SELECT rid FROM booking;

SELECT node FROM machine UNION SELECT load FROM machine UNION ALL SELECT len FROM edge;

SELECT DISTINCT rid, node % 2 AS odd FROM machine;

SELECT rid, COUNT(*) AS n, COUNT(load) AS known, MAX(node) AS top FROM machine GROUP BY rid;

SELECT rid, SUM(node) AS s, AVG(node) AS mean FROM machine GROUP BY rid HAVING COUNT(*) > 1;

SELECT COUNT(*) AS n, COUNT(DISTINCT rid) AS rooms, MIN(load) AS least FROM machine;

SELECT node + 1 AS n, COUNT(*) AS c FROM machine GROUP BY node + 1;

SELECT upper(rid) AS r, MIN(mid) AS m FROM machine GROUP BY upper(rid) HAVING MIN(node) < 3;

SELECT m.mid FROM machine m WHERE NOT EXISTS (SELECT 1 FROM booking b WHERE b.rid = m.rid);

SELECT m.mid FROM machine m WHERE NOT EXISTS (SELECT 1 FROM machine o WHERE o.rid = m.rid AND
o.node < m.node);

SELECT m.mid FROM machine m WHERE NOT EXISTS (SELECT 1 FROM booking b, room r WHERE b.rid =
r.rid AND r.level = m.node);

SELECT m.mid FROM machine m WHERE NOT EXISTS (SELECT 1 FROM booking b WHERE b.rid = m.rid AND
NOT EXISTS (SELECT 1 FROM room r WHERE r.rid = b.rid AND r.lab));

SELECT m.mid FROM machine m WHERE EXISTS (SELECT 1 FROM booking b WHERE b.rid = m.rid);

SELECT m.mid FROM machine m WHERE m.node IN (SELECT node FROM booking WHERE rid IS NOT NULL);

SELECT m.mid FROM machine m WHERE m.rid IN (SELECT rid FROM machine GROUP BY rid HAVING COUNT(*)
> 1);

SELECT m.mid FROM machine m WHERE NOT EXISTS (SELECT 1 FROM booking);

WITH top AS (SELECT rid, MAX(node) AS node FROM machine GROUP BY rid) SELECT m.mid FROM machine
m JOIN top t ON t.rid = m.rid AND t.node = m.node;

WITH pair(a, b) AS (SELECT src, dst FROM edge) SELECT p.a, q.b FROM pair p, pair q WHERE p.b =
q.a;

SELECT t.rid, t.n FROM (SELECT rid, COUNT(*) AS n FROM machine GROUP BY rid) t WHERE t.n > 1 AND
t.rid <> 'r2';

SELECT coalesce(load, -1.0) AS l, abs(node - 3) AS d, round(load / 3.0, 2) AS third FROM machine;

SELECT mid || '-' || rid AS name, lower(mid) AS l, length(rid) AS n FROM machine;

SELECT CAST(node AS FLOAT) / 2 AS half, -node AS minus FROM machine;

WITH RECURSIVE reach(src, dst) AS (SELECT src, dst FROM edge UNION SELECT r.src, e.dst FROM
reach r JOIN edge e ON e.src = r.dst) SELECT src, dst FROM reach;

WITH RECURSIVE reach(src, dst) AS (SELECT src, dst FROM edge UNION SELECT r.src, e.dst FROM
reach r JOIN edge e ON e.src = r.dst) SELECT dst FROM reach WHERE src = 1;

WITH RECURSIVE hop(node, n) AS (SELECT node, 0 FROM booking UNION SELECT e.dst, h.n + 1 FROM hop
h, edge e WHERE e.src = h.node AND h.n < 3) SELECT node, MIN(n) AS n FROM hop GROUP BY node;

WITH RECURSIVE r(node) AS (SELECT node FROM booking UNION SELECT e.dst FROM r JOIN edge e ON
e.src = r.node WHERE NOT EXISTS (SELECT 1 FROM machine m WHERE m.node = e.dst)) SELECT node FROM
r;

WITH RECURSIVE far(node) AS (
  (SELECT node FROM booking UNION ALL SELECT node FROM machine)
  UNION SELECT e.dst FROM far f JOIN edge e ON e.src = f.node
) SELECT node FROM far;

SELECT rid, median(load) AS m, quantile_cont(node, 0.25) AS q, quantile_disc(node, 0.75) AS d,
percentile_disc(0.5) WITHIN GROUP (ORDER BY mid) AS p FROM machine GROUP BY rid;

SELECT round(var_samp(node), 6) AS a, round(var_pop(load), 6) AS b, round(stddev(node), 6) AS c,
round(stddev_pop(DISTINCT load), 6) AS d, round(variance(load), 6) AS e FROM machine;

SELECT rid, max(node) AS top, arg_max(node, node) AS same, arg_min(load, load) AS least FROM
machine GROUP BY rid;

SELECT arg_max(m.name, m.node) AS last FROM (SELECT node, MIN(mid) AS name FROM machine GROUP BY
node) m;

SELECT rid, string_agg(mid, ', ' ORDER BY mid DESC) AS down, listagg(mid, '-' ORDER BY mid)
AS up FROM machine GROUP BY rid;

SELECT string_agg(DISTINCT rid, ',' ORDER BY rid) AS rooms, group_concat(rid, '' ORDER BY rid) AS
every FROM booking;

SELECT bool_and(lab) AS every, bool_or(lab) AS some, coalesce(count_if(lab), 0) AS labs, string_agg(rid, ','
ORDER BY rid) FILTER (WHERE lab) AS named FROM room;

SELECT rid, node, COUNT(*) AS n, SUM(load) AS s, GROUPING(rid, node) AS level FROM machine GROUP
BY ROLLUP (rid, node);

SELECT rid, COUNT(*) AS n FROM machine GROUP BY CUBE (rid, node) HAVING COUNT(*) > 1;

SELECT rid, level, lab, COUNT(*) AS n FROM room GROUP BY GROUPING SETS ((rid), (level, lab), ());

SELECT rid, level % 2 AS odd, COUNT(*) AS n FROM room GROUP BY rid, ROLLUP (level % 2, lab);

SELECT (SELECT SUM(m.load) FROM machine m WHERE m.rid = r.rid GROUP BY ROLLUP (m.node) HAVING
GROUPING(m.node) = 1) AS n FROM room r;

SELECT DISTINCT ON (rid) rid, node FROM machine ORDER BY rid, node DESC;

SELECT r.rid, (SELECT DISTINCT ON (m.rid) m.node FROM machine m WHERE m.rid = r.rid ORDER BY
m.node DESC) AS top FROM room r;

SELECT r.rid, s.node FROM room r, LATERAL (SELECT m.node FROM machine m WHERE m.rid = r.rid ORDER BY
m.node DESC LIMIT 1) s;

SELECT r.rid, s.node FROM room r LEFT JOIN LATERAL (SELECT m.node FROM machine m WHERE m.rid = r.rid
AND m.node > r.level ORDER BY m.node LIMIT 2) s ON s.node > 1;

SELECT r.rid, s.n, t.x FROM room r CROSS JOIN LATERAL (SELECT COUNT(*) AS n FROM machine m WHERE
m.rid = r.rid) s JOIN LATERAL (SELECT s.n + r.level AS x) t ON TRUE;

SELECT (SELECT SUM(q.n) FROM machine m, LATERAL (SELECT m.node * r.level AS n) q WHERE m.rid =
r.rid) AS s FROM room r;

SELECT mid, (rid, node) IN (SELECT rid, node FROM booking) AS there, (load, node) NOT IN (SELECT
load, node FROM machine) AS nowhere FROM machine;

SELECT mid FROM machine WHERE (rid, node + 1) NOT IN (SELECT rid, node FROM booking);

SELECT rid, m.node, b.node AS other FROM machine m FULL JOIN booking b USING (rid);

SELECT rid, node, COUNT(*) AS n FROM machine m NATURAL FULL JOIN booking b GROUP BY rid, node;

SELECT rid, m.mid, level FROM machine m FULL JOIN booking b USING (rid) FULL JOIN room r USING
(rid);

SELECT mid, node, row_number() OVER (PARTITION BY rid ORDER BY node DESC, mid, load) AS place FROM
machine;

SELECT mid, rank() OVER (ORDER BY rid) AS a, dense_rank() OVER (ORDER BY rid) AS b, percent_rank()
OVER (ORDER BY rid) AS c, cume_dist() OVER (ORDER BY rid) AS d FROM machine;

SELECT node, ntile(3) OVER (ORDER BY node) AS third, lag(node) OVER w AS a, lead(node, 2, -1) OVER w
AS b, first_value(node) OVER w AS c, nth_value(node, 2) OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND
UNBOUNDED FOLLOWING) AS d FROM machine WINDOW w AS (ORDER BY node);

SELECT node, SUM(node) OVER (ORDER BY node, mid, load, rid ROWS BETWEEN 1 PRECEDING AND CURRENT
ROW) AS s, COUNT(*) OVER () AS c, MAX(load) OVER (PARTITION BY rid) AS top FROM machine;

SELECT node, SUM(node) OVER (ORDER BY node RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS s,
COUNT(load) FILTER (WHERE load > 1) OVER (ORDER BY node DESC) AS c FROM machine;

SELECT rid, node FROM machine QUALIFY row_number() OVER (PARTITION BY rid ORDER BY node) = 1;

SELECT node, rank() OVER (ORDER BY node DESC) AS place FROM machine QUALIFY place <= 2;

SELECT rid, COUNT(*) AS n, SUM(COUNT(*)) OVER () AS every, rank() OVER (ORDER BY COUNT(*) DESC) AS
place FROM machine GROUP BY rid;

SELECT node, median(node) OVER (ORDER BY node ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING) AS m FROM
machine ORDER BY row_number() OVER (ORDER BY node) LIMIT 3;

SELECT r.rid, (SELECT MAX(q.n) FROM (SELECT rank() OVER (ORDER BY m.node) AS n FROM machine m WHERE
m.rid = r.rid) q) AS top FROM room r;

SELECT mid, regexp_matches(mid, '^m[12]$') AS a, regexp_full_match(mid, 'M.', 'i') AS b,
regexp_extract(mid, '([a-z])([0-9])', 2) AS c, regexp_replace(rid || mid, '[0-9]', 'x', 'g') AS d,
regexp_replace(mid, '([a-z])([0-9])', '\2\1') AS e, regexp_extract(mid, 'z+') AS f FROM machine;

SELECT mod(node, 3) AS a, mod(-node, 3) AS b, trunc(load / 3) AS c, round(sin(node) + cos(node) +
tan(node) + atan(node) + atan2(node, 2), 6) AS d, round(log(node + 1) + log2(node + 1) +
log(2, node + 1) + degrees(node) + radians(node) + pi(), 6) AS e FROM machine;

SELECT split_part(mid, 'm', 2) AS a, split_part(mid, 'm', node - 2) AS b, lpad(mid, node, 'xy') AS
c, rpad(mid, node, 'xy') AS d, repeat(mid, node - 1) AS e, ascii(mid) AS f, chr(65 + CAST(node AS INT)) AS
g, concat_ws('-', mid, rid) AS h, translate(mid, 'm12', 'ax') AS i, suffix(mid, '1') AS j,
prefix(mid, 'm') AS k FROM machine;

SELECT mid AS "room name", COUNT(*) AS "how many (n)" FROM machine GROUP BY mid ORDER BY "room name"
LIMIT 3;

SELECT b.node, (SELECT MIN(m.mid) FROM machine m WHERE m.node < s.level) AS least FROM booking b LEFT
JOIN LATERAL (SELECT r.level FROM room r WHERE r.rid = b.rid AND r.lab ORDER BY 1 LIMIT 1) s ON TRUE;

SELECT IF(m.node > 2, 'a', 'b'), SUM(IF(m.load > 1, 1, 0)) FROM machine m GROUP BY 1;

SELECT m.node ** 2, m.node ^ 2, -2 ** 2, 2 ** 3 ** 2, 2 * m.node ** 2 FROM machine m;

SELECT r.rid FROM room r WHERE EXISTS (SELECT * FROM machine a JOIN booking b ON a.rid = b.rid
WHERE a.rid = r.rid);

WITH RECURSIVE w(node, hops) AS (SELECT node, 0 FROM booking UNION ALL
SELECT e.dst, w.hops + 1 FROM w JOIN edge e ON e.src = w.node WHERE w.hops < 2)
SELECT node, hops FROM w;

WITH RECURSIVE w(node, hops) AS ((SELECT node, 0 FROM machine UNION SELECT node, 0 FROM booking)
UNION ALL SELECT s.dst, w.hops + 1 FROM w JOIN (SELECT dst, src FROM edge UNION ALL SELECT node, 1
FROM booking) s ON s.src = w.node WHERE w.hops < 2) SELECT COUNT(*), SUM(hops) FROM w;

WITH RECURSIVE w AS (SELECT mid AS way, node FROM machine UNION ALL SELECT x.way || '>' || x.node,
x.node + 1 FROM (SELECT way, node FROM w WHERE node < 4) x, room r) SELECT way, node FROM w;

WITH RECURSIVE w(node, n) AS (SELECT node, 1 FROM machine UNION ALL SELECT w.node + 1, w.n FROM w
WHERE w.node < 6 AND NOT EXISTS (SELECT 1 FROM booking b WHERE b.node = w.node)) SELECT * FROM w;

SELECT rid, CAST(MIN(DATE '2026-01-30' + node) AS TEXT) AS first, CAST(arg_max(DATE '2026-01-30' -
node, mid) AS TEXT) AS last FROM machine GROUP BY rid;

SELECT CAST(d.day AS TEXT) AS day, COUNT(*) AS n FROM (SELECT DATE '2026-02-27' + node AS day FROM
machine) d GROUP BY d.day HAVING d.day > '2026-02-27';

SELECT d.mid, date_diff('month', d.day, DATE '2026-04-01') AS months, dayname(d.day) AS name,
strftime(d.day, '%d.%m.%y') AS said FROM (SELECT mid, DATE '2026-02-27' + node AS day FROM machine) d;

SELECT a.src, b.dst FROM (SELECT src, TIMESTAMP '2026-11-23 10:00' + len * INTERVAL '20 minutes' AS t
FROM edge) a JOIN (SELECT dst, DATE '2026-11-23' + dst * INTERVAL 10 HOUR AS t FROM edge) b ON a.t <=
b.t WHERE b.t - a.t < INTERVAL '12 hours';

SELECT mid, CAST(TIMESTAMP '2026-01-31 08:00' + INTERVAL '1 month' AS TEXT) AS t FROM machine WHERE
EXTRACT(DAY FROM DATE '2026-01-30' + node) IN (1, 2, 31);

SELECT CAST(v.t AS TEXT) AS t FROM (SELECT DATE '2026-01-01' + node AS t FROM machine UNION SELECT
TIMESTAMP '2026-01-02 00:00' + src * INTERVAL 1 DAY FROM edge) v WHERE v.t < '2026-01-04';

SELECT CAST(coalesce(CASE WHEN node > 2 THEN DATE '2026-03-01' END, '2026-04-01') AS TEXT) AS d,
CAST(TIME '23:30' + node * INTERVAL 10 MINUTE AS TEXT) AS t FROM machine;

SELECT m.mid, SUM(m.node) OVER (PARTITION BY m.rid ORDER BY DATE '2026-01-01' + m.node, m.mid ROWS 1
PRECEDING) AS s, MIN(CAST(DATE '2026-01-01' + m.node AS TEXT)) OVER (PARTITION BY m.rid) AS d FROM
(SELECT DISTINCT mid, rid, node FROM machine) m;

SELECT mid, node, SUM(node) OVER (ORDER BY TIMESTAMP '2026-01-01' + INTERVAL (node) MINUTES DESC RANGE
BETWEEN INTERVAL 90 SECONDS PRECEDING AND CURRENT ROW) AS a, COUNT(*) OVER (ORDER BY DATE '2026-01-01'
+ node range between 1 preceding and interval '36 hours' following exclude group) AS b FROM machine;

SELECT mid, node, MAX(load) OVER (ORDER BY TIME '00:00' + INTERVAL (node) HOURS RANGE BETWEEN INTERVAL 2
HOURS PRECEDING AND INTERVAL 1 HOUR PRECEDING) AS a, COUNT(*) OVER (ORDER BY CAST(TIMESTAMP
'2026-01-01' AS TIMESTAMPTZ) + INTERVAL (node) DAYS RANGE INTERVAL 1 DAY PRECEDING) AS b FROM machine;

SELECT mid, SUM(node) OVER (ORDER BY rid GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE TIES) AS a,
COUNT(*) OVER (ORDER BY rid DESC GROUPS BETWEEN 2 FOLLOWING AND UNBOUNDED FOLLOWING) AS b,
MEDIAN(node) OVER (PARTITION BY rid ORDER BY node, mid, load ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING
EXCLUDE CURRENT ROW) AS c, COUNT(load) OVER (PARTITION BY rid GROUPS CURRENT ROW EXCLUDE NO
OTHERS) AS d FROM machine;

SELECT mid, node, load, first_value(load) OVER (ORDER BY node, mid, load, rid ROWS BETWEEN 1 PRECEDING
AND 1 FOLLOWING EXCLUDE CURRENT ROW) AS a, last_value(node) OVER (ORDER BY node GROUPS BETWEEN 1
PRECEDING AND 1 FOLLOWING EXCLUDE GROUP) AS b, nth_value(node, 2) OVER (ORDER BY node RANGE BETWEEN 2
PRECEDING AND 2 FOLLOWING EXCLUDE TIES) AS c FROM machine;

SELECT m.rid, ROUND(regr_slope(m.node, m.load), 6), ROUND(regr_intercept(m.node, m.load), 6),
ROUND(regr_r2(m.node, m.load), 6) FROM machine m GROUP BY m.rid HAVING COUNT(DISTINCT m.load) > 1;

SELECT m.rid, ROUND(corr(m.load, m.node), 6), ROUND(corr(DISTINCT m.node, m.load), 6) FROM machine m WHERE
m.load IS NOT NULL GROUP BY m.rid HAVING COUNT(DISTINCT m.load) > 1 AND COUNT(DISTINCT m.node) > 1;

SELECT ROUND(covar_pop(m.load, m.node), 6), ROUND(covar_samp(m.node, m.load), 6) FROM machine m;

SELECT e.src, ROUND(covar_samp(e.dst, e.len) OVER (ORDER BY e.src, e.dst, e.len ROWS BETWEEN 2 PRECEDING
AND CURRENT ROW), 6), covar_pop(e.len, e.len) FILTER (WHERE e.dst > 1) OVER (PARTITION BY e.src) AS p
FROM edge e;

WITH RECURSIVE r(node) AS (SELECT node FROM booking UNION SELECT e.dst FROM r JOIN edge e ON e.src =
r.node WHERE EXISTS (SELECT 1 FROM machine m WHERE m.node > r.node) AND e.dst < 4) SELECT node FROM r;

WITH RECURSIVE r(src, dst) AS (SELECT src, dst FROM edge UNION SELECT r.src, e.dst FROM r JOIN edge e ON
e.src = r.dst) SELECT src, dst FROM r WHERE src = 2 OR dst = 3;

SELECT * FROM room FULL JOIN booking USING (rid);

SELECT * FROM booking RIGHT JOIN room USING (rid);

SELECT * FROM (room NATURAL FULL JOIN booking) FULL JOIN (SELECT rid, mid FROM machine) m USING (rid);

SELECT * FROM (SELECT * FROM edge) JOIN (SELECT * FROM booking) ON src = node;

SELECT * FROM edge a SEMI JOIN edge b ON a.dst = b.src AND b.len > a.len WHERE a.len > 0;

SELECT mid FROM machine ANTI JOIN booking USING (rid);

SELECT * FROM booking NATURAL SEMI JOIN machine;

SELECT * FROM room LEFT JOIN booking USING (rid) ANTI JOIN machine m ON m.node < level;

SELECT * EXCLUDE (len) REPLACE (src * 10 AS src) RENAME (dst AS toward) FROM edge;

SELECT e.* EXCLUDE (len), r.* EXCLUDE lab FROM edge e JOIN room r ON e.src = r.level;

SELECT src + 1 AS k, k * 2 AS q, q - k AS d FROM edge WHERE k > 1 AND q < 8;

SELECT src, SUM(len) AS total, total + 1 AS more FROM edge GROUP BY src HAVING total > 2;

SELECT node AS n, mid FROM machine WHERE n IN (SELECT src FROM edge WHERE len > node);

SELECT k, len FROM (SELECT src, dst, len FROM edge) AS e(k);

WITH e(k) AS (SELECT src, len FROM edge) SELECT k, SUM(len) FROM e GROUP BY k;

SELECT src, s_2 FROM (SELECT a.src, b.src AS s_2, a.src, b.src FROM edge a, edge b WHERE a.dst = b.src) v;

SELECT src // 2 AS half, 1_000 + len AS far, day(DATE '2026-01-30' + dst) AS d FROM edge;

SELECT e.src, f.src, (e.src, e.dst) < (f.src, f.dst) AS a, (e.src, e.dst, e.len) >= (f.dst, f.src, 2) AS b,
(f.len, e.len) <= (e.src, 1.5) AS c FROM edge e, edge f WHERE (e.len, e.dst) > (f.len, f.dst) OR NOT
(e.src, f.len) < (f.src, e.dst);

SELECT mid, node FROM machine WHERE (rid, node) <= ('r2', 2) AND NOT (node, mid) > (3, 'm2');

SELECT DISTINCT top.k FROM (SELECT src AS k FROM edge UNION SELECT dst FROM edge ORDER BY k * -1 LIMIT 2) top;

SELECT k FROM (SELECT DISTINCT src AS k FROM edge ORDER BY k % 2, k LIMIT 1 + 1 OFFSET 3 - 2) v;

SELECT * FROM (SELECT src FROM edge EXCEPT SELECT node FROM booking ORDER BY src % 3, src LIMIT ALL OFFSET 1) v;

SELECT mid, POSITION('2' IN mid) AS at, POSITION(substr(mid, 2) IN rid) AS there FROM machine;

WITH RECURSIVE r(node, next) AS (SELECT src, dst FROM edge UNION SELECT r.next, e.dst FROM r LEFT JOIN
edge e ON e.src = r.next AND e.len < 3) SELECT node, next FROM r;

WITH RECURSIVE r(src) AS (SELECT node FROM booking UNION SELECT e.dst FROM r LEFT JOIN edge e USING (src)
WHERE e.dst IS NOT NULL) SELECT src FROM r;

WITH RECURSIVE r(node) AS (SELECT node FROM booking UNION SELECT r.node + 5 FROM r ANTI JOIN machine m
USING (node) WHERE r.node < 9) SELECT node FROM r;

WITH RECURSIVE r(node) AS (SELECT node FROM booking UNION SELECT r.node + 1 FROM r SEMI JOIN edge e ON
e.src = r.node) SELECT node FROM r;

WITH RECURSIVE r(n) AS (SELECT 0 UNION ALL SELECT r.n + 1 FROM r WHERE r.n < (SELECT MAX(node) FROM
machine)) SELECT n FROM r;

WITH RECURSIVE r(node, most) AS (SELECT node, 0 FROM booking UNION SELECT e.dst, (SELECT MAX(len) FROM
edge) FROM r JOIN edge e ON e.src = r.node AND e.dst >= (SELECT MIN(src) FROM edge)) SELECT node, most FROM r;

WITH RECURSIVE w(origin, node, cost) USING KEY (origin, node) AS (SELECT node, node, 0 FROM booking UNION
SELECT w.origin, e.dst, min(w.cost + e.len) FROM w JOIN edge e ON e.src = w.node LEFT JOIN recurring.w k
ON k.node = e.dst AND w.origin = k.origin WHERE (k.cost IS NULL OR w.cost + e.len < k.cost) AND e.dst <> 4
GROUP BY w.origin, e.dst) SELECT origin, node, cost FROM w
