// SPDX-License-Identifier: Apache-2.0
import Foundation
import Security

/// Measurements that are asked for on the standard input, a line each, and answered with a line of
/// JSON each: so that a program keeps its connection between them, and many programs begin each at
/// the same moment.
///
///     read COUNT ITEMS        reads of single items, one after the other
///     search COUNT ITEMS      the dictionaries of as many, and nothing that is asked with them
///     reads ITEMS FROM UNTIL  the same between two moments: nanoseconds of CLOCK_MONOTONIC
///     first                   one read, with nothing before it
///     add COUNT               durable adds
///     adds FROM UNTIL
///     unlock PASSWORD         one unlock, whatever comes of it
///     lock                    of the keychain, for all programs
enum Orders {
    private struct Unknown: Error { let line: String }

    static func follow() throws {
        print(#"{"name": "ready", "process": \#(getpid())}"#)
        fflush(nil)
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            let numbers = words.dropFirst().compactMap { Int($0) }
            switch (words.first, words.count) {
            case ("read", 3):
                try Measurement("read", count: numbers[0]) {
                    try ItemTimes.read(item: $0, of: numbers[1])
                }.report()
            case ("search", 3):
                Measurement("search", count: numbers[0]) {
                    ItemTimes.makeSearch(item: $0, of: numbers[1])
                }.report()
            case ("reads", 4):
                try until(numbers[1], numbers[2]) {
                    try ItemTimes.read(item: $0, of: numbers[0])
                }.report()
            case ("first", 1):
                try Measurement(once: "first") { try ItemTimes.read(item: 0, of: 100) }.report()
            case ("add", 2):
                try Measurement("add", count: numbers[0]) { _ in try addOne() }.report()
            case ("adds", 3): try until(numbers[0], numbers[1]) { _ in try addOne() }.report()
            case ("unlock", 2):
                let password = Array(words[1].utf8)
                Measurement(once: "unlock") {
                    _ = SecKeychainUnlock(nil, UInt32(password.count), password, true)
                }.report()
            case ("lock", 1):
                try Measurement(once: "lock") { try check(SecKeychainLock(nil)) }.report()
            default: throw Unknown(line: line)
            }
            fflush(nil)
        }
    }

    private static func addOne() throws {
        try ItemTimes.add("new-\(UInt64.random(in: 0...UInt64.max))", service: "added")
    }

    private static func until(
        _ begin: Int, _ end: Int, _ body: (Int) throws -> Void
    ) rethrows -> Measurement {
        let pause = begin - Int(MonotonicTime.now)
        if pause > 0 { Thread.sleep(forTimeInterval: Double(pause) / 1e9) }
        return try Measurement("until", end: UInt64(end), body)
    }
}
