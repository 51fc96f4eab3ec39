/* SPDX-License-Identifier: MIT */
/* See client.h. */
#include "mpi/client.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/must.h"
#include "ehp/ehp.h"
#include "mpi/network.h"
#include "mpi/schedule.h"
#include "mpi/serve.h"
#include "mpi/window.h"

#define CALL_PS UINT64_C(25000) /* guess: a clock read by the vDSO, as in hip/host/clocks.c */
enum { LOOK_MS = 1 };           /* between looks at what is on its way, while an answer is waited for */

static struct {
    bool on;
    int socket, rank, ranks;
    struct network_numbers numbers;
    MPI_Comm wire, back;
    uint64_t ps;      /* at the end of the last call */
    bool has_machine; /* whose time it is from then on */
    bool still;       /* and which stands still */
    MPI_Request *kept;
    void **memory;
    int keeps, room, busy;
} client = {.socket = -1};

static __thread bool inside;

/* What the program has, or has loaded; the simulator does not come with this library. */
static void *find(const char *name)
{
    return dlsym(RTLD_DEFAULT, name);
}

/* NULL: the program has not used the device yet, and its time is none but its calls'. */
static ehp_machine *machine(void)
{
    static ehp_machine *(*get)(void);
    if (!get)
        get = (ehp_machine * (*)(void)) find("ehpMachineIfOpen");
    return get ? get() : NULL;
}

#define EHP(name)                                                                                            \
    ({                                                                                                       \
        static __typeof__(name) *real;                                                                       \
        if (!real)                                                                                           \
            real = (__typeof__(name) *)find(#name);                                                          \
        real;                                                                                                \
    })

void ehp_cpu_pause(bool on); /* of hip/host */

static uint64_t clock_now(void)
{
    ehp_machine *m = machine();
    if (!m)
        return client.ps;
    const uint64_t ps = EHP(ehp_host_ps)(m); /* a thread on a core is away from it now */
    if (client.has_machine)
        return ps > client.ps ? ps : client.ps;
    client.has_machine = true; /* it began at 0 in the meantime */
    return client.ps + ps;
}

/* Time stands still, and code of the program's that MPI calls (an operation's, an attribute's) takes none. */
static void stand_still(bool on)
{
    void (*pause)(bool) = EHP(ehp_cpu_pause);
    ehp_machine *m = machine();
    if (m && on != client.still) { /* it may have come to be in between */
        EHP(ehp_host_outside)(m, on);
        client.still = on;
    }
    if (pause)
        pause(on);
}

/* ---- the wire ---- */

static void lost(void)
{
    fprintf(stderr, "ehp: rank %d: rank 0, which keeps simulated time, has ended\n", client.rank);
    abort();
}

static void write_all(const void *data, size_t bytes)
{
    const unsigned char *p = data;
    while (bytes) {
        const ssize_t n = send(client.socket, p, bytes, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR)
            lost();
        p += n > 0 ? n : 0;
        bytes -= n > 0 ? (size_t)n : 0;
    }
}

static void read_all(void *data, size_t bytes)
{
    unsigned char *p = data;
    while (bytes) {
        const ssize_t n = recv(client.socket, p, bytes, 0);
        if (n == 0 || (n < 0 && errno != EINTR))
            lost();
        p += n > 0 ? n : 0;
        bytes -= n > 0 ? (size_t)n : 0;
    }
}

/* What is on its way goes on, and what has arrived is forgotten. */
static void move_on(void)
{
    int done = 0;
    for (int i = 0; i < client.keeps;) {
        PMPI_Test(&client.kept[i], &done, MPI_STATUS_IGNORE);
        if (!done) {
            i++;
            continue;
        }
        free(client.memory[i]);
        client.kept[i] = client.kept[--client.keeps];
        client.memory[i] = client.memory[client.keeps];
    }
    if (!client.keeps && client.busy)
        PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, client.wire, &done, MPI_STATUS_IGNORE);
}

void client_keep(MPI_Request real, void *memory)
{
    if (client.keeps == client.room) {
        client.room = client.room ? 2 * client.room : 64;
        client.kept = must(realloc(client.kept, (size_t)client.room * sizeof(*client.kept)));
        client.memory = must(realloc(client.memory, (size_t)client.room * sizeof(*client.memory)));
    }
    client.kept[client.keeps] = real;
    client.memory[client.keeps++] = memory;
    move_on();
}

void client_busy(int more)
{
    client.busy += more;
}

/* What another does with a window of ours. */
static void serve(void)
{
    struct order_done what;
    read_all(&what, sizeof(what));
    access_serve(what.peer, what.serial);
}

static void serve_those_due(void)
{
    struct order_answer answer;
    while (recv(client.socket, &answer, sizeof(answer), MSG_PEEK | MSG_DONTWAIT) == sizeof(answer) &&
           answer.says == ORDER_SERVES) {
        read_all(&answer, sizeof(answer));
        serve();
    }
}

void client_tell(const struct turn *turn, struct order_op op, const uint64_t *words)
{
    const size_t bytes = op.words * sizeof(uint64_t);
    unsigned char *text = must(malloc(sizeof(op) + bytes));
    op.ps = turn->ps;
    memcpy(text, &op, sizeof(op));
    if (bytes)
        memcpy(text + sizeof(op), words, bytes);
    write_all(text, sizeof(op) + bytes);
    free(text);
    serve_those_due();
}

static struct order_answer take_answer(void)
{
    struct order_answer answer;
    struct pollfd fd = {.fd = client.socket, .events = POLLIN};
    do {
        serve_those_due();
        move_on();
    } while ((client.keeps || client.busy) && poll(&fd, 1, LOOK_MS) == 0);
    for (;;) {
        read_all(&answer, sizeof(answer));
        if (answer.says != ORDER_SERVES)
            return answer;
        serve();
    }
}

void client_await_go(void)
{
    const struct order_answer answer = take_answer();
    assert(answer.says == ORDER_GOES);
}

uint32_t client_await(struct turn *turn, struct order_done *done)
{
    const struct order_answer answer = take_answer();
    assert(answer.says == ORDER_ANSWERS);
    read_all(done, answer.count * sizeof(*done));
    turn->ps = answer.ps;
    return answer.count;
}

uint32_t client_ask(struct turn *turn, struct order_op op, const uint64_t *words, struct order_done *done)
{
    client_tell(turn, op, words);
    return client_await(turn, done);
}

/* ---- calls ---- */

bool turn_begin(struct turn *turn)
{
    if (!client.on || inside)
        return false;
    inside = true;
    *turn = (struct turn){.ps = clock_now()};
    stand_still(true);
    return true;
}

void turn_end(const struct turn *turn)
{
    struct turn t = *turn;
    if (t.outside) {
        client_ask(&t, (struct order_op){.kind = ORDER_IN}, NULL, NULL);
        client_busy(-1);
    }
    client.ps = t.ps;
    stand_still(false);
    if (client.has_machine)
        EHP(ehp_host_reach)(machine(), t.ps);
    inside = false;
}

void client_say(const char *what)
{
    static const char *said[64];
    size_t i = 0;
    while (i < sizeof(said) / sizeof(said[0]) - 1 && said[i] && strcmp(said[i], what) != 0)
        i++;
    if (!said[i] && client.rank == 0)
        fprintf(stderr, "ehp: %s takes no simulated time\n", what);
    said[i] = what;
}

void turn_outside(struct turn *turn, const char *what)
{
    client_say(what);
    client_busy(1);
    client_tell(turn, (struct order_op){.kind = ORDER_OUT}, NULL);
    turn->outside = true;
}

uint64_t client_overhead_ps(void)
{
    return (uint64_t)(client.numbers.overhead * 1000);
}

uint64_t client_poll_ps(void)
{
    return (uint64_t)(client.numbers.poll * 1000);
}

unsigned client_rank(void)
{
    return (unsigned)client.rank;
}

MPI_Comm client_wire(void)
{
    return client.wire;
}

MPI_Comm client_back(void)
{
    return client.back;
}

ENTRY double MPI_Wtime(void)
{
    struct turn turn;
    if (!turn_begin(&turn))
        return client.on ? (double)client.ps * 1e-12 : PMPI_Wtime();
    turn.ps += CALL_PS;
    turn_end(&turn);
    return (double)turn.ps * 1e-12;
}

ENTRY double MPI_Wtick(void)
{
    return client.on ? 1e-12 : PMPI_Wtick();
}

/* ---- the beginning and the end ---- */

/* Where rank 0 serves. */
struct place {
    uint64_t token[2];
    char host[MPI_MAX_PROCESSOR_NAME];
    uint16_t port; /* 0: it cannot */
};

static void open_place(struct place *place, bool here)
{
    int length;
    snprintf(place->host, sizeof(place->host), "127.0.0.1");
    if (!here)
        PMPI_Get_processor_name(place->host, &length);
    if (getrandom(place->token, sizeof(place->token), 0) != sizeof(place->token) ||
        !serve_start(&client.numbers, (unsigned)client.ranks, here, place->token, &place->port)) {
        fprintf(stderr, "ehp: the ranks' time cannot be kept: %s\n", strerror(errno));
        place->port = 0;
    }
}

static bool connect_to(const struct place *place)
{
    const struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    const struct serve_hello hello = {.token = {place->token[0], place->token[1]},
                                      .rank = (uint32_t)client.rank};
    struct addrinfo *found;
    char port[8];
    const int one = 1;
    snprintf(port, sizeof(port), "%u", place->port);
    if (!place->port || getaddrinfo(place->host, port, &hints, &found) != 0)
        return false;
    client.socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool good = client.socket >= 0 && connect(client.socket, found->ai_addr, found->ai_addrlen) == 0;
    freeaddrinfo(found);
    if (!good)
        return false;
    setsockopt(client.socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    write_all(&hello, sizeof(hello));
    return true;
}

static bool wanted(void)
{
    const char *mode = secure_getenv("EHP_MODE"), *text = secure_getenv("EHP_NETWORK");
    char wrong[64];
    if (!mode || strcmp(mode, "timing") != 0 || !text)
        return false;
    if (network_read(&client.numbers, text, wrong))
        return true;
    fprintf(stderr, "ehp: EHP_NETWORK: %s is not what `ehp run` sets\n", wrong);
    return false;
}

static void begin(void)
{
    struct place place = {0};
    MPI_Comm host;
    int here;
    PMPI_Comm_rank(MPI_COMM_WORLD, &client.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &client.ranks);
    PMPI_Comm_dup(MPI_COMM_WORLD, &client.wire);
    PMPI_Comm_set_errhandler(client.wire, MPI_ERRORS_RETURN);
    PMPI_Comm_dup(client.wire, &client.back);
    PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    PMPI_Comm_size(host, &here);
    PMPI_Comm_free(&host);
    if (client.rank == 0)
        open_place(&place, here == client.ranks);
    PMPI_Bcast(&place, sizeof(place), MPI_BYTE, 0, client.wire);
    if (!connect_to(&place)) {
        fprintf(stderr, "ehp: rank %d does not reach rank 0, which keeps simulated time\n", client.rank);
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    client.on = true;
    group_open();
}

/* All go on from the latest of them. */
static void meet(enum collect_kind kind)
{
    struct turn turn;
    if (!turn_begin(&turn))
        return;
    group_meet(&turn, group_of(MPI_COMM_WORLD), kind);
    turn_end(&turn);
}

ENTRY int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    const bool timed = wanted(); /* one thread at a time, which has the rank's clock */
    const int least = timed && required > MPI_THREAD_SERIALIZED ? MPI_THREAD_SERIALIZED : required;
    if (timed)
        stand_still(true);
    const int error = PMPI_Init_thread(argc, argv, least, provided);
    if (!timed)
        return error;
    if (*provided > MPI_THREAD_SERIALIZED)
        *provided = MPI_THREAD_SERIALIZED;
    if (error == MPI_SUCCESS)
        begin();
    stand_still(false);
    meet(COLLECT_MEET);
    return error;
}

ENTRY int MPI_Init(int *argc, char ***argv)
{
    int provided;
    return MPI_Init_thread(argc, argv, MPI_THREAD_SINGLE, &provided);
}

ENTRY int MPI_Finalize(void)
{
    struct turn turn;
    meet(COLLECT_BARRIER);
    if (!turn_begin(&turn))
        return PMPI_Finalize();
    while (client.keeps)
        move_on();
    client_tell(&turn, (struct order_op){.kind = ORDER_BYE}, NULL);
    PMPI_Barrier(client.wire); /* what others have of ours on its way */
    PMPI_Comm_free(&client.back);
    PMPI_Comm_free(&client.wire);
    const int error = PMPI_Finalize();
    close(client.socket);
    client.on = false;
    turn_end(&turn);
    return error;
}
