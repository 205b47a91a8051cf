// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What a thread of its own is doing while the test does the other half.
final class Background<Value: Sendable>: @unchecked Sendable {
    private let done = DispatchSemaphore(value: 0)
    private var result: Result<Value, any Error>?

    init(_ body: @escaping @Sendable () throws -> Value) {
        let thread = Thread { [self] in
            result = Result { try body() }
            done.signal()
        }
        thread.start()
    }

    /// Once only.
    func value() throws -> Value {
        done.wait()
        return try result!.get()
    }
}
