#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# Writes isa/gfx942.def (encodings) and isa/facts.def (what is known of each
# meaning) from isa/gfx942.llvm (what LLVM says; tools/isagen_facts.cc) and
# isa/fixes/gfx942.fixes, isa/fixes/facts.fixes (what it does not say, or says
# wrongly; each with its source).  A developer's tool; the results are checked in.
#
#   tools/isagen.py            write
#   tools/isagen.py --check    compare with what is checked in, and report doubts
import collections
import math
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# LLVM's operand type numbers (the order of AMDGPU::OperandType): how an inline constant expands.
CATEGORY = {13: 'int32', 28: 'int32', 41: 'int32', 14: 'int64', 29: 'int64', 15: 'int16', 27: 'int16',
            16: 'fp32', 32: 'fp32', 42: 'fp32', 17: 'fp64', 33: 'fp64', 43: 'fp64', 19: 'fp16', 31: 'fp16',
            21: 'v2fp16', 22: 'v2fp16', 23: 'v2int16', 25: 'v2int32', 26: 'v2fp32', 38: 'k32', 39: 'k16'}

TYPE_CATEGORY = {'B8': 'int32', 'I8': 'int32', 'U8': 'int32', 'B16': 'int16', 'I16': 'int16', 'U16': 'int16',
                 'F16': 'fp16', 'B32': 'int32', 'I32': 'int32', 'U32': 'int32', 'F32': 'fp32', 'B64': 'int64',
                 'I64': 'int64', 'U64': 'int64', 'F64': 'fp64', 'PK16': 'v2int16', 'PKF16': 'v2fp16',
                 'PKF32': 'v2fp32', 'PKB32': 'v2int32', 'MASK': 'int64'}
BITS = {'B8': 32, 'I8': 32, 'U8': 32, 'B16': 32, 'I16': 32, 'U16': 32, 'F16': 32, 'BF16': 32, 'B32': 32, 'I32': 32,
        'U32': 32, 'F32': 32, 'B64': 64, 'I64': 64, 'U64': 64, 'F64': 64, 'PK16': 32, 'PKF16': 32, 'PKBF16': 32,
        'PKF32': 64, 'PKB32': 64, 'B96': 96, 'B128': 128, 'B256': 256, 'B512': 512, 'B1024': 1024, 'MASK': 64}
BY_CATEGORY = {'int32': 'B32', 'int64': 'B64', 'int16': 'B16', 'fp32': 'F32', 'fp64': 'F64', 'fp16': 'F16',
               'v2fp16': 'PKF16', 'v2int16': 'PK16', 'v2int32': 'PKB32', 'v2fp32': 'PKF32', 'k32': 'F32', 'k16': 'F16'}
BY_BITS = {32: 'B32', 64: 'B64', 96: 'B96', 128: 'B128', 256: 'B256', 512: 'B512', 1024: 'B1024'}


class Form:
    """One line of the facts: one of LLVM's instructions."""

    def __init__(self, line):
        w = line.split()
        self.format, self.opcode, self.mnemonic = w[0], int(w[1]), w[2]
        self.implied = set() if w[3] == '-' else set(w[3].split(','))
        self.zeros, self.ones, self.live = (int(x, 16) for x in w[-3:])
        self.defs, self.uses = [], []
        for o in w[4:-3]:
            m = re.match(r'([du])(\d+):([^:]*)(?::t(\d+))?$', o)
            kind, number, cls, tied = m.group(1), int(m.group(2)), m.group(3), m.group(4)
            (self.defs if kind == 'd' else self.uses).append((number, cls, tied is not None))
        self.variant = 'base'
        m = re.search(r'_(e32|e64|sdwa|dpp)$', self.mnemonic)
        self.name = self.mnemonic
        if m:
            self.name = self.mnemonic[:m.start()]
            if m.group(1) in ('sdwa', 'dpp'):
                self.variant = m.group(1)
        elif self.name == 'v_nop' and self.format == 'VOP1' and len(self.uses) == 4:
            self.variant = 'dpp'


def bits_of(cls):
    if cls in ('M0_CLASS', 'VRegOrLds_32'):
        return 32
    return int(re.search(r'_(\d+)', cls).group(1))


def where_of(number, cls):
    """What a source may be: see render()."""
    if cls.startswith('VS_'):
        return 'a'
    if cls.startswith('VRegOrLds'):
        return 'l'
    if cls.startswith('AV_'):
        return 'x'
    if cls.startswith('V'):
        return 'v'
    if cls.startswith('A'):
        return 'g'
    return 'c' if number in CATEGORY else 's'


TOKEN = re.compile(r'(?<![a-z0-9])(pk_)?(u8|i8|b8|bf16|f16|i16|u16|b16|xf32|f32|i32|u32|b32|f64|i64|u64|b64|b96|b128)(?![0-9a-z])')


def tokens(name):
    return [t.upper() for _, t in TOKEN.findall(name.replace('_', ' ').replace('pk ', 'pk_'))]


doubts = []


def choose(name, candidates, category, bits, what):
    """The type for an operand: the mnemonic's word when LLVM's description agrees with it."""
    for c in candidates:
        if c in ('B8', 'I8', 'U8') and what != 'memory':  # several of them in a dword
            c = 'B32'
        if c in BITS and BITS[c] == bits and (category is None or TYPE_CATEGORY.get(c) == category):
            return c
    got = BY_CATEGORY[category] if category and BITS[BY_CATEGORY[category]] == bits else BY_BITS[bits]
    if candidates and got not in candidates:
        doubts.append('%s %s: %s does not fit %s/%d, %s' % (name, what, '/'.join(candidates), category, bits, got))
    return got


PACKED = {'I16': 'PK16', 'U16': 'PK16', 'B16': 'PK16', 'F16': 'PKF16', 'BF16': 'PKBF16', 'F32': 'PKF32', 'B32': 'PKB32'}


def row_is_short(fmt):
    return fmt.startswith('SOP') or fmt in ('VOP1', 'VOP2', 'VOPC')


class Row:
    def __init__(self, fmt, opcode, name, forms):
        self.format, self.opcode, self.name, self.forms = fmt, opcode, name, forms
        self.dst = self.sdst = 'NONE'
        self.src = ['NONE'] * 4
        self.where = ['-'] * 4
        self.flags = []
        self.effects = []
        self.facts = {'unit': None, 'passes': 0, 'math': 'NONE', 'mops': 0}
        self.implied = set().union(*(f.implied for f in forms))

    def key(self):
        return '%s %d' % (self.format, self.opcode)

    def bits(self, variant):
        fs = [f for f in self.forms if f.variant == variant]
        if not fs:
            return None
        zeros = ones = (1 << 64) - 1
        live = 0
        for f in fs:
            zeros &= f.zeros
            ones &= f.ones
            live |= f.live
        mask = zeros | ones
        if variant == 'base' and row_is_short(self.format):
            mask &= 0xffffffff
        mask &= ~self.operand_bits(variant)
        return mask, ones & mask, live

    def operand_bits(self, variant):
        """Fields that the decoder judges itself: what no sample had there is chance."""
        if self.format not in ('VOP3', 'VOP3P', 'VOP3PMAI') or variant != 'base':
            return 0
        bits = 0xff if self.dst != 'NONE' else 0
        for i in range(3):
            if self.src[i] != 'NONE' and not (i == 2 and 'ACCUMULATE' in self.flags and self.format != 'VOP3PMAI'):
                bits |= 0x1ff << (32 + 9 * i)
        return bits

    def primary(self):
        fs = [f for f in self.forms if f.variant == 'base'] or self.forms
        return max(fs, key=lambda f: len(f.defs) + len(f.uses))


def alu(row):
    f = row.primary()
    t = tokens(row.name)
    pk = '_pk_' in row.name and row.format in ('VOP2', 'VOP3', 'VOP3P', 'VOP3PMAI')
    first = t[:1]
    rest = t[1:] or t[:1]
    defs = list(f.defs)
    if row.format in ('VOP1', 'VOP2', 'VOPC', 'VOP3', 'VOP3P', 'VOP3PMAI'):
        lane = [d for d in defs if d[1].startswith('SReg_64')]
        if row.name.startswith('v_cmp'):
            row.dst = 'MASK'
            defs = []
        elif lane:
            row.sdst = 'MASK'
            defs = [d for d in defs if d not in lane]
        elif 'def.VCC' in f.implied and row.format == 'VOP2':
            row.sdst = 'MASK'
    if defs:
        cands = [PACKED.get(c, c) for c in first] if pk else first
        row.dst = choose(row.key() + ' ' + row.name, cands + first, None, bits_of(defs[0][1]), 'dst')
        if defs[0][1].startswith('SReg') and row.format.startswith('VOP'):
            row.flags.append('DST_SGPR')
    n = 0
    for number, cls, tied in f.uses:
        if tied and row.name not in ('v_swap_b32',) and not re.search(r'fmac|_mac_|dot\w*c_|smfmac', row.name):
            continue
        if cls == '-' and number not in (38, 39):
            continue
        bits = 32 if cls == '-' else bits_of(cls)
        category = CATEGORY.get(number)
        if row.format.startswith('VOP') and cls.startswith('SReg_64_XEXEC'):
            row.src[n] = 'MASK'
        elif bits > 64:
            row.src[n] = BY_BITS[bits]
        else:
            cands = list(rest)
            if pk or category in ('v2fp16', 'v2int16', 'v2fp32', 'v2int32'):
                cands = [PACKED.get(c, c) for c in cands] + cands
            row.src[n] = choose(row.key() + ' ' + row.name, cands + first, category, bits, 'src%d' % n)
        row.where[n] = where_of(number, cls)
        if tied:
            row.flags.append('ACCUMULATE')
            row.src[n] = row.dst
        if number in (38, 39):
            row.flags.append('LITERAL_K')
            row.where[n] = 'k'
        n += 1
    if row.format == 'VOP2' and 'use.VCC' in f.implied:
        row.src[2] = 'MASK'
        row.where[2] = 's'
    if re.search('_(e32|e64)$', f.mnemonic):
        row.flags.append('SUFFIX')


WIDTH = {'ubyte': 'U8', 'sbyte': 'I8', 'ushort': 'U16', 'sshort': 'I16', 'short': 'B16', 'byte': 'B8', 'dword': 'B32',
         'dwordx2': 'B64', 'dwordx3': 'B96', 'dwordx4': 'B128', 'dwordx8': 'B256', 'dwordx16': 'B512'}
FORMAT_X = {'x': 'B32', 'xy': 'B64', 'xyz': 'B96', 'xyzw': 'B128'}
FORMAT_D16 = {'x': 'B16', 'xy': 'PK16', 'xyz': 'B64', 'xyzw': 'B64'}
WIDE = {'B32': 'B64', 'B64': 'B128', 'U32': 'U64', 'I32': 'I64'}
ATOMIC = {'add': 'U32', 'sub': 'U32', 'smin': 'I32', 'umin': 'U32', 'smax': 'I32', 'umax': 'U32', 'inc': 'U32',
          'dec': 'U32', 'and': 'B32', 'or': 'B32', 'xor': 'B32', 'swap': 'B32', 'cmpswap': 'B32'}


def vector_memory(row):
    """MUBUF, MTBUF, FLAT, GLOBAL, SCRATCH, SMEM: the mnemonic says what moves."""
    name = row.name
    if row.format == 'SMEM':
        base = [c for _, c, _ in row.primary().uses if c.startswith(('SReg_64', 'SReg_128'))]
        if base:
            row.src[3] = 'B128' if base[-1].startswith('SReg_128') else 'U64'
    elif row.format in ('MUBUF', 'MTBUF') and any('SReg_128' in c for _, c, _ in row.primary().uses):
        row.src[3] = 'B128'
    elif row.format in ('GLOBAL', 'SCRATCH'):
        row.src[3] = 'U64' if row.format == 'GLOBAL' else 'U32'
    m = re.match(r't?(buffer|s_buffer|s_scratch|scratch|flat|global|s)_(load|store|atomic)_(.*)$', name)
    if name == 's_memtime' or name == 's_memrealtime':
        row.dst = 'U64'
        return
    if name.startswith('s_atc_probe') or not m:
        return
    space, verb, what = m.groups()
    if verb == 'atomic':
        row.effects.append('ATOMIC')
        x2 = what.endswith('_x2')
        if x2:
            what = what[:-3]
        if what in ATOMIC:
            t = ATOMIC[what]
            t = {'B32': 'B64', 'U32': 'U64', 'I32': 'I64'}[t] if x2 else t
            row.dst = t
            row.src[1] = WIDE[t] if what == 'cmpswap' else t
        else:
            t = {'add_f32': 'F32', 'add_f64': 'F64', 'min_f64': 'F64', 'max_f64': 'F64', 'pk_add_f16': 'PKF16',
                 'pk_add_bf16': 'PKBF16'}[what]
            row.dst = row.src[1] = t
    else:
        lds = what.startswith('lds_')
        if lds:
            what = what[4:]
        if what.startswith('format_'):
            parts = what.split('_')[1:]
            if parts[0] == 'd16':
                hi = parts[1] == 'hi'
                t = FORMAT_D16[parts[-1]]
                row.flags.append('D16_HI' if hi else 'D16')
            else:
                t = FORMAT_X[parts[0]]
            row.flags.append('FORMAT')
        elif what in WIDTH:
            t = WIDTH[what]
        elif what.endswith('_d16_hi'):
            t = WIDTH[what[:-7]]
            row.flags.append('D16_HI')
        elif what.endswith('_d16'):
            t = WIDTH[what[:-4]]
            row.flags.append('D16')
        elif what == 'dword_lds' or what == 'lds_dword':
            t = 'B32'
            lds = True
        else:
            raise SystemExit('unknown memory operation ' + name)
        if lds:
            row.effects.append('LDS')
        if verb == 'load':
            row.dst = t
        else:
            row.src[1] = t
    if row.format == 'SMEM':
        return
    row.src[0] = {'SCRATCH': 'U32', 'FLAT': 'U64', 'GLOBAL': 'U64'}.get(row.format, 'U32')


def lds(row):
    """DS: operands from the fields that LLVM's text depends on, types from the mnemonic."""
    name = row.name
    f = row.primary()
    mask, ones, live = row.bits('base')
    has = {'addr': live >> 32 & 0xff, 'data0': live >> 40 & 0xff, 'data1': live >> 48 & 0xff, 'vdst': live >> 56 & 0xff}
    t = tokens(name)[-1:] or ['B32']
    t = t[0]
    if '_pk_add_' in name:
        t = {'F16': 'PKF16', 'BF16': 'PKBF16'}[t]
    if name.endswith('_d16_hi'):
        row.flags.append('D16_HI')
    elif name.endswith('_d16'):
        row.flags.append('D16')
    ops = [o for o in f.uses if o[1] != '-' and not o[2]]
    if has['vdst']:
        row.dst = t
        if bits_of(f.defs[0][1]) != BITS[t]:
            row.dst = BY_BITS[bits_of(f.defs[0][1])]
    i = 0
    if has['addr']:
        row.src[0] = 'U32'
        i += 1
    for n, field in ((1, 'data0'), (2, 'data1')):
        if has[field]:
            bits = bits_of(ops[i][1])
            row.src[n] = t if bits == BITS[t] else BY_BITS[bits]
            i += 1
    row.effects.append('LDS')
    if re.search(r'read2|write2|wrxchg2', name):
        row.flags.append('TWO_ADDRESSES')
    if re.match(r'ds_(add|sub|rsub|inc|dec|min|max|and|or|xor|mskor|cmpst|wrxchg|pk_add|condxchg|wrap)', name):
        row.effects.append('ATOMIC')


def load():
    groups = collections.OrderedDict()
    for line in open(os.path.join(ROOT, 'isa/gfx942.llvm')):
        if line.startswith('#') or not line.strip():
            continue
        f = Form(line)
        if f.format == 'VOP3P' and re.match(r'v_(s?mfma|accvgpr)', f.name):
            f.format = 'VOP3PMAI'
        groups.setdefault((f.format, f.opcode), []).append(f)
    rows = []
    for (fmt, opcode), forms in groups.items():
        names = {f.name for f in forms}
        if len(names) != 1:
            raise SystemExit('%s %d has several names: %s' % (fmt, opcode, names))
        rows.append(Row(fmt, opcode, names.pop(), forms))
    return rows


def describe(row):
    if row.format in ('MUBUF', 'MTBUF', 'FLAT', 'GLOBAL', 'SCRATCH', 'SMEM'):
        vector_memory(row)
    elif row.format == 'DS':
        lds(row)
    else:
        alu(row)
    describe_effects(row)


LLVM_EFFECTS = {'use.SCC': 'READS_SCC', 'def.SCC': 'SETS_SCC', 'use.VCC': 'READS_VCC', 'def.VCC': 'SETS_VCC',
                'use.EXEC': 'READS_EXEC', 'def.EXEC': 'SETS_EXEC', 'use.M0': 'READS_M0', 'def.M0': 'SETS_M0',
                'use.MODE': 'READS_MODE', 'def.MODE': 'SETS_MODE', 'branch': 'BRANCH', 'load': 'LOAD', 'store': 'STORE'}


def describe_effects(row):
    """What LLVM says of it beside operands, and the size of a matrix product."""
    for said, effect in LLVM_EFFECTS.items():
        # VCC of VOP2 and VOPC is an operand of the decoded instruction.
        if said in row.implied and not (said.endswith('VCC') and row.format in ('VOP2', 'VOPC')):
            row.effects.append(effect)
    said = [int(word[7:]) for word in row.implied if word.startswith('passes.')]
    row.facts['passes'] = max(said or [int(row.format.startswith('VOP'))])
    m = re.match(r'v_s?mfma\w*?_(\d+)x(\d+)x(\d+)_(?:(\d+)b_)?', row.name)
    if m:
        row.facts['mops'] = 2 * math.prod(int(n or 1) for n in m.groups()) // 512


def acc_return(row):
    """Which atomics assemblers let return to an AccVGPR."""
    if row.format not in ('FLAT', 'GLOBAL') or 'ATOMIC' not in row.effects:
        return
    acc = [f for f in row.forms if f.defs and f.defs[0][1].startswith('A')]
    if not acc:
        row.flags.append('NO_ACC_RETURN')
    elif all(f.zeros >> 25 & 1 for f in acc):
        row.flags.append('NO_ACC_RETURN_SC1')


def change(row, match, what, value):
    if what in ('dst', 'sdst'):
        setattr(row, what, value)
    elif what == 'where':
        row.where = list(value)
    elif what.startswith('src'):
        row.src[int(what[3:])] = value
    elif what in row.facts:
        row.facts[what] = match.expand(value)
    else:
        raise SystemExit('no such fact: ' + what)


def fix(rows, path, marks):
    """The lines of a file of corrections: marks(row) is the list that its +NAME and -NAME change."""
    for number, line in enumerate(open(os.path.join(ROOT, path)), 1):
        line = line.split('#')[0].strip()
        if not line:
            continue
        name, *changes = line.split()
        matched = [(r, re.fullmatch(name, r.name) or re.fullmatch(name, r.format + ':' + r.name)) for r in rows]
        matched = [(r, m) for r, m in matched if m]
        if not matched:
            raise SystemExit('%s:%d: no row %s' % (path, number, name))
        for r, m in matched:
            for c in changes:
                if c[0] == '+' and c[1:] not in marks(r):
                    marks(r).append(c[1:])
                elif c[0] == '-' and c[1:] in marks(r):
                    marks(r).remove(c[1:])
                elif c[0] not in '+-':
                    change(r, m, *c.split('='))


ORDER = ['READS_SCC', 'SETS_SCC', 'READS_VCC', 'SETS_VCC', 'READS_EXEC', 'SETS_EXEC', 'READS_M0', 'SETS_M0', 'READS_MODE',
         'SETS_MODE', 'BRANCH', 'END', 'LOAD', 'STORE', 'ATOMIC', 'LDS', 'CACHE', 'KEEPS_HIGH', 'XDL', 'SPARSE']


def render_facts(rows):
    """One line for each meaning, in which the rows of its encodings agree."""
    out = ['/* SPDX-License-Identifier: MIT */\n',
           '/*\n * What is known of each meaning of gfx942\'s instruction set, whatever its encoding: src/isa/facts.h has the words.\n'
           ' * Generated by tools/isagen.py from isa/gfx942.llvm and isa/fixes/facts.fixes, which has the sources; do not edit.\n *\n'
           ' * FACTS(name, unit, passes, math, mops, effects)\n */\n']
    of = collections.OrderedDict()
    for r in rows:
        line = 'FACTS(%s, %s, %s, %s, %s, %s)\n' % (
            r.name, r.facts['unit'], r.facts['passes'], r.facts['math'], r.facts['mops'],
            ' | '.join('ISA_E_' + e for e in sorted(set(r.effects), key=ORDER.index)) or '0')
        if of.setdefault(r.name, line) != line:
            raise SystemExit('encodings disagree:\n%s%s' % (of[r.name], line))
    return ''.join(out + list(of.values()))


def render(rows):
    out = ['/* SPDX-License-Identifier: MIT */\n',
           '/*\n * The instruction set of gfx942: one row per (format, opcode).\n'
           ' * Generated by tools/isagen.py from isa/gfx942.llvm and isa/fixes/gfx942.fixes; do not edit.\n *\n'
           ' * INST(format, opcode, name, flags, dst, sdst, src0, src1, src2, src3, where, forms)\n'
           ' * where: what each source may be: a(ny), v(gpr), c(onstant or sgpr), s(gpr), l: vgpr or LDS direct, x: vgpr or agpr,\n * g: agpr, k: literal\n'
           ' * forms: FORM(mask, match, live) of the plain, SDWA and DPP encoding: the first two dwords must have\n'
           ' * (bits & mask) == match; fields outside of live mean nothing to this instruction.\n */\n']
    for r in rows:
        flags = ' | '.join('ISA_F_' + f for f in sorted(set(r.flags))) or '0'
        forms = []
        for v in ('base', 'sdwa', 'dpp'):
            b = r.bits(v)
            forms.append('NOFORM' if b is None else 'FORM(0x%016x, 0x%016x, 0x%016x)' % b)
        out.append('INST(%s, %d, %s, %s, %s, %s, %s, "%s", %s)\n' %
                   (r.format, r.opcode, r.name, flags, r.dst, r.sdst, ', '.join(r.src), ''.join(r.where), ', '.join(forms)))
    return ''.join(out)


def main():
    rows = load()
    for r in rows:
        describe(r)
        acc_return(r)
    fix(rows, 'isa/fixes/gfx942.fixes', lambda row: row.flags)
    fix(rows, 'isa/fixes/facts.fixes', lambda row: row.effects)
    check = '--check' in sys.argv
    status = 0
    for path, text in (('isa/gfx942.def', render(rows)), ('isa/facts.def', render_facts(rows))):
        full = os.path.join(ROOT, path)
        if check:
            if open(full).read() != text:
                print(path + ' is not what tools/isagen.py writes')
                status = 1
        else:
            with open(full, 'w') as out:
                out.write(text)
    if '--doubts' in sys.argv:
        print('\n'.join(doubts))
    return status


sys.exit(main())
