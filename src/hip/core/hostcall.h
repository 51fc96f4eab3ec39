/* SPDX-License-Identifier: MIT */
/*
 * Host calls: the services that device code asks of the host while it runs,
 * printf, assert, malloc and free among them.
 */
#ifndef HIP_HOSTCALL_H
#define HIP_HOSTCALL_H

#include "hip/core/runtime.h"

/* Values of kernel arguments; made, and the serving thread started, on first use.  NULL when that fails. */
void *hip_hostcall_buffer(struct hip_device *device);
void *hip_hostcall_heap(struct hip_device *device);

/* After synchronising: what kernels have printed is in stdout's file. */
void hip_hostcall_flush(struct hip_device *device);
void hip_hostcall_reset(struct hip_device *device);

/* printf.c: formats a device printf: a control word, the format and the arguments, strings inline.  Returns
 * the number of characters printed, or -1. */
int hip_printf_message(const uint64_t *words, size_t count, struct hip_device *device);
/* Formats a message without its control word; when `format` is not NULL, without the format too. */
int hip_printf_print(bool to_stderr, const char *format, const uint64_t *words, size_t count,
                     struct hip_device *device);

/* printf_buffer.c: the value of the kernel argument, made on first use, or NULL; the stream is locked. */
void *hip_printf_buffer(struct ihipStream_t *stream);
/* Prints what the kernels of a stream have put there: a host function of that stream. */
void hip_printf_drain(void *stream);

#endif
