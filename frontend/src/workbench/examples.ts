/** Queries that run as they stand, from the simplest to a recursive one. */
export interface Example {
  readonly title: string;
  readonly sql: string;
}

export const EXAMPLES: readonly Example[] = [
  {
    title: 'Locked doors',
    sql: `SELECT door_id, level_id, x_m, y_m
FROM door
WHERE state = 'locked'`,
  },
  {
    title: 'Free machines in each room',
    sql: `SELECT r.name, COUNT(*) AS free
FROM free_machine f
JOIN room r ON r.rid = f.rid
GROUP BY r.name`,
  },
  {
    title: 'Free machines with LaTeX',
    sql: `SELECT m.host, f.rid
FROM free_machine f
JOIN machine m ON m.mid = f.mid
JOIN machine_software s ON s.mid = f.mid
WHERE s.software = 'LaTeX'`,
  },
  {
    title: 'Visitors on each floor',
    sql: `SELECT l.name, COUNT(*) AS visitors
FROM visitor_position v
JOIN level l ON l.level_id = v.level_id
GROUP BY l.name`,
  },
  {
    title: 'Busy seats, last two minutes',
    sql: `SELECT m.host, s.weight_kg, s.at_s
FROM seat_reading [PARTITION BY mid ROWS 1 RANGE 120 SECONDS] s
JOIN machine m ON m.mid = s.mid
WHERE s.weight_kg >= 5.0`,
  },
  {
    title: 'Warm rooms, for the map',
    sql: `SELECT r.rid, r.name, c.celsius
FROM room_climate c
JOIN room r ON r.rid = c.rid
WHERE c.celsius >= 23`,
  },
  {
    title: 'Alarm: rooms that are too warm (staff)',
    sql: `SELECT c.rid, MAX(c.celsius) AS celsius
FROM room_climate c
GROUP BY c.rid
OUTPUT TO ALARM 'too warm' KEY (rid)
  RAISE WHEN celsius >= 26 FOR 30 SECONDS
  CLEAR WHEN celsius < 25 FOR 60 SECONDS
  NO DATA AFTER 5 MINUTES
  SEVERITY warning`,
  },
  {
    title: 'Ask once: rooms by name',
    sql: `ONCE SELECT rid, name, category
FROM room
ORDER BY name
LIMIT 20`,
  },
  {
    title: 'The engine about itself',
    sql: `SELECT q.view, q.state, q.rows, q.sharing, q.holders
FROM sys.queries q
ORDER BY q.rows DESC`,
  },
  {
    title: 'Walking distance from each kiosk (recursive)',
    sql: `WITH RECURSIVE walk(kiosk_id, node, cost_mm) AS (
    SELECT k.kiosk_id, k.node, 0 FROM kiosk k
  UNION
    SELECT w.kiosk_id, p.dst, MIN(w.cost_mm + p.length_mm)
    FROM walk w
    JOIN passable p ON p.src = w.node
    GROUP BY w.kiosk_id, p.dst
)
SELECT w.kiosk_id, m.host, w.cost_mm
FROM walk w
JOIN machine m ON m.node = w.node`,
  },
];
