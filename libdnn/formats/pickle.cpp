#include <libdnn/formats/pickle.h>

#include <libdnn/formats/pickle_machine.h>
#include <libdnn/formats/pickle_opcodes.h>

namespace dnn::pickle {

bool Machine::step() {
  const uint8_t opcode = number<uint8_t>();
  switch (opcode) {
    case kProto:
      protocol();
      break;
    case kFrame:
      frame();
      break;
    case kStop:
      stop();
      return false;

    case kMark:
      mark();
      break;
    case kPop:
      pop_value_or_mark();
      break;
    case kPopMark:
      pop_to_mark();
      break;
    case kDup:
      push(Value(top()));
      break;

    case kNone:
      push({None{}});
      break;
    case kNewTrue:
    case kNewFalse:
      push({opcode == kNewTrue});
      break;
    case kBinInt:
      push({int64_t{number<int32_t>()}});
      break;
    case kBinInt1:
      push({int64_t{number<uint8_t>()}});
      break;
    case kBinInt2:
      push({int64_t{number<uint16_t>()}});
      break;
    case kLong1:
      integer(take(number<uint8_t>()));
      break;
    case kLong4:
      integer(take(number<uint32_t>()));
      break;
    case kBinFloat:
      binary_float();
      break;

    case kShortBinUnicode:
    case kShortBinString:
      push({Text{take(number<uint8_t>())}});
      break;
    case kBinUnicode:
    case kBinString:
      push({Text{take(number<uint32_t>())}});
      break;
    case kBinUnicode8:
      push({Text{take(number<uint64_t>())}});
      break;
    case kShortBinBytes:
      push({Bytes{take(number<uint8_t>())}});
      break;
    case kBinBytes:
      push({Bytes{take(number<uint32_t>())}});
      break;
    case kBinBytes8:
    case kByteArray8:
      push({Bytes{take(number<uint64_t>())}});
      break;

    case kEmptyTuple:
      push({Tuple{keep({})}});
      break;
    case kTuple1:
    case kTuple2:
    case kTuple3:
      push({Tuple{keep(pop_many(opcode - kTuple1 + 1u))}});
      break;
    case kTuple:
      push({Tuple{keep(pop_to_mark())}});
      break;
    case kEmptyList:
      push({List{keep({})}});
      break;
    case kAppend:
      append(pop_many(1));
      break;
    case kAppends:
      append(pop_to_mark());
      break;
    case kEmptyDict:
      push({Dict{keep({})}});
      break;
    case kSetItem:
      set_items(pop_many(2));
      break;
    case kSetItems:
      set_items(pop_to_mark());
      break;

    case kBinPut:
      put(number<uint8_t>());
      break;
    case kLongBinPut:
      put(number<uint32_t>());
      break;
    case kMemoize:
      put(memo_.size());
      break;
    case kBinGet:
      get(number<uint8_t>());
      break;
    case kLongBinGet:
      get(number<uint32_t>());
      break;

    case kGlobal: {
      const std::string_view module = line();
      push(name(module, line()));
      break;
    }
    case kStackGlobal:
      stack_global();
      break;
    case kReduce:
    case kNewObj:
      call();
      break;
    case kBuild:
      build();
      break;

    case kNewObjEx:
      pop_many(2);  // its arguments
      make_instance(pop());
      break;
    case kInst: {
      const std::string_view module = line();
      const Value of_class = name(module, line());
      pop_to_mark();
      make_instance(of_class);
      break;
    }
    case kObj: {
      const Values parts = pop_to_mark();
      if (parts.empty()) fail("makes an object of no class");
      make_instance(parts[0]);
      break;
    }
    case kExt1:
      take(1);
      push({Opaque{}});
      break;
    case kExt2:
      take(2);
      push({Opaque{}});
      break;
    case kExt4:
      take(4);
      push({Opaque{}});
      break;
    case kEmptySet:
    case kNextBuffer:
      push({Opaque{}});
      break;
    case kAddItems:
      add_items();
      break;
    case kFrozenSet:
      pop_to_mark();
      push({Opaque{}});
      break;
    case kReadonlyBuffer:
      top();
      break;

    case kBinPersId:
      persistent();
      break;
    default:
      refuse(opcode);
  }
  return true;
}

Pickle::Pickle(std::string_view bytes, const std::vector<std::string_view>& allowed, const std::string& where) {
  Machine(*this, bytes, allowed, where).run();
}

}  // namespace dnn::pickle
