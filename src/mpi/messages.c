/* SPDX-License-Identifier: MIT */
/* Calls that send, receive and look for messages; see client.h. */
#include <stdlib.h>

#include "base/must.h"
#include "mpi/client.h"

enum { SERIALS = 1 << 30 }; /* a message's number is a tag of Open MPI's */

int message_error(MPI_Comm comm, int error)
{
    PMPI_Comm_call_errhandler(comm, error);
    return error;
}

/* Whether it is to go as a message in simulated time.  What is not (to nobody, or wrong), Open MPI's own call
 * says. */
static const struct group_known *timed_group(MPI_Comm comm, int peer, int tag, int count, MPI_Datatype type)
{
    const struct group_known *g = comm == MPI_COMM_NULL ? NULL : group_of(comm);
    const bool good = g && type != MPI_DATATYPE_NULL && count >= 0 && tag >= MPI_ANY_TAG &&
                      (peer == MPI_ANY_SOURCE || (peer >= 0 && peer < g->ranks));
    return good ? g : NULL;
}

/* A communicator of which the order knows nothing. */
static bool is_unknown(MPI_Comm comm)
{
    return comm != MPI_COMM_NULL && !group_of(comm);
}

uint64_t message_bytes(int count, MPI_Datatype type)
{
    MPI_Count size;
    PMPI_Type_size_x(type, &size);
    return (uint64_t)size * (uint64_t)count;
}

uint64_t message_put(void *memory, int bytes, int to)
{
    static uint64_t *sent;
    MPI_Request real;
    int ranks;
    PMPI_Comm_size(client_wire(), &ranks);
    if (!sent)
        sent = must(calloc((size_t)ranks, sizeof(*sent)));
    const uint64_t serial = sent[to]++ % SERIALS;
    PMPI_Isend(memory, bytes, MPI_PACKED, to, (int)serial, client_wire(), &real);
    client_keep(real, memory);
    return serial;
}

static uint64_t put_on_wire(const void *from, int count, MPI_Datatype type, int to)
{
    int room, packed = 0;
    PMPI_Pack_size(count, type, client_wire(), &room);
    void *memory = must(malloc((size_t)room + 1));
    PMPI_Pack(from, count, type, memory, room, &packed, client_wire());
    return message_put(memory, packed, to);
}

int message_start(struct turn *turn, struct call *c)
{
    const struct group_known *g = c->group ? c->group : group_of(c->comm);
    const int world = c->peer == MPI_ANY_SOURCE ? ORDER_ANY : (int)g->rank[c->peer];
    struct order_op op = {.kind = ORDER_RECEIVE,
                          .context = g->context,
                          .request = c->number,
                          .peer = world,
                          .tag = c->tag == MPI_ANY_TAG ? ORDER_ANY : c->tag};
    if (c->kind == CALL_SEND) {
        op.kind = ORDER_SEND;
        op.flags = c->flags;
        op.serial = put_on_wire(c->from, c->count, c->type, world);
        op.bytes = message_bytes(c->count, c->type);
        turn->ps += client_overhead_ps();
    }
    client_tell(turn, op, NULL);
    c->active = true;
    return MPI_SUCCESS;
}

static struct call send_of(const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                           uint32_t flags)
{
    return (struct call){.kind = CALL_SEND,
                         .number = request_number(),
                         .from = from,
                         .count = count,
                         .type = type,
                         .peer = to,
                         .tag = tag,
                         .comm = comm,
                         .flags = flags};
}

static struct call receive_of(void *into, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm)
{
    return (struct call){.kind = CALL_RECEIVE,
                         .number = request_number(),
                         .into = into,
                         .count = count,
                         .type = type,
                         .peer = from,
                         .tag = tag,
                         .comm = comm};
}

static void await(struct turn *turn, const struct call *calls, uint32_t count, struct order_done *done)
{
    uint64_t number[2] = {0}; /* GCC cannot tell, where it sanitizes */
    for (uint32_t i = 0; i < count; i++)
        number[i] = calls[i].number;
    client_ask(turn, (struct order_op){.kind = ORDER_AWAIT, .flags = ORDER_BLOCKS, .words = count}, number,
               done);
    for (uint32_t i = 0; i < count; i++)
        request_free_number(calls[i].number);
}

/* ---- blocking ---- */

typedef int send_fn(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int isend_fn(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static int send(const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                uint32_t flags, send_fn *real, const char *name)
{
    struct turn turn;
    struct order_done done;
    int error = MPI_SUCCESS;
    if (!turn_begin(&turn))
        return real(from, count, type, to, tag, comm);
    if (to >= 0 && tag >= 0 && timed_group(comm, to, tag, count, type)) {
        struct call c = send_of(from, count, type, to, tag, comm, flags);
        message_start(&turn, &c);
        await(&turn, &c, 1, &done);
    } else {
        if (is_unknown(comm))
            turn_outside(&turn, name);
        error = real(from, count, type, to, tag, comm);
    }
    turn_end(&turn);
    return error;
}

#define SEND(Name, flags)                                                                                    \
    ENTRY int MPI_##Name(const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)     \
    {                                                                                                        \
        return send(from, count, type, to, tag, comm, flags, PMPI_##Name, "MPI_" #Name " between groups");   \
    }
SEND(Send, 0)
SEND(Bsend, ORDER_COPIED)
SEND(Rsend, 0)
SEND(Ssend, ORDER_MEETS)

ENTRY int MPI_Recv(void *into, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                   MPI_Status *status)
{
    struct turn turn;
    struct order_done done;
    int error;
    if (!turn_begin(&turn))
        return PMPI_Recv(into, count, type, from, tag, comm, status);
    if (timed_group(comm, from, tag, count, type)) {
        struct call c = receive_of(into, count, type, from, tag, comm);
        message_start(&turn, &c);
        await(&turn, &c, 1, &done);
        error = request_receive(&c, &done, status);
    } else {
        if (is_unknown(comm))
            turn_outside(&turn, "MPI_Recv between groups");
        error = PMPI_Recv(into, count, type, from, tag, comm, status);
    }
    turn_end(&turn);
    return error;
}

/* Both at once; who is nobody takes no part. */
static int send_receive(const struct call *calls, MPI_Status *status)
{
    struct turn turn;
    struct order_done done[2];
    struct call part[2];
    uint32_t count = 0;
    int error = MPI_SUCCESS;
    if (!turn_begin(&turn))
        return MPI_ERR_INTERN;
    if (status != MPI_STATUS_IGNORE) {
        request_empty(status);
        status->MPI_SOURCE = MPI_PROC_NULL;
    }
    for (unsigned i = 0; i < 2; i++) {
        if (calls[i].peer == MPI_PROC_NULL) {
            request_free_number(calls[i].number);
            continue;
        }
        part[count] = calls[i];
        message_start(&turn, &part[count++]);
    }
    if (count)
        await(&turn, part, count, done);
    for (uint32_t i = 0; i < count; i++)
        if (part[i].kind == CALL_RECEIVE)
            error = request_receive(&part[i], &done[i], status);
    turn_end(&turn);
    return error;
}

static bool may_be_nobody(MPI_Comm comm, int peer, int tag, int count, MPI_Datatype type)
{
    return timed_group(comm, peer == MPI_PROC_NULL ? 0 : peer, peer == MPI_PROC_NULL ? 0 : tag, count, type);
}

/* Not Open MPI's own call from within another, nor one that it is to say something about. */
static bool is_timed(void)
{
    struct turn turn;
    if (!turn_begin(&turn))
        return false;
    turn_end(&turn);
    return true;
}

ENTRY int MPI_Sendrecv(const void *from, int count, MPI_Datatype type, int to, int tag, void *into,
                       int into_count, MPI_Datatype into_type, int source, int into_tag, MPI_Comm comm,
                       MPI_Status *status)
{
    struct turn turn;
    if (is_timed() && to != MPI_ANY_SOURCE && tag >= 0 && may_be_nobody(comm, to, tag, count, type) &&
        may_be_nobody(comm, source, into_tag, into_count, into_type)) {
        const struct call calls[2] = {receive_of(into, into_count, into_type, source, into_tag, comm),
                                      send_of(from, count, type, to, tag, comm, 0)};
        return send_receive(calls, status);
    }
    const bool outside = is_unknown(comm) && turn_begin(&turn);
    if (outside)
        turn_outside(&turn, "MPI_Sendrecv between groups");
    const int error = PMPI_Sendrecv(from, count, type, to, tag, into, into_count, into_type, source, into_tag,
                                    comm, status);
    if (outside)
        turn_end(&turn);
    return error;
}

/* What goes is packed before what comes is received. */
ENTRY int MPI_Sendrecv_replace(void *memory, int count, MPI_Datatype type, int to, int tag, int source,
                               int into_tag, MPI_Comm comm, MPI_Status *status)
{
    if (is_timed() && to != MPI_ANY_SOURCE && tag >= 0 && may_be_nobody(comm, to, tag, count, type) &&
        may_be_nobody(comm, source, into_tag, count, type)) {
        const struct call calls[2] = {receive_of(memory, count, type, source, into_tag, comm),
                                      send_of(memory, count, type, to, tag, comm, 0)};
        return send_receive(calls, status);
    }
    return PMPI_Sendrecv_replace(memory, count, type, to, tag, source, into_tag, comm, status);
}

/* ---- not blocking, and persistent ---- */

/* Begun unless it is persistent. */
static int give(struct turn *turn, struct call *call, bool persistent, MPI_Request *request)
{
    call->persistent = persistent;
    const int error = persistent ? MPI_SUCCESS : message_start(turn, call);
    request_give(call, request);
    return error;
}

static int isend(const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                 MPI_Request *request, uint32_t flags, bool persistent, isend_fn *real)
{
    struct turn turn;
    int error;
    if (!turn_begin(&turn))
        return real(from, count, type, to, tag, comm, request);
    if (to >= 0 && tag >= 0 && timed_group(comm, to, tag, count, type)) {
        struct call c = send_of(from, count, type, to, tag, comm, flags);
        error = give(&turn, &c, persistent, request);
    } else {
        error = real(from, count, type, to, tag, comm, request);
    }
    turn_end(&turn);
    return error;
}

static int ireceive(void *into, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                    MPI_Request *request, bool persistent)
{
    struct turn turn;
    int error;
    if (turn_begin(&turn)) {
        if (timed_group(comm, from, tag, count, type)) {
            struct call c = receive_of(into, count, type, from, tag, comm);
            error = give(&turn, &c, persistent, request);
            turn_end(&turn);
            return error;
        }
        turn_end(&turn);
    }
    return persistent ? PMPI_Recv_init(into, count, type, from, tag, comm, request)
                      : PMPI_Irecv(into, count, type, from, tag, comm, request);
}

#define ISEND(Name, flags, persistent)                                                                       \
    ENTRY int MPI_##Name(const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,     \
                         MPI_Request *request)                                                               \
    {                                                                                                        \
        return isend(from, count, type, to, tag, comm, request, flags, persistent, PMPI_##Name);             \
    }
ISEND(Isend, 0, false)
ISEND(Ibsend, ORDER_COPIED, false)
ISEND(Irsend, 0, false)
ISEND(Issend, ORDER_MEETS, false)
ISEND(Send_init, 0, true)
ISEND(Bsend_init, ORDER_COPIED, true)
ISEND(Rsend_init, 0, true)
ISEND(Ssend_init, ORDER_MEETS, true)

ENTRY int MPI_Irecv(void *into, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                    MPI_Request *request)
{
    return ireceive(into, count, type, from, tag, comm, request, false);
}

ENTRY int MPI_Recv_init(void *into, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                        MPI_Request *request)
{
    return ireceive(into, count, type, from, tag, comm, request, true);
}

/* ---- looks for messages ---- */

/* A message that has been found by MPI_Mprobe(): the program has its address as an MPI_Message. */
struct found {
    struct call call;
};

static int probe(int from, int tag, MPI_Comm comm, MPI_Status *status, int *flag, MPI_Message *message)
{
    struct turn turn;
    struct order_done done;
    if (from == MPI_PROC_NULL || !turn_begin(&turn)) {
        if (message)
            return flag ? PMPI_Improbe(from, tag, comm, flag, message, status)
                        : PMPI_Mprobe(from, tag, comm, message, status);
        return flag ? PMPI_Iprobe(from, tag, comm, flag, status) : PMPI_Probe(from, tag, comm, status);
    }
    const struct group_known *g = timed_group(comm, from, tag, 0, MPI_BYTE);
    int error = MPI_SUCCESS;
    if (g) {
        struct found *found = message ? must(malloc(sizeof(*found))) : NULL;
        struct order_op op = {.kind = ORDER_PROBE,
                              .flags =
                                  (flag ? 0 : (uint32_t)ORDER_BLOCKS) | (found ? (uint32_t)ORDER_TAKE : 0),
                              .context = g->context,
                              .peer = from == MPI_ANY_SOURCE ? ORDER_ANY : (int)g->rank[from],
                              .tag = tag == MPI_ANY_TAG ? ORDER_ANY : tag};
        if (found)
            op.request = request_number();
        const bool there = client_ask(&turn, op, NULL, &done);
        if (flag)
            *flag = there;
        if (there && status != MPI_STATUS_IGNORE) {
            request_empty(status);
            status->MPI_SOURCE = group_rank_of(g, done.peer);
            status->MPI_TAG = done.tag;
            PMPI_Status_set_elements_x(status, MPI_BYTE, (MPI_Count)done.bytes);
        }
        if (there && found) {
            found->call =
                (struct call){.kind = CALL_RECEIVE, .number = op.request, .active = true, .comm = comm};
            *message = (MPI_Message)(void *)found;
        } else if (found) {
            request_free_number(op.request);
            free(found);
        }
    } else if (message) {
        error = flag ? PMPI_Improbe(from, tag, comm, flag, message, status)
                     : PMPI_Mprobe(from, tag, comm, message, status);
    } else {
        if (is_unknown(comm))
            turn_outside(&turn, "MPI_Probe between groups");
        error = flag ? PMPI_Iprobe(from, tag, comm, flag, status) : PMPI_Probe(from, tag, comm, status);
    }
    turn_end(&turn);
    return error;
}

ENTRY int MPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    return probe(from, tag, comm, status, NULL, NULL);
}

ENTRY int MPI_Iprobe(int from, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    return probe(from, tag, comm, status, flag, NULL);
}

ENTRY int MPI_Mprobe(int from, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    return probe(from, tag, comm, status, NULL, message);
}

ENTRY int MPI_Improbe(int from, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
    return probe(from, tag, comm, status, flag, message);
}

static struct call take_found(void *into, int count, MPI_Datatype type, MPI_Message *message)
{
    struct found *found = (struct found *)(void *)*message;
    struct call c = found->call;
    free(found);
    c.into = into;
    c.count = count;
    c.type = type;
    *message = MPI_MESSAGE_NULL;
    return c;
}

ENTRY int MPI_Mrecv(void *into, int count, MPI_Datatype type, MPI_Message *message, MPI_Status *status)
{
    struct turn turn;
    struct order_done done;
    if (*message == MPI_MESSAGE_NULL || *message == MPI_MESSAGE_NO_PROC || !turn_begin(&turn))
        return PMPI_Mrecv(into, count, type, message, status);
    const struct call c = take_found(into, count, type, message);
    await(&turn, &c, 1, &done);
    const int error = request_receive(&c, &done, status);
    turn_end(&turn);
    return error;
}

ENTRY int MPI_Imrecv(void *into, int count, MPI_Datatype type, MPI_Message *message, MPI_Request *request)
{
    struct turn turn;
    if (*message == MPI_MESSAGE_NULL || *message == MPI_MESSAGE_NO_PROC || !turn_begin(&turn))
        return PMPI_Imrecv(into, count, type, message, request);
    const struct call c = take_found(into, count, type, message);
    request_give(&c, request);
    turn_end(&turn);
    return MPI_SUCCESS;
}
