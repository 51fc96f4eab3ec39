/* SPDX-License-Identifier: MIT */
/* Copies of bytes that others look at meanwhile. */
#ifndef EHP_BASE_COPY_ONCE_H
#define EHP_BASE_COPY_ONCE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Stores each byte once, and what is aligned in one piece.  memcpy() need not: of a length that is not known
 * beforehand glibc's copies beginning and end, which overlap; four bytes it stores twice.  Who takes them in
 * between, and writes something else there, finds them again.
 */
static inline void copy_once(void *to, const void *from, size_t bytes)
{
    uint8_t *t = to;
    const uint8_t *f = from;
    while (bytes) {
        size_t piece = 16 | ((uintptr_t)t & 15);
        piece &= ~piece + 1;
        while (piece > bytes)
            piece /= 2;
        switch (piece) {
        case 16:
            memcpy(t, f, 16);
            break;
        case 8:
            memcpy(t, f, 8);
            break;
        case 4:
            memcpy(t, f, 4);
            break;
        case 2:
            memcpy(t, f, 2);
            break;
        default:
            *t = *f;
        }
        t += piece;
        f += piece;
        bytes -= piece;
        atomic_signal_fence(memory_order_seq_cst); /* or compilers find a memcpy() in this */
    }
}

#endif
