#pragma once
#include <type_traits>

#include <kernels/catalogue.h>

namespace dnn::test {

template <class A, class Float, class Double>
constexpr bool kIsEither = std::is_same_v<A, Float> || std::is_same_v<A, Double>;

// f(pointer) for each pointer among the arguments of a kernel, those within a struct included; f may change it.
template <class A, class F>
void for_each_pointer(A& argument, F&& f) {
  const auto members = [&](auto... member) { (f(argument.*member), ...); };
  if constexpr (std::is_pointer_v<A>) {
    f(argument);
  } else if constexpr (kIsEither<A, Epilogue<float>, Epilogue<double>>) {
    members(&A::bias, &A::scale, &A::residual);
  } else if constexpr (kIsEither<A, BatchNormForward<float>, BatchNormForward<double>>) {
    members(&A::x, &A::running_mean, &A::running_var, &A::y, &A::mean, &A::inv_std);
  } else if constexpr (kIsEither<A, BatchNormBackward<float>, BatchNormBackward<double>>) {
    members(&A::x, &A::mean, &A::inv_std, &A::weight, &A::bias, &A::y, &A::dy, &A::dx, &A::dresidual, &A::dweight,
            &A::dbias);
  }
}

}  // namespace dnn::test
