"""A client written from docs/api.md alone: URL TOKEN SQL N prints N states of a query's answer."""

import json
import sys
import time
import urllib.request
from collections import Counter

from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

url, token, sql, wanted = sys.argv[1:]


def call(method, path, body=None):
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{url}/api/v1/{path}", body, headers, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read() or "null"), answer.headers.get("Set-Cookie", "")


query, cookie = call("POST", "queries/", json.dumps({"sql": sql}).encode())
rows, since, printed = Counter(), {}, []
while len(printed) < int(wanted):
    try:
        with connect(f"ws{url[4:]}/ws/live/", additional_headers={"Cookie": cookie}) as socket:
            socket.send(json.dumps({"type": "subscribe", "id": 1, "view": query["id"], **since}))
            while len(printed) < int(wanted):
                said = json.loads(socket.recv(timeout=12))
                assert said.get("protocol", 1) == 1 and said["type"] != "error", said  # noqa: PT018
                rows = Counter(map(tuple, said["rows"])) if "rows" in said else rows
                for weight, *row in said.get("changes", ()):
                    rows[tuple(row)] += weight
                since = {"since": said["epoch"]} if said.get("id") else since
                if since and sorted(rows.elements()) not in printed[-1:]:
                    printed.append(sorted(rows.elements()))
                    print(json.dumps(printed[-1]), flush=True)  # noqa: T201
    except (OSError, WebSocketException):
        time.sleep(1)
call("DELETE", f"queries/{query['id']}/")
