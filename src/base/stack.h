/* SPDX-License-Identifier: MIT */
/* Calls on a stack of their own. */
#ifndef EHP_BASE_STACK_H
#define EHP_BASE_STACK_H

#include <stdbool.h>

/*
 * Calls fn on a stack of 1 MiB, however small the one is that the thread is on: a program's signal stack may
 * have no more room than the signal needs, and libdw takes 160 KiB to find a source line.  Signals that
 * arrive meanwhile are taken on the new stack too.  False: the host has no memory, and fn was not called.
 */
bool stack_call(void (*fn)(void *argument), void *argument);

#endif
