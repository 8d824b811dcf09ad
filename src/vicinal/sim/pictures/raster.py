"""Rasterisation of spheres, triangles and lines with a depth buffer."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

LIGHT = np.array([-0.45, 0.65, 0.62])
"""Direction to the lamp, from the left and above: right, up, towards the eye."""

PATCH = 20.0
"""Spheres with a larger radius in pixels are drawn one by one, smaller ones together, pixel by pixel."""


class Canvas:
    """A picture: colour and depth of every pixel."""

    def __init__(self, width: int, height: int, background: tuple[float, float, float]) -> None:
        self.width, self.height = width, height
        self.colour = np.tile(np.array(background, float), (height * width, 1))
        self.depth = np.full(height * width, -np.inf)

    def image(self) -> Array:
        """Return the colours, shape (height, width, 3)."""
        return np.asarray(np.clip(self.colour, 0, 1).reshape(self.height, self.width, 3))

    def spheres(self, seen: Array, radii: Array, colours: Array) -> None:
        """Draw shaded spheres.

        Parameters
        ----------
        seen
            Column, row and depth of the centres, in pixels.
        radii
            In pixels.
        colours
            One per sphere.
        """
        radii = np.maximum(radii, 0.7)
        large = radii > PATCH
        for k in np.flatnonzero(large):
            self._large_sphere(seen[k], float(radii[k]), colours[k])
        if (~large).any():
            self._small_spheres(seen[~large], radii[~large], colours[~large])

    def _large_sphere(self, centre: Array, radius: float, colour: Array) -> None:
        x = np.arange(max(0, int(centre[0] - radius)), min(self.width, int(centre[0] + radius) + 2))
        y = np.arange(max(0, int(centre[1] - radius)), min(self.height, int(centre[1] + radius) + 2))
        column, row = (part.ravel() for part in np.meshgrid(x, y))
        right, up = (column + 0.5 - centre[0]) / radius, (centre[1] - row - 0.5) / radius
        front = 1 - right * right - up * up
        good = front > 0
        front = np.sqrt(front[good])
        pixel = (row * self.width + column)[good]
        depth = centre[2] + radius * front
        near = depth > self.depth[pixel]
        normal = np.stack([right[good], up[good], front], axis=1)[near]
        self.depth[pixel[near]] = depth[near]
        self.colour[pixel[near]] = shade(colour, normal)

    def _small_spheres(self, seen: Array, radii: Array, colours: Array) -> None:
        """Draw the same pixel of all spheres at once: first find the nearest depth, then the sphere that has it."""
        owner = np.full(len(self.depth), -1)
        for which, pixel, depth in self._fragments(seen, radii):
            del which
            np.maximum.at(self.depth, pixel, depth)
        for which, pixel, depth in self._fragments(seen, radii):
            mine = depth == self.depth[pixel]
            owner[pixel[mine]] = which[mine]
        pixel = np.flatnonzero(owner >= 0)
        k = owner[pixel]
        row, column = np.divmod(pixel, self.width)
        right, up = (column + 0.5 - seen[k, 0]) / radii[k], (seen[k, 1] - row - 0.5) / radii[k]
        front = np.sqrt(np.maximum(0, 1 - right * right - up * up))
        self.colour[pixel] = shade(colours[k], np.stack([right, up, front], axis=1))

    def surface(self, seen: Array, radii: Array, colours: Array, opacity: float = 1.0) -> None:
        """Draw spheres as one smooth body: depths and colours of their pixels are blurred before they are shaded.

        Parameters
        ----------
        seen, radii, colours
            As for `spheres`; radii should be so large that neighbours overlap.
        opacity
            Below 1, what is behind shows.
        """
        radii = np.maximum(radii, 0.7)
        depth, owner = np.full(len(self.depth), -np.inf), np.full(len(self.depth), -1)
        for _, pixel, height in self._fragments(seen, radii):
            np.maximum.at(depth, pixel, height)
        for which, pixel, height in self._fragments(seen, radii):
            mine = height == depth[pixel]
            owner[pixel[mine]] = which[mine]
        inside = (owner >= 0).reshape(self.height, self.width)
        if not inside.any():
            return
        rows, columns = (np.flatnonzero(inside.any(axis=axis)) for axis in (1, 0))
        part = slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
        inside = inside[part]
        height = np.where(inside, depth.reshape(self.height, self.width)[part], 0.0)
        reach, size = float(np.median(radii)), max(1, round(0.7 * float(np.median(radii))))
        # A surface passes close to its particles; edges in front of others stay sharp.
        smooth = np.clip(_blurred(height, inside, size), height - 2 * reach, height + 2 * reach)
        up, right = np.gradient(np.where(inside, smooth, np.nan))
        slope = np.nan_to_num(np.stack([-right, up], axis=-1)).clip(-2, 2)
        normal = np.concatenate([slope, np.ones((*inside.shape, 1))], axis=-1)
        normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
        paint = colours[np.maximum(owner.reshape(self.height, self.width)[part], 0)]
        paint = np.stack([_blurred(paint[..., k], inside, size) for k in range(3)], axis=-1)
        number = np.arange(self.height * self.width).reshape(self.height, self.width)[part][inside]
        near = smooth[inside] > self.depth[number]
        shaded = shade(paint[inside][near], normal[inside][near])
        self.colour[number[near]] += opacity * (shaded - self.colour[number[near]])
        self.depth[number[near]] = smooth[inside][near]

    def _fragments(
        self, seen: Array, radii: Array
    ) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], Array]]:
        base = np.floor(seen[:, :2]).astype(np.intp)
        reach = int(np.ceil(radii.max()))
        for dy in range(-reach, reach + 1):
            for dx in range(-reach, reach + 1):
                if dx * dx + dy * dy > (radii.max() + 1.5) ** 2:
                    continue
                column, row = base[:, 0] + dx, base[:, 1] + dy
                right, up = column + 0.5 - seen[:, 0], row + 0.5 - seen[:, 1]
                front = radii * radii - right * right - up * up
                good = (front > 0) & (column >= 0) & (column < self.width) & (row >= 0) & (row < self.height)
                which = np.flatnonzero(good)
                if len(which):
                    pixel = row[which] * self.width + column[which]
                    yield which, pixel, seen[which, 2] + np.sqrt(front[which])

    def triangles(self, seen: Array, colours: Array, opacity: float = 1.0) -> None:
        """Draw triangles of one colour each, shape (m, 3, 3); transparent ones do not change the depths."""
        for corners, colour in zip(seen, colours, strict=True):
            low = np.maximum(np.floor(corners[:, :2].min(axis=0)).astype(int), 0)
            high = np.minimum(np.ceil(corners[:, :2].max(axis=0)).astype(int), [self.width, self.height])
            if (high <= low).any():
                continue
            (ax, ay, az), (bx, by, bz), (cx, cy, cz) = corners
            area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
            if area == 0:
                continue
            x, y = np.meshgrid(np.arange(low[0], high[0]) + 0.5, np.arange(low[1], high[1]) + 0.5)
            u = ((x - ax) * (cy - ay) - (y - ay) * (cx - ax)) / area
            v = ((bx - ax) * (y - ay) - (by - ay) * (x - ax)) / area
            inside = (u >= 0) & (v >= 0) & (u + v < 1)
            pixel = ((y - 0.5) * self.width + x - 0.5)[inside].astype(np.intp)
            depth = (az + u * (bz - az) + v * (cz - az))[inside]
            near = depth > self.depth[pixel]
            pixel = pixel[near]
            self.colour[pixel] += opacity * (colour - self.colour[pixel])
            if opacity == 1.0:
                self.depth[pixel] = depth[near]

    def lines(self, seen: Array, colour: Array, opacity: float = 1.0) -> None:
        """Draw the visible parts of lines, shape (m, 2, 3)."""
        marked = np.zeros(len(self.depth), bool)
        for begin, end in seen:
            count = int(np.abs(end - begin)[:2].max()) + 2
            spots = begin + np.linspace(0, 1, min(count, 20_000))[:, None] * (end - begin)
            column, row = np.floor(spots[:, 0]).astype(int), np.floor(spots[:, 1]).astype(int)
            good = (column >= 0) & (column < self.width) & (row >= 0) & (row < self.height)
            pixel = row[good] * self.width + column[good]
            # A line that lies on a surface is drawn in front of it.
            marked[pixel[spots[good, 2] + 1.0 >= self.depth[pixel]]] = True
        self.colour[marked] += opacity * (colour - self.colour[marked])


def _blurred(values: Array, inside: npt.NDArray[np.bool_], size: int) -> Array:
    """Return means over squares of pixels, three times in a row, of the pixels inside only."""
    weight = inside.astype(float)
    for _ in range(3):
        values = np.divide(_boxed(values * weight, size), np.maximum(_boxed(weight, size), 1e-300))
    return np.asarray(np.where(inside, values, 0.0))


def _boxed(values: Array, size: int) -> Array:
    """Return sums over squares from `size` pixels before to `size` pixels after each pixel."""
    for axis in (0, 1):
        sums = np.cumsum(np.insert(values, 0, 0.0, axis=axis), axis=axis)
        count = values.shape[axis]
        at = np.arange(count)
        values = sums.take(np.minimum(at + size + 1, count), axis=axis) - sums.take(np.maximum(at - size, 0), axis=axis)
    return values


def shade(colour: Array, normal: Array) -> Array:
    """Return the shaded colours, with a small highlight."""
    light = LIGHT / np.linalg.norm(LIGHT)
    facing = np.clip(normal @ light, 0, 1)[..., None]
    # The highlight is at normals halfway between the directions to lamp and eye.
    half = light + np.array([0.0, 0.0, 1.0])
    half /= np.linalg.norm(half)
    spot = np.clip(normal @ half, 0, 1)[..., None] ** 40
    rim = 0.5 + 0.5 * np.clip(normal[..., 2:], 0, 1)
    return np.asarray(colour * (0.55 + 0.6 * facing) * rim + 0.22 * spot)
