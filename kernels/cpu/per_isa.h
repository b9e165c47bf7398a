#pragma once
#include <kernels/cpu/isa.h>

// One function in its compiled forms, one for each instruction set. In a source that Highway compiles once a target
// (see unary.cpp for the pattern):
//   #if HWY_ONCE
//   constexpr auto relu_chunk = DNN_PER_ISA(relu_chunk);   // finds dnn::cpu::N_AVX2::relu_chunk, ...
//   ... relu_chunk[context](x, y, count);
namespace dnn::cpu {

template <class Function>
struct PerIsa {
  Function baseline, avx2, avx512;
  constexpr Function operator[](const Context& context) const {
    switch (isa_of(context.backend)) {
      case Isa::avx512:
        return avx512;
      case Isa::avx2:
        return avx2;
      case Isa::baseline:
        break;
    }
    return baseline;
  }
};

template <class Function>
PerIsa(Function, Function, Function) -> PerIsa<Function>;

}  // namespace dnn::cpu

#define DNN_PER_ISA(function) \
  ::dnn::cpu::PerIsa { &::dnn::cpu::N_SCALAR::function, &::dnn::cpu::N_AVX2::function, &::dnn::cpu::N_AVX3::function }
