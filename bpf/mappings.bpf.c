/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mappings.bpf.c owns the iterator over the executable mappings of all targets. User space needs them to find
 * the file that an address belongs to.
 *
 * A user can have processes with 65,530 mappings each. So the list of a process ends at what user space can
 * use; processes with many mappings are listed only when user space asks for them; and from Linux 6.7 on
 * (walk_mappings) a mapping that is not listed is not even visited, and no process is waited for. Before, the
 * kernel visits each mapping of each process (walk_mappings_each).
 */
#include "bpf/epoch.h"
#include "bpf/target.h"

struct path_scratch {
	__u64 busy;
	char path[MAPPING_PATH_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct path_scratch);
} mappings_scratch SEC(".maps");

/* Room for the record that ends the list of a process. */
#define END_BYTES sizeof(struct mapped_record)
/* Mappings that one pass visits in a process, of any kind, so that no read(2) takes long. */
#define VISITS_MAX 4096

/*
 * Returns false if the bytes do not fit behind those that the buffer holds. The kernel keeps no part of an
 * object: its program returns 1 then, and runs again for the same object with an empty buffer
 * (bpf_seq_read() in kernel/bpf/bpf_iter.c).
 */
static __always_inline bool has_room(const struct seq_file *seq, __u64 bytes)
{
	return seq->count + bytes < seq->size;
}

/* `task` is one of its threads. */
static __always_inline bool write_process(struct seq_file *seq, struct task_struct *task, __u32 flags)
{
	struct mapped_record record = { .header = { RECORD_MAPPED, sizeof(record) } };
	struct task_struct *leader = task->group_leader;
	__u32 tgid = task->tgid;

	if (!has_room(seq, sizeof(record)))
		return false;
	if (!bpf_map_lookup_elem(&targets, &tgid))
		flags |= MAPPED_BYSTANDER;
	record.tgid = tgid;
	record.started_ns = leader->start_boottime;
	record.uid = BPF_CORE_READ(leader, real_cred, uid.val);
	record.mappings = BPF_CORE_READ(task, mm, map_count);
	record.flags = flags;
	record.program = (__u32)task->self_exec_id;
	bpf_probe_read_kernel_str(record.comm, sizeof(record.comm), leader->comm);
	bpf_seq_write(seq, &record, sizeof(record));
	return true;
}

static __always_inline bool write_plain(struct seq_file *seq, struct mapping_record *record)
{
	if (!has_room(seq, sizeof(*record) + END_BYTES))
		return false;
	bpf_seq_write(seq, record, sizeof(*record));
	return true;
}

/*
 * A second reader may preempt this one on the same CPU and use the same scratch. A reader that finds it busy
 * writes its record without a path, so that no record carries another file's path.
 */
static __always_inline bool write_with_path(struct seq_file *seq, struct mapping_record *record,
					    struct file *file)
{
	__u32 zero = 0;
	struct path_scratch *scratch = bpf_map_lookup_elem(&mappings_scratch, &zero);
	bool written;
	long bytes;

	if (!scratch)
		return true;
	if (__sync_lock_test_and_set(&scratch->busy, 1)) {
		count(COUNTER_PATHS_BUSY);
		record->flags |= MAPPING_NO_PATH;
		return write_plain(seq, record);
	}
	bytes = bpf_d_path(&file->f_path, scratch->path, sizeof(scratch->path)); /* includes the NUL */
	if (bytes > 1 && bytes <= (long)sizeof(scratch->path)) {
		record->path_bytes = (__u32)bytes - 1;
		written = has_room(seq, sizeof(*record) + record->path_bytes + END_BYTES);
		if (written) {
			bpf_seq_write(seq, record, sizeof(*record));
			bpf_seq_write(seq, scratch->path, record->path_bytes & (MAPPING_PATH_BYTES - 1));
		}
	} else {
		record->flags |= MAPPING_NO_PATH;
		written = write_plain(seq, record);
	}
	__sync_lock_test_and_set(&scratch->busy, 0);
	return written;
}

/* Whether the thread stands for its process: the first one does, or where it has ended (pthread_exit(3)) each of the others. */
static __always_inline bool stands_for_process(struct task_struct *task)
{
	return task->pid == task->tgid || !BPF_CORE_READ(task, group_leader, mm);
}

/* Not inlined: the zeroed struct takes a third of a BPF program's 512-byte stack. */
static __noinline struct code_spans *spans_make(__u32 tgid, __u64 started_ns)
{
	struct code_spans fresh = { .started_ns = started_ns };

	bpf_map_update_elem(&code_spans, &tgid, &fresh, BPF_ANY);
	return bpf_map_lookup_elem(&code_spans, &tgid);
}

static __always_inline void widen_spans(struct code_spans *spans, const struct mapping_record *record)
{
	struct code_span *span;

	if (record->flags & MAPPING_IS_VDSO) {
		spans->vdso = record->begins;
		return;
	}
	span = &spans->spans[(record->begins >> CODE_SPAN_BITS) % CODE_SPANS];
	if (!span->begins || record->begins < span->begins)
		span->begins = record->begins;
	if (record->ends > span->ends)
		span->ends = record->ends;
}

/* The same of a process that is no target and is sampled often. */
static __always_inline struct code_spans *spans_of_bystander(struct task_struct *task)
{
	__u32 tgid = task->tgid;
	struct bystander *bystander = bpf_map_lookup_elem(&bystanders, &tgid);
	char comm[ABI_COMM_BYTES] = {};

	if (!bystander || bystander->samples < BYSTANDER_OFTEN ||
	    bystander->started_ns != task->start_boottime)
		return NULL;
	bpf_probe_read_kernel_str(comm, sizeof(comm), task->comm);
	if (policy_denies(task, comm))
		return NULL;
	bystander->spans.started_ns = bystander->started_ns;
	return &bystander->spans;
}

/* Of one process that is listed because all are. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct code_spans);
} mappings_spare SEC(".maps");

/* The same of any process, for the time that it is listed. */
static __always_inline struct code_spans *spans_of_anyone(struct task_struct *task)
{
	__u32 zero = 0;
	struct code_spans *spare = bpf_map_lookup_elem(&mappings_spare, &zero);
	char comm[ABI_COMM_BYTES] = {};

	if (!spare || !policy.bystanders)
		return NULL;
	bpf_probe_read_kernel_str(comm, sizeof(comm), task->comm);
	if (policy_denies(task, comm))
		return NULL;
	if (spare->started_ns != task->start_boottime) {
		spare->started_ns = task->start_boottime;
		spare->scan = spare->shown = 0;
	}
	return spare;
}

/* Returns what is known of a process that is listed and that policy allows, or NULL. */
static __always_inline struct code_spans *spans_of(struct task_struct *task, const struct control *shared)
{
	__u32 tgid = task->tgid;
	struct target *target = bpf_map_lookup_elem(&targets, &tgid);
	struct code_spans *spans;

	if (shared->mappings_of == MAPPINGS_OF_ALL)
		return spans_of_anyone(task);
	if (!target || target->started_ns != task->start_boottime)
		return spans_of_bystander(task);
	if (target_is_denied(task))
		return NULL;
	spans = bpf_map_lookup_elem(&code_spans, &tgid);
	return spans && spans->started_ns == target->started_ns ? spans
								: spans_make(tgid, target->started_ns);
}

/* Never 0. */
static __always_inline __u32 now_ms(void)
{
	return (__u32)(bpf_ktime_get_ns() / 1000000) | 1;
}

static __always_inline void begin_scan(struct code_spans *spans, const struct control *shared)
{
	if (spans->scan == shared->mappings_scan)
		return;
	if (!spans->known_ms)
		spans->known_ms = now_ms();
	spans->scan = shared->mappings_scan;
	spans->next = 0;
	spans->listed = 0;
	spans->done = 0;
}

/* Whether its program is new, and has other mappings than when they were listed; or the scan has begun with it. */
static __always_inline bool is_new(const struct control *shared, const struct mm_struct *mm,
				   const struct code_spans *spans)
{
	return !spans->known_ms || spans->scan == shared->mappings_scan ||
	       (now_ms() - spans->known_ms < MAPPINGS_NEW_MS && spans->visits != (__u32)mm->map_count);
}

/* Whether the process belongs to those whose mappings user space asked for. */
static __always_inline bool is_asked_for(const struct control *shared, const struct mm_struct *mm,
					 const struct code_spans *spans)
{
	if (shared->mappings_of == MAPPINGS_OF_ALL)
		return true;
	if ((mm->map_count > (int)UNWIND_MAPPINGS_MAX) != (shared->mappings_of == MAPPINGS_OF_MANY))
		return false;
	return shared->mappings_of != MAPPINGS_OF_NEW || is_new(shared, mm, spans);
}

/* An exec may have given the task another address space since policy was asked about it. */
static __always_inline bool is_denied_mapping(struct vm_area_struct *vma)
{
	return policy.deny_undumpable && policy_denies_memory(vma->vm_mm);
}

/* Writes the one record of a process whose mappings are left out. Returns false if it does not fit. */
static __always_inline bool leave_out(struct seq_file *seq, struct task_struct *task,
				      const struct control *shared, struct code_spans *spans)
{
	__u32 shown = shared->mappings_scan + 1;

	if (spans->shown == shown)
		return true;
	if (!write_process(seq, task, 0))
		return false;
	spans->shown = shown;
	return true;
}

static __always_inline void place(struct mapping_record *record, const struct task_struct *task,
				  const struct vm_area_struct *vma, const struct code_spans *spans)
{
	record->tgid = task->tgid;
	record->started_ns = spans->started_ns;
	record->epoch = epoch_of(vma->vm_mm);
	record->begins = vma->vm_start;
	record->ends = vma->vm_end;
}

static __always_inline void identify(struct mapping_record *record, struct file *file)
{
	__u32 device = BPF_CORE_READ(file, f_inode, i_sb, s_dev);

	record->inode = BPF_CORE_READ(file, f_inode, i_ino);
	record->device_major = device >> 20; /* the kernel's MKDEV layout differs from that of stat(2) */
	record->device_minor = device & 0xfffff;
}

/* Where the first byte of the executable's code is mapped. */
static __always_inline unsigned long code_page_of(const struct mm_struct *mm)
{
	return mm->start_code & ~((1UL << UNWIND_PAGE_BITS) - 1);
}

/* Programs copy their own code into huge pages of no file, and move these to where it was. */
static __always_inline bool is_text_of_no_file(const struct vm_area_struct *vma)
{
	const struct mm_struct *mm = vma->vm_mm;

	return !vma->vm_file && mm && vma->vm_start >= code_page_of(mm) && vma->vm_start < mm->end_code;
}

/*
 * Not inlined, and neither is list_mapping(): the record would be a part of what the verifier compares each time that it comes to
 * the loop's head, and it would find no two alike.
 */
static __noinline bool list_text(struct seq_file *seq, struct task_struct *task, struct vm_area_struct *vma,
				 struct code_spans *spans)
{
	struct mapping_record record = { .header = { RECORD_MAPPING, sizeof(record) },
					 .flags = MAPPING_IS_EXE | MAPPING_IS_TEXT };
	struct mm_struct *mm = vma->vm_mm;
	struct file *file = mm ? mm->exe_file : NULL;

	if (!file)
		return true;
	place(&record, task, vma, spans);
	record.file_offset = record.begins - code_page_of(mm);
	identify(&record, file);
	widen_spans(spans, &record);
	return write_with_path(seq, &record, file);
}

static __noinline bool list_mapping(struct seq_file *seq, struct task_struct *task,
				    struct vm_area_struct *vma, struct code_spans *spans)
{
	struct mapping_record record = { .header = { RECORD_MAPPING, sizeof(record) } };
	struct file *file = vma->vm_file;

	place(&record, task, vma, spans);
	if (!file) {
		if (record.begins == (__u64)BPF_CORE_READ(task, mm, context.vdso))
			record.flags |= MAPPING_IS_VDSO;
		widen_spans(spans, &record);
		return write_plain(seq, &record);
	}
	record.file_offset = (__u64)vma->vm_pgoff << 12;
	identify(&record, file);
	if (BPF_CORE_READ(file, f_inode) == BPF_CORE_READ(task, mm, exe_file, f_inode))
		record.flags |= MAPPING_IS_EXE;
	widen_spans(spans, &record);
	return write_with_path(seq, &record, file);
}

/* Writes one mapping. Returns false if it does not fit. */
static __always_inline bool list(struct seq_file *seq, struct task_struct *task, struct vm_area_struct *vma,
				 struct code_spans *spans)
{
	return is_text_of_no_file(vma) ? list_text(seq, task, vma, spans)
				       : list_mapping(seq, task, vma, spans);
}

/*
 * Lists a part of a process in each pass: what fits into one buffer, and at most VISITS_MAX mappings further.
 * So a process with few mappings never waits for one with many, whichever comes first.
 */
SEC("iter/task")
int walk_mappings(struct bpf_iter__task *ctx)
{
	struct seq_file *seq = ctx->meta->seq;
	struct task_struct *task = ctx->task;
	struct control *shared = control_get();
	struct bpf_iter_task_vma iterator;
	struct vm_area_struct *vma;
	struct code_spans *spans;
	struct mm_struct *mm;
	__u64 next_before, bytes_before;
	__u32 listed_before, end = 0;
	bool full = false;
	int error;

	if (is_retired() || !task || !shared || !stands_for_process(task))
		return 0;
	mm = task->mm;
	if (!mm)
		return 0;
	bytes_before = seq->count;
	spans = spans_of(task->group_leader, shared);
	if (!spans)
		return 0;
	if (!is_asked_for(shared, mm, spans))
		return !leave_out(seq, task, shared, spans);
	begin_scan(spans, shared);
	if (spans->done)
		return 0;
	if (!write_process(seq, task, MAPPED_LISTED))
		return 1;
	spans->visits = 0;
	listed_before = spans->listed;
	next_before = spans->next;
	error = bpf_iter_task_vma_new(&iterator, task, spans->next);
	/* the counters of this loop are in the map: in registers, the verifier would follow each of their values */
	while ((vma = bpf_iter_task_vma_next(&iterator))) {
		spans->next = vma->vm_start;
		if (++spans->visits > VISITS_MAX) {
			end = MAPPED_MORE;
			break;
		}
		if (!(vma->vm_flags & VM_EXEC) || is_denied_mapping(vma))
			continue;
		if (spans->listed >= UNWIND_MAPPINGS_MAX) {
			end = MAPPED_CUT;
			break;
		}
		if (!list(seq, task, vma, spans)) {
			full = true;
			end = MAPPED_MORE;
			break;
		}
		spans->listed++;
	}
	bpf_iter_task_vma_destroy(&iterator);
	if (error == -EBUSY || error == -ENOMEM)
		end = MAPPED_BUSY;
	/* the room that list() has left for this record is there, unless nothing was listed */
	if ((full && bytes_before) || (end && !write_process(seq, task, end))) {
		spans->listed = listed_before;
		spans->next = next_before;
		return 1; /* again, with an empty buffer */
	}
	spans->done = !(end & (MAPPED_MORE | MAPPED_BUSY));
	return 0;
}

/* The same before Linux 6.7: the kernel visits all mappings, and runs the program for each. */
SEC("iter/task_vma")
int walk_mappings_each(struct bpf_iter__task_vma *ctx)
{
	struct seq_file *seq = ctx->meta->seq;
	struct task_struct *task = ctx->task;
	struct vm_area_struct *vma = ctx->vma;
	struct control *shared = control_get();
	struct code_spans *spans;
	struct mm_struct *mm;
	__u32 tgid;

	if (is_retired() || !task || !vma || !shared || !(vma->vm_flags & VM_EXEC) ||
	    !stands_for_process(task))
		return 0;
	mm = task->mm;
	if (!mm)
		return 0;
	tgid = task->tgid;
	spans = code_spans_of(tgid);
	if (spans && spans->started_ns == BPF_CORE_READ(task, group_leader, start_boottime) &&
	    (is_asked_for(shared, mm, spans) ? spans->done && spans->scan == shared->mappings_scan
					     : spans->shown == shared->mappings_scan + 1))
		return 0;
	spans = spans_of(task->group_leader, shared);
	if (!spans || is_denied_mapping(vma))
		return 0;
	if (!is_asked_for(shared, mm, spans))
		return !leave_out(seq, task, shared, spans);
	begin_scan(spans, shared);
	if (spans->done)
		return 0;
	if (spans->shown != shared->mappings_scan + 1) {
		if (!write_process(seq, task, MAPPED_LISTED))
			return 1;
		spans->shown = shared->mappings_scan + 1;
	}
	if (spans->listed >= UNWIND_MAPPINGS_MAX) {
		if (!write_process(seq, task, MAPPED_CUT))
			return 1;
		spans->done = 1;
		return 0;
	}
	if (!list(seq, task, vma, spans)) {
		if (!spans->listed)
			spans->shown = 0; /* its record was not kept, either */
		return 1;
	}
	spans->listed++;
	return 0;
}
