#include <libdnn/formats/pickle_machine.h>

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include <kernels/error.h>
#include <libdnn/formats/pickle_opcodes.h>

namespace dnn::pickle {
namespace {

constexpr size_t kMaxStack = size_t{1} << 20;  // Python itself writes lists and dicts in pieces of 1,000

constexpr std::string_view kOrderedDict = "collections.OrderedDict";

void extend(Values& items, const Values& more) { items.insert(items.end(), more.begin(), more.end()); }

// A module's class, which PyTorch before 1.6 writes as ("module", class, file, source).
const Opaque* stored_class(const Persistent& persistent) {
  const Tuple* id = (*persistent.id)[0].as<Tuple>();
  return id && id->items->size() > 1 ? (*id->items)[1].as<Opaque>() : nullptr;
}

}  // namespace

void Machine::run() {
  if (bytes_.empty() || static_cast<uint8_t>(bytes_[0]) != kProto) fail("is no pickle of protocol 2 or later");
  while (step()) {
  }
  pickle_.size_ = static_cast<int64_t>(at_);
}

void Machine::fail(const std::string& what) const {
  throw Error(fmt::format("{}: {}; byte {} of the pickle", where_, what, at_));
}

void Machine::refuse(uint8_t opcode) const {
  for (const Refused& refused : kRefused) {
    if (refused.opcode == opcode) {
      fail(fmt::format("holds {}, which is not allowed in a file of weights", refused.what));
    }
  }
  fail(fmt::format("has an unknown operation {:#04x}", opcode));
}

std::string_view Machine::take(uint64_t count) {
  if (count > bytes_.size() - at_) {
    fail(fmt::format("ends too early: {} bytes are announced, {} are left", count, bytes_.size() - at_));
  }
  const std::string_view part = bytes_.substr(at_, count);
  at_ += count;
  return part;
}

std::string_view Machine::line() {
  const size_t end = bytes_.find('\n', at_);
  if (end == std::string_view::npos) fail("ends in the middle of a name");
  const std::string_view text = take(end - at_);
  ++at_;
  return text;
}

// --- stack
void Machine::push(Value value) {
  if (stack_.size() >= kMaxStack) fail("has more than a million values at once");
  stack_.push_back(value);
}

Value& Machine::top() {
  if (stack_.size() <= floor()) fail("takes a value from an empty stack");
  return stack_.back();
}

Value Machine::pop() {
  Value value = top();
  stack_.pop_back();
  return value;
}

Values Machine::pop_many(size_t count) {
  if (stack_.size() - floor() < count) fail("takes a value from an empty stack");
  Values values(stack_.end() - static_cast<ptrdiff_t>(count), stack_.end());
  stack_.resize(stack_.size() - count);
  return values;
}

void Machine::mark() {
  if (marks_.size() >= kMaxStack) fail("is nested too deep");
  marks_.push_back(stack_.size());
}

Values Machine::pop_to_mark() {
  if (marks_.empty()) fail("has no mark where one is needed");
  Values values = pop_many(stack_.size() - marks_.back());
  marks_.pop_back();
  return values;
}

void Machine::pop_value_or_mark() {
  if (!marks_.empty() && marks_.back() == stack_.size()) {
    marks_.pop_back();
  } else {
    pop();
  }
}

Values* Machine::keep(Values values) {
  pickle_.containers_.push_back(std::move(values));
  return &pickle_.containers_.back();
}

// --- containers; an opaque one drops what is put into it
void Machine::append(const Values& values) {
  if (top().as<Opaque>()) return;
  const List* list = top().as<List>();
  if (!list) fail("appends to what is no list");
  extend(*list->items, values);
}

void Machine::set_items(const Values& values) {
  if (values.size() % 2 != 0) fail("has a key without a value");
  if (top().as<Opaque>()) return;
  const Dict* dict = top().as<Dict>();
  if (!dict) fail("sets an item of what is no dict");
  extend(*dict->items, values);
}

void Machine::add_items() {
  pop_to_mark();
  if (!top().as<Opaque>()) fail("adds to what is no set");
}

// --- memo
void Machine::put(uint64_t index) {
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

void Machine::get(uint64_t index) {
  if (index >= memo_.size() || !known_[index]) {
    fail(fmt::format("refers to entry {} of its memo, which is none", index));
  }
  push(memo_[index]);
}

// --- names, calls and objects
// The parts are compared and kept as they lie: a pickle may name the same long texts again and again.
Value Machine::name(std::string_view module, std::string_view name) {
  for (const std::string_view full : allowed_) {
    const bool same = full.size() == module.size() + 1 + name.size() && full.starts_with(module) &&
                      full[module.size()] == '.' && full.ends_with(name);
    if (same) return {Global{full}};
  }
  pickle_.names_.push_back({module, name});
  return {Opaque{&pickle_.names_.back()}};
}

void Machine::stack_global() {
  const Value text = pop(), module = pop();
  if (!text.as<Text>() || !module.as<Text>()) fail("has a name that is no text");
  push(name(module.as<Text>()->text, text.as<Text>()->text));
}

// OrderedDict() or, as Python 2 writes it, OrderedDict([[key, value], ...]).
Value Machine::ordered_dict(const Values& arguments) {
  Values items;
  if (arguments.size() > 1) fail("calls OrderedDict with more than one argument");
  if (arguments.size() == 1) {
    if (arguments[0].as<Opaque>()) return arguments[0];
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

void Machine::call() {
  const Value arguments = pop(), function = pop();
  const Global* global = function.as<Global>();
  if (!global) return make_instance(function);
  const Tuple* tuple = arguments.as<Tuple>();
  if (!tuple) fail(fmt::format("calls {} with what is no tuple", global->name));
  if (global->name == kOrderedDict) return push(ordered_dict(*tuple->items));
  push({Call{keep({function, arguments})}});
}

// The attributes of an OrderedDict, such as the _metadata of PyTorch's state dicts, are no part of the values.
void Machine::build() {
  pop();
  if (!top().as<Dict>() && !top().as<Opaque>()) fail("sets the state of what is no object");
}

// An object whose class or function, in `of_class`, is not allowed, or not to be called in this way.
void Machine::make_instance(const Value& of_class) {
  const Opaque* opaque = of_class.as<Opaque>();
  if (const Persistent* persistent = of_class.as<Persistent>()) opaque = stored_class(*persistent);
  if (!opaque && !of_class.as<Persistent>() && !of_class.as<Global>()) fail("calls what is no function");
  push({opaque ? *opaque : Opaque{}});
}

void Machine::persistent() {
  pickle_.ids_.push_back({pop()});
  push({Persistent{&pickle_.ids_.back()}});
}

// --- numbers
void Machine::integer(std::string_view bytes) {
  if (bytes.size() > sizeof(int64_t)) return push({BigInteger{bytes}});
  const bool negative = !bytes.empty() && (bytes.back() & 0x80) != 0;
  int64_t value = negative ? -1 : 0;
  std::memcpy(&value, bytes.data(), bytes.size());
  push({value});
}

static_assert(std::endian::native == std::endian::little, "numbers are read as they lie");
void Machine::binary_float() { push({std::bit_cast<double>(__builtin_bswap64(number<uint64_t>()))}); }

void Machine::protocol() {
  const int version = number<uint8_t>();
  if (version < 2 || version > 5) fail(fmt::format("is of protocol {}; read are 2 to 5", version));
}

void Machine::frame() {
  const uint64_t size = number<uint64_t>();
  if (size > bytes_.size() - at_) fail(fmt::format("ends too early: a frame of {} bytes", size));
}

void Machine::stop() {
  pickle_.root_ = pop();
  if (!stack_.empty() || !marks_.empty()) fail("ends with values left over");
}

}  // namespace dnn::pickle
