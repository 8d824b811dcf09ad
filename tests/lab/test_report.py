"""The report: one self-contained page, tested in a real browser, light and dark."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

import vicinal as vc
from vicinal import lab
from vicinal.lab.papers import BEYOND
from vicinal.lab.report import write_report

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BROWSER = os.environ.get("VICINAL_BROWSER") or next(filter(None, map(shutil.which, BROWSERS)), None)
WIDTH = 1200


def experiment(name: str, published: float) -> lab.Experiment:
    """An experiment with squares, one of which is claimed rightly or wrongly."""
    return lab.Experiment(
        name=name,
        title=f"Squares & <cubes> of {name}",
        paper=BEYOND,
        section="none",
        setup="Numbers.",
        measured="their squares.",
        structures=("one", "two"),
        cases=lambda _: [lab.Case({"n": n}) for n in (1, 2, 3)],
        measure=lambda case, _: [{"structure": s, "square": int(case.values["n"]) ** 2} for s in ("one", "two")],
        claims=(
            lab.Value(label="square of 3", pick=lab.Pick("square", {"n": 3}), published=published, tolerance=0.01),
            lab.Value(label="square of 4", pick=lab.Pick("square", {"n": 4}), published=16, tolerance=0.01),
        ),
        plots=(
            lab.Plot(name="line", title="Squares", x="n", y="square", published={"one": ((1, 1), (3, 9))}),
            lab.Plot(name="bar", title="Squares", x="n", y="square", kind="bar", published={"two": ((1, 1),)}),
        ),
    )


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs")
    known = {name: experiment(name, published) for name, published in (("right", 9), ("wrong", 12))}
    for one in known.values():
        lab.run(one, lab.Plan(), out)
    return write_report(out, known)


class Reader(HTMLParser):
    """Collects the references of a page, its ids, and whether its elements are closed."""

    VOID = frozenset({"meta", "br", "use", "path"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.references: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in {"src", "href", "xlink:href", "srcset"}:
                self.references.append(value or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag


def test_the_page_is_complete_and_self_contained(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    reader = Reader()
    reader.feed(text)
    assert reader.open == []
    assert all(reference.startswith("#") for reference in reader.references), "nothing is loaded"
    assert "@import" not in text
    assert re.findall(r"url\((?!#|&quot;#)", text) == []
    assert len(set(reader.ids)) == len(reader.ids), "pictures do not share ids"
    assert {reference[1:] for reference in reader.references} <= set(reader.ids)


def test_the_page_shows_reproduced_and_different_results(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "1 of 2 published results were reproduced, 1 differ" in text
    assert text.count(">differs</span>") == text.count(">reproduced</span>") == 1
    assert "0.75 times the published" in text
    assert "Not part of this run: square of 4" in text
    assert "Squares &amp; &lt;cubes&gt; of right" in text


def test_pictures_take_the_colours_of_the_page(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text.count("<svg") == 4
    assert "var(--ink)" in text
    assert "prefers-color-scheme: dark" in text


def test_runs_of_unknown_experiments_are_left_out(tmp_path: Path) -> None:
    lab.run(experiment("right", 9), lab.Plan(), tmp_path)
    with pytest.raises(vc.InputError, match="holds no results"):
        write_report(tmp_path, {})


def screenshot(page: Path, target: Path, *, dark: bool) -> np.ndarray:
    """Let the browser draw the page."""
    assert BROWSER is not None
    command = [
        BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage",
        f"--user-data-dir={target.parent / 'profile'}", f"--window-size={WIDTH},2400", "--virtual-time-budget=2000",
        f"--blink-settings=preferredColorScheme={0 if dark else 1}", f"--screenshot={target}", page.as_uri(),
    ]  # fmt: skip
    subprocess.run(command, check=True, timeout=180, capture_output=True)
    return np.asarray(imread(target))[..., :3]


def dumped(page: Path, profile: Path) -> str:
    """The page as the browser understood it."""
    assert BROWSER is not None
    command = [
        BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        f"--user-data-dir={profile}", "--dump-dom", page.as_uri(),
    ]  # fmt: skip
    return subprocess.run(command, check=True, timeout=180, capture_output=True, text=True).stdout


@pytest.mark.skipif(BROWSER is None, reason="no browser found (Debian: chromium): the report is not tested")
def test_the_page_looks_as_it_should_light_and_dark(page: Path, tmp_path: Path) -> None:
    light = screenshot(page, tmp_path / "light.png", dark=False)
    dark = screenshot(page, tmp_path / "dark.png", dark=True)
    assert light.shape == dark.shape == (2400, WIDTH, 3)
    # The corner is the page itself: near white, near black.
    assert light[5, 5].min() > 0.9
    assert dark[5, 5].max() < 0.15
    for picture in (light, dark):
        contrast = np.abs(picture - picture[5, 5]).max(axis=2)
        assert (contrast > 0.5).any(axis=1).sum() > 400, "text is readable on the whole page"
        red, green, blue = picture[..., 0], picture[..., 1], picture[..., 2]
        # Lines of the plots and badges have their colours in both.
        assert ((blue > red + 0.25) & (blue > 0.5)).sum() > 300
        assert ((green > red + 0.1) & (green > blue + 0.05)).sum() > 100
        assert (red > green + 0.25).sum() > 100


@pytest.mark.skipif(BROWSER is None, reason="no browser found (Debian: chromium): the report is not tested")
def test_a_browser_reads_the_page_without_repairs(page: Path, tmp_path: Path) -> None:
    understood = dumped(page, tmp_path / "profile")
    for tag in ("table", "svg", "section", "details", "figure", "tr"):
        own = len(re.findall(rf"<{tag}[\s>]", page.read_text(encoding="utf-8")))
        assert len(re.findall(rf"<{tag}[\s>]", understood)) == own > 0
