#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""curves.py DIRECTORY: the pictures of validate/svg.py are XML, show what there is, and stay within their frame."""
import math
import sys
import xml.etree.ElementTree as xml

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import svg  # noqa: E402


class Picture:
    def __init__(self, series, x=None, y=None, title="a title"):
        self.root = xml.fromstring(svg.chart(title, x or svg.Axis("x"), y or svg.Axis("y"), series))
        self.lines = [[tuple(map(float, point.split(","))) for point in line.get("points").split()]
                      for line in self.root.findall("{*}polyline")]
        # The legend's marks have no title.
        self.dots = [(float(c.get("cx")), float(c.get("cy"))) for c in self.root.findall("{*}circle")
                     if c.find("{*}title") is not None]
        self.texts = ["".join(text.itertext()) for text in self.root.findall("{*}text")]
        self.titles = ["".join(t.itertext()) for t in self.root.iter("{http://www.w3.org/2000/svg}title")]
        for px, py in self.dots + [point for line in self.lines for point in line]:
            assert svg.LEFT <= px <= svg.WIDTH - svg.RIGHT and 0 <= py <= svg.HEIGHT - svg.BOTTOM, (px, py)


def near(a, b):
    return abs(a - b) < 0.11


# Two joined series and one of points.
p = Picture([svg.Series("a", [(1, 2), (2, 4), (3, 3)]), svg.Series("b", [(1, 1), (3, 9)], 1),
             svg.Series("c <&>", [(2, 2)], 2, "ring", joined=False)])
assert [len(line) for line in p.lines] == [3, 2] and len(p.dots) == 6
assert "c <&>" in p.texts and "c <&>: 2 at 2" in p.titles and "a title" in p.texts
assert p.lines[0][0][0] < p.lines[0][1][0] < p.lines[0][2][0]
assert p.lines[0][1][1] < p.lines[0][2][1] < p.lines[0][0][1]  # up is less
for what in "stroke", "stroke-dasharray":
    assert len({line.get(what) for line in p.root.findall("{*}polyline")}) == 2
crosses = Picture([svg.Series("a", [(1, 2), (2, 4)], mark="cross", joined=False)])
assert not crosses.lines and len(crosses.titles) == 2

# Logarithmic axes: equal factors are equal distances; ticks are powers; what has no logarithm is left out.
p = Picture([svg.Series("a", [(0, 5), (1, 1), (32, 10), (1024, 100), (2048, -1)])],
            svg.Axis("footprint", log=2, binary=True), svg.Axis("rate", log=10))
(line,) = p.lines
assert len(line) == 3 and near(line[1][0] - line[0][0], line[2][0] - line[1][0])
assert near(line[0][1] - line[1][1], line[1][1] - line[2][1])
assert {"1 KiB", "64 KiB", "1 MiB", "1", "10", "100"} <= set(p.texts), p.texts
assert "a: 10 at 32 KiB" in p.titles
for low, high in (3, 3.4), (1, 1.001), (0.002, 0.03), (1, 1e9):
    for log in 2, 10:
        axis = svg.Axis("x", log=log)
        axis.fit([low, high])
        ticks = axis.ticks()
        assert 2 <= len(ticks) <= 11 and all(axis.low <= t <= axis.high for t in ticks), (log, low, high, ticks)

# Linear ends: from 0 where that is near, and else not; round numbers.
for values, low, high in ([3, 47], 0, 50), ([97, 99], 97, 99), ([-4, 13], -4, 14), ([0.01, 0.034], 0, 0.035):
    axis = svg.Axis("y")
    axis.fit(values)
    assert near(axis.low * 100, low * 100) and near(axis.high * 100, high * 100), (values, axis.low, axis.high)
    assert 4 <= len(axis.ticks()) <= 11, axis.ticks()

# No point, one, and nothing but what is no number.
for series in [], [svg.Series("none", [])], [svg.Series("nan", [(1, math.nan), (math.inf, 1)])]:
    for axis in svg.Axis("x"), svg.Axis("x", log=2):
        p = Picture(series, axis)
        assert not p.lines and not p.dots and "no data" in p.texts
for value in 5, 0, -3:
    p = Picture([svg.Series("one", [(7, value)])])
    assert not p.lines and len(p.dots) == 1
p = Picture([svg.Series("one", [(7, 5)])], svg.Axis("x", log=2), svg.Axis("y", log=10))
assert not p.lines and len(p.dots) == 1

# All the same value lies in the middle.
p = Picture([svg.Series("flat", [(1, 4), (2, 4), (3, 4)])])
assert len(p.lines) == 1 and len({y for _, y in p.lines[0]}) == 1
assert p.lines[0][0][1] < svg.HEIGHT - svg.BOTTOM - 20

# What is no number interrupts a line.
p = Picture([svg.Series("gap", [(1, 1), (2, 2), (3, math.nan), (4, 4), (5, 5), (6, math.inf), (7, 7)])])
assert [len(line) for line in p.lines] == [2, 2] and len(p.dots) == 5

# Names that fill more than a line of the legend, and more series than colours.
p = Picture([svg.Series(f"a series with a long name, number {i}", [(i, i)], i) for i in range(9)], title='"<&>"')
assert len(p.dots) == 9 and p.root.get("aria-label") == '"<&>"'
assert "script" not in xml.tostring(p.root, encoding="unicode") and p.root.get("fill") == "currentColor"
print("curves: passed")
