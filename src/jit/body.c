/* SPDX-License-Identifier: MIT */
/* Taking functions of bitcode apart, and putting them together elsewhere; see body.h. */
#include "jit/body.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE = 2048 }; /* a power of two, some times as many as there are functions */

/* What joins two rows to values of 64 bits, or makes rows of such. */
enum pairing { PAIRING_NONE, PAIRING_JOINS, PAIRING_LOW, PAIRING_HIGH };

/* An operand: of an earlier instruction the number, of a parameter of a scalar function ~ its number. */
struct operand {
    llvm_value constant; /* NULL: it is not */
    int32_t index;
};

struct op {
    llvm_value instruction;
    uint8_t opcode;
    uint8_t parameter; /* loads and stores: through which */
    uint8_t pairing;   /* enum pairing */
    uint32_t offset;   /* and where, in bytes */
    uint32_t dwords;
    uint32_t operand, operands; /* its operands */
    llvm_value callee;          /* an intrinsic function in the module of bodies */
};

struct body {
    llvm_value function; /* NULL: a free place */
    bool usable;
    size_t count;
    struct op *ops;
    struct operand *operands;
    uint8_t reads[BODY_PARAMETERS], writes[BODY_PARAMETERS]; /* rows */
};

struct body_library {
    const struct llvm *l;
    llvm_context context;
    llvm_module bodies;
    llvm_layout layout;
    unsigned slice;
    llvm_type row; /* <slice x i32> */
    llvm_type i32;
    llvm_value *values; /* of the body being emitted */
    size_t values_capacity;
    struct pairs pairs;
    struct body table[TABLE];
};

struct body_library *body_library_open(const struct llvm *l, llvm_context context, llvm_module bodies,
                                       unsigned slice)
{
    struct body_library *library = calloc(1, sizeof(*library));
    if (!library)
        return NULL;
    library->l = l;
    library->context = context;
    library->bodies = bodies;
    library->layout = l->GetModuleDataLayout(bodies);
    library->slice = slice;
    library->i32 = l->Int32TypeInContext(context);
    library->row = l->VectorType(library->i32, slice);
    return library;
}

void body_library_close(struct body_library *library)
{
    if (!library)
        return;
    for (size_t i = 0; i < TABLE; i++) {
        free(library->table[i].ops);
        free(library->table[i].operands);
    }
    free(library->values);
    free(library);
}

/* ---- taking apart ---- */

/* Where an address is: through which parameter, at which constant distance. */
static bool resolve(const struct body_library *library, llvm_value function, llvm_value pointer,
                    unsigned *parameter, uint64_t *offset)
{
    const struct llvm *l = library->l;
    if (l->IsAArgument(pointer)) {
        for (unsigned i = 0; i < l->CountParams(function); i++)
            if (l->GetParam(function, i) == pointer) {
                *parameter = i;
                return true;
            }
        return false;
    }
    if (!l->IsAInstruction(pointer) || l->GetInstructionOpcode(pointer) != LLVM_GEP ||
        l->GetNumOperands(pointer) != 2)
        return false;
    llvm_value index = l->IsAConstantInt(l->GetOperand(pointer, 1));
    if (!index || !resolve(library, function, l->GetOperand(pointer, 0), parameter, offset))
        return false;
    *offset += l->ConstIntGetZExtValue(index) *
               (l->SizeOfTypeInBits(library->layout, l->GetGEPSourceElementType(pointer)) / 8);
    return true;
}

/* A load or store of whole rows, or of a part of one. */
static bool fits_rows(const struct body_library *library, struct op *op, uint64_t offset,
                      unsigned long long bits)
{
    const unsigned row = library->slice * 4;
    if (offset % 4 || bits % 32 || offset + bits / 8 > (uint64_t)row * BODY_ROWS_MAX)
        return false;
    op->offset = (uint32_t)offset;
    op->dwords = (uint32_t)(bits / 32);
    const bool in_one = offset / row == (offset + bits / 8 - 1) / row;
    const bool whole = offset % row == 0 && (bits / 8 == row * 2 || bits / 8 == row * 4);
    return in_one || whole;
}

static void note_rows(const struct body_library *library, uint8_t *rows, const struct op *op)
{
    const unsigned row = library->slice * 4;
    for (unsigned at = op->offset / row; at <= (op->offset + op->dwords * 4 - 1) / row; at++)
        *rows |= (uint8_t)(1u << at);
}

static bool take_memory(struct body_library *library, struct body *body, struct op *op, bool vector)
{
    const struct llvm *l = library->l;
    const bool store = op->opcode == LLVM_STORE;
    uint64_t offset = 0;
    unsigned parameter;
    if (!resolve(library, body->function, l->GetOperand(op->instruction, store), &parameter, &offset))
        return false;
    op->parameter = (uint8_t)parameter;
    const unsigned long long bits = l->SizeOfTypeInBits(
        library->layout, l->TypeOf(store ? l->GetOperand(op->instruction, 0) : op->instruction));
    if (!vector)
        return offset == 0 && bits == 8; /* SCC */
    if (!fits_rows(library, op, offset, bits))
        return false;
    note_rows(library, store ? &body->writes[parameter] : &body->reads[parameter], op);
    return true;
}

static bool take_operands(struct body_library *library, struct body *body, struct op *op, size_t *operands,
                          bool vector)
{
    const struct llvm *l = library->l;
    const size_t ops = body->count;
    unsigned count = l->GetNumOperands(op->instruction);
    if (op->opcode == LLVM_CALL) {
        count--; /* the last is who is called */
        op->callee = l->GetCalledValue(op->instruction);
        if (!l->IsAFunction(op->callee) || l->GetIntrinsicID(op->callee) == 0)
            return false;
    } else if (op->opcode == LLVM_STORE) {
        count = 1;
    } else if (op->opcode == LLVM_LOAD) {
        count = 0;
    }
    op->operand = (uint32_t)*operands;
    op->operands = count;
    for (unsigned i = 0; i < count; i++) {
        llvm_value value = l->GetOperand(op->instruction, i);
        struct operand *o = &body->operands[(*operands)++];
        o->index = -1;
        if (l->IsAInstruction(value)) {
            size_t at = ops;
            while (at > 0 && body->ops[at - 1].instruction != value)
                at--;
            if (at == 0)
                return false;
            o->index = (int32_t)at - 1;
        } else if (l->IsAArgument(value) && !vector) {
            unsigned parameter = 0;
            while (l->GetParam(body->function, parameter) != value)
                parameter++;
            o->index = ~(int32_t)parameter;
            o->constant = NULL;
        } else if (l->IsConstant(value) && !l->IsAGlobalVariable(value)) {
            o->constant = value;
        } else {
            return false;
        }
    }
    return true;
}

/* Whether a shuffle takes every step-th element from `first` on, or those of two rows in turns. */
static bool takes_each(const struct llvm *l, llvm_value shuffle, unsigned first, unsigned step)
{
    const unsigned count = l->GetNumMaskElements(shuffle);
    for (unsigned i = 0; i < count; i++)
        if (l->GetMaskValue(shuffle, i) != (int)(first + i * step))
            return false;
    return true;
}

static bool takes_in_turns(const struct llvm *l, llvm_value shuffle)
{
    const unsigned count = l->GetNumMaskElements(shuffle);
    for (unsigned i = 0; i < count; i++)
        if (l->GetMaskValue(shuffle, i) != (int)(i / 2 + i % 2 * (count / 2)))
            return false;
    return true;
}

/* Whether lanes are shifted to the right by 32. */
static bool takes_high(const struct llvm *l, llvm_value value)
{
    if (!l->IsAInstruction(value) || l->GetInstructionOpcode(value) != LLVM_LSHR ||
        !l->IsConstant(l->GetOperand(value, 1)))
        return false;
    llvm_value by = l->GetAggregateElement(l->GetOperand(value, 1), 0);
    return by && l->IsAConstantInt(by) && l->ConstIntGetZExtValue(by) == 32;
}

static enum pairing pairing_of(const struct body_library *library, llvm_value instruction, unsigned opcode)
{
    const struct llvm *l = library->l;
    llvm_type wide = l->VectorType(library->i32, library->slice * 2), type = l->TypeOf(instruction);
    const bool is_row = type == library->row;
    if (!is_row && type != wide)
        return PAIRING_NONE;
    if (opcode == LLVM_TRUNC) {
        llvm_value from = l->GetOperand(instruction, 0);
        if (l->SizeOfTypeInBits(library->layout, l->TypeOf(from)) != 64 * library->slice)
            return PAIRING_NONE;
        return takes_high(l, from) ? PAIRING_HIGH : PAIRING_LOW;
    }
    if (opcode != LLVM_SHUFFLE)
        return PAIRING_NONE;
    llvm_type from = l->TypeOf(l->GetOperand(instruction, 0));
    if (!is_row)
        return from == library->row && takes_in_turns(l, instruction) ? PAIRING_JOINS : PAIRING_NONE;
    if (from != wide)
        return PAIRING_NONE;
    return takes_each(l, instruction, 0, 2)   ? PAIRING_LOW
           : takes_each(l, instruction, 1, 2) ? PAIRING_HIGH
                                              : PAIRING_NONE;
}

static bool take_apart(struct body_library *library, struct body *body)
{
    const struct llvm *l = library->l;
    if (l->CountBasicBlocks(body->function) != 1)
        return false;
    const bool vector = l->CountParams(body->function) == BODY_PARAMETERS;
    llvm_block block = l->GetFirstBasicBlock(body->function);
    size_t count = 0, operands = 0;
    for (llvm_value i = l->GetFirstInstruction(block); i; i = l->GetNextInstruction(i)) {
        count++;
        operands += l->GetNumOperands(i);
    }
    body->ops = calloc(count + 1, sizeof(*body->ops));
    body->operands = calloc(operands + 1, sizeof(*body->operands));
    if (!body->ops || !body->operands)
        return false;
    operands = 0;
    for (llvm_value i = l->GetFirstInstruction(block); i; i = l->GetNextInstruction(i)) {
        struct op *op = &body->ops[body->count];
        *op = (struct op){.instruction = i, .opcode = (uint8_t)l->GetInstructionOpcode(i)};
        if (op->opcode == LLVM_GEP)
            continue;
        op->pairing = (uint8_t)pairing_of(library, i, op->opcode);
        if ((op->opcode == LLVM_LOAD || op->opcode == LLVM_STORE) && !take_memory(library, body, op, vector))
            return false;
        if (!take_operands(library, body, op, &operands, vector))
            return false;
        body->count++;
    }
    return body->count && body->ops[body->count - 1].opcode == LLVM_RET;
}

const struct body *body_find(struct body_library *library, const char *name)
{
    llvm_value function = library->l->GetNamedFunction(library->bodies, name);
    if (!function)
        return NULL;
    size_t at = ((uintptr_t)function >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 53;
    static_assert(TABLE == 1 << 11, "11 bits of the product are a place");
    while (library->table[at].function && library->table[at].function != function)
        at = (at + 1) % TABLE;
    struct body *body = &library->table[at];
    if (!body->function) {
        body->function = function;
        body->usable = take_apart(library, body);
    }
    return body->usable ? body : NULL;
}

unsigned body_reads(const struct body *body, enum body_parameter parameter)
{
    return body->reads[parameter];
}

unsigned body_writes(const struct body *body, enum body_parameter parameter)
{
    return body->writes[parameter];
}

/* ---- putting together ---- */

static llvm_value shuffle(const struct body_library *library, llvm_builder builder, llvm_value a,
                          llvm_value b, unsigned first, unsigned count)
{
    const struct llvm *l = library->l;
    llvm_value index[64];
    assert(count <= 64);
    for (unsigned i = 0; i < count; i++)
        index[i] = l->ConstInt(library->i32, first + i, 0);
    return l->BuildShuffleVector(builder, a, b, l->ConstVector(index, count), "");
}

static llvm_value cast(const struct body_library *library, llvm_builder builder, llvm_value value,
                       llvm_type type)
{
    return library->l->TypeOf(value) == type ? value : library->l->BuildBitCast(builder, value, type, "");
}

static llvm_value emit_load(const struct body_library *library, llvm_builder builder, const struct op *op,
                            const llvm_value *rows)
{
    const struct llvm *l = library->l;
    const unsigned slice = library->slice, row = op->offset / 4 / slice, at = op->offset / 4 % slice;
    llvm_value value = rows[row];
    if (op->dwords == slice * 2)
        value = shuffle(library, builder, rows[row], rows[row + 1], 0, slice * 2);
    else if (op->dwords == slice * 4)
        value = shuffle(library, builder, shuffle(library, builder, rows[row], rows[row + 1], 0, slice * 2),
                        shuffle(library, builder, rows[row + 2], rows[row + 3], 0, slice * 2), 0, slice * 4);
    else if (op->dwords < slice)
        value = shuffle(library, builder, value, l->GetPoison(library->row), at, op->dwords);
    return cast(library, builder, value, l->TypeOf(op->instruction));
}

/* Puts a part of a row into it. */
static llvm_value insert_part(const struct body_library *library, llvm_builder builder, llvm_value row,
                              llvm_value part, unsigned at, unsigned count)
{
    const struct llvm *l = library->l;
    const unsigned slice = library->slice;
    llvm_value index[64];
    for (unsigned i = 0; i < slice; i++)
        index[i] = i < count ? l->ConstInt(library->i32, i, 0) : l->GetPoison(library->i32);
    llvm_value wide = count == slice ? part
                                     : l->BuildShuffleVector(builder, part, l->GetPoison(l->TypeOf(part)),
                                                             l->ConstVector(index, slice), "");
    if (!row)
        row = l->GetPoison(library->row);
    for (unsigned i = 0; i < slice; i++)
        index[i] = l->ConstInt(library->i32, i >= at && i < at + count ? slice + i - at : i, 0);
    return l->BuildShuffleVector(builder, row, wide, l->ConstVector(index, slice), "");
}

static void emit_store(const struct body_library *library, llvm_builder builder, const struct op *op,
                       llvm_value value, llvm_value *rows)
{
    const struct llvm *l = library->l;
    const unsigned slice = library->slice, row = op->offset / 4 / slice, at = op->offset / 4 % slice;
    value = cast(library, builder, value, l->VectorType(library->i32, op->dwords));
    if (op->dwords >= slice)
        for (unsigned r = 0; r < op->dwords / slice; r++)
            rows[row + r] = op->dwords == slice ? value
                                                : shuffle(library, builder, value,
                                                          l->GetPoison(l->TypeOf(value)), r * slice, slice);
    else
        rows[row] = insert_part(library, builder, rows[row], value, at, op->dwords);
}

static llvm_value emit_copy(struct body_library *library, const struct body *body, const struct op *op,
                            llvm_module into, llvm_builder builder, const llvm_value *arguments)
{
    const struct llvm *l = library->l;
    llvm_value copy = l->InstructionClone(op->instruction);
    for (unsigned i = 0; i < op->operands; i++) {
        const struct operand *o = &body->operands[op->operand + i];
        if (!o->constant)
            l->SetOperand(copy, i, o->index >= 0 ? library->values[o->index] : arguments[~o->index]);
    }
    if (op->callee) {
        size_t length;
        const char *name = l->GetValueName2(op->callee, &length);
        llvm_value callee = l->GetNamedFunction(into, name);
        if (!callee)
            callee = l->AddFunction(into, name, l->GlobalGetValueType(op->callee));
        l->SetOperand(copy, op->operands, callee);
    }
    l->InsertIntoBuilder(builder, copy);
    return copy;
}

static llvm_value operand_value(const struct body_library *library, const struct body *body,
                                const struct op *op, unsigned at)
{
    const struct operand *o = &body->operands[op->operand + at];
    return o->constant ? o->constant : library->values[o->index];
}

/* What a half is of. */
static llvm_value whole_of(const struct body_library *library, const struct op *op, llvm_value value)
{
    const struct llvm *l = library->l;
    if (op->pairing == PAIRING_HIGH && op->opcode == LLVM_TRUNC) /* it was shifted */
        value = l->GetOperand(value, 0);
    while (l->IsAInstruction(value) && l->GetInstructionOpcode(value) == LLVM_BITCAST)
        value = l->GetOperand(value, 0);
    return value;
}

static llvm_value emit_join(struct body_library *library, const struct body *body, const struct op *op,
                            llvm_module into, llvm_builder builder)
{
    const struct llvm *l = library->l;
    llvm_value low = operand_value(library, body, op, 0), high = operand_value(library, body, op, 1);
    llvm_value wide = pairs_find(&library->pairs, low, high);
    if (wide)
        return cast(library, builder, wide, l->TypeOf(op->instruction));
    wide = emit_copy(library, body, op, into, builder, NULL);
    if (l->IsAInstruction(low) && l->IsAInstruction(high)) { /* others are in more places than this one */
        pairs_note(&library->pairs, low, wide, 0);
        pairs_note(&library->pairs, high, wide, 1);
    }
    return wide;
}

static llvm_value emit_half(struct body_library *library, const struct body *body, const struct op *op,
                            llvm_module into, llvm_builder builder)
{
    const unsigned half = op->pairing == PAIRING_HIGH;
    llvm_value wide = whole_of(library, op, operand_value(library, body, op, 0));
    llvm_value row = pairs_half(&library->pairs, wide, half);
    if (!row) {
        row = emit_copy(library, body, op, into, builder, NULL);
        pairs_note(&library->pairs, row, wide, half);
    }
    return row;
}

/* A copy in a lane function. */
static llvm_value emit_lanes(struct body_library *library, const struct body *body, const struct op *op,
                             llvm_module into, llvm_builder builder)
{
    switch (op->pairing) {
    case PAIRING_JOINS:
        return emit_join(library, body, op, into, builder);
    case PAIRING_LOW:
    case PAIRING_HIGH:
        return emit_half(library, body, op, into, builder);
    default:
        return emit_copy(library, body, op, into, builder, NULL);
    }
}

static void reserve_values(struct body_library *library, size_t count)
{
    if (count <= library->values_capacity)
        return;
    free(library->values);
    library->values = malloc(count * sizeof(llvm_value));
    assert(library->values);
    library->values_capacity = count;
}

void body_emit(struct body_library *library, const struct body *body, llvm_module into, llvm_builder builder,
               struct body_rows *rows)
{
    reserve_values(library, body->count);
    for (size_t i = 0; i + 1 < body->count; i++) {
        const struct op *op = &body->ops[i];
        const struct operand *first = &body->operands[op->operand];
        if (op->opcode == LLVM_LOAD)
            library->values[i] = emit_load(library, builder, op, rows->row[op->parameter]);
        else if (op->opcode == LLVM_STORE)
            emit_store(library, builder, op,
                       first->constant ? first->constant : library->values[first->index],
                       rows->row[op->parameter]);
        else
            library->values[i] = emit_lanes(library, body, op, into, builder);
    }
}

struct pairs *body_pairs(struct body_library *library)
{
    return &library->pairs;
}

bool body_takes(const struct body *body, unsigned argument)
{
    for (size_t i = 0; i < body->count; i++) {
        const struct op *op = &body->ops[i];
        for (unsigned o = 0; o < op->operands; o++) {
            const struct operand *operand = &body->operands[op->operand + o];
            if (!operand->constant && operand->index == ~(int32_t)argument)
                return true;
        }
    }
    return false;
}

llvm_value body_emit_scalar(struct body_library *library, const struct body *body, llvm_module into,
                            llvm_builder builder, const llvm_value arguments[3], llvm_value *scc)
{
    reserve_values(library, body->count);
    for (size_t i = 0;; i++) {
        const struct op *op = &body->ops[i];
        const struct operand *first = &body->operands[op->operand];
        llvm_value operand = NULL;
        if (op->operands)
            operand = first->constant     ? first->constant
                      : first->index >= 0 ? library->values[first->index]
                                          : arguments[~first->index];
        if (op->opcode == LLVM_RET)
            return operand;
        if (op->opcode == LLVM_LOAD)
            library->values[i] = *scc;
        else if (op->opcode == LLVM_STORE)
            *scc = operand;
        else
            library->values[i] = emit_copy(library, body, op, into, builder, arguments);
    }
}
