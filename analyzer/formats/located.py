"""JSON and YAML documents of which one still knows where each part stands, so that it can be quoted verbatim.

Descriptions of jobs and pods are small; their facts are looked up as in plain dicts and lists, and the lines of any
part are the lines of the file. The JSON reader needs no recursion and makes the best of text that ends in the middle.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Any

from analyzer.formats.shape import whole_characters
from analyzer.model.numbers import written_integer

if TYPE_CHECKING:
    import yaml  # each start would pay for it, and few inputs are YAML

NODE_LIMIT = 2_000_000
"""A document with more parts than this is not read as a description."""
DEPTH_LIMIT = 500

_BREAK = re.compile("\n")
_SPACE = re.compile(r"[ \t\r\n]*+")
_SCALAR = re.compile(
    r'"(?:[^"\\]*+(?:\\.[^"\\]*+)*+)"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null|NaN|-?Infinity', re.DOTALL
)
_SINGLE = {"true": True, "false": False, "null": None, "NaN": None, "Infinity": None, "-Infinity": None}
YAML_PARTS = 400_000
"""A part of a YAML document takes several times the memory of one of JSON; `_YAML_MARKS` begin or part them."""
_YAML_MARKS = ("\n", ",", "[", "{", "- ")
_ALIASED = 10_000
"""How many parts of a YAML document may be repetitions by aliases."""
_QUOTED = 4000
"""How many characters of a part are quoted at most."""


class Spans:
    """Where each value stands: from the begin of its key to its end (characters), by container and key.

    Two numbers are kept in one, since there may be a million of them.
    """

    def __init__(self) -> None:
        self._spans: dict[int, dict[str | int, int]] = {}

    def put(self, container: Any, key: str | int, start: int, end: int) -> None:
        """Notes where the value under a key of a dict or list stands; the container is held by the caller."""
        self._spans.setdefault(id(container), {})[key] = start << 32 | end

    def get(self, container: Any, key: str | int) -> tuple[int, int] | None:
        """Where a value stands; None for one that was not noted."""
        span = self._spans.get(id(container), {}).get(key)
        return None if span is None else (span >> 32, span & 0xFFFFFFFF)


class Document:
    """One document and the place of its parts; `line` is where it begins in its source."""

    def __init__(self, value: Any, text: str, line: int, spans: Spans) -> None:
        self.value = value
        self.line = line
        self.cut = False
        self._text = text
        self._spans = spans
        self._breaks = [found.start() for found in _BREAK.finditer(text)]

    def place(self, container: Any, key: str | int) -> int:
        """The line of the source at which the value under a key of a dict or list of this document stands."""
        return self.line + bisect_left(self._breaks, (self._spans.get(container, key) or (0, 0))[0])

    def quote(self, container: Any, key: str | int) -> str:
        """The source from a key to the end of its value, without the indentation of the lines that follow."""
        start, end = self._spans.get(container, key) or (0, len(self._text))
        first, *rest = self._text[start : min(end, start + _QUOTED)].rstrip().split("\n")
        column = start - (self._text.rfind("\n", 0, start) + 1)
        return "\n".join([first, *(line[min(column, len(line) - len(line.lstrip())) :] for line in rest)]).replace(
            "\r", ""
        )


class NotADocument(ValueError):
    """The text is no JSON or YAML document of a size and depth that is read."""


def json_document(text: str, line: int = 1) -> Document:
    """The JSON document of a text. A text that ends in the middle gives what is there, with `cut` set.

    Raises NotADocument where the text is no JSON from its first character on.
    """
    return _JsonReader(text, line).read()


def yaml_document(text: str, line: int = 1) -> Document:
    """The YAML document of a text; times stay text. Raises NotADocument where it is none."""
    import yaml

    if sum(map(text.count, _YAML_MARKS)) > YAML_PARTS:
        raise NotADocument("the document has too many parts")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        node = yaml.compose(text, Loader=loader)
        if node is None:
            raise NotADocument("an empty document")
        spans = Spans()
        return Document(_YamlValues(spans).value(node, 0), text, line, spans)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise NotADocument(str(error).split("\n", 1)[0]) from None


class _JsonReader:
    """Reads JSON with a stack of its own."""

    def __init__(self, text: str, line: int) -> None:
        self._text, self._line = text, line
        self._at = 0
        self._spans = Spans()
        self._stack: list[tuple[Any, str | int, int]] = []  # container, key under which it hangs, where that begins

    def read(self) -> Document:
        root: list[Any] = []
        self._stack = [(root, 0, 0)]
        cut = False
        try:
            for _ in range(NODE_LIMIT):
                if not self._step():
                    break
            else:
                raise NotADocument("the document has too many parts")
        except _EndOfText:
            cut = True
            self._close_all()
        if not root:
            raise NotADocument("no JSON value")
        document = Document(root[0], self._text, self._line, self._spans)
        document.cut = cut
        return document

    def _step(self) -> bool:
        """Reads the next part; False behind the end of the document."""
        container = self._stack[-1][0]
        if len(self._stack) == 1 and container:
            return False
        sign = self._sign()
        if isinstance(container, list):
            if sign == "]" and len(self._stack) > 1:
                self._at += 1
                self._close()
            elif sign == ",":
                self._at += 1
            else:
                self._value(container, len(container), self._at)
            return True
        if sign == "}":
            self._at += 1
            self._close()
        elif sign == ",":
            self._at += 1
        else:
            start = self._at
            name = self._scalar()
            if not isinstance(name, str) or self._sign() != ":":
                raise NotADocument(f"no key with a `:` behind it in line {self._line_now}")
            self._at += 1
            self._sign()
            self._value(container, name, start)
        return True

    def _value(self, container: Any, key: str | int, start: int) -> None:
        sign = self._text[self._at]
        value: Any
        if sign in "{[":
            if len(self._stack) > DEPTH_LIMIT:
                raise NotADocument("the document is nested too deeply")
            self._at += 1
            value = {} if sign == "{" else []
        else:
            value = self._scalar()
        if isinstance(container, list):
            container.append(value)
        else:
            container[key] = value
        self._spans.put(container, key, start, self._at)
        if sign in "{[":
            self._stack.append((value, key, start))

    def _close(self) -> None:
        _, key, start = self._stack.pop()
        parent = self._stack[-1][0]
        self._spans.put(parent, key, start, self._at)

    def _close_all(self) -> None:
        self._at = len(self._text)
        while len(self._stack) > 1:
            self._close()

    def _sign(self) -> str:
        found = _SPACE.match(self._text, self._at)
        self._at = found.end() if found else self._at
        if self._at >= len(self._text):
            raise _EndOfText
        return self._text[self._at]

    def _scalar(self) -> Any:
        found = _SCALAR.match(self._text, self._at)
        if found is None:
            rest = self._text[self._at : self._at + len("-Infinity")]
            if rest[0] == '"' or any(word.startswith(rest) for word in _SINGLE):
                raise _EndOfText
            raise NotADocument(f"no JSON in line {self._line_now}")
        self._at = found.end()
        text = found[0]
        if text in _SINGLE:
            return _SINGLE[text]
        try:
            value = json.loads(text, strict=False, parse_int=written_integer)
        except ValueError:
            return text[1:-1]
        return whole_characters(value) if isinstance(value, str) else value

    @property
    def _line_now(self) -> int:
        return self._line + self._text.count("\n", 0, self._at)


class _EndOfText(Exception):
    """The text ends within a value."""


class _YamlValues:
    """Builds plain values out of YAML nodes, noting where each stands."""

    def __init__(self, spans: Spans) -> None:
        self._spans = spans
        self._count = self._again = 0
        self._seen: set[int] = set()

    def value(self, node: yaml.Node, depth: int) -> Any:
        self._count += 1
        self._again += id(node) in self._seen
        self._seen.add(id(node))
        if self._count > NODE_LIMIT or depth > DEPTH_LIMIT or self._again > _ALIASED:
            raise NotADocument("the document has too many parts, is nested too deeply, or repeats itself without end")
        from yaml import MappingNode, SequenceNode

        if isinstance(node, MappingNode):
            mapping: dict[str, Any] = {}
            for key_node, value_node in node.value:
                key = str(key_node.value)
                mapping[key] = self.value(value_node, depth + 1)
                self._spans.put(mapping, key, *_node_span(key_node, value_node))
            return mapping
        if isinstance(node, SequenceNode):
            sequence: list[Any] = []
            for index, item in enumerate(node.value):
                sequence.append(self.value(item, depth + 1))
                self._spans.put(sequence, index, *_node_span(item, item))
            return sequence
        return _yaml_scalar(node)


def _node_span(first: yaml.Node, last: yaml.Node) -> tuple[int, int]:
    return int(first.start_mark.index), int(last.end_mark.index)


def _yaml_scalar(node: yaml.Node) -> Any:
    text = whole_characters(str(node.value))
    kind = node.tag.rpartition(":")[2]
    if kind == "null":
        return None
    if kind == "bool":
        return text.lower() in ("true", "yes", "on")
    if kind == "int" and re.fullmatch(r"[-+]?\d{1,18}", text):
        return int(text)
    if kind == "float" and re.fullmatch(r"[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?", text):
        return float(text)
    return text
