// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import Glibc

/// SIGTERM and SIGINT end the process cleanly.
struct EndSignals {
    private let sources: [any DispatchSourceSignal]

    /// `end` is called on a thread of its own.
    init(_ end: @escaping @Sendable () -> Void) {
        sources = [SIGTERM, SIGINT].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { end() }
            source.resume()
            return source
        }
    }

    func end() { for source in sources { source.cancel() } }
}
