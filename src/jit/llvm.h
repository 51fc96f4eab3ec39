/* SPDX-License-Identifier: MIT */
/*
 * The part of LLVM's C API that the compiler uses.  The library is opened when something is compiled for the
 * first time, and is not needed otherwise: EHP is built without LLVM's headers.
 *
 * Source: LLVM 22, llvm-c/Core.h, Target.h, TargetMachine.h, BitReader.h, Transforms/PassBuilder.h, Error.h.
 */
#ifndef EHP_JIT_LLVM_H
#define EHP_JIT_LLVM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct llvm_context *llvm_context;
typedef struct llvm_module *llvm_module;
typedef struct llvm_type *llvm_type;
typedef struct llvm_value *llvm_value;
typedef struct llvm_block *llvm_block;
typedef struct llvm_builder *llvm_builder;
typedef struct llvm_buffer *llvm_buffer;
typedef struct llvm_attribute *llvm_attribute;
typedef struct llvm_target *llvm_target;
typedef struct llvm_machine *llvm_machine;
typedef struct llvm_error *llvm_error;
typedef struct llvm_pass_options *llvm_pass_options;
typedef struct llvm_layout *llvm_layout;

/* LLVMOpcode of what bodies are made of. */
enum llvm_opcode {
    LLVM_RET = 1,
    LLVM_BR = 2,
    LLVM_SWITCH = 3,
    LLVM_INDIRECTBR = 4,
    LLVM_INVOKE = 5,
    LLVM_FREM = 19,
    LLVM_LSHR = 21,
    LLVM_ALLOCA = 26,
    LLVM_LOAD = 27,
    LLVM_STORE = 28,
    LLVM_GEP = 29,
    LLVM_TRUNC = 30,
    LLVM_BITCAST = 41,
    LLVM_PHI = 44,
    LLVM_CALL = 45,
    LLVM_SHUFFLE = 52,
    LLVM_FENCE = 55,
    LLVM_CMPXCHG = 56,
    LLVM_ATOMICRMW = 57,
    LLVM_LANDINGPAD = 59,
    LLVM_CALLBR = 67,
};

/* LLVMTypeKind */
enum llvm_type_kind { LLVM_DOUBLE = 3, LLVM_INTEGER = 8, LLVM_STRUCT = 10 };

/* LLVMIntPredicate */
enum llvm_predicate {
    LLVM_EQ = 32,
    LLVM_NE,
    LLVM_UGT,
    LLVM_UGE,
    LLVM_ULT,
    LLVM_ULE,
    LLVM_SGT,
    LLVM_SGE,
    LLVM_SLT,
    LLVM_SLE
};

enum { LLVM_UNORDERED = 8 }; /* of LLVMRealPredicate */

/* LLVMAtomicRMWBinOp */
enum llvm_atomic { LLVM_XCHG, LLVM_ADD, LLVM_SUB, LLVM_AND, LLVM_OR = 5, LLVM_XOR };

enum {
    LLVM_SEQUENTIALLY_CONSISTENT = 7,
    LLVM_AVAILABLE_EXTERNALLY = 1, /* linkage */
    LLVM_INTERNAL = 8,
    LLVM_FUNCTION_INDEX = -1,
    LLVM_CODEGEN_LESS = 1,
    LLVM_CODEGEN_DEFAULT = 2,
    LLVM_ASSEMBLY_FILE = 0,
    LLVM_OBJECT_FILE = 1,
    LLVM_RELOC_PIC = 2,
    LLVM_CODE_MODEL_SMALL = 3
};

/* result, name, arguments */
#define LLVM_CALLS(X)                                                                                        \
    X(void, GetVersion, (unsigned *major, unsigned *minor, unsigned *patch))                                 \
    X(void, DisposeMessage, (char *message))                                                                 \
    X(llvm_context, ContextCreate, (void))                                                                   \
    X(void, ContextDispose, (llvm_context))                                                                  \
    X(void, ContextSetDiagnosticHandler, (llvm_context, void (*)(void *, void *), void *))                   \
    X(llvm_module, ModuleCreateWithNameInContext, (const char *, llvm_context))                              \
    X(void, DisposeModule, (llvm_module))                                                                    \
    X(void, SetTarget, (llvm_module, const char *))                                                          \
    X(void, SetDataLayout, (llvm_module, const char *))                                                      \
    X(llvm_buffer, CreateMemoryBufferWithMemoryRange, (const char *, size_t, const char *, int))             \
    X(int, ParseBitcodeInContext2, (llvm_context, llvm_buffer, llvm_module *))                               \
    X(const char *, GetBufferStart, (llvm_buffer))                                                           \
    X(size_t, GetBufferSize, (llvm_buffer))                                                                  \
    X(void, DisposeMemoryBuffer, (llvm_buffer))                                                              \
    X(char *, PrintModuleToString, (llvm_module))                                                            \
    X(llvm_type, Int1TypeInContext, (llvm_context))                                                          \
    X(llvm_type, Int8TypeInContext, (llvm_context))                                                          \
    X(llvm_type, Int16TypeInContext, (llvm_context))                                                         \
    X(llvm_type, Int32TypeInContext, (llvm_context))                                                         \
    X(llvm_type, Int64TypeInContext, (llvm_context))                                                         \
    X(llvm_type, IntTypeInContext, (llvm_context, unsigned))                                                 \
    X(llvm_type, FloatTypeInContext, (llvm_context))                                                         \
    X(llvm_type, DoubleTypeInContext, (llvm_context))                                                        \
    X(llvm_type, VoidTypeInContext, (llvm_context))                                                          \
    X(llvm_type, PointerTypeInContext, (llvm_context, unsigned))                                             \
    X(llvm_type, VectorType, (llvm_type, unsigned))                                                          \
    X(llvm_type, FunctionType, (llvm_type, llvm_type *, unsigned, int))                                      \
    X(llvm_type, ArrayType2, (llvm_type, uint64_t))                                                          \
    X(llvm_type, TypeOf, (llvm_value))                                                                       \
    X(int, GetTypeKind, (llvm_type))                                                                         \
    X(unsigned, CountStructElementTypes, (llvm_type))                                                        \
    X(unsigned long long, SizeOfTypeInBits, (llvm_layout, llvm_type))                                        \
    X(llvm_layout, CreateTargetDataLayout, (llvm_machine))                                                   \
    X(llvm_layout, GetModuleDataLayout, (llvm_module))                                                       \
    X(void, SetModuleDataLayout, (llvm_module, llvm_layout))                                                 \
    X(void, DisposeTargetData, (llvm_layout))                                                                \
    X(llvm_value, ConstInt, (llvm_type, unsigned long long, int))                                            \
    X(llvm_value, ConstNull, (llvm_type))                                                                    \
    X(llvm_value, ConstAllOnes, (llvm_type))                                                                 \
    X(llvm_value, ConstVector, (llvm_value *, unsigned))                                                     \
    X(llvm_value, GetPoison, (llvm_type))                                                                    \
    X(llvm_value, GetAggregateElement, (llvm_value, unsigned))                                               \
    X(int, IsConstant, (llvm_value))                                                                         \
    X(llvm_value, AddFunction, (llvm_module, const char *, llvm_type))                                       \
    X(llvm_value, GetNamedFunction, (llvm_module, const char *))                                             \
    X(llvm_value, GetFirstFunction, (llvm_module))                                                           \
    X(llvm_value, GetNextFunction, (llvm_value))                                                             \
    X(const char *, GetValueName2, (llvm_value, size_t *))                                                   \
    X(llvm_type, GlobalGetValueType, (llvm_value))                                                           \
    X(llvm_value, GetParam, (llvm_value, unsigned))                                                          \
    X(unsigned, CountParams, (llvm_value))                                                                   \
    X(unsigned, CountBasicBlocks, (llvm_value))                                                              \
    X(llvm_block, GetFirstBasicBlock, (llvm_value))                                                          \
    X(llvm_block, GetNextBasicBlock, (llvm_block))                                                           \
    X(llvm_value, GetFirstInstruction, (llvm_block))                                                         \
    X(llvm_value, GetNextInstruction, (llvm_value))                                                          \
    X(int, GetInstructionOpcode, (llvm_value))                                                               \
    X(unsigned, GetNumOperands, (llvm_value))                                                                \
    X(llvm_value, GetOperand, (llvm_value, unsigned))                                                        \
    X(void, SetOperand, (llvm_value, unsigned, llvm_value))                                                  \
    X(llvm_value, GetCalledValue, (llvm_value))                                                              \
    X(llvm_value, IsAInlineAsm, (llvm_value))                                                                \
    X(const char *, GetInlineAsmAsmString, (llvm_value, size_t *))                                           \
    X(llvm_value, InstructionClone, (llvm_value))                                                            \
    X(void, InstructionEraseFromParent, (llvm_value))                                                        \
    X(void, InsertIntoBuilder, (llvm_builder, llvm_value))                                                   \
    X(unsigned, GetNumMaskElements, (llvm_value))                                                            \
    X(int, GetMaskValue, (llvm_value, unsigned))                                                             \
    X(unsigned, GetNumIndices, (llvm_value))                                                                 \
    X(llvm_type, GetGEPSourceElementType, (llvm_value))                                                      \
    X(unsigned long long, ConstIntGetZExtValue, (llvm_value))                                                \
    X(llvm_value, IsAConstantInt, (llvm_value))                                                              \
    X(llvm_value, IsAInstruction, (llvm_value))                                                              \
    X(llvm_value, IsAArgument, (llvm_value))                                                                 \
    X(llvm_value, IsAFunction, (llvm_value))                                                                 \
    X(llvm_value, IsAGlobalVariable, (llvm_value))                                                           \
    X(unsigned, GetIntrinsicID, (llvm_value))                                                                \
    X(unsigned, GetEnumAttributeKindForName, (const char *, size_t))                                         \
    X(llvm_attribute, CreateEnumAttribute, (llvm_context, unsigned, uint64_t))                               \
    X(llvm_attribute, CreateStringAttribute, (llvm_context, const char *, unsigned, const char *, unsigned)) \
    X(void, AddAttributeAtIndex, (llvm_value, unsigned, llvm_attribute))                                     \
    X(void, SetLinkage, (llvm_value, int))                                                                   \
    X(llvm_block, AppendBasicBlockInContext, (llvm_context, llvm_value, const char *))                       \
    X(llvm_builder, CreateBuilderInContext, (llvm_context))                                                  \
    X(void, DisposeBuilder, (llvm_builder))                                                                  \
    X(void, PositionBuilderAtEnd, (llvm_builder, llvm_block))                                                \
    X(void, PositionBuilderBefore, (llvm_builder, llvm_value))                                               \
    X(llvm_block, GetInsertBlock, (llvm_builder))                                                            \
    X(llvm_value, BuildRet, (llvm_builder, llvm_value))                                                      \
    X(llvm_value, BuildRetVoid, (llvm_builder))                                                              \
    X(llvm_value, BuildBr, (llvm_builder, llvm_block))                                                       \
    X(llvm_value, BuildCondBr, (llvm_builder, llvm_value, llvm_block, llvm_block))                           \
    X(llvm_value, BuildSwitch, (llvm_builder, llvm_value, llvm_block, unsigned))                             \
    X(void, AddCase, (llvm_value, llvm_value, llvm_block))                                                   \
    X(llvm_value, BuildUnreachable, (llvm_builder))                                                          \
    X(llvm_value, BuildAdd, (llvm_builder, llvm_value, llvm_value, const char *))                            \
    X(llvm_value, BuildSub, (llvm_builder, llvm_value, llvm_value, const char *))                            \
    X(llvm_value, BuildMul, (llvm_builder, llvm_value, llvm_value, const char *))                            \
    X(llvm_value, BuildAnd, (llvm_builder, llvm_value, llvm_value, const char *))                            \
    X(llvm_value, BuildOr, (llvm_builder, llvm_value, llvm_value, const char *))                             \
    X(llvm_value, BuildXor, (llvm_builder, llvm_value, llvm_value, const char *))                            \
    X(llvm_value, BuildNot, (llvm_builder, llvm_value, const char *))                                        \
    X(llvm_value, BuildShl, (llvm_builder, llvm_value, llvm_value, const char *))                            \
    X(llvm_value, BuildLShr, (llvm_builder, llvm_value, llvm_value, const char *))                           \
    X(llvm_value, BuildAShr, (llvm_builder, llvm_value, llvm_value, const char *))                           \
    X(llvm_value, BuildICmp, (llvm_builder, int, llvm_value, llvm_value, const char *))                      \
    X(llvm_value, BuildFCmp, (llvm_builder, int, llvm_value, llvm_value, const char *))                      \
    X(llvm_value, BuildSelect, (llvm_builder, llvm_value, llvm_value, llvm_value, const char *))             \
    X(llvm_value, BuildTrunc, (llvm_builder, llvm_value, llvm_type, const char *))                           \
    X(llvm_value, BuildZExt, (llvm_builder, llvm_value, llvm_type, const char *))                            \
    X(llvm_value, BuildSExt, (llvm_builder, llvm_value, llvm_type, const char *))                            \
    X(llvm_value, BuildIntToPtr, (llvm_builder, llvm_value, llvm_type, const char *))                        \
    X(llvm_value, BuildPtrToInt, (llvm_builder, llvm_value, llvm_type, const char *))                        \
    X(llvm_value, BuildBitCast, (llvm_builder, llvm_value, llvm_type, const char *))                         \
    X(llvm_value, BuildLoad2, (llvm_builder, llvm_type, llvm_value, const char *))                           \
    X(llvm_value, BuildStore, (llvm_builder, llvm_value, llvm_value))                                        \
    X(llvm_value, BuildAlloca, (llvm_builder, llvm_type, const char *))                                      \
    X(void, SetVolatile, (llvm_value, int))                                                                  \
    X(void, SetAlignment, (llvm_value, unsigned))                                                            \
    X(llvm_value, BuildGEP2, (llvm_builder, llvm_type, llvm_value, llvm_value *, unsigned, const char *))    \
    X(llvm_value, BuildCall2, (llvm_builder, llvm_type, llvm_value, llvm_value *, unsigned, const char *))   \
    X(llvm_value, BuildExtractValue, (llvm_builder, llvm_value, unsigned, const char *))                     \
    X(llvm_value, BuildInsertValue, (llvm_builder, llvm_value, llvm_value, unsigned, const char *))          \
    X(llvm_value, BuildAtomicRMW, (llvm_builder, int, llvm_value, llvm_value, int, int))                     \
    X(llvm_value, BuildAtomicCmpXchg, (llvm_builder, llvm_value, llvm_value, llvm_value, int, int, int))     \
    X(llvm_value, BuildPhi, (llvm_builder, llvm_type, const char *))                                         \
    X(llvm_value, GetIncomingValue, (llvm_value, unsigned))                                                  \
    X(void, ReplaceAllUsesWith, (llvm_value, llvm_value))                                                    \
    X(void, AddIncoming, (llvm_value, llvm_value *, llvm_block *, unsigned))                                 \
    X(llvm_value, BuildShuffleVector, (llvm_builder, llvm_value, llvm_value, llvm_value, const char *))      \
    X(llvm_value, BuildInsertElement, (llvm_builder, llvm_value, llvm_value, llvm_value, const char *))      \
    X(llvm_value, BuildExtractElement, (llvm_builder, llvm_value, llvm_value, const char *))                 \
    X(unsigned, LookupIntrinsicID, (const char *, size_t))                                                   \
    X(llvm_value, GetIntrinsicDeclaration, (llvm_module, unsigned, llvm_type *, size_t))                     \
    X(unsigned, GetMDKindIDInContext, (llvm_context, const char *, unsigned))                                \
    X(void, SetMetadata, (llvm_value, unsigned, llvm_value))                                                 \
    X(llvm_value, GetMetadata, (llvm_value, unsigned))                                                       \
    X(llvm_value, MDStringInContext, (llvm_context, const char *, unsigned))                                 \
    X(llvm_value, MDNodeInContext, (llvm_context, llvm_value *, unsigned))                                   \
    X(int, VerifyModule, (llvm_module, int, char **))                                                        \
    X(void, InitializeX86TargetInfo, (void))                                                                 \
    X(void, InitializeX86Target, (void))                                                                     \
    X(void, InitializeX86TargetMC, (void))                                                                   \
    X(void, InitializeX86AsmParser, (void))                                                                  \
    X(void, InitializeX86AsmPrinter, (void))                                                                 \
    X(int, GetTargetFromTriple, (const char *, llvm_target *, char **))                                      \
    X(llvm_machine, CreateTargetMachine,                                                                     \
      (llvm_target, const char *, const char *, const char *, int, int, int))                                \
    X(void, DisposeTargetMachine, (llvm_machine))                                                            \
    X(int, TargetMachineEmitToMemoryBuffer, (llvm_machine, llvm_module, int, char **, llvm_buffer *))        \
    X(llvm_pass_options, CreatePassBuilderOptions, (void))                                                   \
    X(void, DisposePassBuilderOptions, (llvm_pass_options))                                                  \
    X(llvm_error, RunPasses, (llvm_module, const char *, llvm_machine, llvm_pass_options))                   \
    X(int, ParseIRInContext, (llvm_context, llvm_buffer, llvm_module *, char **))                            \
    X(int, CreateMemoryBufferWithContentsOfFile, (const char *, llvm_buffer *, char **))                     \
    X(void, SetTargetMachineAsmVerbosity, (llvm_machine, int))                                               \
    X(const char *, GetTarget, (llvm_module))                                                                \
    X(int, IsDeclaration, (llvm_value))                                                                      \
    X(int, GetOrdering, (llvm_value))                                                                        \
    X(int, GetVolatile, (llvm_value))                                                                        \
    X(unsigned, CountIncoming, (llvm_value))                                                                 \
    X(llvm_type, StructTypeInContext, (llvm_context, llvm_type *, unsigned, int))                            \
    X(llvm_value, ConstStructInContext, (llvm_context, llvm_value *, unsigned, int))                         \
    X(llvm_value, ConstArray2, (llvm_type, llvm_value *, uint64_t))                                          \
    X(llvm_value, ConstReal, (llvm_type, double))                                                            \
    X(llvm_value, AddGlobal, (llvm_module, llvm_type, const char *))                                         \
    X(void, SetInitializer, (llvm_value, llvm_value))                                                        \
    X(void, SetGlobalConstant, (llvm_value, int))                                                            \
    X(unsigned long long, StoreSizeOfType, (llvm_layout, llvm_type))                                         \
    X(llvm_value, BasicBlockAsValue, (llvm_block))                                                           \
    X(void, SetValueName2, (llvm_value, const char *, size_t))                                               \
    X(char *, GetErrorMessage, (llvm_error))                                                                 \
    X(void, DisposeErrorMessage, (char *))

struct llvm {
    void *handle;
    unsigned major, minor, patch;
#define X(result, name, arguments) result(*name) arguments;
    LLVM_CALLS(X)
#undef X
};

/* Maps the library, for good; its handle, or NULL. */
void *llvm_load(void);

/*
 * Opens the library of the major version that the bitcode was made with, and initialises its X86 back end.
 * False with the reason in `why` when there is none.  Not thread-safe; what it fills in is read-only.
 */
bool llvm_open(struct llvm *l, char *why, size_t size);

/* Whether the library is there, without opening it for good: its version, or the reason why not. */
bool llvm_probe(char *text, size_t size);

#endif
