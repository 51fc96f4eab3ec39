/* SPDX-License-Identifier: MIT */
/* The one function behind code_error.h. */
#include "hsa/code_error.h"

#include <stdarg.h>
#include <stdio.h>

int code_fail(struct code_error *err, int status, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
        /* Names come from the file: a terminal should not obey them. */
        for (char *p = err->text; *p; p++) {
            if ((unsigned char)*p < ' ' || *p == 0x7f)
                *p = '?';
        }
    }
    return status;
}
