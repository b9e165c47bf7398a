#pragma once
#include <chrono>
#include <deque>
#include <memory>
#include <vector>

#include "state.h"

// Streams are queues of operations, each with the points of other queues that it comes after. Nothing runs before the
// host waits for something, unless too much waits. A point always lies before the operation that comes after it, so
// there is always one that can run.
namespace emu {

struct Queue;

// How far a queue has come.
struct Point {
  std::shared_ptr<Queue> queue;
  uint64_t count = 0;  // of its operations
  bool reached() const;
};

struct Operation {
  std::function<void()> run;
  std::vector<Point> after;
  bool in_any_case = false;  // also once an error is sticky
  size_t bytes = 0;          // that it keeps until it runs
};

struct Queue {
  int device = 0;
  bool blocking = true;  // waits for the null stream's operations, and that for its
  std::deque<Operation> waiting;
  uint64_t put = 0, done = 0;
  size_t bytes = 0;  // that what waits keeps
};

inline bool Point::reached() const { return !queue || queue->done >= count; }

// The queue of a handle, of the null stream the current device's; a fault and null for what is no stream.
std::shared_ptr<Queue> find_queue(cudaStream_t);
std::shared_ptr<Queue> null_queue(int device);
cudaStream_t create_queue(int device, bool blocking);
void destroy_queue(cudaStream_t);

// The point behind what was put.
Point put(const std::shared_ptr<Queue>&, Operation);
// Behind all that is in the queue.
Point last_point(const std::shared_ptr<Queue>&);
void run_until(const Point&);
void run_all(int device);
// What a host that asks again and again may count on: that something runs now and then.
void run_something();
void drop_all(int device);  // without running it, with the streams themselves

bool streams_are_deferred();
bool an_operation_runs();

}  // namespace emu
