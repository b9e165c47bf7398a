#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "faults/faults.h"

// Each program of faults/ runs in a process of its own, as most faults end it in the build with ASan.
namespace {

enum Orders { kForward = 1, kReverse = 2, kRandom = 4, kOther = kReverse | kRandom, kAll = 7 };

// What a build must see: all of these words, which are parted by '|', in the orders of threads and blocks given. In the
// others it may see nothing.
struct Seen {
  const char* words;
  int orders = kAll;
};
constexpr Seen kNothing{nullptr};  // the build is blind for it
constexpr Seen kWrong{"wrong result"};
constexpr Seen kWrongInOtherOrders{"wrong result", kOther};
constexpr Seen kUndefined{nullptr, 0};  // it depends on what lies there

struct Expectation {
  const char* name;
  Seen plain, sanitize, checked;
};

// "@1" is the line with the comment "fault: 1".
const Expectation kExpectations[] = {
    {"static_shared_read_behind",
     kNothing,
     {"@1|index 256 out of bounds"},
     {"reads 4 bytes at|@1|shared memory s, byte 1024 of 1024"}},
    {"shared_read_behind",
     kNothing,
     {"use-after-poison|@2"},
     {"reads 4 bytes at|@2|shared memory s, byte 1024 of 1024"}},
    {"shared_read_behind_in_template",
     kNothing,
     {"use-after-poison|@3"},
     {"reads 4 bytes at|@3|shared memory s, byte 1024 of 1024"}},
    {"shared_write_behind",
     {"wrote|behind the end of s, which has 1024 bytes"},
     {"use-after-poison|@4"},
     {"writes 4 bytes at|@4|shared memory s, byte 1024 of 1024"}},
    {"dynamic_shared_write_behind",
     {"wrote|behind the end of the dynamic shared memory"},
     {"use-after-poison|@5"},
     {"writes 4 bytes at|@5|dynamic shared memory, byte 1024 of 1024"}},
    {"dynamic_shared_read_far_behind",
     kUndefined,
     kUndefined,
     {"reads 4 bytes at|@6|dynamic shared memory, |bytes behind 1024"}},
    {"dynamic_shared_unwritten",
     kWrong,
     kWrong,
     {"reads what nothing has written|dynamic shared memory, byte|of 1024|@7"}},
    {"shared_unwritten", kWrong, kWrong, {"reads what nothing has written|shared memory s, byte|of 1024|@8"}},
    {"static_shared_unwritten",
     kNothing,
     kNothing,
     {"reads what nothing has written|shared memory s, byte|of 1024|@9"}},
    {"static_shared_of_other_block", kNothing, kNothing, {"reads what nothing has written|shared memory s|@10"}},
    {"local_of_other_thread", kNothing, kNothing, {"reads 4 bytes at|@11|a local variable of another thread"}},

    {"global_write_behind",
     {"something wrote 0 bytes behind the end of the 1024 bytes"},
     {"use-after-poison|@1"},
     {"writes 4 bytes at|@1|global memory, byte 1024 of an allocation of 1024"}},
    {"global_read_behind",
     {"touches|of an allocation of 1024 bytes|@2"},
     {"touches|of an allocation of 1024 bytes|@2"},
     {"reads 4 bytes at|@2|global memory, |bytes behind an allocation of 1024"}},
    {"use_after_free",
     {"what was freed of 1024 bytes|@6"},
     {"use-after-poison|@6"},
     {"writes 4 bytes at|@6|of an allocation of 1024|which was freed"}},
    {"argument_after_free", {"argument 0|freed"}, {"argument 0|freed"}, {"argument 0|freed"}},
    {"misaligned_vector", kUndefined, {"misaligned address|@4"}, {"reads 16 bytes at|@4|not a multiple of 16"}},
    {"global_unwritten",
     kWrong,
     kWrong,
     {"reads what nothing has written|global memory, byte|of an allocation of 1024|@5"}},
    {"null_pointer", {"touches|@6"}, {"@6"}, {"writes 4 bytes at|@6|a null pointer"}},
    {"host_pointer_as_argument",
     {"argument 0 is|not in device memory"},
     {"argument 0 is|not in device memory"},
     {"argument 0 is|not in device memory"}},
    {"host_pointer_in_structure", kNothing, kNothing, {"writes 4 bytes at|@6|host memory at"}},
    {"host_variable_in_structure", kNothing, kNothing, {"writes 4 bytes at|@6|host memory, variable host_variable"}},
    {"pointer_in_device_memory",
     {"touches|@7"},
     {"@7"},
     {"reads 4 bytes at|@7|global memory, through a pointer that the kernel did not get as an argument"}},
    {"memory_of_other_device",
     kNothing,
     kNothing,
     {"writes 4 bytes at|@6|global memory|on device 1, the kernel runs on device 0"}},
    {"constant_written", kNothing, kNothing, {"writes 4 bytes at|@8|constant memory coefficients"}},
    {"device_pointer_on_host",
     {"the host touches device memory"},
     {"the host touches device memory"},
     {"the host touches device memory"}},

    {"missing_barrier_before_read",
     kWrongInOtherOrders,
     kWrongInOtherOrders,
     {"race: |shared memory s, byte|of 1024|@1|@2|no "}},
    {"missing_barrier_before_write", kWrong, kWrong, {"race: |shared memory s, byte|of 1024|@3|@4|no "}},
    {"write_of_what_all_read",
     kWrongInOtherOrders,
     kWrongInOtherOrders,
     {"race: |shared memory s, byte 0 of 4|@5|@6|barrier lies between"}},
    {"missing_syncwarp",
     kWrongInOtherOrders,
     kWrongInOtherOrders,
     {"race: |shared memory s, byte|of 128|@7|@8|no __syncwarp() or barrier lies between"}},
    {"shuffle_is_no_fence",
     kNothing,
     kNothing,
     {"race: |shared memory s, byte|of 128|@9|@10|no __syncwarp() or barrier lies between"}},
    {"syncwarp_of_half_the_warp", kUndefined, kUndefined, {"race: |shared memory s, byte|of 128|@11|@12"}},
    {"lost_update_in_block", kNothing, kNothing, {"race: |global memory, byte 0 of an allocation of 4|@13"}},
    {"atomic_and_plain",
     kWrongInOtherOrders,
     kWrongInOtherOrders,
     {"race: |global memory, byte 0 of an allocation of 4|@14|@15|no "}},
    {"lost_update_between_blocks",
     kNothing,
     kNothing,
     {"race: |global memory, byte 0 of an allocation of 4|@16|of block (|nothing orders the blocks of a launch"}},
    {"order_of_blocks",
     kWrongInOtherOrders,
     kWrongInOtherOrders,
     {"race: |global memory, byte|of an allocation of 260|@17|nothing orders the blocks of a launch"}},
    {"last_block_without_fence",
     kNothing,
     kNothing,
     {"race: reads global memory, byte|@19|wrote at|@18|nothing orders the blocks of a launch"}},
    {"byte_written_twice", kNothing, kNothing, {"race: writes global memory, byte|@20"}},

    {"divergent_barrier",
     {"divergent __syncthreads|@1|16 of 256 threads arrived"},
     {"divergent __syncthreads|@1|16 of 256 threads arrived"},
     {"divergent __syncthreads|@1|16 of 256 threads arrived"}},
    {"different_barriers", {"different barriers|@2|@3"}, {"different barriers|@2|@3"}, {"different barriers|@2|@3"}},
    {"exit_before_barrier",
     {"divergent __syncthreads|@4|6 have left"},
     {"divergent __syncthreads|@4|6 have left"},
     {"divergent __syncthreads|@4|6 have left"}},
    {"shuffle_with_lanes_that_left",
     {"__shfl_xor_sync|@5|ffffffff, of which c0000000 did not come"},
     {"__shfl_xor_sync|@5|ffffffff, of which c0000000 did not come"},
     {"__shfl_xor_sync|@5|ffffffff, of which c0000000 did not come"}},
    {"different_operations_of_warp",
     {"different operations|__shfl_sync|@6|__ballot_sync|@7"},
     {"different operations|__shfl_sync|@6|__ballot_sync|@7"},
     {"different operations|__shfl_sync|@6|__ballot_sync|@7"}},
    {"mask_without_caller",
     {"__shfl_sync|@8|mask 0000ffff lacks the calling lane"},
     {"__shfl_sync|@8|mask 0000ffff lacks the calling lane"},
     {"__shfl_sync|@8|mask 0000ffff lacks the calling lane"}},

    {"block_too_large", {"blockDim.x is 2048"}, {"blockDim.x is 2048"}, {"blockDim.x is 2048"}},
    {"shared_memory_without_asking",
     {"dynamic shared memory is 65536, the limit is 49152"},
     {"dynamic shared memory is 65536, the limit is 49152"},
     {"dynamic shared memory is 65536, the limit is 49152"}},
    {"copy_too_long", {"cudaMemcpy: the target"}, {"cudaMemcpy: the target"}, {"cudaMemcpy: the target"}},
    {"copy_of_wrong_kind",
     {"cudaMemcpy: the target: it is host memory"},
     {"cudaMemcpy: the target: it is host memory"},
     {"cudaMemcpy: the target: it is host memory"}},
    {"double_free", {"cudaFree"}, {"cudaFree"}, {"cudaFree"}},
    {"matrix_too_small", {"cublasSgemm"}, {"cublasSgemm"}, {"cublasSgemm"}},
    {"leading_dimension_too_small", {"cublasSgemm"}, {"cublasSgemm"}, {"cublasSgemm"}},
    {"stream_of_other_device",
     {"a stream of device 1 while device 0 is current"},
     {"a stream of device 1 while device 0 is current"},
     {"a stream of device 1 while device 0 is current"}},
    {"argument_of_other_device",
     {"argument 0 is in the memory of device 1"},
     {"argument 0 is in the memory of device 1"},
     {"argument 0 is in the memory of device 1"}},
    {"copied_value_read_too_early", kWrong, kWrong, kWrong},
    {"pinned_memory_changed_too_early", kWrong, kWrong, kWrong},
    {"missing_event", kWrong, kWrong, kWrong},

    {"uncoalesced_access", kNothing, kNothing, {"@1|global memory move 8.00 times what it needs"}},
    {"bank_conflict", kNothing, kNothing, {"@2|shared memory take 32.00 times what it needs"}},
};

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// "races.cu:24" for "@1", of the source that has the fault.
std::string place_of_mark(const SeededFault& seeded, const std::string& number) {
  std::ifstream source(seeded.file);
  int line = 1;
  for (std::string text; std::getline(source, text); ++line) {
    const size_t mark = text.find("// fault: ");
    if (mark != std::string::npos && text.substr(mark + 10) == number) {
      return base_name(seeded.file) + ":" + std::to_string(line);
    }
  }
  return "no line is marked " + number;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('|', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

[[noreturn]] void run_child(const SeededFault& seeded, emu::Order order, int output) {
  dup2(output, 2);
  std::signal(SIGSEGV, SIG_DFL);  // Catch's
  emu::set_thread_order(order, 3);
  emu::set_block_order(order, 3);
  const bool right = seeded.run();
  cudaDeviceSynchronize();
  if (!right && emu::fault_count() == 0) std::fprintf(stderr, "wrong result\n");
  _exit(0);
}

// What the program had to say: its faults, ASan's report, or that its result is wrong.
std::string output_of(const SeededFault& seeded, emu::Order order) {
  int ends[2];
  REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    run_child(seeded, order, ends[1]);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t count; (count = read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(count));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) text += "ended by signal " + std::to_string(WTERMSIG(status)) + "\n";
  return text;
}

const Seen& of_this_build(const Expectation& expectation) {
  if (emu::checked()) return expectation.checked;
#ifdef __SANITIZE_ADDRESS__
  return expectation.sanitize;
#else
  return expectation.plain;
#endif
}

// CTest starts a test in each order; by hand all are run.
template <class F>
void for_each_order(F f) {
  const char* const wish = std::getenv("EMU_ORDER");
  const char* const names[] = {"forward", "reverse", "random"};
  for (int i = 0; i < 3; ++i) {
    if (!wish || std::strcmp(wish, names[i]) == 0) f(static_cast<emu::Order>(i), 1 << i, names[i]);
  }
}

const SeededFault* find_seeded(const char* name) {
  for (const SeededFault& seeded : seeded_faults()) {
    if (std::strcmp(seeded.name, name) == 0) return &seeded;
  }
  return nullptr;
}

bool is_correct_program(const SeededFault& seeded) { return std::strncmp(seeded.name, "none_", 5) == 0; }

}  // namespace

TEST_CASE("each seeded fault is seen") {
  for (const Expectation& expectation : kExpectations) {
    const SeededFault* const seeded = find_seeded(expectation.name);
    INFO(expectation.name);
    REQUIRE(seeded);
    const Seen& seen = of_this_build(expectation);
    for_each_order([&](emu::Order order, int bit, const char* order_name) {
      if (!(seen.orders & bit)) return;
      const std::string output = output_of(*seeded, order);
      INFO(order_name << ": " << output);
      if (!seen.words) {
        CHECK(output.empty());
        return;
      }
      for (std::string word : split(seen.words)) {
        if (word[0] == '@') word = place_of_mark(*seeded, word.substr(1));
        INFO(word);
        CHECK(output.find(word) != std::string::npos);
      }
    });
  }
}

TEST_CASE("no fault is seen in what is right") {
  int programs = 0;
  for (const SeededFault& seeded : seeded_faults()) {
    if (!is_correct_program(seeded)) continue;
    ++programs;
    for_each_order([&](emu::Order order, int, const char* order_name) {
      INFO(seeded.name << ", " << order_name);
      CHECK(output_of(seeded, order).empty());
    });
  }
  CHECK(programs == 9);
}

TEST_CASE("the table knows each seeded fault") {
  for (const SeededFault& seeded : seeded_faults()) {
    bool known = is_correct_program(seeded);
    for (const Expectation& expectation : kExpectations)
      known = known || std::strcmp(expectation.name, seeded.name) == 0;
    INFO(seeded.name);
    CHECK(known);
  }
}
