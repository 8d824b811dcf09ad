"""``vicinal render``: pictures and animations of a time series."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vicinal.cli.exits import exit_codes

if TYPE_CHECKING:
    from vicinal.sim.pictures import Look

PICTURES = (".png", ".jpg", ".webp", ".pdf", ".svg")
ANIMATION = ".gif"


def render(
    series: Annotated[
        Path,
        typer.Argument(
            help="particles.vtkhdf of a run, or the folder of its results. Running simulations can be drawn too."
        ),
    ],
    *,
    output: Annotated[
        list[Path] | None,
        typer.Option("-o", "--output", help=f"File to write: {' '.join(PICTURES)} or {ANIMATION}. Repeatable."),
    ] = None,
    step: Annotated[int, typer.Option(help="Frame that the picture shows; -1 is the last.")] = -1,
    colour: Annotated[
        str | None, typer.Option("--colour", "--color", help="speed, radius, id, or other data of the particles.")
    ] = None,
    style: Annotated[
        str | None, typer.Option(help="spheres, or surface: particles melt into one smooth body, as a fluid does.")
    ] = None,
    view: Annotated[
        str | None, typer.Option(help="Direction to the eye: azimuth,elevation in degrees; or x, y or z.")
    ] = None,
    size: Annotated[str | None, typer.Option(help="Width and height in pixels, as in 1200x900.")] = None,
    frames: Annotated[int, typer.Option(min=1, help="Largest number of pictures in an animation.")] = 60,
    rate: Annotated[float, typer.Option(min=0.1, max=50.0, help="Pictures per second.")] = 12.0,
    title: Annotated[str | None, typer.Option(help="Title of the picture; the default is that of the scene.")] = None,
) -> None:
    """Draw a run: a picture of its end, and an animation."""
    with exit_codes():
        from vicinal.extras import need

        need("vicinal render", "dem", "h5py", "matplotlib")
        from vicinal.io import atomic_file
        from vicinal.sim.folder import PARTICLES
        from vicinal.sim.pictures import Painter, draw_animation, draw_picture

        path = series / PARTICLES if series.is_dir() else series
        targets = output or [path.with_suffix(".png"), path.with_suffix(ANIMATION)]
        for target in targets:
            _check_target(target)
        scene_title, look = _look(path, colour=colour, style=style, view=view, size=size)
        painter = Painter(path, look)
        line = scene_title if title is None else title
        chosen = _index(step, len(painter.particles))
        for target in targets:
            with atomic_file(target) as file:
                if target.suffix.lower() == ANIMATION:
                    count = min(frames, len(painter.particles))
                    steps = [round(k * (len(painter.particles) - 1) / max(1, count - 1)) for k in range(count)]
                    if sys.stderr.isatty():
                        typer.echo(f"drawing {count} pictures ...", err=True)
                    draw_animation(painter, steps, file, title=line, rate=rate)
                else:
                    draw_picture(painter, chosen, file, title=line, kind=target.suffix[1:].lower())
            typer.echo(f"{'animation' if target.suffix.lower() == ANIMATION else 'picture'}: {target.resolve()}")


def _look(
    path: Path, *, colour: str | None, style: str | None, view: str | None, size: str | None
) -> "tuple[str, Look]":
    """Return title and look: those of the scene file in the folder of the series, unless options replace them."""
    from vicinal._check import check_choice
    from vicinal.sim.folder import SCENE
    from vicinal.sim.pictures import Look
    from vicinal.sim.scene import STYLES, load

    title, azimuth, elevation, meaning = path.parent.name, Look.azimuth, Look.elevation, Look.colour
    drawn = Look.style
    beside = path.with_name(SCENE)
    if beside.exists():
        scene = load(beside, files=False)
        title, meaning, drawn = scene.title, scene.picture.colour, scene.picture.style
        # A fluid in two dimensions is seen from above its plane.
        azimuth, elevation = scene.picture.view or (_angles("z") if scene.flat() else (azimuth, elevation))
    if view is not None:
        azimuth, elevation = _angles(view)
    if style is not None:
        drawn = check_choice(style, "--style", STYLES)
    pixels = Look.pixels if size is None else _pixels(size)
    return title, Look(azimuth=azimuth, elevation=elevation, colour=colour or meaning, pixels=pixels, style=drawn)


def _angles(text: str) -> tuple[float, float]:
    from vicinal import InputError

    named = {"x": (0.0, 0.0), "y": (-90.0, 0.0), "z": (-90.0, 90.0)}
    if text in named:
        return named[text]
    try:
        azimuth, elevation = (float(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"--view must be azimuth,elevation in degrees, or x, y or z, got {text!r}") from None
    if not (abs(elevation) <= 90 and abs(azimuth) <= 360):
        raise InputError(f"--view must have an azimuth from -360 to 360 and an elevation from -90 to 90, got {text!r}")
    return azimuth, elevation


def _pixels(text: str) -> tuple[int, int]:
    from vicinal import InputError

    try:
        width, height = (int(part) for part in text.lower().split("x"))
    except ValueError:
        width = height = 0
    if not (100 <= width <= 8000 and 100 <= height <= 8000):
        raise InputError(f"--size must be width and height from 100 to 8000, as in 1200x900, got {text!r}")
    return width, height


def _index(step: int, count: int) -> int:
    from vicinal import InputError

    if not -count <= step < count:
        raise InputError(f"--step must be from 0 to {count - 1}, or -1 for the last frame, got {step}")
    return step % count


def _check_target(path: Path) -> None:
    """Refuse a file that could not be written, before the work."""
    from vicinal import InputError
    from vicinal.io.atomic import check_place

    if path.suffix.lower() not in (*PICTURES, ANIMATION):
        raise InputError(f"--output must end in {' '.join(PICTURES)} or {ANIMATION}, got {path.suffix!r}")
    check_place(path)
