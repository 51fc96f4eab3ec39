# SPDX-License-Identifier: MIT
"""What `ehp chips` says of a chip file: the keys that there are, its numbers, and what products of them come to."""
import re
import subprocess

UNITS = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


def read_keys(ehp):
    """The keys of a chip file: the dials that there are."""
    text = subprocess.run([ehp, "chips", "keys"], capture_output=True, text=True).stdout
    return set(re.findall(r"^ *(\w+\.\w+) ", text, re.M))


def read_numbers(ehp, chip):
    """{key: number} of a chip, sizes in bytes."""
    text = subprocess.run([ehp, "chips", "show", chip], capture_output=True, text=True).stdout
    found = re.finditer(r"^ *(\w+\.\w+) +([\d.]+(?:e[+-]?\d+)?)(?: ([KMG]iB)\b| |$)", text, re.M)
    return {m[1]: float(m[2]) * UNITS.get(m[3], 1) for m in found}


def evaluate(product, numbers):
    """What a product of keys and numbers comes to: `xcd.count*xcd.cus`, `vl1.size/1024`."""
    value = 1.0
    for sign, factor in re.findall(r"([*/]?)([\w.]+)", product):
        try:
            number = numbers[factor] if factor in numbers else float(factor)
        except ValueError:
            raise RuntimeError(f"the chip has no number {factor}") from None
        value = value / number if sign == "/" else value * number
    return value
