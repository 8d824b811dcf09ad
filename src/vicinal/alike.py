"""Checks of bodies that an index receives after it was made: they must be like its own."""

from __future__ import annotations

from vicinal import _check
from vicinal._check import Bodies
from vicinal.bodies import check_boxes, check_points, check_spheres
from vicinal.cell import Cell
from vicinal.errors import InputError


def check_alike(
    like: Bodies, points: object, radii: object, boxes: object, *, half_skin: float, criterion: str
) -> tuple[Bodies, str]:
    """Check bodies of the kind and dtype of `like`; return them and the name of their argument."""
    kind, dtype = like.kind, like.array.dtype
    given = "boxes" if boxes is not None else "spheres" if radii is not None else "points"
    if given != kind:
        wanted = {"points": "points only", "spheres": "points and radii=", "boxes": "boxes="}[kind]
        raise InputError(f"bodies must be {kind}, as those of the index, got {given}; pass {wanted}")
    if kind == "boxes":
        return check_boxes(points, boxes, half_skin, dtype), "boxes"
    if kind == "spheres":
        return check_spheres(points, radii, half_skin, dtype, criterion=criterion), "points"
    return check_points(points, dtype=dtype), "points"


def check_place(like: Bodies, bodies: Bodies, name: str, box: Cell) -> Bodies:
    """Check that bodies have the dimension of `like` and lie close enough to the periodic box; return them.

    None at all may have any dimension: then `like`, which has no bodies, is returned.
    """
    if len(bodies) == 0:
        return like
    if bodies.dim != like.dim:
        known = "the boxes have" if like.kind == "boxes" else "the points have"
        known = known if name.startswith("quer") else "those of the index"
        raise InputError(f"{name} must have {like.dim} columns, as {known}, got {bodies.dim}")
    if box.periodic:
        _check.check_wraps(bodies, box, name)
    return bodies
