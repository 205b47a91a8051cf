// SPDX-License-Identifier: Apache-2.0
// policy-bench times [SIZE…] | judge [SIZE…] | compare DECISIONS [SEED] | decide KIND SIZE COUNT
import Foundation
import KeychainPolicyGenerators

func times(_ sizes: [Int]) throws {
    for kind in RuleMix.Kind.allCases {
        for size in sizes {
            let times = try DecisionTimes(RuleMix(kind, rules: size, requests: 4_096))
            _ = times.coldMean(rounds: 1)
            let warm = times.warm()
            let record: [String: Any] = [
                "kind": kind.rawValue, "rules": size, "warm_p50_ns": warm[warm.count / 2],
                "warm_p99_ns": warm[warm.count * 99 / 100], "cold_mean_ns": times.coldMean(),
                "admission_ns": times.admission(), "reference_ns": times.reference(),
                "bytes_a_rule": Double(times.policy.byteCount) / Double(size),
                "compile_ms": times.compileMilliseconds, "allocations": times.allocations(),
                "most_candidates": times.policy.mostCandidates,
                "differences": times.differences(),
            ]
            let line = try JSONSerialization.data(withJSONObject: record, options: [.sortedKeys])
            print(String(decoding: line, as: UTF8.self))
        }
    }
}

/// The judgement of a read under so many rules, and without any.
func judgements(_ sizes: [Int]) throws {
    for size in sizes {
        let (nanoseconds, allocations) = try JudgeTimes(rules: size).measure()
        print(
            "{\"rules\": \(size), \"judgement_ns\": \(nanoseconds.rounded()),"
                + " \"judgement_allocations\": \(allocations)}")
    }
}

let words = CommandLine.arguments.dropFirst()
do {
    switch (words.first, words.count) {
    case ("times", _):
        let sizes = words.dropFirst().compactMap(Int.init)
        try times(sizes.isEmpty ? [10, 100, 1_000, 10_000] : sizes)
    case ("judge", _):
        let sizes = words.dropFirst().compactMap(Int.init)
        try judgements(sizes.isEmpty ? [0, 100, 10_000] : sizes)
    case ("compare", 2), ("compare", 3):
        let count = Int(words[2]) ?? 0
        try Comparison.run(decisions: count, seed: words.last.flatMap(UInt64.init) ?? 1)
        print("{\"decisions\": \(count), \"differences\": 0}")
    case ("decide", 4):
        guard let kind = RuleMix.Kind(rawValue: words[2]) else { exit(2) }
        let mix = RuleMix(kind, rules: Int(words[3]) ?? 0, requests: 256)
        try DecisionTimes(mix).decide(count: Int(words[4]) ?? 0)
    default:
        let usage = """
            usage: policy-bench times [SIZE…] | judge [SIZE…] | compare DECISIONS [SEED]
                   policy-bench decide KIND SIZE COUNT

            """
        FileHandle.standardError.write(Data(usage.utf8))
        exit(2)
    }
} catch {
    FileHandle.standardError.write(Data("policy-bench: \(error)\n".utf8))
    exit(1)
}
