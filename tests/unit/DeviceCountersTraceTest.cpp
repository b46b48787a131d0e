//===- DeviceCountersTraceTest.cpp - Traces of a workgroup ----------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceCountersSupport.h"

#include "llvm/Support/JSON.h"

#include <map>

namespace wavetile::device::test {
namespace {

/// A trace, read back.
struct ParsedTrace {
  llvm::json::Object head;
  std::map<int64_t, llvm::json::Object> instructions;
  struct Event {
    int64_t wave, instruction, lanes;
    llvm::json::Array accesses;
  };
  std::vector<Event> events;
  int64_t announcedEvents = -1;

  explicit ParsedTrace(llvm::StringRef text) {
    llvm::SmallVector<llvm::StringRef> lines;
    text.split(lines, '\n', -1, false);
    for (llvm::StringRef line : lines) {
      llvm::json::Value value = llvm::cantFail(llvm::json::parse(line));
      if (const llvm::json::Array *array = value.getAsArray()) {
        Event event{*(*array)[0].getAsInteger(),
                    *(*array)[1].getAsInteger(),
                    *(*array)[2].getAsInteger(),
                    {}};
        EXPECT_TRUE(instructions.contains(event.instruction)) << "before it is described";
        if (array->size() > 3)
          event.accesses = *(*array)[3].getAsArray();
        events.push_back(std::move(event));
        continue;
      }
      llvm::json::Object &object = *value.getAsObject();
      if (object.getInteger("wavetile_trace"))
        head = object;
      else if (auto number = object.getInteger("i"))
        instructions[*number] = object;
      else if (auto count = object.getInteger("events"))
        announcedEvents = *count;
    }
  }

  /// The text of each instruction that a wave executed.
  std::vector<std::string> texts(int64_t wave) const {
    std::vector<std::string> result;
    for (const Event &event : events)
      if (event.wave == wave)
        result.push_back(instructions.at(event.instruction).getString("text")->str());
    return result;
  }
  const llvm::json::Object &instruction(llvm::StringRef part) const {
    for (const auto &[number, instruction] : instructions)
      if (instruction.getString("text")->contains(part))
        return instruction;
    ADD_FAILURE() << "no " << part.str();
    return instructions.begin()->second;
  }
  const Event &event(llvm::StringRef part) const {
    for (const Event &event : events)
      if (instructions.at(event.instruction).getString("text")->contains(part))
        return event;
    ADD_FAILURE() << "no " << part.str();
    return events.front();
  }
};

std::vector<std::string> strings(const llvm::json::Object &object, llvm::StringRef key) {
  std::vector<std::string> result;
  for (const llvm::json::Value &value : *object.getArray(key))
    result.push_back(value.getAsString()->str());
  llvm::sort(result);
  return result;
}

std::string traceOf(const char *target, const std::string &body,
                    const ProfiledKernel::Options &shape, std::array<uint32_t, 3> workgroup) {
  std::string text;
  llvm::raw_string_ostream out(text);
  TraceRequest request{&out, workgroup, [](uint64_t) { return "kernel.s:7"; }};
  ProfiledKernel::Options options = shape;
  options.trace = &request;
  ProfiledKernel kernel(target, body, options);
  return text;
}

TEST(DeviceTrace, WavesExecuteWhatTheirBranchesSay) {
  for (const char *target : targetNames) {
    // Workgroup 2 of 3, two waves, a loop of three iterations.
    ParsedTrace trace(traceOf(target,
                              "s_mov_b32 s8, 3\nloop:\ns_sub_u32 s8, s8, 1\ns_cmp_lg_u32 s8, 0\n"
                              "s_cbranch_scc1 loop\ns_barrier\n",
                              {.waves = 2, .workgroups = 3}, {2, 0, 0}));
    EXPECT_EQ(trace.head.getString("target"), target);
    EXPECT_EQ(trace.head.getString("kernel"), "test");
    EXPECT_EQ(*trace.head.getArray("workgroup"), (llvm::json::Array{2, 0, 0}));
    EXPECT_EQ(trace.announcedEvents, static_cast<int64_t>(trace.events.size()));
    for (int64_t wave : {0, 1}) {
      std::vector<std::string> texts = trace.texts(wave);
      ASSERT_EQ(texts.size(), 3u + 1 + 3 * 3 + 2);
      for (unsigned iteration = 0; iteration < 3; ++iteration)
        EXPECT_TRUE(llvm::StringRef(texts[4 + 3 * iteration]).starts_with("s_sub")) << iteration;
      EXPECT_EQ(texts[13], "s_barrier");
      EXPECT_EQ(texts.back(), "s_endpgm");
    }
    EXPECT_EQ(trace.instruction("s_cbranch").getString("class"), "branch");
    EXPECT_EQ(trace.instruction("s_cbranch").getString("source"), "kernel.s:7");
  }
}

TEST(DeviceTrace, InstructionsHaveTheirRegisters) {
  ParsedTrace trace(traceOf("gfx950",
                            "v_mfma_f32_16x16x32_f16 v[8:11], v[20:23], v[24:27], v[8:11]\n"
                            "s_waitcnt vmcnt(2) lgkmcnt(1)\n"
                            "v_cndmask_b32 v2, v3, v4, vcc\n"
                            "s_add_u32 s8, s9, 5\n"
                            "global_store_dwordx2 v1, v[8:9], s[4:5]\n"
                            "v_accvgpr_read_b32 v5, a7\n",
                            {}, {0, 0, 0}));
  using Strings = std::vector<std::string>;
  const llvm::json::Object &product = trace.instruction("v_mfma");
  EXPECT_EQ(strings(product, "writes"), (Strings{"v[8:11]"}));
  EXPECT_EQ(strings(product, "reads"), (Strings{"exec", "v[20:23]", "v[24:27]", "v[8:11]"}));
  EXPECT_EQ(product.getInteger("operations"), 2 * 16 * 16 * 32);
  EXPECT_EQ(product.getString("class"), "matrix");
  EXPECT_EQ(strings(trace.instruction("v_cndmask"), "reads"), (Strings{"exec", "v3", "v4", "vcc"}));
  EXPECT_EQ(strings(trace.instruction("s_add_u32"), "writes"), (Strings{"s8", "scc"}));
  EXPECT_EQ(strings(trace.instruction("s_add_u32"), "reads"), (Strings{"s9"}));
  EXPECT_EQ(strings(trace.instruction("global_store"), "reads"),
            (Strings{"exec", "s[4:5]", "v1", "v[8:9]"}));
  EXPECT_EQ(strings(trace.instruction("v_accvgpr"), "reads"), (Strings{"a7", "exec"}));
  const llvm::json::Object *waits = trace.instruction("vmcnt(2)").getObject("waits");
  ASSERT_TRUE(waits);
  EXPECT_EQ(*waits, (llvm::json::Object{{"vmcnt", 2}, {"lgkmcnt", 1}}));
  EXPECT_FALSE(trace.instruction("s_add_u32").get("waits"));
}

TEST(DeviceTrace, AccessesHaveLinesAndCycles) {
  ParsedTrace trace(traceOf("gfx942",
                            "v_lshlrev_b32 v2, 7, v0\n"
                            "global_load_dword v4, v1, s[4:5]\n"
                            "s_mov_b64 exec, 0x21\n"
                            "global_load_dword v5, v2, s[4:5]\n"
                            "ds_read_b32 v6, v2\n"
                            "scratch_load_dword v7, off, off offset:4\n"
                            "s_waitcnt vmcnt(0)\n",
                            {}, {0, 0, 0}));
  auto access = [&](llvm::StringRef part) -> const llvm::json::Object & {
    const ParsedTrace::Event &event = trace.event(part);
    EXPECT_EQ(event.accesses.size(), 1u) << part.str();
    return *event.accesses[0].getAsObject();
  };
  auto line = [](const llvm::json::Array &lines, unsigned run) {
    return *(*lines[run].getAsArray())[0].getAsInteger();
  };
  const llvm::json::Object &coalesced = access("global_load_dword v4");
  EXPECT_EQ(coalesced.getInteger("global"), 256);
  const llvm::json::Array &lines = *coalesced.getArray("lines");
  ASSERT_EQ(lines.size(), 1u); // A run of two.
  EXPECT_EQ((*lines[0].getAsArray())[1].getAsInteger(), 2);
  const llvm::json::Object &scattered = access("global_load_dword v5");
  EXPECT_EQ(scattered.getInteger("global"), 8);
  ASSERT_EQ(scattered.getArray("lines")->size(), 2u);
  EXPECT_EQ(line(*scattered.getArray("lines"), 0), line(lines, 0));
  EXPECT_EQ(line(*scattered.getArray("lines"), 1), line(lines, 0) + 5);
  EXPECT_EQ(trace.event("global_load_dword v5").lanes, 2);
  const llvm::json::Object &read = access("ds_read_b32");
  EXPECT_EQ(read.getInteger("lds"), 8);
  EXPECT_EQ(read.getInteger("cycles"), 2);
  EXPECT_EQ(read.getInteger("conflicts"), 1);
  const llvm::json::Object &scratch = access("scratch_load");
  EXPECT_EQ(scratch.getInteger("scratch"), 8);
  EXPECT_EQ(*scratch.getArray("lines"), (llvm::json::Array{llvm::json::Array{2, 1}}));
  EXPECT_EQ(access("s_load_dwordx4").getInteger("scalar"), 16);
}

TEST(DeviceTrace, TwoInstructionsInOneAreOneEvent) {
  ParsedTrace trace(
      traceOf("gfx1150", "v_dual_mov_b32 v2, v3 :: v_dual_mov_b32 v3, v2\n", {}, {0, 0, 0}));
  EXPECT_EQ(trace.texts(0).size(), 5u);
  const llvm::json::Object &dual = trace.instruction("v_dual");
  EXPECT_EQ(strings(dual, "writes"), (std::vector<std::string>{"v2", "v3"}));
  EXPECT_EQ(strings(dual, "reads"), (std::vector<std::string>{"exec", "v2", "v3"}));
}

TEST(DeviceTrace, TheOrderOfThreadsChangesNothing) {
  std::string body = "s_mov_b32 s8, 9\nloop:\nds_write_b32 v1, v0\ns_barrier\n"
                     "s_sub_u32 s8, s8, 1\ns_cmp_lg_u32 s8, 0\ns_cbranch_scc1 loop\n";
  ParsedTrace one(
      traceOf("gfx950", body, {.waves = 4, .workgroups = 97, .threads = 1}, {50, 0, 0}));
  ParsedTrace many(
      traceOf("gfx950", body, {.waves = 4, .workgroups = 97, .threads = 4}, {50, 0, 0}));
  EXPECT_EQ(one.events.size(), many.events.size());
  for (int64_t wave = 0; wave < 4; ++wave)
    EXPECT_EQ(one.texts(wave), many.texts(wave));
}

} // namespace
} // namespace wavetile::device::test
