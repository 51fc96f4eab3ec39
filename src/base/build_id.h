/* SPDX-License-Identifier: MIT */
/* Which build of the library this is: the linker's hash of its contents (NT_GNU_BUILD_ID). */
#ifndef EHP_BASE_BUILD_ID_H
#define EHP_BASE_BUILD_ID_H

enum { BUILD_ID_TEXT = 65 };

/* As hexadecimal digits; "" when it was linked without. */
void build_id(char text[BUILD_ID_TEXT]);

#endif
