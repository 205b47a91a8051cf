// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// SIGTERM and SIGINT stop the daemon cleanly; SIGPIPE means nothing to it.
final class Signals {
    private let sources: [any DispatchSourceSignal]

    /// Returns when the signals are heard. Ignoring them first, as is usual, would lose one that
    /// comes in between, and the daemon would run on.
    init(_ stop: @escaping @Sendable () -> Void) {
        signal(SIGPIPE, SIG_IGN)
        let heard = DispatchGroup()
        sources = [SIGTERM, SIGINT].map { number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler(handler: stop)
            source.setRegistrationHandler { heard.leave() }
            heard.enter()
            source.resume()
            return source
        }
        heard.wait()
    }

    func end() { for source in sources { source.cancel() } }
}
