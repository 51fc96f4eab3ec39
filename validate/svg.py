# SPDX-License-Identifier: MIT
"""Curves as SVG: axes with units, linear or logarithmic, lines and points, a legend above.

A picture stands in a page or alone, needs no script and no style sheet, and takes the colour of its text and axes from
around it, so that it can be read on a light and on a dark ground.
"""
import copy
import html
import math

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, BOTTOM = 64, 20, 52
COLOURS = "#2f7ed8", "#e0662b", "#3a9d5d", "#a35bbf"
DASHES = "none", "7 5", "2 4", "12 4"  # so that lines which coincide are all seen
LETTER = 6.4  # the width of one in the legend, about
MARKS = {  # by which a series shows its points
    "dot": '<circle cx="{x}" cy="{y}" r="2.5" fill="{colour}">{title}</circle>',
    "ring": '<circle cx="{x}" cy="{y}" r="4.5" fill="none" stroke="{colour}" stroke-width="1.5">{title}</circle>',
    "cross": '<path d="M{x} {y}m-4 -4l8 8m0 -8l-8 8" fill="none" stroke="{colour}" stroke-width="1.5">{title}</path>',
}


class Series:
    """Points (x, y), joined or not.  What is no number is left out, and interrupts the line."""

    def __init__(self, name, points, colour=0, mark="dot", joined=True):
        self.name, self.points, self.colour = name, list(points), COLOURS[colour % len(COLOURS)]
        self.dash = DASHES[colour % len(DASHES)]
        self.mark, self.joined = mark, joined


class Axis:
    """What is along it, with its unit; `log`: 2 or 10; `binary`: of KiB, which are told as KiB, MiB and GiB."""

    def __init__(self, label, log=None, binary=False):
        self.label, self.log, self.binary = label, log, binary

    def can_show(self, value):
        return math.isfinite(value) and (not self.log or value > 0)

    def fit(self, values):
        """Chooses the ends so that all values are between them."""
        low, high = (min(values), max(values)) if values else (1, 1)
        if self.log:
            pad = (high / low) ** 0.04 if low < high else self.log
            self.low, self.high = low / pad, high * pad
        elif low == high:
            pad = abs(low) / 2 or 1
            self.low, self.high = low - pad, high + pad
        else:
            if 0 <= low < 0.7 * high:
                low = 0  # rather than a line that seems to begin there
            step = nice_step(high - low)
            self.low, self.high = math.floor(low / step) * step, math.ceil(high / step) * step

    def place(self, value):
        """From 0 to 1."""
        low, high = self.low, self.high
        if self.log:
            low, high, value = math.log(low), math.log(high), math.log(value)
        return (value - low) / (high - low)

    def ticks(self):
        """Some nine values at most: powers where there are enough, else round numbers."""
        if self.log:
            first, last = (math.log(end, self.log) for end in (self.low, self.high))
            first, last = math.ceil(first - 1e-9), math.floor(last + 1e-9)
            every = max(1, -(-(last - first) // 8))
            found = [float(self.log) ** i for i in range(first, last + 1) if i % every == 0]
            if len(found) < 3 and self.log == 10:
                found = [m * 10.0**i for i in range(first - 1, last + 1) for m in (1, 2, 5)]
                found = [t for t in found if self.low <= t <= self.high]
            if len(found) > 1:
                return found
        step = nice_step(self.high - self.low)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [i * step for i in range(first, last + 1)]

    def text(self, value):
        if self.binary and value >= 1024:
            unit = "MiB" if value < 1 << 20 else "GiB"
            return f"{value / (1 << (10 if value < 1 << 20 else 20)):.4g} {unit}"
        return f"{value:.4g} KiB" if self.binary else f"{value:.6g}"


def nice_step(span):
    """1, 2 or 5 times a power of ten, so that there are four to ten of it."""
    power = 10 ** math.floor(math.log10(span / 4))
    return next(m * power for m in (5, 2, 1) if m * power <= span / 4 * 1.000001)


def legend(series):
    """Its lines and how high it is."""
    parts, x, y = [], LEFT, 42
    for s in series:
        width = 34 + LETTER * len(s.name)
        if x > LEFT and x + width > WIDTH - RIGHT:
            x, y = LEFT, y + 18
        if s.joined:
            parts.append(f'<path d="M{x} {y - 4}h22" stroke="{s.colour}" stroke-width="2" stroke-dasharray="{s.dash}"/>')
        parts.append(MARKS[s.mark].format(x=x + 11, y=y - 4, colour=s.colour, title=""))
        parts.append(f'<text x="{x + 28}" y="{y}">{html.escape(s.name)}</text>')
        x += round(width + 14)
    return parts, y + 14


def runs(points, can_show):
    """The pieces of a line that lie between what cannot be shown."""
    pieces = [[]]
    for point in points:
        if can_show(point):
            pieces[-1].append(point)
        elif pieces[-1]:
            pieces.append([])
    return [piece for piece in pieces if piece]


def chart(title, x_axis, y_axis, series):
    """The SVG of them all."""
    x_axis, y_axis = copy.copy(x_axis), copy.copy(y_axis)

    def can_show(point):
        return x_axis.can_show(point[0]) and y_axis.can_show(point[1])

    pieces = [runs(s.points, can_show) for s in series]
    shown = [point for s in pieces for piece in s for point in piece]
    x_axis.fit([x for x, _ in shown])
    y_axis.fit([y for _, y in shown])
    parts, top = legend(series)
    bottom = HEIGHT - BOTTOM

    def at(point):
        return (round(LEFT + x_axis.place(point[0]) * (WIDTH - LEFT - RIGHT), 1),
                round(bottom - y_axis.place(point[1]) * (bottom - top), 1))

    parts.append(f'<text x="{LEFT}" y="20" font-size="15" font-weight="600">{html.escape(title)}</text>')
    if not shown:
        parts.append(f'<text x="{WIDTH / 2}" y="{(top + bottom) / 2}" text-anchor="middle">no data</text>')
    else:
        for tick in x_axis.ticks():
            x = at((tick, y_axis.low))[0]
            parts.append(f'<path d="M{x} {top}V{bottom}" stroke="currentColor" stroke-opacity="0.15"/>')
            parts.append(f'<text x="{x}" y="{bottom + 18}" text-anchor="middle">{html.escape(x_axis.text(tick))}</text>')
        for tick in y_axis.ticks():
            y = at((x_axis.low, tick))[1]
            parts.append(f'<path d="M{LEFT} {y}H{WIDTH - RIGHT}" stroke="currentColor" stroke-opacity="0.15"/>')
            parts.append(f'<text x="{LEFT - 8}" y="{round(y + 4, 1)}" text-anchor="end">{html.escape(y_axis.text(tick))}</text>')
    parts.append(f'<path d="M{LEFT} {top}V{bottom}H{WIDTH - RIGHT}" fill="none" stroke="currentColor"/>')
    middle = (LEFT + WIDTH - RIGHT) / 2, (top + bottom) / 2
    parts.append(f'<text x="{middle[0]}" y="{HEIGHT - 12}" text-anchor="middle">{html.escape(x_axis.label)}</text>')
    parts.append(f'<text transform="translate(16 {middle[1]}) rotate(-90)" text-anchor="middle">{html.escape(y_axis.label)}</text>')
    for s, own in zip(series, pieces):
        for piece in own:
            if s.joined and len(piece) > 1:
                line = " ".join("{},{}".format(*at(point)) for point in piece)
                parts.append(f'<polyline points="{line}" fill="none" stroke="{s.colour}" stroke-width="2" '
                             f'stroke-dasharray="{s.dash}" stroke-linejoin="round"/>')
            for point in piece:
                x, y = at(point)
                told = f"{s.name}: {y_axis.text(float(f'{point[1]:.4g}'))} at {x_axis.text(point[0])}"
                parts.append(MARKS[s.mark].format(x=x, y=y, colour=s.colour, title=f"<title>{html.escape(told)}</title>"))
    lines = "\n".join(parts)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
            f'role="img" aria-label="{html.escape(title)}" font-family="sans-serif" font-size="12" fill="currentColor">\n'
            f"{lines}\n</svg>")
