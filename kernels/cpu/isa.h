#pragma once
#include <string>
#include <vector>

#include <kernels/backend.h>

// The instruction sets of the CPU's rows. Nothing outside this folder knows them.
namespace dnn::cpu {

// Which compiled form of an inner loop a row runs: Backend::variant.
enum class Isa { baseline, avx2, avx512 };

inline Isa isa_of(const Backend& row) { return static_cast<Isa>(row.variant); }

// cpu_baseline, cpu_avx2, cpu_avx512: the same kernels, each with its instruction set.
std::vector<Backend> make_backends();

// The name of the row that "cpu" stands for: DNN_ISA's where it is set, else the best one that this CPU can run.
std::string best_row();

}  // namespace dnn::cpu
