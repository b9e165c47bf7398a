#pragma once
#include <kernels/cpu/conv2d_direct.h>

// F(4x4, 3x3) of Winograd's minimal filtering: 36 multiplications where the direct sum takes 144, and an error up to
// twice as large. A NaN, an infinity or the rounding of a huge value reaches all pixels of the tiles that read it.
namespace dnn::cpu {

// From the text of DNN_CONV, null where it is not set: false for "direct", which leaves this method out, true for
// "auto". Throws Error for another word.
bool parse_winograd_choice(const char* text);

// Why it can't or shouldn't take a convolution, or null: it needs 3x3 taps of stride and dilation 1, and enough
// channels and tiles to pay for the transforms; fewer tiles where the filters are transformed once for many calls.
const char* winograd_refuses(const DirectConv& conv, bool packed_once);

// `packed` holds winograd_packed_count() values, by winograd_pack(): the transformed filters.
int64_t winograd_packed_count(Context& context, const DirectConv& conv);
void winograd_pack(Context& context, const DirectConv& conv, const FilterView& filters, float* packed);
void conv2d_winograd(Context& context, const DirectConv& conv, const float* packed, const float* x,
                     const Epilogue<float>& epilogue, float* y);

}  // namespace dnn::cpu
