/* SPDX-License-Identifier: MIT */
/*
 * Calls that take no simulated time, and may wait for others: meanwhile nobody waits in simulated time for
 * what the rank does next.  It goes on when the others have got, which is as the host makes it; so that is
 * said once.
 */
#include "mpi/client.h"

#define OUTSIDE(what, Name, parameters, arguments)                                                           \
    ENTRY int MPI_##Name parameters                                                                          \
    {                                                                                                        \
        struct turn turn;                                                                                    \
        if (!turn_begin(&turn))                                                                              \
            return PMPI_##Name arguments;                                                                    \
        turn_outside(&turn, what);                                                                           \
        const int error = PMPI_##Name arguments;                                                             \
        turn_end(&turn);                                                                                     \
        return error;                                                                                        \
    }

#define GROUPS "a communicator between groups, or of other programs' ranks,"
OUTSIDE(GROUPS, Intercomm_create,
        (MPI_Comm comm, int leader, MPI_Comm bridge, int remote, int tag, MPI_Comm *made),
        (comm, leader, bridge, remote, tag, made))
OUTSIDE(GROUPS, Intercomm_merge, (MPI_Comm comm, int high, MPI_Comm *made), (comm, high, made))
OUTSIDE(GROUPS, Comm_spawn,
        (const char *command, char *argv[], int most, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made,
         int errors[]),
        (command, argv, most, info, root, comm, made, errors))
OUTSIDE(GROUPS, Comm_accept, (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made),
        (port, info, root, comm, made))
OUTSIDE(GROUPS, Comm_connect, (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made),
        (port, info, root, comm, made))
OUTSIDE(GROUPS, Comm_disconnect, (MPI_Comm * comm), (comm))

#define MADE "a communicator by MPI_Comm_create_group() or MPI_Comm_idup()"
OUTSIDE(MADE, Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made),
        (comm, group, tag, made))
OUTSIDE(MADE, Comm_idup, (MPI_Comm comm, MPI_Comm *made, MPI_Request *request), (comm, made, request))
