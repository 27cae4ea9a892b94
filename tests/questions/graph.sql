-- question: What loses its power if the UPS fails?
-- source: netbox-community/netbox#11215, Uninett/nav#1123
WITH RECURSIVE behind(name) AS (
  SELECT downstream FROM feeds WHERE upstream = 'ups' AND medium = 'electricity'
  UNION
  SELECT f.downstream FROM feeds f JOIN behind b ON f.upstream = b.name
  WHERE f.medium = 'electricity'
)
SELECT name FROM behind;

-- question: What would really go down with the UPS, leaving out what has a second feed?
-- source: Uninett/nav#1123, netbox-community/netbox#10999
WITH RECURSIVE fed(name) AS (
  SELECT 'grid'
  UNION
  SELECT f.downstream FROM feeds f JOIN fed ON fed.name = f.upstream
  WHERE f.medium = 'electricity' AND f.downstream <> 'ups'
)
SELECT downstream AS dark FROM feeds WHERE medium = 'electricity'
EXCEPT
SELECT name FROM fed;

-- question: Which way does the power of each machine come from the grid?
-- source: netbox-community/netbox#5559, netbox-community/netbox#9518
WITH RECURSIVE path AS (
  SELECT downstream AS name, upstream || ' > ' || downstream AS way, 1 AS hops
  FROM feeds
  WHERE upstream = 'grid'
  UNION ALL
  SELECT f.downstream, p.way || ' > ' || f.downstream, p.hops + 1
  FROM path p JOIN feeds f ON f.upstream = p.name
  WHERE f.medium = 'electricity'
)
SELECT m.mid, p.way, p.hops
FROM path p JOIN machine m ON m.mid = p.name
ORDER BY m.mid, p.hops;

-- question: How much load hangs on every panel, UPS and PDU, all levels below counted?
-- source: opendcim/openDCIM#754, netbox-community/netbox#7565
WITH RECURSIVE below(top, name) AS (
  SELECT upstream, downstream FROM feeds WHERE medium = 'electricity'
  UNION
  SELECT b.top, f.downstream FROM below b JOIN feeds f ON f.upstream = b.name
  WHERE f.medium = 'electricity'
)
SELECT b.top, SUM(p.watts) AS watts, COUNT(*) AS machines
FROM below b JOIN machine_power p ON p.mid = b.name
GROUP BY b.top
ORDER BY watts DESC;

-- question: Which feeds carry more than 80 percent of what they are rated for?
-- source: netbox-community/netbox#5976, nautobot/nautobot#9476
WITH RECURSIVE below AS (
  SELECT name AS top, name FROM equipment WHERE rated_w IS NOT NULL
  UNION
  SELECT b.top, f.downstream FROM below b, feeds f
  WHERE f.upstream = b.name AND f.medium = 'electricity'
)
SELECT e.name, SUM(p.watts) AS watts, ROUND(100 * SUM(p.watts) / e.rated_w, 1) AS pct
FROM equipment e
JOIN below b ON b.top = e.name
JOIN machine_power p ON p.mid = b.name
GROUP BY e.name, e.rated_w
HAVING SUM(p.watts) > 0.8 * e.rated_w;

-- question: Which single piece of equipment would take which machines with it (single points of failure)?
-- source: FalkorDB/flex#104, projeto-de-algoritmos-2026/G10_Grafos_PA-26.2#26
WITH RECURSIVE alive(failed, name) AS (
  SELECT e.name, 'grid' FROM equipment e WHERE e.kind IN ('panel', 'ups', 'pdu')
  UNION
  SELECT a.failed, f.downstream
  FROM alive a JOIN feeds f ON f.upstream = a.name
  WHERE f.medium = 'electricity' AND f.downstream <> a.failed
)
SELECT e.name AS failed, m.mid
FROM equipment e CROSS JOIN machine m
WHERE e.kind IN ('panel', 'ups', 'pdu')
  AND NOT EXISTS (SELECT 1 FROM alive a WHERE a.failed = e.name AND a.name = m.mid)
ORDER BY 1, 2;

-- question: Which rooms does an air handling unit serve, through whatever boxes?
-- source: Upstream and downstream, tacit.mintlify.app/query/upstream-downstream
WITH RECURSIVE served AS (
  SELECT downstream FROM feeds WHERE upstream = 'ahu-1' AND medium = 'air'
  UNION
  SELECT f.downstream FROM feeds f, served s WHERE f.upstream = s.downstream AND f.medium = 'air'
)
SELECT r.rid, r.name, t.celsius
FROM served s
JOIN room r ON r.rid = s.downstream
LEFT JOIN newest_temperature t ON t.rid = r.rid;

-- question: What feeds a room, at most two steps up, and through which medium?
-- source: Relationships, tacit.mintlify.app/query/relationships; hoddb.org/query
WITH RECURSIVE up(name, medium, steps) AS (
  SELECT upstream, medium, 1 FROM feeds WHERE downstream = 'r01'
  UNION
  SELECT f.upstream, f.medium, u.steps + 1
  FROM up u JOIN feeds f ON f.downstream = u.name
  WHERE u.steps < 2
)
SELECT steps, name, medium FROM up ORDER BY steps;

-- question: How many devices are in each place, those in places within it counted too?
-- source: grokability/snipe-it#17629, nautobot/nautobot#7010
WITH RECURSIVE inside(place, part) AS (
  SELECT place, place FROM place
  UNION ALL
  SELECT i.place, p.place FROM inside i JOIN place p ON p.part_of = i.part
)
SELECT i.place, COUNT(s.sid) AS sensors
FROM inside i LEFT JOIN sensor s ON s.rid = i.part
GROUP BY i.place
ORDER BY sensors DESC, i.place;

-- question: What is the full name of each place, from the campus down?
-- source: netbox-community/netbox-topology-views#538
WITH RECURSIVE named(place, full_name, depth) AS (
  SELECT place, place, 0 FROM place WHERE part_of IS NULL
  UNION ALL
  SELECT p.place, n.full_name || ' / ' || p.place, n.depth + 1
  FROM named n JOIN place p ON p.part_of = n.place
)
SELECT repeat('  ', depth) || place AS tree, full_name FROM named ORDER BY full_name;

-- question: What does each meter measure that none of its sub-meters does?
-- source: home-assistant/frontend#53152, Energy, project-haystack.org/doc/Energy
SELECT m.sid, m.value AS watts, m.value - COALESCE(SUM(c.value), 0) AS untracked
FROM newest_reading m
LEFT JOIN feeds f ON f.upstream = m.sid AND f.medium = 'metering'
LEFT JOIN newest_reading c ON c.sid = f.downstream
WHERE m.kind = 'power'
GROUP BY m.sid, m.value
ORDER BY untracked DESC;

-- question: Which are the largest consumers, those left out that only sum up others below?
-- source: victorigualada/lovelace-solar-card#53
SELECT r.sid, r.value
FROM newest_reading r
WHERE r.kind = 'power'
  AND r.sid NOT IN (SELECT upstream FROM feeds WHERE medium = 'metering')
ORDER BY r.value DESC
LIMIT 3;

-- question: Does the list of what feeds what go round in a circle anywhere?
-- source: Mes-Open/OpenMes#178
WITH RECURSIVE reach AS (
  SELECT upstream, downstream FROM feeds
  UNION
  SELECT r.upstream, f.downstream FROM reach r JOIN feeds f ON f.upstream = r.downstream
)
SELECT DISTINCT upstream FROM reach WHERE upstream = downstream;

-- question: Which rooms can somebody in a wheelchair not reach while the lift is out of service?
-- source: opentripplanner/OpenTripPlanner#7497, c3nav/c3nav#146
WITH RECURSIVE reach(node) AS (
  SELECT node FROM building_exit
  UNION
  SELECT e.dst FROM reach r JOIN routing_edge e ON e.src = r.node
  WHERE e.step_free AND e.way <> 'lift'
)
SELECT DISTINCT r.rid, r.name
FROM room r JOIN routing_node n ON n.rid = r.rid
WHERE n.node NOT IN (SELECT node FROM reach);

-- question: How far is it from each room to the nearest exit, and which rooms are too far away?
-- source: hypar-io/HyparSpace#79, red1oon/bim-ootb#759
WITH RECURSIVE walk(node, mm) AS (
  SELECT node, 0 FROM building_exit
  UNION
  SELECT e.src, w.mm + e.length_mm
  FROM walk w JOIN routing_edge e ON e.dst = w.node
  WHERE w.mm + e.length_mm < 40000
)
SELECT n.rid, MIN(w.mm) / 1000.0 AS metres
FROM walk w JOIN routing_node n ON n.node = w.node
GROUP BY n.rid
HAVING MIN(w.mm) > 10000
ORDER BY metres DESC;

-- question: Which is the way from the entrance to each room, room by room?
-- source: graphhopper/graphhopper#646
WITH RECURSIVE walk AS (
  SELECT node, [node] AS path, 0 AS mm FROM building_exit WHERE name = 'main'
  UNION ALL
  SELECT e.dst, list_append(w.path, e.dst), w.mm + e.length_mm
  FROM walk w JOIN routing_edge e ON e.src = w.node
  WHERE NOT list_contains(w.path, e.dst)
)
SELECT n.rid, arg_min(w.path, w.mm) AS path, MIN(w.mm) AS mm
FROM walk w JOIN routing_node n USING (node)
GROUP BY n.rid;

-- question: Which doors lie on the way, and how many must be passed to reach each room?
-- source: BrickSchema/Brick#379
WITH RECURSIVE walk(node, doors) AS (
  SELECT node, 0 FROM building_exit WHERE name = 'main'
  UNION
  SELECT e.dst, w.doors + CASE WHEN e.door_id IS NULL THEN 0 ELSE 1 END
  FROM walk w JOIN routing_edge e ON e.src = w.node
  WHERE w.doors < 5
)
SELECT n.rid, MIN(w.doors) AS doors
FROM walk w JOIN routing_node n ON n.node = w.node
GROUP BY n.rid
ORDER BY doors, n.rid;

-- question: Which rooms are cut off from all exits, door by door, if that door is locked?
-- source: BrickSchema/Brick#379, C0D1NG/Algorithms#94
WITH RECURSIVE out(door_id, node) AS (
  SELECT d.door_id, x.node FROM door d CROSS JOIN building_exit x
  UNION
  SELECT o.door_id, e.src
  FROM out o JOIN routing_edge e ON e.dst = o.node
  WHERE e.door_id IS NULL OR e.door_id <> o.door_id
)
SELECT d.door_id, n.rid
FROM door d, routing_node n
WHERE (d.door_id, n.node) NOT IN (SELECT door_id, node FROM out)
ORDER BY d.door_id, n.rid;

-- question: Which rooms hang together while the locked doors stay locked (one name for each group)?
-- source: red1oon/bim-ootb#759
WITH RECURSIVE linked(node, other) AS (
  SELECT node, node FROM routing_node
  UNION
  SELECT l.node, p.dst FROM linked l JOIN passable p ON p.src = l.other
),
labelled AS (
  SELECT node, MIN(other) AS compartment FROM linked GROUP BY node
)
SELECT l.compartment, COUNT(*) AS rooms, string_agg(n.rid, ', ' ORDER BY n.rid) AS names
FROM labelled l JOIN routing_node n ON n.node = l.node
GROUP BY l.compartment;

-- question: Which sensors go silent with each relay of the radio network?
-- source: Koenkk/zigbee2mqtt#3937
WITH RECURSIVE tree AS (
  SELECT parent AS relay, sid FROM mote_health
  UNION
  SELECT t.relay, m.sid FROM tree t JOIN mote_health m ON m.parent = t.sid
)
SELECT relay, COUNT(*) AS motes, STRING_AGG(sid, ',' ORDER BY sid) AS which
FROM tree
GROUP BY relay
ORDER BY motes DESC;

-- question: How good is the worst link on each sensor's way to the base station?
-- source: Koenkk/zigbee2mqtt#3871, Koenkk/zigbee2mqtt#3251
WITH RECURSIVE up(sid, via, worst, hops) AS (
  SELECT sid, parent, link_quality, 1 FROM mote_health
  UNION ALL
  SELECT u.sid, m.parent, LEAST(u.worst, m.link_quality), u.hops + 1
  FROM up u JOIN mote_health m ON m.sid = u.via
)
SELECT sid, worst, hops FROM up WHERE via = 'base' AND worst < 0.8 ORDER BY worst;

-- question: How many of each part, and of what weight, are in an assembly, sub-assemblies included?
-- source: inventree/InvenTree#7955, robsiegwart/bomkit#3
WITH RECURSIVE parts AS (
  SELECT component, pieces FROM part WHERE assembly = 'ahu-1'
  UNION ALL
  SELECT p.component, p.pieces * b.pieces
  FROM parts b JOIN part p ON p.assembly = b.component
)
SELECT component, SUM(pieces) AS pieces, SUM(pieces * weight_kg) AS kg
FROM parts JOIN part_weight USING (component)
GROUP BY component;
