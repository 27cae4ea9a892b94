"""XML from outside: no entities, no external files, no document type."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element, ParseError

from defusedxml import ElementTree
from defusedxml.common import DefusedXmlException

from smartcis.importers.errors import BrokenFile, UnsafeArchive
from smartcis.importers.files import Files


def xml_of(files: Files, name: str) -> Element:
    """Returns the root of an XML file.

    Raises:
        BrokenFile: it is none.
        UnsafeArchive: it declares entities, which could read files or grow without end.
    """
    try:
        root: Any = ElementTree.fromstring(files.read(name), forbid_dtd=False)
    except DefusedXmlException as fault:
        raise UnsafeArchive(
            f"{name} declares entities of XML",
            found=type(fault).__name__,
            attempt="write them out, and remove the declaration",
        ) from fault
    except (ParseError, ValueError, LookupError, RecursionError) as fault:
        raise BrokenFile(f"{name} is no XML: {fault}", found=name) from fault
    if not isinstance(root, Element):
        raise BrokenFile(f"{name} is no XML", found=name)
    return root


def local_name(element: Element) -> str:
    """Returns an element's name without its namespace."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""
