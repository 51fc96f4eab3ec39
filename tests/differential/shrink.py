# SPDX-License-Identifier: MIT
"""Cuts a program down while a test of it still says yes: drops statements, opens blocks, simplifies expressions."""
import copy
import time

from generate import FLOATS, Node, element


def blocks_of(program):
    """Every list of statements."""
    stack = [program.body] + [h.body for h in program.helpers]
    while stack:
        block = stack.pop()
        yield block
        for s in block:
            stack.extend(s.blocks)


def slots_of(program):
    """Every place of an expression, as (list, index)."""
    def below(kids):
        for i, node in enumerate(kids):
            yield kids, i
            yield from below(node.kids)
    for block in blocks_of(program):
        for s in block:
            yield from below(s.exprs)
    for h in program.helpers:
        holder = [h.result]
        yield from below(h.result.kids)
        del holder


def simple(type_):
    if type_ == "bool":
        return [Node("bool", "1"), Node("bool", "0")]
    if element(type_) in FLOATS:
        return [Node(type_, f"(({type_})1.0)")]
    return [Node(type_, f"(({type_})1)"), Node(type_, f"(({type_})0)")]


class OutOfTime(Exception):
    pass


def shrink(program, fails, seconds):
    """The smallest program found within so many seconds for which fails(program) is true."""
    best = [program]
    end = time.monotonic() + seconds

    def check(trial):
        if time.monotonic() > end:
            raise OutOfTime
        if not fails(trial):
            return False
        best[0] = trial
        return True

    try:
        cut_down(program, check)
    except OutOfTime:
        pass
    return best[0]


def cut_down(best, fails):
    progress = True
    while progress:
        progress = False
        # Statements, longest runs first.
        block_index = 0
        while block_index < len(list(blocks_of(best))):
            run = len(list(blocks_of(best))[block_index])
            while run:
                at = 0
                while at + run <= len(list(blocks_of(best))[block_index]):
                    trial = copy.deepcopy(best)
                    del list(blocks_of(trial))[block_index][at:at + run]
                    if fails(trial):
                        best, progress = trial, True
                    else:
                        at += run
                run //= 2
            block_index += 1
        # Blocks replace what they belong to; a loop's are full of its counter.
        block_index = 0
        while block_index < len(list(blocks_of(best))):
            at = 0
            while at < len(list(blocks_of(best))[block_index]):
                for inner in range(len(list(blocks_of(best))[block_index][at].blocks)):
                    trial = copy.deepcopy(best)
                    block = list(blocks_of(trial))[block_index]
                    block[at:at + 1] = block[at].blocks[inner]
                    if fails(trial):
                        best, progress = trial, True
                        break
                else:
                    at += 1
            block_index += 1
        # Expressions: a constant, or a part of the same type.
        index = 0
        while index < len(list(slots_of(best))):
            kids, i = list(slots_of(best))[index]
            node = kids[i]
            choices = simple(node.type) if node.kids else []
            choices += [k for k in node.walk() if k is not node and k.type == node.type]
            for choice in choices:
                trial = copy.deepcopy(best)
                kids, i = list(slots_of(trial))[index]
                kids[i] = copy.deepcopy(choice)
                if fails(trial):
                    best, progress = trial, True
                    break
            else:
                index += 1
        for what in ("variables", "arrays", "tables", "helpers"):
            for i in reversed(range(len(getattr(best, what)))):
                trial = copy.deepcopy(best)
                del getattr(trial, what)[i]
                if fails(trial):
                    best, progress = trial, True
