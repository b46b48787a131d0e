//===- LayoutText.cpp - Layouts as readable bases -------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   layout ::= entry (`,` entry)*
//   entry  ::= key `=` value
//   value  ::= integer | `[` (value (`,` value)*)? `]`
//
//===----------------------------------------------------------------------===//

#include "ir/Layout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <vector>

using namespace llvm;

namespace wavetile {

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

template <typename Range>
static void printList(raw_ostream &os, StringRef key, const Range &values) {
  os << key << "=[";
  interleaveComma(values, os);
  os << ']';
}

static void printBases(raw_ostream &os, LayoutInput name, const LinearMap &map, unsigned input) {
  os << wavetile::name(name) << "=[";
  interleaveComma(seq(0u, map.inputBits(input)), os, [&](unsigned bit) {
    os << '[';
    interleaveComma(map.basis(input, bit), os);
    os << ']';
  });
  os << ']';
}

void Layout::print(raw_ostream &os) const {
  for (unsigned input = 0; input < map.inputCount(); ++input) {
    printBases(os, registers ? LayoutInput(input) : LayoutInput::Offset, map, input);
    os << ", ";
  }
  printList(os, "shape", extents);
  if (!is_sorted(reverse(order)))
    printList(os << ", ", "repeat", order);
  if (buffers != 1)
    os << ", buffers=" << buffers;
  if (pad.amount)
    printList(os << ", ", "padding", ArrayRef<int64_t>{pad.interval, pad.amount});
}

std::string Layout::str() const {
  std::string text;
  raw_string_ostream os(text);
  print(os);
  return text;
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

namespace {

struct Value {
  bool isList = false;
  int64_t number = 0;
  std::vector<Value> list;
};

struct Entry {
  StringRef key;
  Value value;
};

class Parser {
public:
  explicit Parser(StringRef text) : text(text), rest(text) {}

  Expected<SmallVector<Entry, 6>> parseEntries() {
    SmallVector<Entry, 6> entries;
    do {
      rest = rest.ltrim();
      StringRef key = rest.take_while([](char c) { return isAlpha(c); });
      rest = rest.drop_front(key.size());
      if (key.empty())
        return fail("expected a key");
      if (any_of(entries, [&](const Entry &entry) { return entry.key == key; }))
        return fail("'" + key + "' is given twice");
      if (!consume("="))
        return fail("expected '=' after '" + key + "'");
      Expected<Value> value = parseValue(/*depth=*/0);
      if (!value)
        return value.takeError();
      entries.push_back({key, std::move(*value)});
    } while (consume(","));
    if (!rest.empty())
      return fail("expected ',' or the end");
    return entries;
  }

private:
  bool consume(StringRef token) {
    rest = rest.ltrim();
    bool found = rest.consume_front(token);
    rest = rest.ltrim();
    return found;
  }

  Error fail(const Twine &message) const {
    return createStringError(inconvertibleErrorCode(), "layout, character " +
                                                           Twine(text.size() - rest.size() + 1) +
                                                           ": " + message);
  }

  Expected<Value> parseValue(unsigned depth) {
    Value value;
    if (!consume("[")) {
      if (rest.consumeInteger(10, value.number))
        return fail("expected an integer or '['");
      return value;
    }
    if (depth == 2)
      return fail("lists are nested too deeply");
    value.isList = true;
    if (consume("]"))
      return value;
    do {
      Expected<Value> element = parseValue(depth + 1);
      if (!element)
        return element.takeError();
      value.list.push_back(std::move(*element));
    } while (consume(","));
    if (!consume("]"))
      return fail("expected ',' or ']'");
    return value;
  }

  StringRef text, rest;
};

Error invalid(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), "layout: " + message);
}

Expected<Coordinates> integers(StringRef key, const Value &value) {
  if (!value.isList || any_of(value.list, [](const Value &element) { return element.isList; }))
    return invalid("'" + key + "' expects a list of integers");
  return map_to_vector<4>(value.list, [](const Value &element) { return element.number; });
}

Expected<SmallVector<Coordinates, 8>> bases(StringRef key, const Value &value) {
  if (!value.isList)
    return invalid("'" + key + "' expects a list of bases");
  SmallVector<Coordinates, 8> result;
  for (const Value &element : value.list) {
    Expected<Coordinates> basis = integers(key, element);
    if (!basis)
      return basis.takeError();
    result.push_back(std::move(*basis));
  }
  return result;
}

/// `repeat` names the dimensions that repeat; the others, which have no place in the order, follow.
Expected<SmallVector<unsigned, 4>> completeOrder(ArrayRef<int64_t> repeat,
                                                 ArrayRef<int64_t> shape) {
  SmallVector<unsigned, 4> order;
  for (int64_t dim : repeat) {
    if (dim < 0 || dim >= int64_t(shape.size()) || is_contained(order, dim))
      return invalid("'repeat' names dimensions of the tile, each once");
    order.push_back(dim);
  }
  for (auto [dim, size] : enumerate(shape)) {
    if (is_contained(order, dim))
      continue;
    if (size > 0 && !isPowerOf2_64(size))
      return invalid("'repeat' lacks dimension " + Twine(dim) + ", which repeats");
    order.push_back(dim);
  }
  return order;
}

} // namespace

Expected<Layout> Layout::parse(StringRef text) {
  Expected<SmallVector<Entry, 6>> entries = Parser(text).parseEntries();
  if (!entries)
    return entries.takeError();

  SmallVector<Coordinates, 8> inputBases[4];
  bool given[4] = {};
  std::optional<Coordinates> shape, repeat, paddingValues;
  std::optional<int64_t> buffers;
  for (const auto &[key, value] : *entries) {
    std::optional<Coordinates> *list = StringSwitch<std::optional<Coordinates> *>(key)
                                           .Case("shape", &shape)
                                           .Case("repeat", &repeat)
                                           .Case("padding", &paddingValues)
                                           .Default(nullptr);
    int input = StringSwitch<int>(key)
                    .Case("register", 0)
                    .Case("lane", 1)
                    .Case("wave", 2)
                    .Case("offset", 3)
                    .Default(-1);
    if (list) {
      Expected<Coordinates> values = integers(key, value);
      if (!values)
        return values.takeError();
      *list = std::move(*values);
    } else if (input >= 0) {
      Expected<SmallVector<Coordinates, 8>> values = bases(key, value);
      if (!values)
        return values.takeError();
      inputBases[input] = std::move(*values);
      given[input] = true;
    } else if (key == "buffers") {
      if (value.isList || value.number < 1 || value.number > 1024)
        return invalid("'buffers' expects a number from 1 to 1024");
      buffers = value.number;
    } else {
      return invalid("unknown key '" + key + "'");
    }
  }

  bool isLds = given[3];
  if (isLds ? given[0] || given[1] || given[2] : !(given[0] && given[1] && given[2]))
    return invalid("expected either 'register', 'lane' and 'wave' or 'offset'");
  if (!shape)
    return invalid("expected 'shape'");
  if (!isLds && (buffers || paddingValues))
    return invalid("'buffers' and 'padding' are for LDS");
  SmallVector<unsigned, 4> order;
  if (repeat) {
    Expected<SmallVector<unsigned, 4>> complete = completeOrder(*repeat, *shape);
    if (!complete)
      return complete.takeError();
    order = std::move(*complete);
  }
  if (!isLds)
    return fromBases(*shape, inputBases[0], inputBases[1], inputBases[2], order);
  Padding padding;
  if (paddingValues) {
    if (paddingValues->size() != 2)
      return invalid("'padding' expects [interval, amount]");
    padding = {(*paddingValues)[0], (*paddingValues)[1]};
  }
  return ldsFromBases(*shape, inputBases[3], buffers.value_or(1), padding, order);
}

} // namespace wavetile
