#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random C functions with one answer for every input, as trees that can be printed and cut down.

An expression is a Node of some type; every way to build one is defined whatever its operands are, so that a Node
may be replaced by any other of its type.  Statements may be dropped, and blocks replaced by what is in them.
"""
import random

INTS = ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"]
WIDE = ["i128", "u128"]
FLOATS = ["f16", "f32", "f64"]
SCALARS = INTS + WIDE + FLOATS
LANES = {"x2": 2, "x4": 4}
VECTORS = [e + n for e in INTS + FLOATS for n in LANES]
BITS = {t: int(t[1:]) for t in SCALARS}
# How often a variable has a type.
PALETTE = (["i32", "u32", "f32"] * 6 + ["i64", "u64", "f64", "f16"] * 3 + ["i16", "u16", "i8", "u8"] * 2 + WIDE +
           ["f32x2", "f32x4", "f16x2", "f16x2", "f16x4", "i32x4", "u32x2", "i16x2", "i16x2", "u16x4", "u8x4", "f64x2",
            "i64x2", "i8x4"])


def element(t):
    return t[:-2] if t[-2:] in LANES else t


class Node:
    """An expression: a format with a place for each kid."""
    def __init__(self, type_, text, *kids):
        self.type, self.text, self.kids = type_, text, list(kids)

    def __str__(self):
        return self.text.format(*self.kids) if self.kids else self.text

    def walk(self):
        yield self
        for k in self.kids:
            yield from k.walk()


class Stmt:
    """A statement: a format with {0}, {1}... for expressions and {b0}, {b1}... for blocks."""
    def __init__(self, text, exprs=(), blocks=()):
        self.text, self.exprs, self.blocks = text, list(exprs), [list(b) for b in blocks]

    def print(self, depth):
        pad = "    " * depth
        inner = {f"b{i}": "".join(s.print(depth + 1) for s in b) for i, b in enumerate(self.blocks)}
        lines = self.text.format(*self.exprs, **inner, pad=pad)
        return f"{pad}{lines}\n"


class Function:
    """A noinline helper: static T name(params) { variables; body; return result; }"""
    def __init__(self, name, type_, params, variables, body, result):
        self.name, self.type, self.params = name, type_, params
        self.variables, self.body, self.result = variables, body, result

    def print(self):
        params = ", ".join(f"{t} {n}" for n, t in self.params)
        text = f"static __attribute__((noinline)) {self.type} {self.name}({params})\n{{\n"
        text += "    u32 zero = ZERO;\n"
        for n, t in self.variables:
            text += f"    {t} {n} = ({t})0;\n"
        return text + "".join(s.print(1) for s in self.body) + f"    return {self.result};\n}}\n"


class Program:
    """One function, what it calls, and the wrapper that both sides call."""
    def __init__(self, number, attributes, helpers, variables, arrays, tables, body):
        self.number, self.attributes, self.helpers = number, attributes, helpers
        self.variables, self.arrays, self.tables, self.body = variables, arrays, tables, body

    def print(self):
        n = self.number
        text = "".join(h.print() for h in self.helpers)
        for name, t, values in self.tables:
            text += f"static const {t} {name}[{len(values)}] = {{{', '.join(values)}}};\n"
        text += (f"static void fn{n}(const u32 *in, u64 *out, u32 *mem, u64 *shared, LDS u32 *lds, u64 n0, u64 n1, "
                 f"u64 n2, u64 n3)\n{{\n")
        text += "    u32 zero = ZERO;\n"
        for i in range(8):
            text += f"    lds[{i}] = in[{i + 5}];\n"
        for i, (name, t) in enumerate(self.variables):
            text += f"    {t} {name} = {initial(t, i * 2)};\n"
        for i, (name, t, count) in enumerate(self.arrays):
            text += f"    {t} {name}[{count}];\n    for (u32 i = 0; i < {count}; i++)\n"
            text += f"        {name}[i] = {initial_item(t, i)};\n"
        text += "    struct { u32 a : 5; i32 b : 11; u32 c : 16; i64 d : 37; u64 e : 27; } bf = {0};\n"
        text += "".join(s.print(1) for s in self.body)
        text += "out:\n    ;\n"
        slot = 0
        for name, t in self.variables:
            for piece in pieces(name, t):
                text += f"    OUT({slot}, {piece});\n"
                slot += 1
        for name, t, count in self.arrays:
            text += f"    for (u32 i = 0; i < {count}; i++)\n        OUT({slot} + i, {pieces(f'{name}[i]', t)[0]});\n"
            slot += count
        for i, field in enumerate("abcde"):
            text += f"    OUT({slot + i}, bf.{field});\n"
        slot += 5
        text += f"    for (u32 i = 0; i < 8; i++)\n        OUT({slot} + i, lds[i]);\n}}\n"
        return text + f"PROGRAM({n}, {self.attributes})\n"


def initial(t, at):
    def scalar(s, i):
        a, b, c, d = (f"in[{(i + k) % 16}]" for k in range(4))
        if s in FLOATS:
            return f"from_{s}({a} | (u64){b} << 32)"
        if s in WIDE:
            return f"({s})({a} | (u64){b} << 32) << 64 | ({c} | (u64){d} << 32)"
        return f"({s})({a} | (u64){b} << 32)"
    if t == element(t):
        return scalar(t, at)
    return f"({t}){{" + ", ".join(scalar(element(t), at + k) for k in range(LANES[t[-2:]])) + "}"


def initial_item(t, k):
    bits = f"in[(i + {k * 3}) % 16] | (u64)in[(i * 5 + {k}) % 16] << 32"
    return f"from_{t}({bits})" if t in FLOATS else f"({t})({bits})"


def pieces(name, t):
    """The bits of a value as 64-bit slots."""
    e = element(t)
    each = [name] if e == t else [f"{name}[{i}]" for i in range(LANES[t[-2:]])]
    if e in FLOATS:
        return [f"bits_{e}({x})" for x in each]
    if e in WIDE:
        return [name, f"{name} >> 64"]
    return each


class Generator:
    def __init__(self, seed, number):
        self.r = random.Random(seed * 1000003 + number)
        self.number = number
        self.helpers, self.variables, self.arrays, self.tables = [], [], [], []
        self.names = 0
        self.budget = 0
        self.scalars_only = False
        self.loops = 0     # how many loops are around
        self.vary = False  # in a loop that lanes leave one by one

    def name(self, prefix):
        self.names += 1
        return f"{prefix}{self.names}"

    # ---- expressions ----

    def constant(self, t):
        r = self.r
        if t != element(t):
            return Node(t, f"(({t})({self.constant(element(t))}))")
        if t in FLOATS:
            value = r.choice(["0.0", "-0.0", "1.0", "-1.0", "0.5", "2.0", "4.0", "-4.0", "0.15915494", "3.25", "65504.0",
                              "1e-7", "6e-5", "1.5", "0.3333333333", "1024.0", f"{r.uniform(-100, 100):.6f}"])
            if t == "f16" and value == "-0.0":  # LLVM 22 takes it for +0 where it makes a vector
                value = "2.5"
            return Node(t, f"({t}){value}")
        bits = min(BITS[t], 64)
        k = r.randrange(bits)
        value = r.choice([0, 1, 2, 3, r.randrange(65), (1 << k), (1 << k) - 1, -(1 << k), r.getrandbits(bits),
                          r.randrange(-20, 300), 0xff << (k & ~7)]) & ((1 << bits) - 1)
        if t[0] == "i" and value >> (bits - 1):
            value -= 1 << bits
        if value == -(1 << 63):
            return Node(t, f"({t})(-0x7fffffffffffffffL - 1)")
        return Node(t, f"({t}){value}{'UL' if value >> 63 > 0 else 'L'}")

    def leaf(self, t):
        r = self.r
        same = [n for n, v in self.variables if v == t]
        if same and r.random() < 0.75:
            return Node(t, r.choice(same))
        if not self.scalars_only:
            if t in INTS and r.random() < 0.35:  # the same in every lane
                return Node(t, f"({t})n{r.randrange(4)}")
            if t in FLOATS and r.random() < 0.2:
                return Node(t, f"from_{t}(n{r.randrange(4)})")
        others = [(n, v) for n, v in self.variables if v in INTS]
        if others and t in INTS and r.random() < 0.7:
            return Node(t, f"({t}){r.choice(others)[0]}")
        return self.constant(t)

    def expr(self, t, depth):
        self.budget -= 1
        if depth <= 0 or self.budget <= 0:
            return self.leaf(t)
        if t != element(t):
            return self.vector(t, depth)
        if t in FLOATS:
            return self.floating(t, depth)
        return self.integer(t, depth)

    def any_int(self, depth):
        return self.expr(self.r.choice(INTS), depth)

    def index(self, depth):
        return Node("u32", "(u32){0}", self.expr("u32", min(depth, 1)))

    def condition(self, depth):
        r = self.r
        pick = r.randrange(8)
        if pick < 4:
            t = r.choice(INTS)
            op = r.choice(["<", ">", "<=", ">=", "==", "!="])
            return Node("bool", f"({{0}} {op} {{1}})", self.expr(t, depth - 1), self.expr(t, depth - 1))
        if pick < 6:
            t = r.choice(FLOATS)
            op = r.choice(["<", ">", "<=", ">=", "==", "!="])
            if r.random() < 0.25:
                mask = r.choice([0x003 & 2, 0x004, 0x008, 0x010, 0x0f0, 0x100, 0x200, 0x204, 0x264, 0x090, 0x1f8])
                return Node("bool", f"__builtin_isfpclass({{0}}, {mask})", self.expr(t, depth - 1))
            return Node("bool", f"({{0}} {op} {{1}})", self.expr(t, depth - 1), self.expr(t, depth - 1))
        if pick == 6:
            op = r.choice(["&&", "||", "^"])
            return Node("bool", f"({{0}} {op} {{1}})", self.condition(depth - 1) if depth > 0 else self.any_bool(),
                        self.condition(depth - 1) if depth > 0 else self.any_bool())
        return self.any_bool()

    def any_bool(self):
        return Node("bool", f"({{0}} & {1 << self.r.randrange(6)})", self.leaf("u32")) if self.r.random() < 0.5 else \
            Node("bool", "!{0}", self.leaf("i32"))

    def access(self, t, depth):
        """A value from an array, a table, memory, LDS or a function; None when there is none of this type."""
        r = self.r
        ways = []
        for name, at, count in self.arrays:
            if at == t and not self.scalars_only:
                ways += [lambda n=name, c=count: Node(t, f"{n}[{{0}} & {c - 1}]", self.index(depth))] * 2
        for name, at, values in self.tables:
            if at == t:
                ways.append(lambda n=name, c=len(values): Node(t, f"{n}[{{0}} & {c - 1}]", self.index(depth)))
        if t in INTS and not self.scalars_only:
            ways.append(lambda: Node(t, f"load_{t}(mem, {{0}})", self.index(depth)))
            ways.append(lambda: Node(t, f"({t})lds[{{0}} & 7]", self.index(depth)))
            ways.append(lambda: Node(t, f"({t})bf.{r.choice('abcde')}"))
        for h in self.helpers:
            if h.type == t:
                places = ", ".join(f"{{{i}}}" for i in range(len(h.params)))
                ways.append(lambda h=h, p=places: Node(t, f"{h.name}({p})",
                                                       *[self.expr(pt, min(depth - 1, 1)) for _, pt in h.params]))
        return r.choice(ways)() if ways else None

    def integer(self, t, depth):
        r = self.r
        e = lambda s=t: self.expr(s, depth - 1)
        pick = r.randrange(100)
        if pick < 10:
            return self.leaf(t)
        if pick < 38:
            op = r.choice(["+", "-", "*", "&", "|", "^", "+", "-", "*"])
            return Node(t, f"({t})({{0}} {op} {{1}})", e(), e())
        if pick < 48:
            fn = r.choice(["shl", "shr", "shr", "shl", "rotl"])
            n = Node("u32", str(r.randrange(BITS[t]))) if r.random() < 0.5 else e("u32")
            return Node(t, f"{fn}_{t}({{0}}, {{1}})", e(), n)
        if pick < 52:
            if t in WIDE and r.random() < 0.8:
                return self.leaf(t)
            return Node(t, f"{r.choice(['div', 'rem'])}_{t}({{0}}, {{1}})", e(),
                        self.constant(t) if r.random() < 0.4 else e())
        if pick < 57:
            return Node(t, f"{r.choice(['min', 'max'])}_{t}({{0}}, {{1}})", e(), e())
        if pick < 60:
            return Node(t, r.choice([f"({t})-{{0}}", f"({t})~{{0}}", f"abs_{t}({{0}})"]), e())
        if pick < 62:
            return Node(t, f"sad_{t}({{0}}, {{1}}, {{2}})", e(), e(), e())
        if pick < 66:
            return Node(t, "({0} ? {1} : {2})", self.condition(depth - 1), e(), e())
        if pick < 68:
            return Node(t, f"({t}){{0}}", self.condition(depth - 1))
        if pick < 74:
            return Node(t, f"({t}){{0}}", self.expr(r.choice(INTS + WIDE), depth - 1))
        if t in WIDE:
            return Node(t, f"({t}){{0}}", e(r.choice(INTS)))
        if pick < 79:
            f = r.choice(FLOATS)
            return Node(t, f"{t}_of_{f}({{0}})", e(f))
        if pick < 81:
            f = r.choice(FLOATS)
            return Node(t, f"({t})bits_{f}({{0}})", e(f))
        if pick < 86:
            fn = r.choice(["clz", "ctz", "popcount", "bitreverse"])
            return Node(t, f"{fn}_{t}({{0}})", e())
        if pick < 90:
            fn = r.choice(["add_sat", "sub_sat", "add_overflow", "sub_overflow", "mul_overflow"])
            return Node(t, f"{fn}_{t}({{0}}, {{1}})", e(), e())
        if pick < 91:
            return Node(t, f"funnel_{t}({{0}}, {{1}}, {{2}})", e(), e(), e("u32"))
        if pick < 94 and t in ("i32", "u32", "i64", "u64"):
            fns = ["mulhi"] + (["mul24"] if BITS[t] == 32 else [])
            return Node(t, f"{r.choice(fns)}_{t}({{0}}, {{1}})", e(), e())
        if pick < 95 and t == "u32":
            return Node(t, "bytes_u32({0}, {1}, {2})", e(), e(), e())
        if pick < 95 and t == "u64":
            return Node(t, "bswap_u64({0})", e())
        if pick < 96:
            n = r.randrange(BITS[t])
            return Node(t, f"({t})({{0}} >> {n} & {(1 << r.randrange(1, 8)) - 1})", e())
        return self.access(t, depth) or Node(t, f"({t}){{0}}[{r.randrange(2)}]", e("u16x4"))

    def floating(self, t, depth):
        r = self.r
        e = lambda s=t: self.expr(s, depth - 1)
        pick = r.randrange(100)
        if pick < 10:
            return self.leaf(t)
        if pick < 44:
            return Node(t, f"({{0}} {r.choice(['+', '-', '*', '*', '+'])} {{1}})", e(), e())
        if pick < 48:
            return Node(t, "({0} / {1})", e(), e())
        if pick < 55 and t != "f16":
            return Node(t, "__builtin_elementwise_fma({0}, {1}, {2})", e(), e(), e())
        if pick < 58:
            return Node(t, "__builtin_elementwise_sqrt({0})", e())
        if pick < 63:
            fn = r.choice(["floor", "ceil", "trunc", "roundeven"])
            return Node(t, f"__builtin_elementwise_{fn}({{0}})", e())
        if pick < 67:
            return Node(t, r.choice(["(-{0})", "__builtin_elementwise_abs({0})"]), e())
        if pick < 72:
            return Node(t, f"{r.choice(['min', 'max'])}_{t}({{0}}, {{1}})", e(), e())
        if pick < 75:
            return Node(t, f"min_{t}(max_{t}({{0}}, ({t})0.0), ({t})1.0)", e())
        if pick < 77:
            return Node(t, f"({{0}} * ({t}){r.choice(['2.0', '4.0', '0.5'])})", e())
        if pick < 79:
            return Node(t, f"copysign_{t}({{0}}, {{1}})", e(), e())
        if pick < 83:
            return Node(t, "({0} ? {1} : {2})", self.condition(depth - 1), e(), e())
        if pick < 88:
            # LLVM 22 adds +0 to a product that becomes a half (v_fma_mixlo_f16), so -0 is not kept on a chip.
            plus = " + (f16)0" if t == "f16" else ""
            return Node(t, f"(({t}){{0}}{plus})", e(r.choice([f for f in FLOATS if f != t])))
        if pick < 94:
            return Node(t, f"({t}){{0}}", e(r.choice(INTS)))
        if pick < 96 and t != "f16":
            return Node(t, f"ldexp_{t}({{0}}, {{1}})", e(), e("i32"))
        if pick < 97:
            return Node(t, f"from_{t}({{0}})", e("u64"))
        return self.access(t, depth) or Node(t, f"({t}){{0}}[{r.randrange(2)}]", e("f16x2"))

    def vector(self, t, depth):
        r = self.r
        el, n = element(t), LANES[t[-2:]]
        e = lambda s=t: self.expr(s, depth - 1)
        pick = r.randrange(100)
        if pick < 12:
            return self.leaf(t)
        if pick < 50:
            ops = ["+", "-", "*", "/"] if el in FLOATS else ["+", "-", "*", "&", "|", "^"]
            return Node(t, f"({{0}} {r.choice(ops[:3] * 3 + ops)} {{1}})", e(), e())
        if pick < 60:
            order = ", ".join(str(r.randrange(2 * n)) for _ in range(n))
            return Node(t, f"__builtin_shufflevector({{0}}, {{1}}, {order})", e(), e())
        if pick < 66:
            return Node(t, f"(({t})({{0}}))", self.expr(el, depth - 1))
        if pick < 71:
            return Node(t, "({0} ? {1} : {2})", self.condition(depth - 1), e(), e())
        if pick < 76:
            same = [s for s in VECTORS if LANES[s[-2:]] == n and element(s) in INTS]
            return Node(t, f"__builtin_convertvector({{0}}, {t})", e(r.choice(same)))
        if pick < 80 and el in INTS:
            other = r.choice([f for f in FLOATS if BITS[f] == BITS[el]] or [None])
            if other:
                return Node(t, f"__builtin_convertvector(({{0}} < {{1}}), {t})", e(other + t[-2:]), e(other + t[-2:]))
        if pick < 90:
            if el in FLOATS:
                fn = r.choice(["floor", "abs", "trunc", "sqrt"])
                if fn == "sqrt" or el == "f16" or r.random() < 0.5:
                    return Node(t, f"__builtin_elementwise_{fn}({{0}})", e())
                return Node(t, "__builtin_elementwise_fma({0}, {1}, {2})", e(), e(), e())
            if r.random() < 0.5:
                op = r.choice(["<<", ">>"])
                return Node(t, f"({{0}} {op} ({{1}} & ({t}){BITS[el] - 1}))", e(), e())
            fn = r.choice(["min", "max", "add_sat", "sub_sat", "popcount"])
            if fn == "popcount":
                return Node(t, f"__builtin_elementwise_popcount({{0}})", e())
            return Node(t, f"__builtin_elementwise_{fn}({{0}}, {{1}})", e(), e())
        return Node(t, "(-{0})", e())

    # ---- statements ----

    def block(self, depth, count, in_loop):
        return [self.statement(depth, in_loop) for _ in range(self.r.randrange(1, count + 1))]

    def assignment(self):
        r = self.r
        name, t = r.choice([v for v in self.variables if not v[0].startswith("p")] or self.variables)
        if t != element(t) and r.random() < 0.3:
            i = self.index(1) if r.random() < 0.6 else Node("u32", str(r.randrange(LANES[t[-2:]])))
            return Stmt(f"{name}[HIDE({{0}} & {LANES[t[-2:]] - 1})] = {{1}}{self.varying(element(t))};", [i, self.expr(element(t), 3)])
        return Stmt(f"{name} = {{0}}{self.varying(t)};", [self.expr(t, r.randrange(2, 5))])

    def varying(self, t):
        """What keeps a value that outlives its loop from being the same in every lane; ZERO says why."""
        return (f" + ({t})({element(t)})zero" if t != element(t) else f" + ({t})zero") if self.vary else ""

    def store(self):
        r = self.r
        pick = r.randrange(7)
        if pick < 3 and self.arrays:
            name, t, count = r.choice(self.arrays)
            return Stmt(f"{name}[{{0}} & {count - 1}] = {{1}}{self.varying(t)};", [self.index(2), self.expr(t, 3)])
        if pick == 3:
            t = r.choice(INTS)
            return Stmt(f"store_{t}(mem, {{0}}, {{1}});", [self.index(2), self.expr(t, 3)])
        if pick == 4:
            field = r.choice("abcde")
            return Stmt(f"bf.{field} = {{0}}{self.varying('i32')};", [self.expr(r.choice(["i32", "i64", "u64"]), 3)])
        if pick == 5:
            return Stmt("lds[{0} & 7] = {1};", [self.index(2), self.expr("u32", 3)])
        return self.atomic()

    def atomic(self):
        r = self.r
        if r.random() < 0.4:  # by every lane on one place: the order must not matter
            t, fn = r.choice(["u32", "u64", "i32", "i64"]), r.choice(["add", "sub", "and", "or", "xor", "min", "max"])
            # A place has one operation, or the order would matter again.
            slot = ["add", "and", "or", "xor", "min", "max"].index("add" if fn == "sub" else fn)
            t = {0: "u64", 4: "i32", 5: "u64"}.get(slot, t)
            low = f"({t} *)" if t != "u64" else ""
            return Stmt(f"__scoped_atomic_fetch_{fn}({low}&shared[{slot}], {{0}}, __ATOMIC_RELAXED, "
                        f"__MEMORY_SCOPE_DEVICE);", [self.expr(t, 3)])
        place = r.choice(["&lds[{0} & 7]", "&mem[{0} & 31]"])
        scope = "__MEMORY_SCOPE_WRKGRP" if "lds" in place else "__MEMORY_SCOPE_DEVICE"
        space = "LDS " if "lds" in place else ""
        targets = [n for n, t in self.variables if t == "u32" and not n.startswith("p")]
        result = f"{r.choice(targets)} = " if targets and r.random() < 0.7 else ""
        fn = r.choice(["add", "sub", "and", "or", "xor", "min", "max", "exchange", "compare", "signed"])
        if fn == "compare":
            return Stmt("{{ u32 was = {1}; u32 ok = __scoped_atomic_compare_exchange_n(" + place +
                        ", &was, {2}, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED, " + scope + "); " +
                        (result or "(void)") + ("was + ok; }}" if result else "ok; }}"),
                        [self.index(2), self.expr("u32", 2), self.expr("u32", 2)])
        if fn == "exchange":
            return Stmt(result + "__scoped_atomic_exchange_n(" + place + ", {1}, __ATOMIC_RELAXED, " + scope + ");",
                        [self.index(2), self.expr("u32", 3)])
        if fn == "signed":
            return Stmt(result + f"(u32)__scoped_atomic_fetch_{r.choice(['min', 'max'])}(({space}i32 *)" + place +
                        ", {1}, __ATOMIC_RELAXED, " + scope + ");", [self.index(2), self.expr("i32", 3)])
        return Stmt(result + f"__scoped_atomic_fetch_{fn}(" + place + ", {1}, __ATOMIC_RELAXED, " + scope + ");",
                    [self.index(2), self.expr("u32", 3)])

    def statement(self, depth, in_loop):
        r = self.r
        pick = r.randrange(100)
        if depth <= 0 or self.budget <= 0 or pick < 48:
            return self.assignment()
        if pick < 66 and not self.scalars_only:
            return self.store()
        if pick < 78:
            if r.random() < 0.5:
                return Stmt("if ({0}) {{\n{b0}{pad}}}", [self.condition(3)], [self.block(depth - 1, 3, in_loop)])
            return Stmt("if ({0}) {{\n{b0}{pad}}} else {{\n{b1}{pad}}}", [self.condition(3)],
                        [self.block(depth - 1, 3, in_loop), self.block(depth - 1, 3, in_loop)])
        if pick < 88:
            i = self.name("loop")
            mask = r.choice([1, 3, 7])  # in the statement, which stays when expressions are cut down
            together = r.random() < 0.3
            count = Node("u32", str(r.randrange(1, mask + 1))) if together else self.expr("u32", 2)
            before, vary = len(self.variables), self.vary
            self.vary = vary or not together
            self.variables.append((f"p{i}", "u32"))
            self.loops += 1
            body = self.block(depth - 1, 3, not together)
            self.loops -= 1
            del self.variables[before:]
            varying, self.vary = self.varying("u32"), vary
            return Stmt(f"for (u32 {i} = 0, n{i} = {{0}} & {mask}; {i} < n{i}; {i}++) {{{{\n"
                        f"{{pad}}    u32 p{i} = {i}{varying};\n{{pad}}    (void)p{i};\n{{b0}}{{pad}}}}}}", [count], [body])
        if pick < 94:
            cases = r.randrange(2, 6)
            keys = r.sample(range(8), cases) if r.random() < 0.7 else sorted(
                {r.getrandbits(r.choice([4, 8, 31])) for _ in range(cases)})
            blocks = [self.block(depth - 1, 2, False) for _ in range(len(keys) + 1)]
            s, hide = self.name("s"), "HIDE"
            if not self.scalars_only and r.random() < 0.4:  # the same way for every lane
                value, hide = Node("u32", f"((u32)(n{r.randrange(4)} >> {r.randrange(64)}) & 7)"), "HIDE_UNIFORM"
            elif keys[-1] < 8:
                value = Node("u32", "({0} & 7)", self.expr("u32", 2))
            else:
                value = self.expr("u32", 2)
            text = f"{{{{ u32 {s} = {{0}};\n{{pad}}"
            for k, key in enumerate(keys):
                text += f"if ({hide}({s}) == {key}u) {{{{\n{{b{k}}}{{pad}}}}}} else "
            return Stmt(text + f"{{{{\n{{b{len(keys)}}}{{pad}}}}}} }}}}", [value], blocks)
        if in_loop:
            return Stmt("if (HIDE((u32){0}))\n{pad}    " + r.choice(["break;", "continue;"]), [self.condition(2)])
        if not self.scalars_only and not self.loops and r.random() < 0.3:
            return Stmt("if (HIDE((u32){0}))\n{pad}    goto out;", [self.condition(2)])
        return self.assignment()

    # ---- the whole ----

    def helper(self):
        r = self.r
        saved = self.variables, self.scalars_only, self.arrays
        self.scalars_only, self.arrays = True, []
        params = [(self.name("a"), r.choice(PALETTE)) for _ in range(r.randrange(1, 6))]
        local = [(self.name("w"), r.choice(PALETTE)) for _ in range(2)]
        self.variables = params + local
        self.budget = 60
        t = r.choice(["i32", "u32", "f32", "i64", "u64", "f64", "f16", "i16"])
        body = self.block(2, 4, False)
        result = self.expr(t, 3)
        self.variables, self.scalars_only, self.arrays = saved
        return Function(f"g{self.number}_{self.name('')}", t, params, local, body, result)

    def program(self):
        r = self.r
        for _ in range(r.choice([0, 0, 1, 2])):
            self.helpers.append(self.helper())
        self.variables = [(self.name("v"), r.choice(PALETTE)) for _ in range(r.randrange(4, 11))]
        self.arrays = [(self.name("r"), r.choice(INTS + FLOATS), r.choice([4, 8, 16])) for _ in range(r.randrange(3))]
        for _ in range(r.randrange(2)):
            t = r.choice(INTS + FLOATS)
            self.tables.append((f"t{self.number}_{self.name('')}", t, [str(self.constant(t)) for _ in range(16)]))
        self.budget = r.choice([60, 150, 300])
        body = []
        for _ in range(r.randrange(4, 14)):
            body.append(self.statement(3, False))
        attributes = r.choice([""] * 6 + ["__attribute__((amdgpu_num_vgpr(32)))", "__attribute__((amdgpu_num_sgpr(32)))"])
        if attributes:
            attributes = f"DEVICE_ONLY({attributes})"
        return Program(self.number, attributes, self.helpers, self.variables, self.arrays, self.tables, body)


def generate(seed, number):
    return Generator(seed, number).program()


HEADER = '#include "program.h"\n'


if __name__ == "__main__":
    import sys
    print(HEADER + generate(int(sys.argv[1]), int(sys.argv[2])).print())
