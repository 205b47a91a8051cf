// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Times of one thing done many times, in microseconds.
struct Measurement {
    let name: String
    private let sorted: [Double]

    /// Runs `body` `count` times after a tenth as many that don't count.
    init(_ name: String, count: Int, _ body: (Int) throws -> Void) rethrows {
        self.name = name
        for index in 0..<max(count / 10, 1) { try body(index) }
        var times: [Double] = []
        times.reserveCapacity(count)
        let clock = ContinuousClock()
        for index in 0..<count {
            let start = clock.now
            try body(index)
            let parts = start.duration(to: clock.now).components
            times.append(Double(parts.seconds) * 1e6 + Double(parts.attoseconds) / 1e12)
        }
        sorted = times.sorted()
    }

    func percentile(_ share: Double) -> Double {
        sorted[min(Int(Double(sorted.count) * share), sorted.count - 1)]
    }

    /// One JSON object a line: what `Benchmarks/run` reads.
    func report(_ facts: [String: Any] = [:]) {
        var record: [String: Any] = facts
        record["name"] = name
        record["count"] = sorted.count
        record["p10_us"] = percentile(0.1)
        record["p50_us"] = percentile(0.5)
        record["p90_us"] = percentile(0.9)
        record["p99_us"] = percentile(0.99)
        let data = try? JSONSerialization.data(withJSONObject: record, options: [.sortedKeys])
        print(String(decoding: data ?? Data(), as: UTF8.self))
    }
}
