/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * request.bpf.c measures how long servers of TCP take for a request: from the segment that brings it to the last byte of the answer.
 * So the time in which it waits to be read is part of it. Of what is sent, nothing but the header of TCP is looked at.
 *
 * What a server sends is the answer to what came before it. The answer is over when the next request comes, the connection ends, or
 * nothing was sent for a second. That holds as long as a client has one request under way at a time. Where requests overlap, nobody can
 * tell from outside which answer is whose: such connections are recognised and measured apart.
 *
 * All that is told here of a socket is told while the kernel holds its lock: a segment that came, a read, a segment that goes, in the
 * order in which they happen. The tracepoints sock_recv_length and sock_send_length come later, when the client may have sent its next
 * request, and Linux 6.1 has none.
 */
#include "bpf/pairs.h"
#include "bpf/target.h"

#define IPPROTO_TCP 6
#define TCP_ESTABLISHED 1 /* include/net/tcp_states.h */
#define TCP_SYN_RECV 3
#define TCP_CLOSE 7

#define CONNECTIONS_MAX 65536
#define EPHEMERAL_FIRST 32768U /* net.ipv4.ip_local_port_range: a client has such a port */
/* What comes later than that after the piece before it, while the server is at work, is another request. */
#define PIECES_NS 1000000U
/* An answer is over, too, when nothing more of it came for so long. */
#define IDLE_NS 1000000000U
/* A connection is multiplexed while so many of its exchanges, and one in so many, overlapped with others. */
#define OVERLAPPING_LEAST 3U
#define ONE_IN 16U
#define JUDGED_AT_ONCE 4096U /* then the half of what was counted is forgotten */

enum phase {
	IDLE, /* nothing came, or what came was answered */
	ASKED,
	ANSWERED, /* at least in part */
};

/* What is known of an exchange. */
#define OVERLAPS 1U /* another request came before it was over */
#define UNREAD 2U   /* the answer began before the request was read */
#define HANDED 4U   /* a thread that did not read the request sends the answer */
#define SHARED 8U   /* the thread read from other connections meanwhile */

struct exchange {
	__u64 arrived_ns, read_ns, first_ns, last_ns;
	/* from the read to the last byte, of the thread that did both */
	__u64 on_cpu_ns, queued_ns, blocked_ns;
	__u64 owner; /* 0: no target's */
	__u16 label; /* REQUEST_PORT_OTHER, or the port */
	__u8 flags, is_multiplexed;
	__u32 reserved;
};

struct connection {
	__u64 key;      /* in `answers` */
	__u64 since_ns; /* measured_since_ns: what is older has gaps */
	struct exchange exchange;
	__u64 piece_ns; /* when the last segment came */
	/* of the thread that read the request: what the kernel had counted of it then */
	__u64 ran_ns, counted_ns, delay_ns;
	__u32 tid, reads;
	__u32 exchanges, overlapping;
	__u16 port;
	__u8 phase, unread, is_in_answers;
	__u8 reserved[3];
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct connection);
} connections SEC(".maps");

/* Exchanges that may be over, where walk_requests finds them. */
struct answer {
	struct pair pair; /* its key is the socket */
	struct exchange exchange;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PAIRS);
	__type(key, __u32);
	__type(value, struct answer);
} answers SEC(".maps");

/* Of those in `connections`. The end of one may be missed: see has_room(). */
static __s64 connections_count;

/* Of pairs_are_measured(). */
static __u64 measured_since_ns;

static __always_inline bool is_measured(void)
{
	return pairs_are_measured(&measured_since_ns, LATENCY_REQUEST);
}

/* ---- labels ---- */

#define LABELS 1024U                  /* a power of two */
#define LABEL_UNUSED_NS 600000000000U /* ten minutes */

/* Ports of owners that are told apart. */
struct request_label {
	__u64 key; /* 0: free */
	__u64 used_ns;
};

static struct request_label labels[LABELS];

/* The port as it is told: one that makes no label more than there may be. */
static __noinline __u16 label_for(__u64 owner, __u16 port)
{
	__u64 key = table_hash(owner ^ (__u64)port << 48) | 1, now_ns = bpf_ktime_get_ns();
	__u32 place = (__u32)(table_hash(key) >> 40);

	for (__u32 i = 0; i < 2; i++) {
		struct request_label *label = &labels[(place ^ i) % LABELS];
		__u64 before = label->key;

		if (before != key && before && now_ns - label->used_ns <= LABEL_UNUSED_NS)
			continue;
		if (before != key && __sync_val_compare_and_swap(&label->key, before, key) != before)
			continue;
		label->used_ns = now_ns;
		return port;
	}
	return REQUEST_PORT_OTHER;
}

/* ---- connections ---- */

/*
 * Ends are missed while the kernel runs no program (docs/HACKING.md), and then the count is too high for ever: so when it says that
 * there is no room, the kernel's own count of sockets corrects it.
 */
static __always_inline bool has_room(struct sock *socket)
{
	__s64 count = *(volatile __s64 *)&connections_count, sockets;

	if (count < CONNECTIONS_MAX)
		return true;
	sockets = BPF_CORE_READ(socket, __sk_common.skc_prot, sockets_allocated, count);
	if (sockets >= CONNECTIONS_MAX || sockets < 0)
		return false;
	__sync_val_compare_and_swap(&connections_count, count, sockets);
	return true;
}

/* The verifier allows one computation with a pointer of the kernel: its difference to another pointer. */
static __always_inline __u64 key_of(const struct sock *socket)
{
	__u64 key = (__u64)socket, base = (__u64)&measured_since_ns;

	asm volatile("%0 -= %1" : "+r"(key) : "r"(base));
	return key;
}

static __always_inline struct connection *make(struct sock *socket)
{
	struct connection begun = { .key = key_of(socket),
				    .since_ns = measured_since_ns,
				    .port = socket->__sk_common.skc_num };
	struct connection *connection = NULL;

	if (has_room(socket))
		connection = bpf_sk_storage_get(&connections, socket, &begun, BPF_SK_STORAGE_GET_F_CREATE);
	if (connection)
		__sync_fetch_and_add(&connections_count, 1);
	else
		histogram_count_lost(METRIC_REQUEST);
	return connection;
}

/* Forgets what it knows of the time when the group was off. */
static __always_inline struct connection *current_one(struct connection *connection)
{
	if (connection && connection->since_ns != measured_since_ns) {
		connection->since_ns = measured_since_ns;
		connection->phase = IDLE;
		connection->is_in_answers = 0;
	}
	return connection;
}

static __always_inline struct connection *find(struct sock *socket)
{
	return current_one(bpf_sk_storage_get(&connections, socket, NULL, 0));
}

/*
 * Whether a connection of which the begin was not seen came from outside: its port is that of a socket that was bound to it, and no
 * client's.
 */
static __always_inline bool was_accepted(struct sock *socket)
{
	const struct inet_connection_sock *connection = (void *)socket;
	const struct inet_bind_bucket *bound;

	if (socket->__sk_common.skc_num >= EPHEMERAL_FIRST)
		return false;
	bound = BPF_CORE_READ(connection, icsk_bind_hash);
	return bound && BPF_CORE_READ(bound, fastreuse) >= 0;
}

/* ---- exchanges ---- */

static __noinline int put(const struct exchange *exchange, __u32 metric, __u32 detail, __u64 ns)
{
	if (exchange)
		histogram_put(metric, detail, exchange->label, exchange->owner, ns);
	return 0;
}

static __noinline int put_exchange(const struct exchange *exchange)
{
	__u32 detail;

	if (!exchange)
		return 0;
	if (exchange->is_multiplexed)
		return put(exchange, METRIC_REQUEST_MULTIPLEXED, 0, exchange->last_ns - exchange->arrived_ns);
	if (exchange->flags & (OVERLAPS | UNREAD))
		return histogram_count_unpaired(METRIC_REQUEST);
	detail = exchange->flags & SHARED ? REQUEST_SHARED : REQUEST_ALONE;
	put(exchange, METRIC_REQUEST, 0, exchange->last_ns - exchange->arrived_ns);
	put(exchange, METRIC_REQUEST_FIRST, 0, exchange->first_ns - exchange->arrived_ns);
	put(exchange, METRIC_REQUEST_UNREAD, 0, exchange->read_ns - exchange->arrived_ns);
	if (exchange->flags & HANDED)
		return 0;
	put(exchange, METRIC_REQUEST_ON_CPU, detail, exchange->on_cpu_ns);
	put(exchange, METRIC_REQUEST_QUEUED, detail, exchange->queued_ns);
	return put(exchange, METRIC_REQUEST_BLOCKED, detail, exchange->blocked_ns);
}

/* Takes it from `answers`. False: somebody else did. */
static __always_inline bool take(struct answer *answer, __u64 key)
{
	return answer && __sync_val_compare_and_swap(&answer->pair.key, key, 0) == key;
}

/* An exchange is over. One without an answer was a message that wants none, or its client gave up. */
static __noinline int finish(struct connection *connection)
{
	struct exchange *exchange;

	if (!connection || connection->phase != ANSWERED)
		return 0;
	exchange = &connection->exchange;
	connection->phase = IDLE;
	connection->exchanges++;
	if (exchange->flags & OVERLAPS)
		connection->overlapping++;
	if (connection->exchanges == JUDGED_AT_ONCE) {
		connection->exchanges /= 2;
		connection->overlapping /= 2;
	}
	exchange->is_multiplexed = connection->overlapping >= OVERLAPPING_LEAST &&
				   connection->overlapping * ONE_IN > connection->exchanges;
	if (!connection->is_in_answers || take(pair_find(&answers, connection->key), connection->key))
		put_exchange(exchange);
	return 0;
}

/* `is_early`: it was sent before its client had the whole answer to what came before. */
static __always_inline void arrive(struct connection *connection, bool is_early, __u64 now_ns)
{
	struct exchange *exchange = &connection->exchange;

	if (connection->phase == ASKED) {
		if (exchange->read_ns && now_ns - connection->piece_ns > PIECES_NS)
			exchange->flags |= OVERLAPS;
	} else {
		if (is_early)
			exchange->flags |= OVERLAPS;
		finish(connection);
		exchange->arrived_ns = now_ns;
		exchange->read_ns = 0;
		exchange->flags = is_early ? OVERLAPS : 0;
		connection->is_in_answers = 0;
		connection->phase = ASKED;
	}
	connection->piece_ns = now_ns;
	connection->unread = 1;
}

/* By thread: how often it has read from any connection. Threads that share an element seem to have read more. */
#define THREADS 16384U
static __u32 reads_of_thread[THREADS];

static __always_inline __u32 *reads_of(__u32 tid)
{
	return &reads_of_thread[tid % THREADS];
}

static __always_inline void note_read(struct connection *connection, struct task_struct *task)
{
	__u32 tid = (__u32)task->pid, reads = ++*reads_of(tid);
	struct exchange *exchange = &connection->exchange;
	bool was_unread = connection->unread;
	__u64 owner;

	connection->unread = 0;
	/* what was there before it answered came in one segment with the request, or its arrival was not seen */
	if (connection->phase == ANSWERED && !was_unread)
		exchange->flags |= OVERLAPS;
	if (connection->phase == ASKED && exchange->read_ns && tid == connection->tid &&
	    reads == connection->reads + 1)
		connection->reads = reads; /* more of the same request */
	if (connection->phase != ASKED || exchange->read_ns)
		return;
	owner = latency_owner(task);
	if (owner && owner != exchange->owner)
		exchange->label = label_for(owner, connection->port);
	exchange->owner = owner;
	if (!owner) {
		connection->phase = IDLE; /* the next request may be read by a target */
		return;
	}
	connection->tid = tid;
	connection->reads = reads;
	connection->ran_ns = task->se.sum_exec_runtime;
	connection->counted_ns = task->se.exec_start;
	connection->delay_ns = task->sched_info.run_delay;
	exchange->read_ns = bpf_ktime_get_ns();
}

/*
 * Where the thread's time went since it read the request. The kernel counts what it ran, and when it counted: what is between two
 * counts and was not run, it was off the CPU.
 */
static __always_inline void take_apart(struct connection *connection, const struct task_struct *task)
{
	struct exchange *exchange = &connection->exchange;
	__u64 all_ns = exchange->last_ns - exchange->read_ns;
	__s64 off_ns = (__s64)(task->se.exec_start - connection->counted_ns) -
		       (__s64)(task->se.sum_exec_runtime - connection->ran_ns);
	__u64 queued_ns = task->sched_info.run_delay - connection->delay_ns;

	if (off_ns < 0)
		off_ns = 0;
	if ((__u64)off_ns > all_ns)
		off_ns = (__s64)all_ns;
	if (queued_ns > (__u64)off_ns)
		queued_ns = (__u64)off_ns;
	exchange->on_cpu_ns = all_ns - (__u64)off_ns;
	exchange->queued_ns = queued_ns;
	exchange->blocked_ns = (__u64)off_ns - queued_ns;
}

/* Without room it counts when the next request comes. */
static __always_inline void keep_answer(struct connection *connection)
{
	struct answer *answer = pair_find(&answers, connection->key);

	if (!answer && !connection->is_in_answers)
		answer = pair_make(&answers, connection->key, connection->exchange.last_ns, METRIC_REQUEST);
	if (!answer)
		return;
	answer->exchange = connection->exchange;
	connection->is_in_answers = 1;
}

/* `is_called`: by the current thread, and not because the client has taken what was sent before. */
static __always_inline void note_sent(struct connection *connection, bool is_called)
{
	const struct task_struct *task = bpf_get_current_task_btf();
	struct exchange *exchange = &connection->exchange;
	__u32 tid = (__u32)task->pid;

	if (connection->phase == IDLE || !exchange->owner)
		return;
	if (!exchange->read_ns)
		exchange->flags |= UNREAD;
	if (connection->unread)
		exchange->flags |= OVERLAPS;
	exchange->last_ns = bpf_ktime_get_ns();
	if (connection->phase == ASKED)
		exchange->first_ns = exchange->last_ns;
	connection->phase = ANSWERED;
	if (is_called && tid != connection->tid) {
		exchange->flags |= HANDED;
	} else if (is_called) {
		if (*reads_of(tid) != connection->reads)
			exchange->flags |= SHARED;
		take_apart(connection, task);
	}
	keep_answer(connection);
}

/* ---- what the kernel tells ---- */

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(request_state, struct sock *socket, int before, int after)
{
	struct connection *connection;

	if (socket->sk_protocol != IPPROTO_TCP)
		return 0;
	if (after == TCP_CLOSE && connections_count > 0) {
		connection = bpf_sk_storage_get(&connections, socket, NULL, 0);
		if (!connection)
			return 0;
		if (is_measured() && connection->since_ns == measured_since_ns)
			finish(connection);
		if (!bpf_sk_storage_delete(&connections, socket))
			__sync_fetch_and_add(&connections_count, -1);
		return 0;
	}
	if (before == TCP_SYN_RECV && after == TCP_ESTABLISHED && is_measured())
		make(socket);
	return 0;
}

/* A header of TCP, as it is sent. */
struct tcp_header {
	__u8 ports[4];
	__u32 number; /* of the segment's first byte */
	__u32 acknowledged;
	__u8 words; /* its length, in the upper half */
	__u8 flags[3];
};

/* The number of the byte that is sent next for the first time. */
static __always_inline __u32 next_number(const struct sock *socket)
{
	return BPF_CORE_READ((const struct tcp_sock *)socket, snd_nxt);
}

/* A segment of an established connection, before the kernel looks at it. */
SEC("tp_btf/tcp_probe")
int BPF_PROG(request_arrived, struct sock *socket, struct sk_buff *segment)
{
	struct tcp_header header;
	struct connection *connection;
	bool is_early;

	if (!is_measured())
		return 0;
	connection = find(socket);
	if (!connection && was_accepted(socket))
		connection = make(socket);
	if (!connection || bpf_probe_read_kernel(&header, sizeof(header), segment->data) ||
	    segment->len <= header.words / 16U * 4U)
		return 0;
	is_early = connection->phase == ANSWERED &&
		   __builtin_bswap32(header.acknowledged) != next_number(socket);
	arrive(connection, is_early, bpf_ktime_get_ns());
	return 0;
}

/* A thread has read. */
SEC("tp_btf/tcp_rcv_space_adjust")
int BPF_PROG(request_read, struct sock *socket)
{
	struct connection *connection;

	if (!is_measured())
		return 0;
	connection = find(socket);
	if (connection)
		note_read(connection, bpf_get_current_task_btf());
	return 0;
}

/* A frame goes to a device. What is sent again is no part of the answer that was not sent before. */
SEC("tp_btf/net_dev_queue")
int BPF_PROG(request_answered, struct sk_buff *segment)
{
	struct tcp_header header;
	struct connection *connection;
	struct sock *socket;
	unsigned long begin;

	if (!is_measured())
		return 0;
	socket = segment->sk;
	if (!socket || socket->sk_protocol != IPPROTO_TCP)
		return 0;
	connection = find(socket);
	if (!connection)
		return 0;
	begin = (unsigned long)segment->head + segment->transport_header;
	if (bpf_probe_read_kernel(&header, sizeof(header), (const void *)begin) ||
	    (unsigned long)segment->data + segment->len <= begin + header.words / 16U * 4U ||
	    __builtin_bswap32(header.number) != next_number(socket))
		return 0;
	note_sent(connection, socket->sk_lock.owned);
	return 0;
}

static long end_answer(__u32 index, void *unused)
{
	struct answer *answer = bpf_map_lookup_elem(&answers, &index);
	__u64 key, until_ns = bpf_ktime_get_ns() - IDLE_NS;
	struct exchange exchange;

	if (!answer)
		return 1;
	key = *(volatile __u64 *)&answer->pair.key;
	/* in one that is new, the exchange is still that of another connection */
	if (!key || key == PAIR_BUSY || answer->pair.since_ns > until_ns ||
	    answer->exchange.last_ns > until_ns)
		return 0;
	exchange = answer->exchange;
	if (take(answer, key) && exchange.arrived_ns >= measured_since_ns)
		put_exchange(&exchange);
	return 0;
}

/* Read before the histograms are: an answer is over although its connection is idle. It yields nothing. */
SEC("iter/bpf_prog")
int walk_requests(struct bpf_iter__bpf_prog *ctx)
{
	if (!ctx->meta->seq_num && is_measured())
		bpf_loop(PAIRS, end_answer, NULL, 0);
	return 0;
}
