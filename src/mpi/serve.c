/* SPDX-License-Identifier: MIT */
/* See serve.h. */
#include "mpi/serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/must.h"
#include "base/thread.h"
#include "mpi/network.h"
#include "mpi/order.h"

enum { PATIENCE_MS = 30000, READ_BYTES = 65536 };

struct peer {
    int socket;
    unsigned char *buffer; /* what has come and is not yet a whole call */
    size_t bytes, room;
};

struct serve {
    struct order *order;
    unsigned ranks, left;
    uint64_t token[2];
    int listener;
    struct peer *peer;
    struct pollfd *poll;
    bool said_slow, said_stuck;
};

static bool write_all(int socket, const void *data, size_t bytes)
{
    const unsigned char *p = data;
    while (bytes) {
        const ssize_t n = send(socket, p, bytes, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR)
            return false;
        p += n > 0 ? n : 0;
        bytes -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool read_all(int socket, void *data, size_t bytes)
{
    unsigned char *p = data;
    while (bytes) {
        const ssize_t n = recv(socket, p, bytes, 0);
        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        p += n > 0 ? n : 0;
        bytes -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* Whose process has ended is not there to read it. */
static void answer(void *user, unsigned rank, const struct order_answer *a, const struct order_done *done)
{
    const struct serve *s = user;
    const size_t bytes = sizeof(*a) + a->count * sizeof(*done);
    unsigned char *text = must(malloc(bytes));
    memcpy(text, a, sizeof(*a));
    if (a->count)
        memcpy(text + sizeof(*a), done, a->count * sizeof(*done));
    if (s->peer[rank].socket >= 0)
        write_all(s->peer[rank].socket, text, bytes);
    free(text);
}

static void leave(struct serve *s, unsigned rank)
{
    const struct order_op bye = {.kind = ORDER_BYE};
    close(s->peer[rank].socket);
    s->peer[rank].socket = s->poll[rank].fd = -1;
    s->left++;
    order_take(s->order, rank, &bye, NULL);
}

static void take(struct serve *s, unsigned rank)
{
    struct peer *p = &s->peer[rank];
    size_t at = 0;
    for (struct order_op op; p->bytes - at >= sizeof(op);) {
        memcpy(&op, p->buffer + at, sizeof(op));
        const size_t words = op.words * sizeof(uint64_t);
        if (p->bytes - at - sizeof(op) < words)
            break;
        uint64_t *word = must(malloc(words + 1));
        memcpy(word, p->buffer + at + sizeof(op), words);
        at += sizeof(op) + words;
        order_take(s->order, rank, &op, word);
        free(word);
    }
    p->bytes -= at;
    memmove(p->buffer, p->buffer + at, p->bytes);
}

static void listen_to(struct serve *s, unsigned rank)
{
    struct peer *p = &s->peer[rank];
    if (p->room - p->bytes < READ_BYTES) {
        p->room = 2 * p->room + READ_BYTES;
        p->buffer = must(realloc(p->buffer, p->room));
    }
    const ssize_t n = recv(p->socket, p->buffer + p->bytes, p->room - p->bytes, 0);
    if (n < 0 && errno == EINTR)
        return;
    if (n <= 0) {
        leave(s, rank);
        return;
    }
    p->bytes += (size_t)n;
    take(s, rank);
}

static bool meet(struct serve *s)
{
    for (unsigned come = 0; come < s->ranks;) {
        struct serve_hello hello;
        const int one = 1, socket = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);
        if (socket < 0 && errno == EINTR)
            continue;
        if (socket < 0)
            return false;
        const struct timeval patience = {.tv_sec = PATIENCE_MS / 1000}, forever = {0};
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)); /* a stranger's */
        if (!read_all(socket, &hello, sizeof(hello)) ||
            memcmp(hello.token, s->token, sizeof(s->token)) != 0 || hello.rank >= s->ranks ||
            s->peer[hello.rank].socket >= 0) {
            close(socket);
            continue;
        }
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &forever, sizeof(forever));
        setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
        s->peer[hello.rank].socket = socket;
        s->poll[hello.rank] = (struct pollfd){.fd = socket, .events = POLLIN};
        come++;
    }
    return true;
}

/* What a user would else not know of a program that does not go on. */
static void say_why(struct serve *s)
{
    uint64_t ps;
    const unsigned slowest = order_slowest(s->order, &ps);
    if (slowest < s->ranks && !s->said_slow) {
        s->said_slow = true;
        fprintf(stderr,
                "ehp: others may wait for rank %u, whose last MPI call was at %.3f us of simulated time; it "
                "computes, or waits for them in a way that is not MPI's\n",
                slowest, (double)ps / 1e6);
    }
}

static void *serve(void *argument)
{
    struct serve *s = argument;
    bool good = meet(s);
    close(s->listener);
    while (good && s->left < s->ranks) {
        const int ready = poll(s->poll, s->ranks, PATIENCE_MS);
        if (ready == 0)
            say_why(s);
        for (unsigned i = 0; i < s->ranks && ready > 0; i++)
            if (s->poll[i].fd >= 0 && s->poll[i].revents)
                listen_to(s, i);
        if (order_stuck(s->order) && !s->said_stuck) {
            s->said_stuck = true;
            fprintf(stderr, "ehp: all ranks wait for messages that nobody sends\n");
        }
    }
    for (unsigned i = 0; i < s->ranks; i++) {
        if (s->peer[i].socket >= 0)
            close(s->peer[i].socket);
        free(s->peer[i].buffer);
    }
    order_close(s->order);
    free(s->peer);
    free(s->poll);
    free(s);
    return NULL;
}

bool serve_start(const struct network_numbers *numbers, unsigned ranks, bool here, const uint64_t token[2],
                 uint16_t *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(here ? INADDR_LOOPBACK : INADDR_ANY)};
    socklen_t length = sizeof(address);
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    pthread_t thread;
    if (listener < 0)
        return false;
    if (bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 || listen(listener, 128) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &length) != 0) {
        close(listener);
        return false;
    }
    *port = ntohs(address.sin_port);
    struct serve *s = must(calloc(1, sizeof(*s)));
    *s = (struct serve){.ranks = ranks, .token = {token[0], token[1]}, .listener = listener};
    s->order = order_open(numbers, ranks, answer, s);
    s->peer = must(calloc(ranks, sizeof(*s->peer)));
    s->poll = must(calloc(ranks, sizeof(*s->poll)));
    for (unsigned i = 0; i < ranks; i++)
        s->peer[i].socket = s->poll[i].fd = -1;
    errno = thread_start(&thread, serve, s);
    if (errno) /* the process ends with this */
        return false;
    pthread_detach(thread);
    return true;
}
