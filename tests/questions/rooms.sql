-- question: Which five machines draw the most power now?
-- source: thomasloven/lovelace-auto-entities#378, discostu105/lox#97
SELECT m.host, p.watts
FROM machine_power p JOIN machine m USING (mid)
ORDER BY p.watts DESC
LIMIT 5;

-- question: Which is the largest consumer of each room, and what share of the room's power is it?
-- source: pacemaker82/Compact-Power-Card#74
SELECT m.rid, m.host, p.watts,
       ROUND(100 * p.watts / SUM(p.watts) OVER (PARTITION BY m.rid), 1) AS pct
FROM machine_power p
JOIN machine m ON m.mid = p.mid
QUALIFY ROW_NUMBER() OVER (PARTITION BY m.rid ORDER BY p.watts DESC) = 1;

-- question: What do the machines of each room and each floor draw together, and all of them?
-- source: netbox-community/netbox#1401
SELECT m.level_id, m.rid, COUNT(*) AS machines, SUM(p.watts) AS watts
FROM machine m LEFT JOIN machine_power p ON p.mid = m.mid
GROUP BY ROLLUP (m.level_id, m.rid)
ORDER BY m.level_id, m.rid;

-- question: In which rooms is the light on although nobody is there?
-- source: peterokwara/BuildingManagement#20
SELECT r.rid, r.name, l.lux
FROM room r
JOIN newest_light l ON l.rid = r.rid
WHERE l.lux > 200
  AND NOT EXISTS (
    SELECT * FROM newest_seat s JOIN machine m ON m.mid = s.mid
    WHERE m.rid = r.rid AND s.weight_kg > 5
  );

-- question: Which booked meetings did nobody come to?
-- source: indico/indico#6443, krushit1307/CampusConnect#4390
SELECT b.rid, b.title, to_timestamp(b.start_s) AS start
FROM reservation b
WHERE b.end_s < epoch(now())
  AND NOT EXISTS (
    SELECT 1
    FROM seat_reading [RANGE 2 DAYS] s
    JOIN machine m ON m.mid = s.mid
    WHERE m.rid = b.rid AND s.weight_kg > 5 AND s.at_s BETWEEN b.start_s AND b.end_s
  );

-- question: Which bookings of the same room overlap?
-- source: meeting-room-booking-system/mrbs-code#2533, meeting-room-booking-system/mrbs-code#1785
SELECT a.rid, a.title, b.title AS other
FROM reservation a
JOIN reservation b ON a.rid = b.rid AND a.reservation_id < b.reservation_id
WHERE a.start_s < b.end_s AND b.start_s < a.end_s;

-- question: Which rooms are free for the next hour and have a machine with LaTeX?
-- source: neokoenig/RoomBooking#30
SELECT DISTINCT r.name
FROM room r
JOIN machine m ON m.rid = r.rid
JOIN machine_software s ON s.mid = m.mid
WHERE s.software ILIKE 'latex'
  AND r.rid NOT IN (
    SELECT b.rid FROM reservation b
    WHERE to_timestamp(b.start_s) < now() + INTERVAL '1 hour' AND to_timestamp(b.end_s) > now()
  );

-- question: When is each booked room free between its bookings today?
-- source: jamesiarmes/php-ews#410, mulesoft-labs/rooming#5
SELECT rid, to_timestamp(end_s) AS free_from, to_timestamp(next_s) AS free_until
FROM (
  SELECT rid, end_s, LEAD(start_s) OVER (PARTITION BY rid ORDER BY start_s) AS next_s
  FROM reservation
  WHERE to_timestamp(start_s)::DATE = current_date
) t
WHERE next_s > end_s
ORDER BY rid, free_from;

-- question: What percentage of the working day is each room booked?
-- source: jamesiarmes/php-ews#488, meeting-room-booking-system/mrbs-code#1015
SELECT r.rid, strftime(to_timestamp(b.start_s), '%Y-%m-%d') AS day,
       ROUND(100.0 * SUM(b.end_s - b.start_s) / (10 * 3600), 1) AS booked_pct
FROM room r JOIN reservation b ON b.rid = r.rid
GROUP BY r.rid, day;

-- question: Which rooms are much warmer or colder than the others?
-- source: saihgupr/HomeAssistantDigest#3
WITH stats AS (
  SELECT AVG(celsius) AS mean, STDDEV(celsius) AS deviation FROM newest_temperature
)
SELECT t.rid, t.celsius, (t.celsius - s.mean) / s.deviation AS z
FROM newest_temperature t, stats s
WHERE ABS(t.celsius - s.mean) > 1.5 * s.deviation;

-- question: Which sensors are out of line, by median and median deviation, so that one bad value does not hide itself?
-- source: airgradienthq/airgradient-map#487
WITH middle AS (
  SELECT MEDIAN(celsius) AS m FROM room_climate
),
spread AS (
  SELECT 1.4826 * MEDIAN(ABS(c.celsius - middle.m)) AS mad FROM room_climate c, middle
)
SELECT c.sid, c.celsius
FROM room_climate c, middle, spread
WHERE ABS(c.celsius - middle.m) > 3 * spread.mad;

-- question: What is the dew point of each room, and where is mould to be feared?
-- source: WhareHauora/wharehauora-server#237, dolezsa/thermal_comfort#61
SELECT t.rid, h.humidity_pct,
       243.04 * (ln(h.humidity_pct / 100) + 17.625 * t.celsius / (243.04 + t.celsius))
         / (17.625 - ln(h.humidity_pct / 100) - 17.625 * t.celsius / (243.04 + t.celsius))
         AS dew_point,
       CASE WHEN h.humidity_pct > 70 AND t.celsius < 18 THEN 'high'
            WHEN h.humidity_pct > 60 THEN 'medium'
            ELSE 'low' END AS mould_risk
FROM newest_temperature t
JOIN (SELECT rid, AVG(humidity_pct) AS humidity_pct FROM newest_humidity GROUP BY rid) h
  ON h.rid = t.rid;

-- question: Which batteries are nearly empty, and in how many days will each be?
-- source: andrew-codechimp/HA-Battery-Notes#3586
WITH trend AS (
  SELECT sid, regr_slope(energy_mj, at_s) AS mj_per_s
  FROM mote_status [RANGE 1 DAY]
  GROUP BY sid
)
SELECT h.sid, s.rid, h.battery_pct,
       (27000000 - h.energy_mj) / NULLIF(t.mj_per_s, 0) / 86400 AS days_left
FROM mote_health h
JOIN trend t ON t.sid = h.sid
JOIN sensor s ON s.sid = h.sid
WHERE h.battery_pct < 50
ORDER BY days_left;

-- question: How many alarms of each severity stand on each floor, as one row per floor?
-- source: automatikas/AlarmDB-EasyIO#29
SELECT COALESCE(level_id, 'elsewhere') AS floor,
       COUNT(*) FILTER (WHERE severity = 'critical') AS critical,
       COUNT(*) FILTER (WHERE severity = 'warning') AS warning,
       SUM(IF(acknowledged, 0, 1)) AS unacknowledged
FROM active_alarm
GROUP BY floor
ORDER BY critical DESC;

-- question: Which battery sensor has a relay nearer to it than the one it sends to?
-- source: Koenkk/zigbee2mqtt#3871
SELECT s.sid, h.parent, near.sid AS nearer
FROM sensor s
JOIN mote_health h ON h.sid = s.sid
JOIN sensor p ON p.sid = h.parent
CROSS JOIN LATERAL (
  SELECT o.sid, sqrt((o.x_m - s.x_m) ** 2 + (o.y_m - s.y_m) ** 2) AS m
  FROM sensor o
  WHERE o.level_id = s.level_id AND o.sid <> s.sid AND o.kind = 'energy'
  ORDER BY m
  LIMIT 1
) near
WHERE near.m < sqrt((p.x_m - s.x_m) ** 2 + (p.y_m - s.y_m) ** 2);

-- question: Which machines run although nobody has sat at them for an hour?
-- source: bramstroker/homeassistant-powercalc#4439
SELECT m.host, p.watts
FROM machine m
JOIN machine_power p ON p.mid = m.mid
LEFT JOIN (
  SELECT mid, MAX(weight_kg) AS weight_kg
  FROM seat_reading [RANGE 1 HOUR]
  GROUP BY mid
) s ON s.mid = m.mid
WHERE p.watts > 20 AND COALESCE(s.weight_kg, 0) < 5
ORDER BY p.watts DESC;
