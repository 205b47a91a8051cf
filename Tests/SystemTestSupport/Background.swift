// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// Work on a thread of its own, while the test does the other half.
package final class Background<Value: Sendable>: @unchecked Sendable {
    private let done = DispatchSemaphore(value: 0)
    private var result: Result<Value, any Error>?

    package init(_ body: @escaping @Sendable () throws -> Value) {
        let thread = Thread { [self] in
            result = Result { try body() }
            done.signal()
        }
        thread.start()
    }

    /// Waits for the result; may be called only once.
    package func value() throws -> Value {
        done.wait()
        return try result!.get()
    }
}
