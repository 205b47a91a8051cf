// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// SIGTERM and SIGINT stop the daemon cleanly, SIGHUP makes it read its policies again; SIGPIPE means
/// nothing to it.
final class Signals {
    private let sources: [any DispatchSourceSignal]

    /// Returns when the signals are heard. Ignoring them first, as is usual, would lose one that
    /// comes in between, and the daemon would run on.
    init(stop: @escaping @Sendable () -> Void, reload: @escaping @Sendable () -> Void) {
        signal(SIGPIPE, SIG_IGN)
        let heard = DispatchGroup()
        sources = [(SIGTERM, stop), (SIGINT, stop), (SIGHUP, reload)].map { number, handler in
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler(handler: handler)
            source.setRegistrationHandler { heard.leave() }
            heard.enter()
            source.resume()
            return source
        }
        heard.wait()
    }

    func end() { for source in sources { source.cancel() } }
}
