"""How a verdict was reached, as a tree for the terminal."""

from __future__ import annotations

from rich.text import Text
from rich.tree import Tree

from analyzer.model.diagnosis import Diagnosis, Point
from analyzer.report.language import CATEGORY_NAMES, Language
from analyzer.report.neutral import shown_line


def explanation(diagnosis: Diagnosis, words: Language) -> Tree:
    """The judge's steps, the points of the chosen cause and of each other candidate, and what was ruled out."""
    tree = Tree(Text(words.say("How it was decided"), style="bold"), guide_style="dim")
    for step in diagnosis.explanation:
        tree.add(Text(shown_line(step, 400)))
    chosen = f"{words.say('Chosen')}: {diagnosis.category}.{diagnosis.cause}"
    _add_points(tree.add(Text(shown_line(chosen, 200), style="bold")), diagnosis.points)
    for item in diagnosis.alternatives:
        place = f" · {item.replica}" if item.replica else ""
        head = f"{words.say('Not chosen')}: {item.category}.{item.cause}{place} ({words.number(item.score, 1)})"
        _add_points(tree.add(Text(shown_line(head, 200))), item.points)
    for symptom in diagnosis.symptoms[:20]:
        head = f"{words.say('Follows')}: {symptom.rule}" + (f" · {symptom.replica}" if symptom.replica else "")
        tree.add(Text(shown_line(head, 200), style="dim"))
    for ruled_out in diagnosis.ruled_out:
        name = words.say(CATEGORY_NAMES.get(ruled_out.category, ruled_out.category))
        tree.add(Text(shown_line(f"{words.say('Ruled out')}: {name} – {ruled_out.why}", 400), style="dim"))
    return tree


def _add_points(branch: Tree, points: list[Point]) -> None:
    for point in points:
        text = f"{point.points:+.0f}  {shown_line(point.reason, 300)}"
        branch.add(Text(text, style="green" if point.points > 0 else "red"))
