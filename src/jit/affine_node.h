/* SPDX-License-Identifier: MIT */
/* How values are made: of affine.c, which notes it, and affine_find.c, which emits it. */
#ifndef EHP_JIT_AFFINE_NODE_H
#define EHP_JIT_AFFINE_NODE_H

enum affine_kind {
    AFFINE_ROW,    /* of the wave, as it is before the stretch */
    AFFINE_PAIR,   /* two of them as 64 bits, of which `number` is the lower half: in loops */
    AFFINE_SCALAR, /* the same for all lanes */
    AFFINE_ADD,
    AFFINE_SUB,
    AFFINE_MUL,
    AFFINE_SHL,  /* by `number`; so are the next three */
    AFFINE_LSHR, /* which makes it the same for a slice's lanes; so does the next one */
    AFFINE_ASHR,
    AFFINE_FITS, /* in so many bits */
    AFFINE_AND,  /* b is the same for a slice's lanes */
    AFFINE_OR,   /* which is a sum */
    AFFINE_ZEXT, /* of 32 bits to 64 */
    AFFINE_SEXT,
    AFFINE_JOIN, /* a is the lower half, b the upper, which is the same for all lanes */
    AFFINE_HIGH, /* of 64 bits, the same for all lanes; b is the lower half that goes with it */
};

#endif
