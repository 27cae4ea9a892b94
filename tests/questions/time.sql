-- question: How long was a window open today while the heating of its room was on?
-- source: cgarwood/homeassistant-config#16, giuseppeg88/node-red-contrib-thermostat-scheduler#17
WITH opened AS (
  SELECT rid, at_s, value, LEAD(at_s) OVER (PARTITION BY sid ORDER BY at_s) AS until_s
  FROM reading [RANGE 1 DAY]
  WHERE kind = 'window'
),
heated AS (
  SELECT rid, at_s, value, LEAD(at_s) OVER (PARTITION BY sid ORDER BY at_s) AS until_s
  FROM reading [RANGE 1 DAY]
  WHERE kind = 'heating'
)
SELECT o.rid, SUM(LEAST(o.until_s, h.until_s) - GREATEST(o.at_s, h.at_s)) / 60 AS minutes
FROM opened o
JOIN heated h ON h.rid = o.rid AND h.at_s < o.until_s AND o.at_s < h.until_s
WHERE o.value = 1 AND h.value > 0
GROUP BY o.rid;

-- question: For how many hours was each heating on, day by day?
-- source: corbanmailloux/home-assistant-configuration#36, influxdata/influxdb#8308
SELECT sid, date_trunc('day', to_timestamp(at_s)) AS day, SUM(next_s - at_s) / 3600 AS hours_on
FROM (
  SELECT sid, at_s, value,
         LEAD(at_s, 1, epoch(now())) OVER (PARTITION BY sid ORDER BY at_s) AS next_s
  FROM reading [RANGE 7 DAYS]
  WHERE kind = 'heating'
)
WHERE value > 0
GROUP BY sid, day
ORDER BY sid, day;

-- question: How much time did each door spend open and closed since yesterday?
-- source: influxdata/influxdb#7029
WITH steps AS (
  SELECT sid, ajar, at_s, LEAD(at_s) OVER (PARTITION BY sid ORDER BY at_s) - at_s AS lasted
  FROM door_reading [RANGE 2 DAYS]
)
SELECT sid, CASE WHEN ajar = 1 THEN 'open' ELSE 'closed' END AS state, SUM(lasted) AS seconds
FROM steps
GROUP BY 1, 2
ORDER BY 1, 2;

-- question: From when to when was each window open, every time?
-- source: influxdata/influxdb#7581
WITH marked AS (
  SELECT sid, at_s, value,
         CASE WHEN value = LAG(value) OVER (PARTITION BY sid ORDER BY at_s) THEN 0 ELSE 1 END
           AS starts
  FROM reading [RANGE 1 DAY]
  WHERE kind = 'window'
),
runs AS (
  SELECT *, SUM(starts) OVER (PARTITION BY sid ORDER BY at_s) AS run FROM marked
)
SELECT sid, to_timestamp(MIN(at_s)) AS opened, to_timestamp(MAX(at_s)) AS last_seen_open
FROM runs
WHERE value = 1
GROUP BY sid, run
ORDER BY opened;

-- question: Which sensors have not reported for an hour?
-- source: thingsboard/thingsboard#14270
SELECT s.sid, s.kind, s.rid, to_timestamp(r.at_s) AS last_heard
FROM sensor s
LEFT JOIN sensor_reading r ON r.sid = s.sid
WHERE r.at_s IS NULL OR to_timestamp(r.at_s) < now() - INTERVAL '1 hour'
ORDER BY last_heard;

-- question: Of which rooms has nothing been heard for half an hour, whichever device is silent?
-- source: thingsboard/thingsboard#14013
SELECT r.rid, r.name, MAX(p.at_s) AS last_s
FROM room r
JOIN sensor s USING (rid)
LEFT JOIN past_reading p USING (sid)
GROUP BY r.rid, r.name
HAVING MAX(p.at_s) IS NULL OR MAX(p.at_s) < epoch(now()) - 1800;

-- question: Which thermometers have shown the same value all day?
-- source: ThomDietrich/miflora-mqtt-daemon#28, earthobservations/wetterdienst#1921
SELECT sid, rid, MIN(celsius) AS stuck_at
FROM temperature_reading [RANGE 1 DAY]
GROUP BY sid, rid
HAVING MIN(celsius) = MAX(celsius) AND COUNT(*) > 10;

-- question: What was the highest quarter-hour load of the building on each day?
-- source: dsmrreader/dsmr-reader#1084, davidusb-geek/emhass#540
WITH quarters AS (
  SELECT mid, time_bucket(INTERVAL '15 minutes', to_timestamp(at_s)) AS quarter,
         AVG(watts) AS watts
  FROM energy_reading [RANGE 7 DAYS]
  GROUP BY mid, quarter
),
building AS (
  SELECT quarter, SUM(watts) AS watts FROM quarters GROUP BY quarter
)
SELECT quarter::DATE AS day, MAX(watts) AS peak_w, arg_max(quarter, watts) AS peak_at
FROM building
GROUP BY day
ORDER BY day;

-- question: How many kWh did each machine use, day by day, going by its power?
-- source: weltmeyer/ha_sonnenbatterie#14, home-assistant/core#106917
WITH spans AS (
  SELECT mid, at_s, watts,
         LAG(at_s) OVER w AS from_s,
         LAG(watts) OVER w AS from_watts
  FROM energy_reading [RANGE 7 DAYS]
  WINDOW w AS (PARTITION BY mid ORDER BY at_s)
)
SELECT mid, CAST(to_timestamp(at_s) AS DATE) AS day,
       SUM((watts + from_watts) / 2 * (at_s - from_s)) / 3600000.0 AS kwh
FROM spans
WHERE from_s IS NOT NULL
GROUP BY mid, CAST(to_timestamp(at_s) AS DATE);

-- question: Is each machine drawing more today than yesterday until the same time of day?
-- source: jekalmin/extended_openai_conversation#94, home-assistant/core#82000
SELECT mid,
       AVG(watts) FILTER (WHERE to_timestamp(at_s) >= date_trunc('day', now())) AS today,
       AVG(watts) FILTER (WHERE to_timestamp(at_s) >= date_trunc('day', now()) - INTERVAL 1 DAY
                            AND to_timestamp(at_s) < now() - INTERVAL 1 DAY) AS yesterday
FROM energy_reading [RANGE 2 DAYS]
GROUP BY mid
ORDER BY mid;

-- question: What does the average day look like: mean power for each hour of the day?
-- source: David00/rpi-power-monitor#129
SELECT EXTRACT(hour FROM to_timestamp(at_s)) AS hour, ROUND(AVG(watts), 1) AS watts
FROM energy_reading [RANGE 30 DAYS]
GROUP BY hour
ORDER BY hour;

-- question: On which weekdays and at which hours is the building busiest?
-- source: marcusolsson/grafana-hourly-heatmap-panel#44, apache/superset#4499
SELECT dayname(to_timestamp(at_s)) AS weekday, hour(to_timestamp(at_s)) AS hour,
       COUNT(DISTINCT mid) AS seats_taken
FROM seat_reading [RANGE 14 DAYS]
WHERE weight_kg > 5
GROUP BY ALL
ORDER BY seats_taken DESC;

-- question: What is the temperature smoothed over the last hour, beside each raw reading?
-- source: home-assistant/core#13104
SELECT sid, to_timestamp(at_s) AS at, celsius,
       AVG(celsius) OVER (
         PARTITION BY sid ORDER BY at_s RANGE BETWEEN 3600 PRECEDING AND CURRENT ROW
       ) AS smooth
FROM temperature_reading [RANGE 6 HOURS];

-- question: In which rooms has the temperature risen by more than 2 degrees within an hour?
-- source: huginn/huginn#178
SELECT rid, arg_max(celsius, at_s) - arg_min(celsius, at_s) AS rise
FROM temperature_reading [RANGE 1 HOUR]
GROUP BY rid
HAVING arg_max(celsius, at_s) - arg_min(celsius, at_s) > 2;

-- question: Where are gaps of more than half an hour in the readings?
-- source: Time series charts, missing data handling, www.ibm.com/docs/he/SSBNJ7_1.4.2
SELECT sid, to_timestamp(before_s) AS gap_from, to_timestamp(at_s) AS gap_to
FROM (
  SELECT sid, at_s, LAG(at_s) OVER (PARTITION BY sid ORDER BY at_s) AS before_s
  FROM humidity_reading [RANGE 1 DAY]
) g
WHERE to_timestamp(at_s) - to_timestamp(before_s) > INTERVAL '30 minutes'
ORDER BY gap_from;

-- question: How often did each heating start in every hour of today (short cycling)?
-- source: Mosibi/Midea-heat-pump-ESPHome#84
WITH switched AS (
  SELECT sid, at_s, value, LAG(value, 1, 0.0) OVER (PARTITION BY sid ORDER BY at_s) AS previous
  FROM reading [RANGE 1 DAY]
  WHERE kind = 'heating'
)
SELECT sid, date_trunc('hour', to_timestamp(at_s)) AS hour, COUNT(*) AS starts
FROM switched
WHERE value > 0 AND previous = 0
GROUP BY sid, hour
HAVING COUNT(*) >= 1
ORDER BY starts DESC, hour;

-- question: What is the duty cycle of each heating over the last 12 hours, in percent?
-- source: raomin/ESPAltherma#17, influxdata/docs-v2#3013
SELECT sid, 100 * SUM(CASE WHEN value > 0 THEN lasted END) / SUM(lasted) AS duty_pct
FROM (
  SELECT sid, value, LEAD(at_s) OVER (PARTITION BY sid ORDER BY at_s) - at_s AS lasted
  FROM reading [RANGE 12 HOURS]
  WHERE kind = 'heating'
) t
GROUP BY sid;

-- question: What is the standby power of each machine, the value it shows most at night?
-- source: Savjee/home-energy-monitor#33
SELECT mid, mode(round(watts)) AS standby_w, MIN(watts) AS least_w
FROM energy_reading [RANGE 2 DAYS]
WHERE date_part('hour', to_timestamp(at_s)) BETWEEN 0 AND 5
GROUP BY mid;

-- question: Which doors have been standing open for more than 5 minutes now?
-- source: rayzurbock/SmartThings-BigTalker-Orig#7, billimek/home-assistant-config#19
SELECT d.sid, d.rid, now() - to_timestamp(MIN(d.at_s)) AS open_for
FROM door_reading [RANGE 1 DAY] d
WHERE d.ajar = 1
  AND d.at_s > (
    SELECT COALESCE(MAX(c.at_s), 0) FROM door_reading [RANGE 1 DAY] c
    WHERE c.sid = d.sid AND c.ajar = 0
  )
GROUP BY d.sid, d.rid
HAVING now() - to_timestamp(MIN(d.at_s)) > INTERVAL '5 minutes';

-- question: For how many degree hours was each room colder than 20 degrees today?
-- source: NatLabRockies/OpenStudio-HPXML#162, TrystanLea/heatlossjs#7
SELECT rid, SUM(GREATEST(20 - celsius, 0) * hours) AS degree_hours
FROM (
  SELECT rid, celsius,
         (LEAD(at_s) OVER (PARTITION BY sid ORDER BY at_s) - at_s) / 3600 AS hours
  FROM temperature_reading [RANGE 1 DAY]
  WHERE to_timestamp(at_s) >= current_date
) t
GROUP BY rid
HAVING SUM(GREATEST(20 - celsius, 0) * hours) > 0;

-- question: How many minutes was the CO2 of each room above 1000 ppm in working hours?
-- source: ariccio/COVID-CO2-tracker#20, frischluft-works/frischluft-firmware#7
WITH air AS (
  SELECT rid, value, to_timestamp(at_s) AS since,
         LEAD(to_timestamp(at_s)) OVER (PARTITION BY sid ORDER BY at_s) AS until
  FROM reading [RANGE 7 DAYS]
  WHERE kind = 'co2'
)
SELECT rid, SUM(date_diff('minute', since, until)) AS minutes, MAX(value) AS worst_ppm
FROM air
WHERE value > 1000 AND EXTRACT(isodow FROM since) < 6 AND EXTRACT(hour FROM since) BETWEEN 8 AND 17
GROUP BY rid;

-- question: Which alarms has nobody acknowledged for a day, and how old are they?
-- source: function61/lambda-alertmanager#7
SELECT alarm_id, name, severity, age(now(), to_timestamp(raised_s)) AS age
FROM alarm
WHERE NOT acknowledged AND to_timestamp(raised_s) < now() - INTERVAL '24 hours'
ORDER BY raised_s;
