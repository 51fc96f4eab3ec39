/* SPDX-License-Identifier: MIT */
/*
 * Memory and events between processes.  What is shared is a file in memory;
 * its handle says which descriptor of which process it is, and another process
 * opens it through /proc, for as long as the first one lives and keeps it.
 */
#ifndef HIP_IPC_H
#define HIP_IPC_H

#include "hip/memory/memory.h"

struct ihipEvent_t;
struct ihipStream_t;

/* hipIpcMemHandle_t and hipMemPoolPtrExportData: one cannot be opened as the other. */
enum hip_ipc_kind { HIP_IPC_MEMORY = 0x65687031, HIP_IPC_POOLED = 0x65687033 };

/* A handle of 64 bytes that other processes can open the allocation with, at `address` in it. */
hipError_t hip_ipc_export(struct hip_memory *memory, const void *address, enum hip_ipc_kind kind,
                          void *handle);
hipError_t hip_ipc_import(struct hip_device *device, const void *handle, enum hip_ipc_kind kind,
                          void **address);
/* Takes opened memory out of this process again. */
hipError_t hip_ipc_close(struct hip_memory *memory);

/* An interprocess event's state, in memory that all its processes see. */
struct hip_ipc_event;

struct hip_ipc_event *hip_ipc_event_new(void);
void hip_ipc_event_unref(struct hip_ipc_event *event);
/* Whether all that has been recorded, in any process, is reached. */
bool hip_ipc_event_done(const struct hip_ipc_event *event);
hipError_t hip_ipc_event_wait(struct hip_device *device, const struct hip_ipc_event *event);
hipError_t hip_ipc_event_record(struct ihipStream_t *stream, struct hip_ipc_event *event);
/* The stream's next operation waits for it. */
hipError_t hip_ipc_event_follow(struct ihipStream_t *stream, struct hip_ipc_event *event);

#endif
