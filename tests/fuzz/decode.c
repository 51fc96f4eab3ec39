/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer target: any bytes through the decoder and the printer.  Looks for
 * crashes and reads out of bounds, and holds a decoded instruction to what
 * everybody relies on.
 */
#include "isa/isa.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
    if (!ok)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t count = size / 4;
    /* Exactly as large as said, so that the sanitizer sees a read beyond. */
    uint32_t *words = malloc(count ? count * 4 : 1);
    if (count)
        memcpy(words, data, count * 4);
    for (size_t i = 0; i < count;) {
        struct isa_inst inst;
        if (!isa_decode(&isa_gfx942, words + i, count - i, &inst)) {
            i++;
            continue;
        }
        require(inst.size <= (count - i) * 4 && inst.size >= 4 && inst.size <= 12);
        require(inst.op != ISA_OP_INVALID && isa_gfx942.rows[inst.row].op == inst.op);
        for (unsigned s = 0; s < 4; s++) {
            const struct isa_operand *o = &inst.src[s];
            require(o->kind != ISA_SGPR || o->reg < 128);
            require((o->kind != ISA_VGPR && o->kind != ISA_AGPR) || inst.reserved ||
                    o->reg + o->dwords <= 256);
        }
        char small[16], text[256];
        size_t full = isa_print(&isa_gfx942, &inst, i * 4, text, sizeof text);
        require(full == strlen(text) && full > 0 && full < sizeof text - 1);
        size_t cut = isa_print(&isa_gfx942, &inst, i * 4, small, sizeof small);
        require(cut == strlen(small) && !strncmp(small, text, cut));
        i += inst.size / 4;
    }
    free(words);
    return 0;
}
