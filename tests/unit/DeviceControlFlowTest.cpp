//===- DeviceControlFlowTest.cpp - Branches, calls, ends ------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where execution goes on, for many conditions and many distances, on every target. What comes out
// is arithmetic that a plain program of the host does in the same order.
//
//===----------------------------------------------------------------------===//

#include "DeviceTestSupport.h"

#include "runtime/emulator/Target.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>

namespace wavetile::device::test {
namespace {

// --- Conditions ---

/// None, one, some or all lanes; of waves of 64 also only those of one half.
std::vector<uint64_t> masksOf(unsigned waveSize, std::mt19937_64 &random) {
  uint64_t all = waveSize == 64 ? ~uint64_t(0) : 0xffffffff;
  std::vector<uint64_t> masks = {
      0, all, 1, all ^ (all >> 1), all & 0xffffffff, all & 0xffffffff00000000};
  for (unsigned i = 0; i < 300; ++i)
    masks.push_back(i % 4 == 0   ? 0
                    : i % 4 == 1 ? uint64_t(1) << random() % waveSize
                                 : random() & all);
  return masks;
}

TEST(DeviceControlFlow, ConditionsOfBranches) {
  static constexpr const char *conditions[] = {"scc0", "scc1", "vccz", "vccnz", "execz", "execnz"};
  std::string text;
  for (unsigned i = 0; i < std::size(conditions); ++i) {
    std::string number = std::to_string(i), to = "s" + std::to_string(10 + i);
    text += "s_mov_b32 " + to + ", 1\ns_cbranch_" + conditions[i] + " taken" + number +
            "\ns_mov_b32 " + to + ", 0\ntaken" + number + ":\n";
  }
  std::mt19937_64 random(1);
  for (const TargetDescription &target : targets())
    for (unsigned waveSize : {32u, 64u}) {
      if (waveSize == 32 && !target.isRdna())
        continue;
      WaveUnderTest test(target.name, text, waveSize);
      for (uint64_t exec : masksOf(waveSize, random)) {
        std::vector<uint64_t> others = masksOf(waveSize, random);
        uint64_t vcc = others[random() % others.size()];
        bool scc = random() & 1;
        test.restart();
        test.wave->setLaneMask(scalar::Exec, exec);
        test.wave->setLaneMask(scalar::Vcc, vcc);
        test.wave->scalars[scalar::Scc] = scc;
        test.run();
        bool expected[] = {!scc, scc, vcc == 0, vcc != 0, exec == 0, exec != 0};
        for (unsigned i = 0; i < std::size(expected); ++i)
          ASSERT_EQ(test.sgpr(10 + i), expected[i])
              << target.name << " " << conditions[i] << std::hex << " exec " << exec << " vcc "
              << vcc << " scc " << scc;
      }
    }
}

// --- Distances ---

/// A chain of blocks that lie in another order than they run: each does something that depends on
/// the order, and goes on in one of four ways. Calls are of functions, a block each, that return.
struct Chain {
  static constexpr unsigned count = 1040;
  std::vector<unsigned> order; ///< order[i] runs i-th.
  std::string text;
  uint32_t result = 1;

  explicit Chain(std::mt19937_64 &random) : order(count) {
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    std::vector<unsigned> next(count, count), places = order;
    for (unsigned i = 0; i + 1 < count; ++i)
      next[order[i]] = order[i + 1];
    std::shuffle(places.begin(), places.end(), random);
    text = "s_mov_b32 s4, 1\ns_branch block" + std::to_string(order[0]) + "\n";
    for (unsigned place : places)
      text += block(place, next[place]);
    text += "block" + std::to_string(count) + ":\n";
    for (unsigned place : order)
      result = step(place, result);
  }

private:
  /// The one that does the block's work, and its function where it calls one.
  static uint32_t step(unsigned number, uint32_t x) {
    x = x * 31 + number;
    return number % 4 == 1 || number % 4 == 3 ? x * 29 + number : x;
  }
  static std::string work(unsigned number, unsigned factor) {
    return "s_mul_i32 s4, s4, " + std::to_string(factor) + "\ns_add_i32 s4, s4, " +
           std::to_string(number) + "\n";
  }
  /// The address of a label in s[12:13].
  static std::string addressOf(const std::string &label, const std::string &here) {
    return "s_getpc_b64 s[12:13]\n" + here + ":\ns_mov_b32 s14, " + label + "-" + here +
           "\ns_ashr_i32 s15, s14, 31\ns_add_u32 s12, s12, s14\ns_addc_u32 s13, s13, s15\n";
  }
  static std::string block(unsigned number, unsigned next) {
    std::string own = std::to_string(number), to = "block" + std::to_string(next);
    std::string text = "block" + own + ":\n" + work(number, 31), function = "function" + own;
    std::string returning = function + ":\n" + work(number, 29) + "s_setpc_b64 ";
    switch (number % 4) {
    case 0:
      return text + "s_branch " + to + "\n";
    case 1:
      return text + "s_call_b64 s[6:7], " + function + "\ns_branch " + to + "\n" + returning +
             "s[6:7]\n";
    case 2:
      return text + addressOf(to, "here" + own) + "s_setpc_b64 s[12:13]\n";
    default: // The function lies before the block.
      return returning + "s[16:17]\n" + text + addressOf(function, "here" + own) +
             "s_swappc_b64 s[16:17], s[12:13]\ns_branch " + to + "\n";
    }
  }
};

TEST(DeviceControlFlow, JumpsAndCallsOfManyDistances) {
  std::mt19937_64 random(2);
  Chain chain(random);
  for (const TargetDescription &target : targets()) {
    WaveUnderTest test(target.name, chain.text);
    test.run();
    EXPECT_EQ(test.sgpr(4), chain.result) << target.name;
  }
}

// --- Halves of EXEC one after the other ---

TEST(DeviceControlFlow, SubvectorLoops) {
  const char *program = "s_subvector_loop_begin s4, end\n"
                        "begin:\n"
                        "v_add_nc_u32 v1, v1, v0\n"
                        "s_add_i32 s5, s5, 1\n"
                        "s_subvector_loop_end s4, begin\n"
                        "end:\n";
  std::mt19937_64 random(3);
  for (const char *target : {"gfx1100", "gfx1150", "gfx1151"}) {
    WaveUnderTest test(target, program, 64);
    for (uint64_t exec : masksOf(64, random)) {
      for (unsigned lane = 0; lane < 64; ++lane)
        test.vgpr(0, lane) = lane + 1, test.vgpr(1, lane) = 0;
      test.sgpr(5) = 0;
      test.restart();
      test.wave->setLaneMask(scalar::Exec, exec);
      test.run();
      unsigned passes = ((exec & 0xffffffff) != 0) + (exec >> 32 != 0);
      ASSERT_EQ(test.sgpr(5), passes) << target << std::hex << " " << exec;
      ASSERT_EQ(test.wave->exec(), exec) << target;
      for (unsigned lane = 0; lane < 64; ++lane)
        ASSERT_EQ(test.vgpr(1, lane), exec >> lane & 1 ? lane + 1 : 0) << target;
    }
  }
}

// --- Ends, halts and messages ---

/// Runs turn after turn until the wave has ended or stands still.
void runTurns(WaveUnderTest &test) {
  do {
    test.wave->status = WaveStatus::Ready;
    for (const Record *record = test.wave->pc; record;)
      record = record->execute(*test.wave, record);
  } while (test.wave->status == WaveStatus::Ready);
}

/// A program, how far it comes (s4), and what it reports there, if anything.
struct Ending {
  const char *text;
  uint32_t reached;
  std::optional<FaultKind> fault = std::nullopt;
};
void expectEndings(const std::string &target, const std::vector<Ending> &endings) {
  std::vector<std::string> texts;
  for (const Ending &ending : endings)
    texts.push_back(ending.text);
  std::vector<std::vector<uint8_t>> codes = assemble(target, texts);
  for (size_t i = 0; i < endings.size(); ++i) {
    const auto &[text, reached, fault] = endings[i];
    WaveUnderTest test(target, codes[i]);
    runTurns(test);
    EXPECT_EQ(test.wave->status == WaveStatus::Ended, !fault) << target << " " << text;
    EXPECT_EQ(test.sgpr(4), reached) << target << " " << text;
    if (fault)
      EXPECT_EQ(test.wave->fault.kind, *fault) << target << " " << text;
  }
}

const std::vector<Ending> endingsOfAll = {
    {"s_mov_b32 s4, 1\ns_endpgm\ns_mov_b32 s4, 2", 1},
    {"s_mov_b32 s4, 1\ns_endpgm_saved\ns_mov_b32 s4, 2", 1},
    {"s_setkill 0\ns_mov_b32 s4, 1\ns_setkill 1\ns_mov_b32 s4, 2", 1},
    {"s_sethalt 0\ns_mov_b32 s4, 1\ns_sethalt 1\ns_mov_b32 s4, 2", 1, FaultKind::Trap},
    {"s_mov_b32 s4, 1\ns_sendmsghalt 2\ns_mov_b32 s4, 2", 1, FaultKind::Trap},
    {"s_mov_b32 s4, 1\ns_trap 2\ns_mov_b32 s4, 2", 1, FaultKind::Trap},
    {"s_mov_b32 s4, 1\ns_sleep 3\ns_mov_b32 s4, 2", 2},
    {"s_mov_b32 s4, 1\ns_sendmsg 3\ns_mov_b32 s4, 2", 2}, // Of graphics: GS_DONE.
};

TEST(DeviceWaveEnds, EndsHaltsAndMessagesOnEveryTarget) {
  for (const TargetDescription &target : targets()) {
    std::vector<Ending> endings = endingsOfAll;
    if (target.isRdna())
      endings.push_back(
          {"s_mov_b32 s4, 1\ns_code_end\ns_mov_b32 s4, 2", 1, FaultKind::BadProgramCounter});
    if (target.encoding == Encoding::Gfx12) // A wave that has all its registers keeps them.
      endings.push_back({"s_mov_b32 s4, 1\ns_sleep_var s4\ns_alloc_vgpr s4\ns_mov_b32 s4, 2", 2});
    expectEndings(target.name, endings);
  }
}

TEST(DeviceWaveEnds, MessagesThatAnswer) {
  for (const TargetDescription &target : targets()) {
    if (!target.isRdna())
      continue;
    WaveUnderTest test(target.name, "s_sendmsg_rtn_b32 s4, sendmsg(MSG_RTN_GET_DOORBELL)\n"
                                    "s_sendmsg_rtn_b64 s[6:7], sendmsg(MSG_RTN_GET_REALTIME)\n"
                                    "s_nop 0");
    test.sgpr(4) = test.sgpr(7) = ~0u;
    test.run();
    EXPECT_EQ(test.sgpr(4), 0u) << target.name; // There is no doorbell.
    EXPECT_EQ(test.sgpr(7), 0u) << target.name; // A clock that has just begun.
    EXPECT_TRUE(test.wave->readsClock) << target.name;
  }
}

} // namespace
} // namespace wavetile::device::test
