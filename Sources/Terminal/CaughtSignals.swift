// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Synchronization

/// The descriptor to which the handler writes the number of each signal.
private let signalPipe = Atomic<Int32>(-1)

/// Holds signals back while the terminal's modes are changed, or a secret is where it must not
/// stay, and raises them afterwards. Only one may exist at a time.
package final class CaughtSignals {
    private static let numbers = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGALRM]

    /// Readable once a signal has come.
    package let descriptor: Int32
    private let writing: Int32
    private var before: [(number: Int32, action: sigaction)] = []

    package init() throws(TerminalError) {
        var ends: [Int32] = [-1, -1]
        // Safe: the array has room for the two descriptors.
        guard unsafe pipe(&ends) == 0 else { throw .system(errno) }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (descriptor, writing) = (ends[0], ends[1])
        signalPipe.store(writing, ordering: .sequentiallyConsistent)
        for number in Self.numbers {
            var action = sigaction()
            // Safe: the handler does nothing but one write(2) and an atomic load.
            unsafe action.__sigaction_handler.sa_handler = { number in
                var byte = UInt8(truncatingIfNeeded: number)
                let error = errno
                _ = unsafe write(signalPipe.load(ordering: .sequentiallyConsistent), &byte, 1)
                errno = error
            }
            var old = sigaction()
            guard unsafe sigaction(number, &action, &old) == 0 else { continue }
            // An ignored signal stays ignored.
            if unsafe old.__sigaction_handler.sa_handler.isIgnoring {
                _ = unsafe sigaction(number, &old, nil)
            } else {
                before.append((number, old))
            }
        }
    }

    /// Restores the handlers and raises the signals that came meanwhile.
    package func release() {
        for (number, action) in before {
            var action = action
            _ = unsafe sigaction(number, &action, nil)
        }
        before = []
        signalPipe.store(-1, ordering: .sequentiallyConsistent)
        var byte: UInt8 = 0
        // Safe: one byte is read into one byte.
        while unsafe read(descriptor, &byte, 1) == 1 { kill(getpid(), Int32(byte)) }
        close(descriptor)
        close(writing)
    }
}

extension Optional where Wrapped == @convention(c) (Int32) -> Void {
    /// SIG_IGN is the address 1.
    // Safe: the value is as wide as a number, is only compared, and is never called.
    fileprivate var isIgnoring: Bool { unsafe unsafeBitCast(self, to: Int.self) == 1 }
}
