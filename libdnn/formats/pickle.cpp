#include <libdnn/formats/pickle.h>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <kernels/error.h>
#include <libdnn/formats/pickle_opcodes.h>
#include <libdnn/formats/printable.h>

namespace dnn::pickle {
namespace {

constexpr size_t kMaxStack = size_t{1} << 20;  // Python itself writes lists and dicts in pieces of 1,000

constexpr std::string_view kOrderedDict = "collections.OrderedDict";

}  // namespace

// The pickle machine: a stack, marks on it, and a memo.
class Machine {
 public:
  Machine(Pickle& pickle, std::string_view bytes, const std::vector<std::string_view>& allowed,
          const std::string& where)
      : pickle_(pickle), bytes_(bytes), allowed_(allowed), where_(where) {}

  void run() {
    if (bytes_.empty() || static_cast<uint8_t>(bytes_[0]) != kProto) fail("is no pickle of protocol 2 or later");
    while (step()) {
    }
    pickle_.size_ = static_cast<int64_t>(at_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(fmt::format("{}: {}; byte {} of the pickle", where_, what, at_));
  }

  // --- bytes
  std::string_view take(uint64_t count) {
    if (count > bytes_.size() - at_) {
      fail(fmt::format("ends too early: {} bytes are announced, {} are left", count, bytes_.size() - at_));
    }
    const std::string_view part = bytes_.substr(at_, count);
    at_ += count;
    return part;
  }

  template <class T>
  T number() {  // little-endian
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }

  std::string_view line() {
    const size_t end = bytes_.find('\n', at_);
    if (end == std::string_view::npos) fail("ends in the middle of a name");
    const std::string_view text = take(end - at_);
    ++at_;
    return text;
  }

  // --- stack
  void push(Value value) {
    if (stack_.size() >= kMaxStack) fail("has more than a million values at once");
    stack_.push_back(value);
  }

  size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }

  Value& top() {
    if (stack_.size() <= floor()) fail("takes a value from an empty stack");
    return stack_.back();
  }

  Value pop() {
    Value value = top();
    stack_.pop_back();
    return value;
  }

  Values pop_many(size_t count) {
    if (stack_.size() - floor() < count) fail("takes a value from an empty stack");
    Values values(stack_.end() - static_cast<ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    return values;
  }

  Values pop_to_mark() {
    if (marks_.empty()) fail("has no mark where one is needed");
    Values values = pop_many(stack_.size() - marks_.back());
    marks_.pop_back();
    return values;
  }

  Values* keep(Values values) {
    pickle_.containers_.push_back(std::move(values));
    return &pickle_.containers_.back();
  }

  // --- containers
  void extend(Values& items, const Values& more) { items.insert(items.end(), more.begin(), more.end()); }

  void append(const Values& values) {
    const List* list = top().as<List>();
    if (!list) fail("appends to what is no list");
    extend(*list->items, values);
  }

  void set_items(const Values& values) {
    if (values.size() % 2 != 0) fail("has a key without a value");
    const Dict* dict = top().as<Dict>();
    if (!dict) fail("sets an item of what is no dict");
    extend(*dict->items, values);
  }

  // --- memo
  void put(uint64_t index) {
    // Picklers count their entries, each of which takes bytes.
    if (index > at_) fail(fmt::format("has an entry {} in its memo, which cannot be", index));
    const Value value = top();
    if (index >= memo_.size()) {
      memo_.resize(index + 1);
      known_.resize(index + 1);
    }
    memo_[index] = value;
    known_[index] = true;
  }

  void get(uint64_t index) {
    if (index >= memo_.size() || !known_[index])
      fail(fmt::format("refers to entry {} of its memo, which is none", index));
    push(memo_[index]);
  }

  // --- names and calls
  void global(std::string_view module, std::string_view name) {
    const std::string full = fmt::format("{}.{}", module, name);
    const auto found = std::find(allowed_.begin(), allowed_.end(), full);
    if (found == allowed_.end()) fail(fmt::format("{} is not allowed in a file of weights", printable(full)));
    push({Global{*found}});
  }

  // OrderedDict() or, as Python 2 writes it, OrderedDict([[key, value], ...]).
  Value ordered_dict(const Values& arguments) {
    Values items;
    if (arguments.size() > 1) fail("calls OrderedDict with more than one argument");
    if (arguments.size() == 1) {
      const List* list = arguments[0].as<List>();
      if (!list) fail("makes an OrderedDict of what is no list");
      copied_ += list->items->size();
      if (copied_ > bytes_.size()) fail("makes OrderedDicts of one list again and again");
      for (const Value& pair : *list->items) {
        const List* as_list = pair.as<List>();
        const Tuple* as_tuple = pair.as<Tuple>();
        const Values* both = as_list ? as_list->items : as_tuple ? as_tuple->items : nullptr;
        if (!both || both->size() != 2) fail("makes an OrderedDict of what are no pairs");
        extend(items, *both);
      }
    }
    return {Dict{keep(std::move(items))}};
  }

  void call() {
    const Value arguments = pop(), function = pop();
    const Global* global = function.as<Global>();
    const Tuple* tuple = arguments.as<Tuple>();
    if (!global) fail("calls what is no function");
    if (!tuple) fail(fmt::format("calls {} with what is no tuple", global->name));
    if (global->name == kOrderedDict) return push(ordered_dict(*tuple->items));
    push({Call{keep({function, arguments})}});
  }

  // The attributes of an OrderedDict, such as the _metadata of PyTorch's state dicts, are no part of the values.
  void build() {
    const Value state = pop();
    if (!state.as<Dict>() || !top().as<Dict>()) fail("sets the state of an object, which is not allowed");
  }

  void persistent() {
    pickle_.ids_.push_back({pop()});
    push({Persistent{&pickle_.ids_.back()}});
  }

  // --- numbers
  void integer(std::string_view bytes) {
    if (bytes.size() > sizeof(int64_t)) return push({BigInteger{bytes}});
    const bool negative = !bytes.empty() && (bytes.back() & 0x80) != 0;
    int64_t value = negative ? -1 : 0;
    std::memcpy(&value, bytes.data(), bytes.size());
    push({value});
  }

  static_assert(std::endian::native == std::endian::little, "numbers are read as they lie");
  void binary_float() { push({std::bit_cast<double>(__builtin_bswap64(number<uint64_t>()))}); }

  void protocol() {
    const int version = number<uint8_t>();
    if (version < 2 || version > 5) fail(fmt::format("is of protocol {}; read are 2 to 5", version));
  }

  void frame() {
    const uint64_t size = number<uint64_t>();
    if (size > bytes_.size() - at_) fail(fmt::format("ends too early: a frame of {} bytes", size));
  }

  void stack_global() {
    const Value name = pop(), module = pop();
    if (!name.as<Text>() || !module.as<Text>()) fail("has a name that is no text");
    global(module.as<Text>()->text, name.as<Text>()->text);
  }

  void stop() {
    pickle_.root_ = pop();
    if (!stack_.empty() || !marks_.empty()) fail("ends with values left over");
  }

  [[noreturn]] void refuse(uint8_t opcode) const {
    for (const Refused& refused : kRefused) {
      if (refused.opcode == opcode)
        fail(fmt::format("holds {}, which is not allowed in a file of weights", refused.what));
    }
    fail(fmt::format("has an unknown operation {:#04x}", opcode));
  }

  bool step();  // false at the end

  Pickle& pickle_;
  std::string_view bytes_;
  const std::vector<std::string_view>& allowed_;
  const std::string& where_;
  size_t at_ = 0;
  Values stack_;
  std::vector<size_t> marks_;  // sizes of the stack
  std::deque<Value> memo_;
  std::deque<bool> known_;
  size_t copied_ = 0;
};

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
      if (marks_.size() >= kMaxStack) fail("is nested too deep");
      marks_.push_back(stack_.size());
      break;
    case kPop:
      if (!marks_.empty() && marks_.back() == stack_.size()) {
        marks_.pop_back();
      } else {
        pop();
      }
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
      global(module, line());
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
