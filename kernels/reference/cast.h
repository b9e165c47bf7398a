#pragma once
#include <kernels/backend.h>
#include <kernels/convert.h>

namespace dnn::reference {

inline void cast(Context&, DType from, DType to, int64_t count, const void* x, void* y) {
  with_type(from, [&]<class From>(From) {
    with_type(to, [&]<class To>(To) {
      for (int64_t i = 0; i < count; ++i) {
        static_cast<To*>(y)[i] = convert_element<To>(static_cast<const From*>(x)[i]);
      }
    });
  });
}

}  // namespace dnn::reference
