/* SPDX-License-Identifier: MIT */
/* The one function behind code_error.h. */
#include "load/code_error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ehp/ehp.h"

int code_fail(struct code_error *err, int status, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
        /* Names come from the file: a terminal should not obey them. */
        char room[sizeof err->text];
        const char *text = ehp_printable(err->text, room, sizeof room);
        if (text == room)
            memcpy(err->text, room, sizeof room);
    }
    return status;
}
