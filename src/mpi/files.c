/* SPDX-License-Identifier: MIT */
/*
 * MPI-IO.  A call of all ranks that have a file open is a barrier of theirs, in which Open MPI moves the
 * bytes when all have come: the disk takes no simulated time, which is said once.  Calls of one rank are Open
 * MPI's own.
 */
#include <stdlib.h>

#include "base/must.h"
#include "mpi/client.h"

#define DISK "the disk of MPI-IO (MPI_File_...)"

struct file {
    struct file *next;
    MPI_File handle;
    MPI_Comm comm; /* of those that have it open */
};

static struct file *files;

static struct file **place_of(MPI_File handle)
{
    struct file **at = &files;
    while (*at && (*at)->handle != handle)
        at = &(*at)->next;
    return at;
}

/* Until bytes may be moved; 0: it is no file that is known of. */
static uint64_t come(struct turn *turn, MPI_Comm comm)
{
    if (comm != MPI_COMM_NULL && group_of(comm)) {
        client_say(DISK);
        return collective_come(turn, comm);
    }
    turn_outside(turn, "MPI-IO between groups");
    return 0;
}

static MPI_Comm comm_of(MPI_File handle)
{
    const struct file *f = *place_of(handle);
    return f ? f->comm : MPI_COMM_NULL;
}

static void add(MPI_File handle, MPI_Comm comm)
{
    struct file *f = must(malloc(sizeof(*f)));
    *f = (struct file){.next = files, .handle = handle, .comm = comm};
    files = f;
}

ENTRY int MPI_File_open(MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *file)
{
    struct turn turn;
    MPI_Comm own = MPI_COMM_NULL;
    if (!turn_begin(&turn))
        return PMPI_File_open(comm, name, mode, info, file);
    const uint64_t number = come(&turn, comm);
    if (number)
        own = group_copy(comm);
    const int error = PMPI_File_open(comm, name, mode, info, file);
    if (own != MPI_COMM_NULL && error == MPI_SUCCESS)
        add(*file, own);
    else if (own != MPI_COMM_NULL)
        PMPI_Comm_free(&own);
    collective_leave(&turn, number);
    turn_end(&turn);
    return error;
}

ENTRY int MPI_File_close(MPI_File *file)
{
    struct turn turn;
    if (!turn_begin(&turn))
        return PMPI_File_close(file);
    struct file **at = place_of(*file), *f = *at;
    const uint64_t number = come(&turn, comm_of(*file));
    const int error = PMPI_File_close(file);
    if (f && error == MPI_SUCCESS) {
        *at = f->next;
        PMPI_Comm_free(&f->comm);
        free(f);
    }
    collective_leave(&turn, number);
    turn_end(&turn);
    return error;
}

#define ALL(Name, parameters, arguments)                                                                     \
    ENTRY int MPI_File_##Name parameters                                                                     \
    {                                                                                                        \
        struct turn turn;                                                                                    \
        if (!turn_begin(&turn))                                                                              \
            return PMPI_File_##Name arguments;                                                               \
        const uint64_t number = come(&turn, comm_of(file));                                                  \
        const int error = PMPI_File_##Name arguments;                                                        \
        collective_leave(&turn, number);                                                                     \
        turn_end(&turn);                                                                                     \
        return error;                                                                                        \
    }

ALL(sync, (MPI_File file), (file))
ALL(set_size, (MPI_File file, MPI_Offset size), (file, size))
ALL(preallocate, (MPI_File file, MPI_Offset size), (file, size))
ALL(set_info, (MPI_File file, MPI_Info info), (file, info))
ALL(set_atomicity, (MPI_File file, int on), (file, on))
ALL(seek_shared, (MPI_File file, MPI_Offset at, int whence), (file, at, whence))
ALL(set_view,
    (MPI_File file, MPI_Offset at, MPI_Datatype element, MPI_Datatype type, const char *form, MPI_Info info),
    (file, at, element, type, form, info))

#define READS(Name)                                                                                          \
    ALL(Name, (MPI_File file, void *data, int count, MPI_Datatype type, MPI_Status *status),                 \
        (file, data, count, type, status))                                                                   \
    ALL(Name##_begin, (MPI_File file, void *data, int count, MPI_Datatype type), (file, data, count, type))  \
    ALL(Name##_end, (MPI_File file, void *data, MPI_Status *status), (file, data, status))
#define WRITES(Name)                                                                                         \
    ALL(Name, (MPI_File file, const void *data, int count, MPI_Datatype type, MPI_Status *status),           \
        (file, data, count, type, status))                                                                   \
    ALL(Name##_begin, (MPI_File file, const void *data, int count, MPI_Datatype type),                       \
        (file, data, count, type))                                                                           \
    ALL(Name##_end, (MPI_File file, const void *data, MPI_Status *status), (file, data, status))
READS(read_all)
READS(read_ordered)
WRITES(write_all)
WRITES(write_ordered)
ALL(read_at_all, (MPI_File file, MPI_Offset at, void *data, int count, MPI_Datatype type, MPI_Status *status),
    (file, at, data, count, type, status))
ALL(read_at_all_begin, (MPI_File file, MPI_Offset at, void *data, int count, MPI_Datatype type),
    (file, at, data, count, type))
ALL(read_at_all_end, (MPI_File file, void *data, MPI_Status *status), (file, data, status))
ALL(write_at_all,
    (MPI_File file, MPI_Offset at, const void *data, int count, MPI_Datatype type, MPI_Status *status),
    (file, at, data, count, type, status))
ALL(write_at_all_begin, (MPI_File file, MPI_Offset at, const void *data, int count, MPI_Datatype type),
    (file, at, data, count, type))
ALL(write_at_all_end, (MPI_File file, const void *data, MPI_Status *status), (file, data, status))
