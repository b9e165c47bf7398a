#include "block.h"

#include <algorithm>
#include <utility>

#include "settings.h"
#include "state.h"

namespace emu {

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;
Position position;
bool kernel_code_runs;
Thread block_threads[kMaxThreads];

namespace {

// What __syncthreads() and its kin wait for. Votes are summed up; those of the last barrier stay until all have read.
struct Barrier {
  const char* operation;
  Location location;
  int arrived, votes, counted_votes;
};

int thread_count;
int begun, left;
uint16_t begin_order[kMaxThreads];
uint16_t ready_queue[kMaxThreads];  // a ring
unsigned ready_begin, ready_end;
Barrier barrier;
bool failed;
void (*run_thread)(void*);
void* arguments;

uint16_t& ready_at(unsigned i) { return ready_queue[i % kMaxThreads]; }

void become(int thread) {
  threadIdx = block_threads[thread].index;
  position.thread = thread;
  block_threads[thread].state = ThreadState::running;
}

int take_ready() {
  if (settings.thread_order == Order::random) {
    const unsigned chosen = ready_begin + settings.thread_random.below(ready_end - ready_begin);
    std::swap(ready_at(ready_begin), ready_at(chosen));
  }
  return ready_at(ready_begin++);
}

// Threads that can go on come first: few stacks are then in use at a time.
bool begins_next() {
  if (begun == thread_count) return false;
  if (ready_begin == ready_end) return true;
  return settings.thread_order == Order::random && settings.thread_random.below(2) == 0;
}

int count_state(ThreadState state) {
  return static_cast<int>(std::count_if(block_threads, block_threads + thread_count,
                                        [state](const Thread& thread) { return thread.state == state; }));
}

[[noreturn]] void fail_waiting() {
  position.thread = -1;
  if (barrier.arrived > 0) {
    fault(cudaErrorLaunchFailure,
          "divergent %s at %s:%u: %d of %d threads arrived, %d have left the kernel, %d wait in an operation of a warp",
          barrier.operation, barrier.location.file, barrier.location.line, barrier.arrived, thread_count, left,
          count_state(ThreadState::in_warp));
  } else if (!describe_waiting_warp()) {
    fault(cudaErrorLaunchFailure, "no thread can go on");
  }
  abandon_block();
}

void open_barrier() {
  barrier.counted_votes = barrier.votes;
  barrier.arrived = barrier.votes = 0;
  ++position.barriers;
  uint16_t waiting[kMaxThreads];
  int count = 0;
  for (int i = 0; i < thread_count; ++i) {
    if (block_threads[i].state == ThreadState::at_barrier) waiting[count++] = static_cast<uint16_t>(i);
  }
  make_ready(waiting, count);
}

// On the device, threads that have left don't count.
void open_barrier_if_all_arrived() {
  if (barrier.arrived == 0 || begun < thread_count || barrier.arrived + left < thread_count) return;
  if (left > 0 && settings.exit_before_barrier_is_fault) fail_waiting();
  open_barrier();
}

void go_on_with_ready_thread() {
  if (ready_begin == ready_end) fail_waiting();
  switch_to_fiber(block_threads[take_ready()].fiber);
}

void run_threads() {
  for (;;) {
    if (begins_next()) {
      const int thread = begin_order[begun++];
      block_threads[thread].fiber = running_fiber;
      become(thread);
      kernel_code_runs = true;
      run_thread(arguments);
      kernel_code_runs = false;
      block_threads[thread].state = ThreadState::left;
      ++left;
      if (barrier.arrived > 0) open_barrier_if_all_arrived();
      continue;
    }
    give_back_fiber(running_fiber);
    if (left == thread_count) {
      switch_to_host();
    } else {
      go_on_with_ready_thread();
    }
  }
}

int meet_at_barrier(int vote, const char* operation, Location at) {
  const ModelCode in_model;
  if (barrier.arrived == 0) {
    barrier.operation = operation;
    barrier.location = at;
  } else if (!same_place(at, barrier.location)) {
    fault(cudaErrorLaunchFailure, "threads meet at different barriers: %s at %s:%u and %s at %s:%u", barrier.operation,
          barrier.location.file, barrier.location.line, operation, at.file, at.line);
    abandon_block();
  }
  ++barrier.arrived;
  barrier.votes += vote;
  block_threads[position.thread].state = ThreadState::at_barrier;
  open_barrier_if_all_arrived();
  wait_as(ThreadState::at_barrier);
  return barrier.counted_votes;
}

}  // namespace

void shape_blocks(dim3 block, void (*run)(void*), void* kernel_arguments) {
  blockDim = block;
  thread_count = static_cast<int>(block.x * block.y * block.z);
  position.threads = static_cast<unsigned>(thread_count);
  run_thread = run;
  arguments = kernel_arguments;
  set_fiber_body(run_threads);
  uint3 index{0, 0, 0};
  for (int i = 0; i < thread_count; ++i) {
    block_threads[i].index = index;
    begin_order[i] = static_cast<uint16_t>(settings.thread_order == Order::reverse ? thread_count - 1 - i : i);
    if (++index.x < block.x) continue;
    index.x = 0;
    if (++index.y < block.y) continue;
    index.y = 0;
    ++index.z;
  }
}

bool run_block() {
  if (settings.thread_order == Order::random) settings.thread_random.shuffle(begin_order, thread_count);
  begun = left = 0;
  ready_begin = ready_end = 0;
  barrier = {};
  failed = false;
  position.barriers = 0;
  switch_to_fiber(take_fiber());
  position.thread = -1;
  if (!failed) return true;
  reset_fibers();
  reset_warps();
  return false;
}

void wait_as(ThreadState state) {
  const int thread = position.thread;
  if (block_threads[thread].state != ThreadState::ready) block_threads[thread].state = state;
  if (begins_next()) {
    switch_to_fiber(take_fiber());
  } else if (ready_begin == ready_end) {
    fail_waiting();
  } else if (const int next = take_ready(); next != thread) {
    switch_to_fiber(block_threads[next].fiber);
  }
  become(thread);
}

void make_ready(const uint16_t* threads, int count) {
  const bool backward = settings.thread_order == Order::reverse;
  for (int i = 0; i < count; ++i) {
    const uint16_t thread = threads[backward ? count - 1 - i : i];
    block_threads[thread].state = ThreadState::ready;
    ready_at(ready_end++) = thread;
  }
}

unsigned lanes_left(int warp) {
  unsigned lanes = 0;
  for (int lane = 0; lane < 32 && warp * 32 + lane < thread_count; ++lane) {
    if (block_threads[warp * 32 + lane].state == ThreadState::left) lanes |= 1u << lane;
  }
  return lanes;
}

void abandon_block() {
  kernel_code_runs = false;
  failed = true;
  switch_to_host();
  __builtin_unreachable();
}

bool on_stack_of_running_thread(const void* data) {
  const auto* const at = static_cast<const std::byte*>(data);
  return running_fiber && running_fiber->stack <= at && at < running_fiber->stack + running_fiber->bytes;
}

bool on_stack_of_any_thread(const void* data) { return fiber_of_stack(data) != nullptr; }

bool is_model_state(const void* data) {
  const auto* const at = static_cast<const std::byte*>(data);
  const auto within = [at](const auto& variable) {
    const auto* const begin = reinterpret_cast<const std::byte*>(&variable);
    return begin <= at && at < begin + sizeof variable;
  };
  return within(threadIdx) || within(blockIdx) || within(blockDim) || within(gridDim) || within(current_block) ||
         within(position) || within(warp_meetings);
}

void __syncthreads(Location at) { meet_at_barrier(0, "__syncthreads", at); }

int __syncthreads_count(int predicate, Location at) {
  return meet_at_barrier(predicate != 0, "__syncthreads_count", at);
}

int __syncthreads_and(int predicate, Location at) {
  return meet_at_barrier(predicate == 0, "__syncthreads_and", at) == 0;
}

int __syncthreads_or(int predicate, Location at) {
  return meet_at_barrier(predicate != 0, "__syncthreads_or", at) != 0;
}

}  // namespace emu
