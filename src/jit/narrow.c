/* SPDX-License-Identifier: MIT */
/* Taking 16 bits out of 64 in a form that the back end leaves alone; see narrow.h. */
#include "jit/narrow.h"

enum { LANES_MAX = 64, PARTS = 4 /* of 16 bits in a lane */ };

/* Lanes of 16 bits that the instruction takes out of as many of 64; 0 for others. */
static unsigned lanes_narrowed(const struct llvm *l, llvm_layout layout, llvm_type i16,
                               llvm_value instruction)
{
    if (l->GetInstructionOpcode(instruction) != LLVM_TRUNC)
        return 0;
    llvm_type to = l->TypeOf(instruction), from = l->TypeOf(l->GetOperand(instruction, 0));
    const unsigned lanes = (unsigned)(l->SizeOfTypeInBits(layout, to) / 16);
    return lanes > 1 && lanes <= LANES_MAX && to == l->VectorType(i16, lanes) &&
                   l->SizeOfTypeInBits(layout, from) == (unsigned long long)lanes * 64
               ? lanes
               : 0;
}

static llvm_value lowest_parts(const struct llvm *l, llvm_builder builder, llvm_context context,
                               llvm_value wide, unsigned lanes)
{
    llvm_value each[LANES_MAX];
    for (unsigned i = 0; i < lanes; i++)
        each[i] = l->ConstInt(l->Int32TypeInContext(context), PARTS * i, 0);
    llvm_type parts = l->VectorType(l->Int16TypeInContext(context), PARTS * lanes);
    return l->BuildShuffleVector(builder, l->BuildBitCast(builder, wide, parts, ""), l->GetPoison(parts),
                                 l->ConstVector(each, lanes), "");
}

void narrow_by_shuffles(const struct llvm *l, llvm_context context, llvm_module module)
{
    llvm_type i16 = l->Int16TypeInContext(context);
    llvm_layout layout = l->GetModuleDataLayout(module);
    llvm_builder builder = l->CreateBuilderInContext(context);
    for (llvm_value f = l->GetFirstFunction(module); f; f = l->GetNextFunction(f))
        for (llvm_block b = l->GetFirstBasicBlock(f); b; b = l->GetNextBasicBlock(b))
            for (llvm_value i = l->GetFirstInstruction(b), next; i; i = next) {
                next = l->GetNextInstruction(i);
                const unsigned lanes = lanes_narrowed(l, layout, i16, i);
                if (!lanes)
                    continue;
                l->PositionBuilderBefore(builder, i);
                l->ReplaceAllUsesWith(i, lowest_parts(l, builder, context, l->GetOperand(i, 0), lanes));
                l->InstructionEraseFromParent(i);
            }
    l->DisposeBuilder(builder);
}
