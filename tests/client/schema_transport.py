"""A transport that knows nothing but the OpenAPI document: whatever it does not say, is refused.

It checks each request (path, method, parameters, headers, fields of the body), and answers with
what the document says of the answer and nothing more, so that a client that reads anything else
fails.
"""

from __future__ import annotations

import json
import re
from typing import Any

import httpx

KNOWN_HEADERS = {
    *("host", "accept", "accept-encoding", "connection", "user-agent", "authorization"),
    *("content-length", "content-type", "cookie"),
}


class SchemaTransport(httpx.BaseTransport):
    """Answers as a schema says.

    Args:
        schema: the OpenAPI document.
        choose: by path, which of several schemas of an answer, by the name of its component.
    """

    def __init__(self, schema: dict[str, Any], **choose: str) -> None:
        self.schema = schema
        self.choose = choose
        self.called: set[str] = set()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        operation = self._operation(request)
        self._check_parameters(operation, request)
        self._check_body(operation, request)
        status, answer = (
            min(
                (status, answer)
                for status, answer in operation["responses"].items()
                if status.startswith("2")
                and (status != "200" or "201" not in operation["responses"])
            )
            if self.choose.get("status") is None
            else (
                self.choose["status"],
                operation["responses"][self.choose["status"]],
            )
        )
        content = answer.get("content", {})
        if not content:
            return httpx.Response(int(status))
        return httpx.Response(int(status), json=self.example(content["application/json"]["schema"]))

    def _operation(self, request: httpx.Request) -> dict[str, Any]:
        found = [
            (path, methods)
            for path, methods in self.schema["paths"].items()
            if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", path), request.url.path)
        ]
        assert found, f"no path {request.url.path}"
        path, methods = min(found, key=lambda one: one[0].count("{"))
        assert request.method.lower() in methods, f"no {request.method} {path}"
        operation: dict[str, Any] = methods[request.method.lower()]
        self.called.add(f"{request.method} {path}")
        return operation

    def _check_parameters(self, operation: dict[str, Any], request: httpx.Request) -> None:
        named = {(one["in"], one["name"].lower()) for one in operation.get("parameters", ())}
        for name in request.url.params:
            assert ("query", name) in named, f"{operation['operationId']} has no parameter {name}"
        for name in set(request.headers) - KNOWN_HEADERS:
            assert ("header", name) in named, f"{operation['operationId']} has no header {name}"

    def _check_body(self, operation: dict[str, Any], request: httpx.Request) -> None:
        if "requestBody" not in operation:
            assert not request.content
            return
        described = operation["requestBody"]["content"]
        media_type = request.headers["content-type"].partition(";")[0]
        assert media_type in described, f"{operation['operationId']} takes no {media_type}"
        if media_type == "multipart/form-data":
            form = self.resolved(described[media_type]["schema"])
            names = set(re.findall(rb'form-data; name="(\w+)"', request.read()))
            assert {name.decode() for name in names} <= set(form["properties"]), names
        if media_type == "application/json":
            self.fits(described[media_type]["schema"], json.loads(request.content))

    def resolved(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Returns a schema without references."""
        while True:
            if "$ref" in schema:
                schema = self.schema["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
            elif "allOf" in schema:
                (schema,) = schema["allOf"]
            elif "oneOf" in schema and all("$ref" in one for one in schema["oneOf"]):
                names = [one["$ref"].rpartition("/")[2] for one in schema["oneOf"]]
                chosen = next((n for n in names if n in self.choose.values()), names[0])
                schema = self.schema["components"]["schemas"][chosen]
            else:
                return schema

    def fits(self, schema: dict[str, Any], value: Any) -> None:
        """Whether a body has the fields that its schema names, all that it must, and no others."""
        schema = self.resolved(schema)
        if schema.get("type") == "object" and "properties" in schema:
            assert set(schema.get("required", ())) <= set(value) <= set(schema["properties"]), value
            for name, one in value.items():
                self.fits(schema["properties"][name], one)
        elif schema.get("type") == "array":
            for one in value:
                self.fits(schema["items"], one)
        elif "type" in schema and value is not None:
            kinds = {"string": str, "integer": int, "boolean": bool, "number": (int, float)}
            assert isinstance(value, kinds.get(schema["type"], object)), (schema, value)

    def example(self, schema: dict[str, Any]) -> Any:
        """Returns a value that a schema describes, with all of its fields."""
        schema = self.resolved(schema)
        if "enum" in schema:
            return schema["enum"][0]
        match schema.get("type"):
            case "object":
                fields = schema.get("properties", {})
                made = {name: self.example(one) for name, one in fields.items()}
                for name in {"next", "previous"} & set(made):
                    made[name] = None  # one page
                if not fields and isinstance(schema.get("additionalProperties"), dict):
                    made["some"] = self.example(schema["additionalProperties"])
                return made
            case "array":
                return [self.example(schema["items"])] * max(1, schema.get("minItems", 1))
            case "integer":
                return 7
            case "number":
                return 7.5
            case "boolean":
                return True
            case _:
                return "text"
