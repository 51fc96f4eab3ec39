/* SPDX-License-Identifier: MIT */
/*
 * Why a code object was refused: one line for a person.
 *
 * Every reader of a file format in this room takes a struct code_error and
 * returns an enum ehp_status; code_fail() fills the one and is the other:
 *
 *   return code_fail(err, EHP_ERR_BAD_IMAGE, "bundle entry %u ends at %zu, after the end", i, end);
 */
#ifndef EHP_LOAD_CODE_ERROR_H
#define EHP_LOAD_CODE_ERROR_H

struct code_error {
    char text[512];
};

/* Formats the text (err may be NULL) and returns `status`. */
int code_fail(struct code_error *err, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
