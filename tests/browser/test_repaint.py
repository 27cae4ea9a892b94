"""A large result that changes all the time costs the page little: measured in Chromium."""

from __future__ import annotations

import statistics
import string

import pytest

from smartcis.live.protocol import PROTOCOL

pytestmark = pytest.mark.browser

ROWS = 50_000
CHANGED = 1_000
REPAINTS = 40
SORTS = 8
SHARE = 0.5
"""Of what sorting all rows takes, in turns: on two idle cores that is 30 ms, a repaint 8 ms."""

QUERY = {
    "id": "large",
    "name": "large",
    "sql": "SELECT n, text, value FROM large",
    "state": "running",
    "columns": [],
    "order": None,
    "mine": True,
}

# A socket without a server: it answers a subscription with $ROWS rows, and `turn()` sends a delta
# of $CHANGED changes. Deltas are written beforehand, so that only the page's work is measured.
SOCKET = string.Template("""
(() => {
  const columns = [['n', 'INT', ''], ['text', 'TEXT', ''], ['value', 'FLOAT', 'W']]
    .map(([name, type, unit]) => ({name, type, unit}));
  const row = (n, epoch) => [n, 'machine ' + n, ((n * 7919 + epoch * 104729) % 100000) / 10];
  const at = (epoch) => ({epoch, position: epoch, at_s: 0});
  window.WebSocket = class {
    constructor() {
      setTimeout(() => {
        this.onopen?.({});
        this.say({type: 'welcome', protocol: $PROTOCOL, epoch: 1, engine: 'live'});
      });
    }
    say(message) { this.onmessage?.({data: JSON.stringify(message)}); }
    close() {}
    send(text) {
      const {type, id, view} = JSON.parse(text);
      if (type !== 'subscribe' || view !== 'large') return;
      const held = Array.from({length: $ROWS}, () => 1);
      const rows = held.map((epoch, n) => row(n, epoch));
      const whole = {type: 'snapshot', id, view, columns, rows, ...at(1), merged: 0,
        complete_since_s: null};
      setTimeout(() => this.say(whole));
      let n = 0;
      const deltas = Array.from({length: $REPAINTS}, (_, i) => {
        const changes = [];
        for (let k = 0; k < $CHANGED / 2; k++) {
          n = (n + 7907) % $ROWS;
          changes.push([-1, ...row(n, held[n])], [1, ...row(n, ++held[n])]);
        }
        return JSON.stringify({type: 'delta', id, prev: i + 1, ...at(i + 2), merged: 1, changes});
      });
      window.sortAll = () => {
        setTimeout(() => rows.slice().sort((one, other) => one[2] - other[2]));  // a task counts
      };
      window.turn = () => this.onmessage?.({data: deltas.shift()});
    }
  };
})();
""").substitute(PROTOCOL=PROTOCOL, ROWS=ROWS, REPAINTS=REPAINTS, CHANGED=CHANGED)
WORK = ("ScriptDuration", "RecalcStyleDuration", "LayoutDuration")


def worked_ms(session) -> float:
    """Processor time of the page so far: scripts, styles and layout."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return 1000 * sum(one["value"] for one in metrics if one["name"] in WORK)


def test_a_repaint_of_many_changing_rows_costs_less_than_half_of_sorting_them(browser, product):
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.add_init_script(SOCKET)
    page.route("**/api/v1/queries/large/", lambda route: route.fulfill(json=QUERY))
    page.goto(f"{product.url}/queries/?query=large")
    page.get_by_role("button", name="value").click()
    assert page.get_by_test_id("result-page").inner_text() == f"Rows 1 to 200 of {ROWS:,}"
    session = context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})  # others run beside it
    page.wait_for_timeout(2_000)  # the snapshot is drawn, and the code is compiled

    def cost_ms(script):
        before = worked_ms(session)
        page.evaluate(script)
        page.wait_for_timeout(150)  # longer than a repaint waits for company
        return worked_ms(session) - before

    costs, sorts = [], []
    for number in range(REPAINTS):
        costs.append(cost_ms("turn()"))
        if number % (REPAINTS // SORTS) == 0:
            sorts.append(cost_ms("sortAll()"))
    assert page.get_by_test_id("result-epoch").inner_text() == str(REPAINTS + 1)
    assert statistics.median(costs) < SHARE * statistics.median(sorts), (costs, sorts)
    context.close()
