/* SPDX-License-Identifier: MIT */
/* For programs that die of faults on purpose: as any program does, also under the address sanitizer. */
#ifndef TESTS_OWN_DEATH_H
#define TESTS_OWN_DEATH_H

#ifdef __SANITIZE_ADDRESS__
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "handle_segv=0:handle_sigbus=0";
}
#endif

#endif
