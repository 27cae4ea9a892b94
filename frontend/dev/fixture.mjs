// Development stand-in for the service: the same REST and WebSocket shapes over the raw IMDF files.
import fs from 'node:fs';
import http from 'node:http';
import { WebSocketServer } from 'ws';

const DIR = process.env.IMDF_DIR;
const PORT = Number(process.env.PORT ?? 8977);
const read = (f) => JSON.parse(fs.readFileSync(`${DIR}/${f}.json`, 'utf8')).features;
const venue = read('venue')[0];
let seed = 7;
const rnd = () => ((seed = (seed * 1103515245 + 12345) & 0x7fffffff) / 0x7fffffff);
const all = venue.geometry.coordinates.flat();
const lon0 = Math.min(...all.map((p) => p[0])), lat0 = Math.min(...all.map((p) => p[1]));
const kx = 111320 * Math.cos((lat0 * Math.PI) / 180), ky = 110574;
const P = ([a, b]) => [+((a - lon0) * kx).toFixed(2), +((b - lat0) * ky).toFixed(2)];
const rings = (g) => g.coordinates.map((r) => r.map(P));
const inside = (p, ring) => { let c = false; for (let i = 0, j = ring.length - 1; i < ring.length; j = i++) { const [a, b] = ring[i], [d, e] = ring[j]; if (b > p[1] !== e > p[1] && p[0] < ((d - a) * (p[1] - b)) / (e - b) + a) c = !c; } return c; };
const centre = (ring) => { let x = 0, y = 0, A = 0; for (let i = 0; i < ring.length - 1; i++) { const [a, b] = ring[i], [c, d] = ring[i + 1], w = a * d - c * b; A += w; x += (a + c) * w; y += (b + d) * w; } const c = [x / (3 * A), y / (3 * A)]; return inside(c, ring) ? c : ring[0]; };
const area = (ring) => Math.abs(ring.reduce((s, [a, b], i) => { const [c, d] = ring[(i + 1) % ring.length]; return s + a * d - c * b; }, 0)) / 2;
const levels = read('level').map((l) => ({ id: l.id, name: l.properties.name.en, short_name: l.properties.short_name.en, ordinal: l.properties.ordinal, outline: rings(l.geometry) })).sort((a, b) => a.ordinal - b.ordinal);
const SOFT = ['LaTeX', 'MATLAB', 'Blender', 'QGIS', 'R'];
let node = 1, mn = 1;
const plans = {}, nodes = [], machines = [], doors = [], rooms = [];
for (const l of levels) {
  const units = read('unit').filter((u) => u.properties.level_id === l.id).map((u) => { const poly = rings(u.geometry); const c = centre(poly[0]); return { id: u.id, name: u.properties.name?.en ?? '', category: u.properties.category, polygon: poly, label: c.map((v) => +v.toFixed(2)), node: node++ }; });
  const ms = [], ss = [], ds = [];
  for (const u of units) {
    nodes[u.node] = { x: u.label[0], y: u.label[1], level: l };
    if (u.category !== 'room') continue;
    rooms.push(u);
    const xs = u.polygon[0].map((p) => p[0]), ys = u.polygon[0].map((p) => p[1]);
    if (area(u.polygon[0]) > 45 && rnd() < 0.35) for (let x = Math.min(...xs) + 1.4; x < Math.max(...xs) - 1; x += 2.4) for (let y = Math.min(...ys) + 1.4; y < Math.max(...ys) - 1; y += 2.4) {
      if (!inside([x, y], u.polygon[0]) || ms.filter((m) => m.rid === u.id).length >= 8) continue;
      const mid = `m${String(mn++).padStart(3, '0')}`;
      const m = { mid, host: `ulm-${mid}`, rid: u.id, node: node++, x_m: +x.toFixed(2), y_m: +y.toFixed(2), simulated: true, software: SOFT.filter(() => rnd() < 0.45) };
      nodes[m.node] = { x, y, level: l };
      ms.push(m); machines.push({ ...m, level_id: l.id, kg: rnd() < 0.4 ? 70 : 0, cpu: rnd() * 40, dead: rnd() < 0.05 });
      ss.push({ sid: `seat-${mid}`, kind: 'seat', rid: u.id, mid, x_m: m.x_m, y_m: m.y_m, simulated: true }, { sid: `cpu-${mid}`, kind: 'cpu', rid: u.id, mid, x_m: m.x_m, y_m: m.y_m, simulated: true });
    }
    ss.push({ sid: `light-${u.id.slice(0, 6)}`, kind: 'light', rid: u.id, mid: null, x_m: u.label[0], y_m: u.label[1], simulated: true });
    if (rnd() < 0.5) ss.push({ sid: `temp-${u.id.slice(0, 6)}`, kind: 'temperature', rid: u.id, mid: null, x_m: u.label[0], y_m: u.label[1], simulated: true });
    const v = u.polygon[0][1], w = u.polygon[0][0];
    const d = { id: `d-${u.id.slice(0, 8)}`, x_m: (v[0] + w[0]) / 2, y_m: (v[1] + w[1]) / 2 }; ds.push(d); doors.push({ ...d, state: rnd() < 0.08 ? 'locked' : 'open', level_id: l.id });
  }
  plans[l.id] = { level_id: l.id, outline: l.outline, units, doors: ds, machines: ms, sensors: ss, connectors: units.filter((u) => u.category === 'stairs' || u.category === 'elevator').map((u) => ({ kind: u.category === 'stairs' ? 'stairs' : 'lift', x_m: u.label[0], y_m: u.label[1] })) };
}
const walk = rooms.length && plans[levels[0].id].units.filter((u) => u.category === 'walkway');
const kiosks = levels.slice(0, 3).flatMap((l) => plans[l.id].units.filter((u) => u.category === 'walkway').slice(0, 2).map((u, i) => ({ id: `k${l.ordinal}${i}`, name: `Kiosk ${l.name} ${'AB'[i]}`, node: u.node, level_id: l.id, x_m: u.label[0], y_m: u.label[1] })));
void walk;
const B = (l) => { const f = l.outline.flat(); return [Math.min(...f.map((p) => p[0])), Math.min(...f.map((p) => p[1])), Math.max(...f.map((p) => p[0])), Math.max(...f.map((p) => p[1]))]; };
const building = { slug: 'ulm-university', name: 'University of Ulm, N25–O27', attribution: '© OpenStreetMap contributors, ODbL', simulated_note: 'Machines, software, seats and sensors are simulated.', levels: levels.map((l) => ({ id: l.id, name: l.name, short_name: l.short_name, ordinal: l.ordinal, bounds_m: B(l) })), default_level: levels[1].id, kiosks, software: SOFT };
const closed = new Map(rooms.filter(() => rnd() < 0.08).map((r) => [r.id, rnd() < 0.5 ? 'reserved' : 'dark']));
const visitors = Array.from({ length: 60 }, (_, i) => ({ tag: `tag-${i}`, lvl: levels[i % 4], x: 20 + rnd() * 30, y: 20 + rnd() * 30 }));
const temp = new Map(); for (const l of levels) for (const s of plans[l.id].sensors) if (s.kind === 'temperature') temp.set(s.sid, { rid: s.rid, c: 19 + rnd() * 5, at: Date.now() / 1000 - (rnd() < 0.2 ? 400 : 5) });
const routes = new Map();
const COL = { open_room: ['rid'], closed_room: ['rid', 'reason'], free_machine: ['mid', 'rid', 'node'], machine_in_use: ['mid', 'reason'], machine_vitals: ['mid', 'weight_kg', 'cpu_pct', 'at_s'], room_climate: ['rid', 'sid', 'celsius', 'at_s'], room_light: ['rid', 'lux', 'at_s'], door_state: ['door_id', 'state'], visitor_position: ['tag', 'node', 'level_id', 'x_m', 'y_m', 'at_s'], nearest_machine: ['session', 'mid', 'node', 'cost_mm'], route_step: ['session', 'node', 'cost_mm', 'level_id', 'x_m', 'y_m'], active_region: ['region_id', 'sid'], region_size: ['region_id', 'size'], largest_region: ['region_id', 'size'], demo: ['rid', 'n'] };
const free = (m) => !m.dead && m.kg < 5 && m.cpu < 80 && !closed.has(m.rid);
function rt(r) {
  const o = nodes[r.node]; const best = machines.filter((m) => free(m) && m.software.includes(r.software)).map((m) => ({ m, d: Math.hypot(m.x_m - o.x, m.y_m - o.y) + 30 * Math.abs(nodes[m.node].level.ordinal - o.level.ordinal) })).sort((a, b) => a.d - b.d)[0];
  if (!best) return null;
  const t = nodes[best.m.node], pts = []; let cost = 0;
  const go = (lv, a, b) => { const mid = [b[0], a[1]]; for (const [p, q] of [[a, mid], [mid, b]]) { const n = Math.ceil(Math.hypot(q[0] - p[0], q[1] - p[1]) / 3) || 1; for (let i = 1; i <= n; i++) { cost += (1000 * Math.hypot(q[0] - p[0], q[1] - p[1])) / n; pts.push([lv, p[0] + ((q[0] - p[0]) * i) / n, p[1] + ((q[1] - p[1]) * i) / n, cost]); } } };
  pts.push([o.level, o.x, o.y, 0]);
  let at = [o.x, o.y];
  if (t.level !== o.level) { const lift = plans[o.level.id].connectors.filter((c) => c.kind === (r.step_free ? 'lift' : 'stairs')).sort((a, b) => Math.hypot(a.x_m - at[0], a.y_m - at[1]) - Math.hypot(b.x_m - at[0], b.y_m - at[1]))[0]; go(o.level, at, [lift.x_m, lift.y_m]); at = [lift.x_m, lift.y_m]; const dir = Math.sign(t.level.ordinal - o.level.ordinal); for (let k = o.level.ordinal + dir; k !== t.level.ordinal + dir; k += dir) { cost += 5000; pts.push([levels.find((l) => l.ordinal === k), at[0], at[1], cost]); } }
  go(t.level, at, [t.x, t.y]);
  return { m: best.m, steps: pts.map(([l, x, y, c], i) => [1000 + i, Math.round(c), l.id, +x.toFixed(2), +y.toFixed(2)]) };
}
const compute = {
  open_room: () => rooms.filter((r) => !closed.has(r.id)).map((r) => [r.id]), closed_room: () => [...closed],
  free_machine: () => machines.filter(free).map((m) => [m.mid, m.rid, m.node]), machine_in_use: () => machines.filter((m) => !m.dead && (m.kg >= 5 || m.cpu >= 80)).map((m) => [m.mid, m.kg >= 5 ? 'seat' : 'cpu']),
  machine_vitals: () => machines.filter((m) => !m.dead).map((m) => [m.mid, m.kg, +m.cpu.toFixed(1), m.at ?? 0]), room_climate: () => [...temp].map(([sid, t]) => [t.rid, sid, +t.c.toFixed(1), t.at]), room_light: () => rooms.map((r) => [r.id, closed.get(r.id) === 'dark' ? 3 : 400, T0]),
  door_state: () => doors.map((d) => [d.id, d.state]), visitor_position: () => visitors.map((v) => [v.tag, 1, v.lvl.id, +v.x.toFixed(2), +v.y.toFixed(2), v.at ?? 0]),
  nearest_machine: () => [...routes].flatMap(([s, r]) => { const q = rt(r); return q ? [[s, q.m.mid, q.m.node, q.steps.at(-1)[1]]] : []; }), route_step: () => [...routes].flatMap(([s, r]) => (rt(r)?.steps ?? []).map((x) => [s, ...x])),
  active_region: () => levels.slice(0, 3).flatMap((l, i) => plans[l.id].sensors.filter((s) => s.kind === 'temperature').slice(0, 3 + 2 * i).map((s) => [`r${i}`, s.sid])), region_size: () => [0, 1, 2].map((i) => [`r${i}`, 3 + 2 * i]), largest_region: () => [['r2', 7]],
  demo: () => rooms.slice(0, 12).map((r, i) => [r.name || r.id.slice(0, 6), machines.filter((m) => m.rid === r.id && free(m)).length + ((epoch >> (i % 4)) & 1)]),
};
const T0 = Date.now() / 1000; let epoch = 10; const now = () => Date.now() / 1000;
const queries = new Map(); let qn = 1;
const err = { code: 'aspen.bind.unknown_column', message: 'Relation free_machine has no column roomid.', position: { line: 1, column: 8, length: 6 }, found: 'roomid', exists: ['rid', 'mid', 'node'], try: 'Write rid.' };
const bad = (s) => { const i = s.search(/roomid/); if (i < 0) return null; const b = s.slice(0, i).split('\n'); return { ...err, position: { line: b.length, column: b.at(-1).length + 1, length: 6 } }; };
const body = (q) => new Promise((ok) => { let s = ''; q.on('data', (d) => (s += d)); q.on('end', () => ok(s ? JSON.parse(s) : {})); });
const server = http.createServer(async (q, a) => {
  let u = decodeURIComponent(q.url.split('?')[0]); u = u.startsWith('/api/v1/') ? u.slice(8) : u; const send = (c, o) => { a.writeHead(c, { 'content-type': 'application/json' }); a.end(o === undefined ? '' : JSON.stringify(o)); };
  const b = q.method === 'GET' ? {} : await body(q); let m;
  if (u === 'building/') return send(200, building);
  if ((m = u.match(/^levels\/(.+)\/plan\/$/))) return plans[m[1]] ? send(200, plans[m[1]]) : send(404, { code: 'x', message: 'no such level' });
  if (u === 'routes/') { const s = `s${routes.size + 1}`; routes.set(s, b); tick(); return send(201, { session: s, ...b }); }
  if ((m = u.match(/^routes\/(.+)\/$/))) { if (!routes.has(m[1])) return send(404, {}); q.method === 'DELETE' ? routes.delete(m[1]) : Object.assign(routes.get(m[1]), b); tick(); return send(200, { session: m[1] }); }
  if ((m = u.match(/^sensors\/seat-(.+)\/$/))) { machines.find((x) => x.mid === m[1]).kg = b.parameters.value; tick(); return send(200, {}); }
  if ((m = u.match(/^doors\/(.+)\/$/))) { const d = doors.find((x) => x.id === m[1]); d.state = b.state; tick(); return send(200, d); }
  const cols = [{ name: 'room', type: 'TEXT', unit: '' }, { name: 'free', type: 'INT', unit: '' }];
  if (u === 'queries/check/') { const e = bad(b.sql); return send(200, e ? { ok: false, ...e } : { ok: true, columns: cols, explain: 'GroupBy\n  Join\n    Scan free_machine\n    Scan room' }); }
  if (u === 'queries/explain/') return send(200, { text: 'GroupBy room\n  PipelinedHashJoin rid = rid\n    Scan free_machine\n    Scan room' });
  if (u === 'queries/' && q.method === 'POST') { const e = bad(b.sql); if (e) return send(400, e); const id = `q${qn++}`; const o = { id, name: b.name ?? null, sql: b.sql, state: 'running', columns: cols, mine: true }; queries.set(id, o); return send(201, o); }
  if (u === 'queries/') return send(200, [...queries.values()]);
  if ((m = u.match(/^queries\/(.+)\/$/))) { if (!queries.has(m[1])) return send(404, { code: 'x', message: 'No such query.' }); if (q.method === 'DELETE') { queries.delete(m[1]); return send(204); } return send(200, queries.get(m[1])); }
  if (u === 'sources/') return send(200, Object.entries(COL).map(([name, c]) => ({ name, kind: 'view', comment: 'A standing view.', columns: c.map((n) => ({ name: n, type: 'TEXT', unit: n.endsWith('_m') ? 'm' : '', nullable: false })) })));
  if (u.startsWith('/static/')) { const f = new URL(`../dist/${u.slice(8)}`, import.meta.url); if (fs.existsSync(f)) { a.writeHead(200, { 'content-type': u.endsWith('.js') ? 'text/javascript' : u.endsWith('.css') ? 'text/css' : 'application/octet-stream' }); return a.end(fs.readFileSync(f)); } }
  const page = u === '/' ? ['map', ''] : u === '/queries/' ? ['queries', ''] : (m = u.match(/^\/kiosk\/(.+)\/$/)) ? ['kiosk', m[1]] : null;
  if (page) { const man = JSON.parse(fs.readFileSync(new URL('../dist/manifest.json', import.meta.url))); const css = new Set(); const walkm = (k) => { (man[k].css ?? []).forEach((c) => css.add(c)); (man[k].imports ?? []).forEach(walkm); }; const k = `src/${page[0]}.ts`; walkm(k); a.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'" }); return a.end(`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>SmartCIS</title><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">${[...css].map((c) => `<link rel="stylesheet" href="/static/${c}">`).join('')}<script type="module" src="/static/${man[k].file}"></script></head><body><div id="app" data-page="${page[0]}" data-staff="1" data-kiosk="${page[1]}"></div></body></html>`); }
  send(404, { code: 'x', message: `nothing at ${u}` });
});
const wss = new WebSocketServer({ server, path: '/ws/live/' });
const subs = new Set();
wss.on('connection', (ws) => {
  const mine = new Map(); const say = (o) => ws.readyState === 1 && ws.send(JSON.stringify(o));
  say({ type: 'welcome', protocol: 1, epoch, engine: 'live' }); const hb = setInterval(() => say({ type: 'status', engine: 'live', epoch, position: epoch * 7, lag_s: 0.2, server_s: now() }), 3000);
  ws.on('message', (t) => { const m = JSON.parse(t);
    if (m.type === 'subscribe') { const v = queries.has(m.view) ? 'demo' : m.view; if (!COL[v]) return say({ type: 'error', id: m.id, code: 'smartcis.live.unknown_view', message: `No view ${m.view}.`, position: null, found: m.view, exists: [], try: '' }); const rows = compute[v](); const s = { id: m.id, v, say, epoch, rows: new Set(rows.map((r) => JSON.stringify(r))) }; mine.set(m.id, s); subs.add(s); say({ type: 'snapshot', id: m.id, view: m.view, columns: COL[v].map((n) => ({ name: n, type: 'TEXT', unit: '' })), epoch, position: 0, at_s: now(), rows }); }
    if (m.type === 'unsubscribe') { subs.delete(mine.get(m.id)); mine.delete(m.id); }
    if (m.type === 'ping') say({ type: 'pong', at: m.at }); });
  ws.on('close', () => { clearInterval(hb); for (const s of mine.values()) subs.delete(s); });
});
function tick() { epoch++; for (const s of subs) { const rows = new Set(compute[s.v]().map((r) => JSON.stringify(r))); const ch = []; for (const r of s.rows) if (!rows.has(r)) ch.push([-1, ...JSON.parse(r)]); for (const r of rows) if (!s.rows.has(r)) ch.push([1, ...JSON.parse(r)]); if (!ch.length) continue; s.rows = rows; s.say({ type: 'delta', id: s.id, prev: s.epoch, epoch, position: epoch * 7, at_s: now(), changes: ch }); s.epoch = epoch; } }
setInterval(() => { for (const v of visitors) if (rnd() < 0.3) { v.x += (rnd() - 0.5) * 6; v.y += (rnd() - 0.5) * 6; v.at = now(); } const m = machines[Math.floor(rnd() * machines.length)]; m.cpu = rnd() * 60; m.at = now(); if (rnd() < 0.08) m.kg = m.kg ? 0 : 68; tick(); }, 700);
server.listen(PORT, () => process.stdout.write(`fixture on ${PORT}: ${machines.length} machines, ${rooms.length} rooms\n`));
