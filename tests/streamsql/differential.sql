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
