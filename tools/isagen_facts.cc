// SPDX-License-Identifier: MIT
//
// Writes isa/gfx942.llvm: what LLVM's gfx942 disassembler accepts.
//
// A developer's tool, not part of the build.  It fills the operand fields of
// every (format, opcode) with random bits, disassembles, and prints one line
// for each of LLVM's instructions that came out, with what its description
// says about operands and implied registers:
//
//   c++ -std=c++17 $(llvm-config-22 --cxxflags) tools/isagen_facts.cc -o isagen_facts $(llvm-config-22 --libs
//   --ldflags)
//   ./isagen_facts > isa/gfx942.llvm
//
// Line: format opcode mnemonic implied operands... zeros ones live
// Operand: d(efined) or u(sed), LLVM's operand type number, register class,
// :tN when tied to operand N.  zeros, ones: bits of the first two dwords that
// every accepted encoding has clear, set; live: bits that the text depends on.
// implied: load, store, branch, end, registers that no operand names (use.SCC,
// def.EXEC, ..), passes.N of the scheduling model.
#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <map>
#include <random>
#include <string>

#include <llvm/ADT/StringRef.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstPrinter.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Triple.h>

using namespace llvm;

struct Format {
    const char *name;
    unsigned opcodes;
    // Places the opcode and the encoding bits over random bits.
    void (*place)(uint32_t w[4], unsigned op, unsigned variant);
    unsigned variants;
};

static sigjmp_buf crash;
static void on_crash(int)
{
    siglongjmp(crash, 1);
}

static void field(uint32_t &w, unsigned lo, unsigned bits, uint32_t v)
{
    uint32_t m = (bits == 32 ? ~0u : (1u << bits) - 1) << lo;
    w = (w & ~m) | (v << lo & m);
}

static const Format formats[] = {
    {"SOP2", 96,
     [](uint32_t w[4], unsigned op, unsigned) {
         field(w[0], 30, 2, 2);
         field(w[0], 23, 7, op);
     },
     1},
    {"SOPK", 29,
     [](uint32_t w[4], unsigned op, unsigned) {
         field(w[0], 28, 4, 11);
         field(w[0], 23, 5, op);
     },
     1},
    {"SOP1", 256,
     [](uint32_t w[4], unsigned op, unsigned) {
         field(w[0], 23, 9, 0x17d);
         field(w[0], 8, 8, op);
     },
     1},
    {"SOPC", 128,
     [](uint32_t w[4], unsigned op, unsigned) {
         field(w[0], 23, 9, 0x17e);
         field(w[0], 16, 7, op);
     },
     1},
    {"SOPP", 128,
     [](uint32_t w[4], unsigned op, unsigned) {
         field(w[0], 23, 9, 0x17f);
         field(w[0], 16, 7, op);
     },
     1},
    {"SMEM", 256,
     [](uint32_t w[4], unsigned op, unsigned) {
         field(w[0], 26, 6, 0x30);
         field(w[0], 18, 8, op);
     },
     1},
    {"VOP1", 256,
     [](uint32_t w[4], unsigned op, unsigned v) {
         field(w[0], 25, 7, 0x3f);
         field(w[0], 9, 8, op);
         if (v)
             field(w[0], 0, 9, v == 1 ? 249 : 250);
     },
     3},
    {"VOP2", 62,
     [](uint32_t w[4], unsigned op, unsigned v) {
         field(w[0], 25, 7, op);
         if (v)
             field(w[0], 0, 9, v == 1 ? 249 : 250);
     },
     3},
    {"VOPC", 256,
     [](uint32_t w[4], unsigned op, unsigned v) {
         field(w[0], 25, 7, 0x3e);
         field(w[0], 17, 8, op);
         if (v)
             field(w[0], 0, 9, v == 1 ? 249 : 250);
     },
     3},
    {"VOP3", 896,
     [](uint32_t w[4], unsigned op, unsigned) {
         field(w[0], 26, 6, 0x34);
         field(w[0], 16, 10, op);
     },
     1},
    {"VOP3P", 128,
     [](uint32_t w[4], unsigned op, unsigned) {
         field(w[0], 23, 9, 0x1a7);
         field(w[0], 16, 7, op);
     },
     1},
    {"DS", 256,
     [](uint32_t w[4], unsigned op, unsigned) {
         field(w[0], 26, 6, 0x36);
         field(w[0], 17, 8, op);
     },
     1},
    {"MUBUF", 128,
     [](uint32_t w[4], unsigned op, unsigned) {
         field(w[0], 26, 6, 0x38);
         field(w[0], 18, 7, op);
     },
     1},
    {"MTBUF", 16,
     [](uint32_t w[4], unsigned op, unsigned) {
         field(w[0], 26, 6, 0x3a);
         field(w[0], 15, 4, op);
     },
     1},
    {"FLAT", 128,
     [](uint32_t w[4], unsigned op, unsigned) {
         field(w[0], 26, 6, 0x37);
         field(w[0], 14, 2, 0);
         field(w[0], 18, 7, op);
     },
     1},
    {"SCRATCH", 128,
     [](uint32_t w[4], unsigned op, unsigned) {
         field(w[0], 26, 6, 0x37);
         field(w[0], 14, 2, 1);
         field(w[0], 18, 7, op);
     },
     1},
    {"GLOBAL", 128,
     [](uint32_t w[4], unsigned op, unsigned) {
         field(w[0], 26, 6, 0x37);
         field(w[0], 14, 2, 2);
         field(w[0], 18, 7, op);
     },
     1},
};

// What random encodings of one of LLVM's instructions have in common.
struct Form {
    uint32_t any[2] = {0, 0}, all[2] = {~0u, ~0u}, live[2] = {0, 0};
    unsigned flipped = 0;
    void accept(const uint32_t *w)
    {
        for (int i = 0; i < 2; i++) {
            any[i] |= w[i];
            all[i] &= w[i];
        }
    }
};

static MCRegisterInfo *mri;
static MCSubtargetInfo *sti;
static MCInstrInfo *mii;
static MCDisassembler *dis;
static MCInstPrinter *printer;

static std::string text; // of the last instruction that look() saw

static std::string mnemonic_of(const MCInst &inst)
{
    text.clear();
    raw_string_ostream os(text);
    printer->printInst(&inst, 0, "", *sti, os);
    StringRef t = StringRef(text).trim();
    if (t.contains("/*")) // a diagnostic: not an instruction
        return "";
    return t.substr(0, t.find_first_of(" \t")).str();
}

// The description of the instruction that the words are; empty when they are none.
static std::string look(const uint32_t *w)
{
    // LLVM's disassembler does not survive every bit pattern.
    if (sigsetjmp(crash, 1))
        return "";
    MCInst inst;
    uint64_t size = 0;
    ArrayRef<uint8_t> bytes(reinterpret_cast<const uint8_t *>(w), 16);
    if (dis->getInstruction(inst, size, bytes, 0, nulls()) != MCDisassembler::Success)
        return "";
    std::string mnemonic = mnemonic_of(inst);
    if (mnemonic.empty())
        return "";
    static std::map<unsigned, std::string> described;
    std::string &line = described[inst.getOpcode()];
    if (!line.empty())
        return line;
    const MCInstrDesc &d = mii->get(inst.getOpcode());
    std::string implied;
    auto say = [&](const std::string &what) { implied += (implied.empty() ? "" : ",") + what; };
    if (d.mayLoad())
        say("load");
    if (d.mayStore())
        say("store");
    if (d.isBranch())
        say("branch");
    if (d.isTerminator())
        say("end");
    for (MCPhysReg r : d.implicit_uses())
        say(std::string("use.") + mri->getName(r));
    for (MCPhysReg r : d.implicit_defs())
        say(std::string("def.") + mri->getName(r));
    // What its unit is busy with for more than a cycle, the matrix instructions' passes; and of the VALU's
    // the latency, by which the model tells what it does at a quarter of the rate.
    const MCSchedModel &model = sti->getSchedModel();
    const MCSchedClassDesc *sched = model.getSchedClassDesc(d.getSchedClass());
    for (auto *r = sti->getWriteProcResBegin(sched); r != sti->getWriteProcResEnd(sched); ++r) {
        const bool valu = std::string(model.getProcResource(r->ProcResourceIdx)->Name) == "HWVALU";
        const int latency = valu ? MCSchedModel::computeInstrLatency(*sti, *sched) : 0;
        const int passes = std::max(latency, static_cast<int>(r->ReleaseAtCycle));
        if (passes > 1)
            say("passes." + std::to_string(passes));
    }
    line = mnemonic + " " + (implied.empty() ? "-" : implied);
    for (unsigned i = 0; i < d.getNumOperands(); i++) {
        const MCOperandInfo &o = d.operands()[i];
        int rc = mii->getOpRegClassID(o, 0);
        std::string name = rc >= 0 ? mri->getRegClassName(&mri->getRegClass((unsigned)rc)) : "-";
        int tied = d.getOperandConstraint(i, MCOI::TIED_TO);
        line +=
            std::string(" ") + (i < d.getNumDefs() ? "d" : "u") + std::to_string(o.OperandType) + ":" + name;
        if (tied >= 0)
            line += ":t" + std::to_string(tied);
    }
    return line;
}

int main()
{
    signal(SIGSEGV, on_crash);
    signal(SIGBUS, on_crash);
    signal(SIGILL, on_crash);
    signal(SIGABRT, on_crash);
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
    Triple triple("amdgcn-amd-amdhsa");
    std::string error;
    const Target *target = TargetRegistry::lookupTarget(triple, error);
    mri = target->createMCRegInfo(triple);
    MCTargetOptions options;
    MCAsmInfo *mai = target->createMCAsmInfo(*mri, triple, options);
    sti = target->createMCSubtargetInfo(triple, "gfx942", "");
    mii = target->createMCInstrInfo();
    MCContext context(triple, mai, mri, sti);
    dis = target->createMCDisassembler(*sti, context);
    printer = target->createMCInstPrinter(triple, 0, *mai, *mii, *mri);

    printf("# LLVM %s, gfx942: what its disassembler accepts.  Written by tools/isagen_facts.cc.\n",
           LLVM_VERSION_STRING);
    printf("# format opcode mnemonic implied operands... zeros ones live\n");
    for (const Format &f : formats) {
        for (unsigned op = 0; op < f.opcodes; op++) {
            std::mt19937 rng(op * 7919 + 1);
            std::map<std::string, Form> forms;
            for (unsigned v = 0; v < f.variants; v++) {
                // Every pair of bits, for what accepts little; then random fields, from sparse to dense.
                for (unsigned trial = 0; trial < 64 * 64 + 6000; trial++) {
                    uint32_t w[4] = {0, 0, 0, 0};
                    if (trial < 64 * 64) {
                        unsigned a = trial / 64, b = trial % 64;
                        if (a > b)
                            continue;
                        w[a / 32] |= 1u << a % 32;
                        w[b / 32] |= 1u << b % 32;
                    } else {
                        for (uint32_t &x : w) {
                            x = (uint32_t)rng();
                            for (unsigned sparse = (unsigned)(rng() % 4); sparse; sparse--)
                                x &= (uint32_t)rng();
                            if (rng() % 4 == 0)
                                x &= 0xfcfcfcfc;
                        }
                        if (trial % 3 == 0) {
                            w[1] &= 0xfefefefe;
                            w[0] &= 0xffffff00;
                        }
                    }
                    f.place(w, op, v);
                    if (v == 2 && trial & 1) // row_newbcast, the only one for 64 bits
                        field(w[1], 8, 9, 0x150 | (w[1] & 15));
                    std::string key = look(w);
                    if (key.empty())
                        continue;
                    Form &form = forms[key];
                    form.accept(w);
                    if (form.flipped++ > 40)
                        continue;
                    std::string before = text;
                    // Which bits matter: each neighbour that is the same instruction.
                    for (unsigned bit = 0; bit < 64; bit++) {
                        uint32_t n[4] = {w[0], w[1], w[2], w[3]};
                        n[bit / 32] ^= 1u << bit % 32;
                        if (look(n) == key) {
                            form.accept(n);
                            if (text != before)
                                form.live[bit / 32] |= 1u << bit % 32;
                        }
                    }
                }
            }
            for (auto &l : forms) {
                printf("%s %u %s %08x%08x %08x%08x %08x%08x\n", f.name, op, l.first.c_str(), ~l.second.any[1],
                       ~l.second.any[0], l.second.all[1], l.second.all[0], l.second.live[1],
                       l.second.live[0]);
            }
        }
    }
}
