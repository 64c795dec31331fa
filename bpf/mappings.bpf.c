/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mappings.bpf.c owns the iterator over the executable mappings of all targets. User space needs them to find
 * the file that an address belongs to.
 */
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

/*
 * A second reader may preempt this one on the same CPU and use the same scratch. A reader that finds it busy
 * writes its record without a path, so that no record carries another file's path.
 */
static __always_inline void write_with_path(struct seq_file *seq, struct mapping_record *record,
					    struct file *file)
{
	__u32 zero = 0;
	struct path_scratch *scratch = bpf_map_lookup_elem(&mappings_scratch, &zero);
	long bytes;

	if (!scratch)
		return;
	if (__sync_lock_test_and_set(&scratch->busy, 1)) {
		count(COUNTER_PATHS_BUSY);
		record->flags |= MAPPING_NO_PATH;
		bpf_seq_write(seq, record, sizeof(*record));
		return;
	}
	bytes = bpf_d_path(&file->f_path, scratch->path, sizeof(scratch->path)); /* includes the NUL */
	if (bytes > 1 && bytes <= (long)sizeof(scratch->path)) {
		record->path_bytes = (__u32)bytes - 1;
		bpf_seq_write(seq, record, sizeof(*record));
		bpf_seq_write(seq, scratch->path, record->path_bytes & (MAPPING_PATH_BYTES - 1));
	} else {
		record->flags |= MAPPING_NO_PATH;
		bpf_seq_write(seq, record, sizeof(*record));
	}
	__sync_lock_test_and_set(&scratch->busy, 0);
}

/* Not inlined: the zeroed struct takes a quarter of a BPF program's 512-byte stack. */
static __noinline struct code_spans *spans_make(__u32 tgid, __u64 started_ns)
{
	struct code_spans fresh = { .started_ns = started_ns };

	bpf_map_update_elem(&code_spans, &tgid, &fresh, BPF_ANY);
	return bpf_map_lookup_elem(&code_spans, &tgid);
}

static __always_inline void widen_spans(const struct mapping_record *record)
{
	__u32 tgid = record->tgid;
	struct code_spans *spans = bpf_map_lookup_elem(&code_spans, &tgid);
	struct code_span *span;

	if (!spans || spans->started_ns != record->started_ns)
		spans = spans_make(tgid, record->started_ns);
	if (!spans)
		return;
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

SEC("iter/task_vma")
int walk_mappings(struct bpf_iter__task_vma *ctx)
{
	struct task_struct *task = ctx->task;
	struct vm_area_struct *vma = ctx->vma;
	struct mapping_record record = { .header = { RECORD_MAPPING, sizeof(record) } };
	struct file *file;
	struct target *target;
	__u32 device, tgid;

	if (is_retired() || !task || !vma || task->pid != task->tgid || !(vma->vm_flags & VM_EXEC))
		return 0;
	tgid = task->tgid;
	target = bpf_map_lookup_elem(&targets, &tgid);
	if (!target || target->started_ns != task->start_boottime || target_is_denied(task))
		return 0;
	/* an exec may have given the task another address space since the walk over this one began */
	if (policy.deny_undumpable && policy_denies_memory(vma->vm_mm))
		return 0;
	record.tgid = tgid;
	record.started_ns = target->started_ns;
	record.begins = vma->vm_start;
	record.ends = vma->vm_end;
	file = vma->vm_file;
	if (!file) {
		if (record.begins == (__u64)BPF_CORE_READ(task, mm, context.vdso))
			record.flags |= MAPPING_IS_VDSO;
		widen_spans(&record);
		bpf_seq_write(ctx->meta->seq, &record, sizeof(record));
		return 0;
	}
	record.file_offset = (__u64)vma->vm_pgoff << 12;
	record.inode = BPF_CORE_READ(file, f_inode, i_ino);
	device = BPF_CORE_READ(file, f_inode, i_sb, s_dev);
	record.device_major = device >> 20; /* the kernel's MKDEV layout differs from that of stat(2) */
	record.device_minor = device & 0xfffff;
	if (BPF_CORE_READ(file, f_inode) == BPF_CORE_READ(task, mm, exe_file, f_inode))
		record.flags |= MAPPING_IS_EXE;
	widen_spans(&record);
	write_with_path(ctx->meta->seq, &record, file);
	return 0;
}
