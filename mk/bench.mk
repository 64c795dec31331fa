# SPDX-License-Identifier: GPL-2.0-only
#
# Benchmarks.

.PHONY: bench

BENCHES := $(addprefix $(B)/bench/,reference bpf_cost timed drain commit naming walks looks exec_load exec_latency crossing unwind_table empty_hooks fault_storm)

## make bench      as root: measure beside the budgets; PART=NAME one part, WRITE=1 into bench/README.md
bench: bench-deps
	$(again) all benches
	$(Q)bench/run.sh $(if $(WRITE),--write) $(PART)

$(B)/bench/%.bpf.o: bench/%.bpf.c
	@mkdir -p $(@D)
	$(call say,BPF,$<) $(CLANG) $(BPF_FLAGS) -MMD -MP -c $< -o $@

BENCH_SKELETONS := $(patsubst bench/%.bpf.c,$(B)/skeleton/%.skel.h,$(wildcard bench/*.bpf.c))
$(BENCH_SKELETONS): $(B)/skeleton/%.skel.h: $(B)/bench/%.bpf.o
	@mkdir -p $(@D)
	$(call say,SKEL,$@) $(BPFTOOL) gen skeleton $< name $*_bpf > $@

$(B)/object/bench/reference.o: $(B)/skeleton/reference.skel.h
$(B)/object/bench/looks.o: $(B)/skeleton/empty_walk.skel.h
$(B)/object/bench/empty_hooks.o: $(B)/skeleton/empty_hooks.skel.h
BENCH_SHARED := $(call objects,bench/program_stats.c bench/made_samples.c bench/made_busy.c $(CONSUMER) $(COMMON))
$(BENCHES): LIBS += -lm
.SECONDARY: $(BENCHES:$(B)/bench/%=$(B)/object/bench/%.o) $(BENCH_SHARED)
$(B)/bench/%: $(B)/object/bench/%.o $(BENCH_SHARED)
	@mkdir -p $(@D)
	$(link)

# Static, so that its exec costs little compared with the work of bourdon's programs in it
$(B)/bench/exec_child: bench/exec_child.c common/base/clock.h
	@mkdir -p $(@D)
	$(call say,CC,$<) $(CC) $(CPPFLAGS) $(CFLAGS) -static $< -o $@
