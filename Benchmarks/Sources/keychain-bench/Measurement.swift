// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Times of one thing done many times, in microseconds.
struct Measurement {
    let name: String
    private let sorted: [Double]

    /// Runs `body` `count` times after a tenth as many that don't count.
    init(_ name: String, count: Int, _ body: (Int) throws -> Void) rethrows {
        for index in 0..<max(count / 10, 1) { try body(index) }
        var times: [Double] = []
        times.reserveCapacity(count)
        for index in 0..<count {
            let start = MonotonicTime.now
            try body(index)
            times.append(Double(MonotonicTime.now - start) / 1e3)
        }
        self.init(name, times)
    }

    /// Runs both `count` times in turns, so that both meet the machine in the same mood: on how many
    /// cores the threads are changes a time by half, and stays for thousands of runs.
    static func inTurns(
        _ first: String, _ second: String, count: Int, _ body: (_ isSecond: Bool) throws -> Void
    ) rethrows -> [Measurement] {
        var times: [[Double]] = [[], []]
        for index in -count / 10..<count {
            for isSecond in [false, true] {
                let start = MonotonicTime.now
                try body(isSecond)
                let time = Double(MonotonicTime.now - start) / 1e3
                if index >= 0 { times[isSecond ? 1 : 0].append(time) }
            }
        }
        return [Measurement(first, times[0]), Measurement(second, times[1])]
    }

    /// Runs `body` until that moment; what it ends behind it doesn't count.
    init(_ name: String, end: UInt64, _ body: (Int) throws -> Void) rethrows {
        var times: [Double] = []
        var start = MonotonicTime.now
        while start < end {
            try body(times.count)
            let stop = MonotonicTime.now
            if stop <= end { times.append(Double(stop - start) / 1e3) }
            start = stop
        }
        self.init(name, times)
    }

    init(once name: String, _ body: () throws -> Void) rethrows {
        let start = MonotonicTime.now
        try body()
        self.init(name, [Double(MonotonicTime.now - start) / 1e3])
    }

    private init(_ name: String, _ times: [Double]) {
        self.name = name
        sorted = times.sorted()
    }

    func percentile(_ share: Double) -> Double {
        guard !sorted.isEmpty else { return 0 }
        return sorted[min(Int(Double(sorted.count) * share), sorted.count - 1)]
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
        record["most_us"] = percentile(1)
        let data = try? JSONSerialization.data(withJSONObject: record, options: [.sortedKeys])
        print(String(decoding: data ?? Data(), as: UTF8.self))
    }
}
