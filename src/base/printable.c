/* SPDX-License-Identifier: MIT */
/* What comes from files, made fit for a terminal. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "ehp/ehp.h"

/* Bytes of the character that begins here: 0 when a terminal might obey it, or it is not UTF-8. */
static unsigned character(const unsigned char *p)
{
    static const uint32_t least[5] = {0, 0, 0xa0, 0x800, 0x10000}; /* U+0080 to U+009F are controls as well */
    const unsigned bytes = p[0] < 0x80       ? 1
                           : p[0] >> 5 == 6  ? 2
                           : p[0] >> 4 == 14 ? 3
                           : p[0] >> 3 == 30 ? 4
                                             : 0;
    uint32_t code = bytes > 1 ? p[0] & (0x7fU >> bytes) : p[0];
    if (bytes == 1)
        return (p[0] >= ' ' && p[0] != 0x7f) || p[0] == '\t';
    for (unsigned i = 1; i < bytes; i++) {
        if (p[i] >> 6 != 2)
            return 0;
        code = code << 6 | (p[i] & 0x3f);
    }
    const bool turns = (code >= 0x200e && code <= 0x200f) || (code >= 0x202a && code <= 0x202e) ||
                       (code >= 0x2066 && code <= 0x2069); /* the direction of what follows */
    return bytes && code >= least[bytes] && code <= 0x10ffff && !turns ? bytes : 0;
}

const char *ehp_printable(const char *text, char *room, size_t bytes)
{
    const unsigned char *from = (const unsigned char *)text;
    size_t used = 0;
    unsigned n;
    while ((n = character(from)))
        from += n;
    if (!*from || !bytes)
        return *from ? "" : text;
    for (from = (const unsigned char *)text; *from; from += n ? n : 1) {
        n = character(from);
        if (used + (n ? n : 4) >= bytes)
            break;
        if (n)
            memcpy(room + used, from, n);
        else
            snprintf(room + used, 5, "\\x%02x", *from);
        used += n ? n : 4;
    }
    room[used] = '\0';
    return room;
}
