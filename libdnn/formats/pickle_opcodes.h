#pragma once
#include <cstdint>

namespace dnn::pickle {

// The operations of the pickle machine that protocols 2 to 5 have, by their byte in the file.
enum Opcode : uint8_t {
  kMark = '(',
  kStop = '.',
  kPop = '0',
  kPopMark = '1',
  kDup = '2',
  kBinFloat = 'G',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kNone = 'N',
  kBinPersId = 'Q',
  kReduce = 'R',
  kBinString = 'T',
  kShortBinString = 'U',
  kBinUnicode = 'X',
  kAppend = 'a',
  kBuild = 'b',
  kGlobal = 'c',
  kAppends = 'e',
  kBinGet = 'h',
  kInst = 'i',
  kLongBinGet = 'j',
  kObj = 'o',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kSetItem = 's',
  kTuple = 't',
  kSetItems = 'u',
  kEmptyDict = '}',
  kEmptyList = ']',
  kEmptyTuple = ')',
  kBinBytes = 'B',
  kShortBinBytes = 'C',
  kProto = 0x80,
  kNewObj = 0x81,
  kExt1 = 0x82,
  kExt2 = 0x83,
  kExt4 = 0x84,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8a,
  kLong4 = 0x8b,
  kShortBinUnicode = 0x8c,
  kBinUnicode8 = 0x8d,
  kBinBytes8 = 0x8e,
  kEmptySet = 0x8f,
  kAddItems = 0x90,
  kFrozenSet = 0x91,
  kNewObjEx = 0x92,
  kStackGlobal = 0x93,
  kMemoize = 0x94,
  kFrame = 0x95,
  kByteArray8 = 0x96,
  kNextBuffer = 0x97,
  kReadonlyBuffer = 0x98,
};

// The text forms of protocols 0 and 1, which later picklers don't write.
struct Refused {
  uint8_t opcode;
  const char* what;
};
inline constexpr Refused kRefused[] = {
    {'P', "a persistent id of protocol 0 (PERSID)"},
    {'I', "a number of protocol 0 (INT)"},
    {'L', "a number of protocol 0 (LONG)"},
    {'F', "a number of protocol 0 (FLOAT)"},
    {'S', "a text of protocol 0 (STRING)"},
    {'V', "a text of protocol 0 (UNICODE)"},
    {'d', "a dict of protocol 0 (DICT)"},
    {'l', "a list of protocol 0 (LIST)"},
    {'g', "a reference of protocol 0 (GET)"},
    {'p', "a reference of protocol 0 (PUT)"},
};

}  // namespace dnn::pickle
