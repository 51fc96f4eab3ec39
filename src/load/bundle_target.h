/* SPDX-License-Identifier: MIT */
/*
 * AMDGPU target ids: "gfx942:sramecc+:xnack-", what a code object was compiled
 * for and what an agent is, and whether the one runs on the other.
 *
 * Source: LLVM, "User Guide for AMDGPU Backend", sections "Target ID",
 * "Generic Processor Versioning" and "ELF Code Object".
 */
#ifndef EHP_LOAD_BUNDLE_TARGET_H
#define EHP_LOAD_BUNDLE_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A feature that an id does not mention is "any" for code and "not there" for an agent. */
enum target_feature { TARGET_OFF = -1, TARGET_ANY = 0, TARGET_ON = 1 };

struct target {
    char processor[32];
    signed char sramecc, xnack; /* enum target_feature */
    unsigned generic_version;   /* of a generic processor's code object; 0: not known, not generic */
};

/* The text's whole length must be a target id; false when it is not. */
bool target_parse(struct target *target, const char *text, size_t bytes);

/* From the e_flags of a code object v4 or later; false when the processor number is unknown. */
bool target_from_flags(struct target *target, uint32_t e_flags, bool v6);

/* Code for `code` runs on an agent that is `agent`. */
bool target_runs_on(const struct target *code, const struct target *agent);

/* A better match has a larger number: features that are stated beat "any", the processor itself beats a
 * generic. */
unsigned target_specificity(const struct target *code);

/* "gfx942:sramecc+:xnack-" */
void target_print(const struct target *target, char *text, size_t bytes);

#endif
