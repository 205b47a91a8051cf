// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// SIGTERM and SIGINT stop the daemon cleanly; SIGPIPE means nothing to it.
final class Signals {
    private let sources: [any DispatchSourceSignal]

    init(_ stop: @escaping @Sendable () -> Void) {
        signal(SIGPIPE, SIG_IGN)
        sources = [SIGTERM, SIGINT].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler(handler: stop)
            source.resume()
            return source
        }
    }

    func end() { for source in sources { source.cancel() } }
}
