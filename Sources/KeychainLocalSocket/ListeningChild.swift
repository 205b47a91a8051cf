// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import Synchronization

/// Runs a program that listens on a socket of root's as this process's child, where no service
/// manager runs it. It listens on the same socket and makes the same checks.
package final class ListeningChild: Sendable {
    private static let listener: Int32 = 3
    private static let pauseMilliseconds: UInt32 = 200
    private static let day = 86_400.0

    private let program: String
    private let arguments: [String]
    private let environment: [String]
    private let socket: Listener
    private let log: @Sendable (String) -> Void
    private let child: Mutex<ChildProcess?>

    /// Must be called before this process gives up rights that the program may need, and on a
    /// thread that lives as long as the process: the child ends with that thread.
    package init(
        program: String, arguments: [String] = [], environment: [String] = [],
        socket path: String, log: @escaping @Sendable (String) -> Void
    ) throws(SocketError) {
        self.program = program
        self.arguments = arguments
        self.environment = environment
        self.log = log
        socket = try Listener(recordsAt: path, mode: 0o600)
        do { child = Mutex(try Self.start(program, arguments, environment, socket)) } catch {
            throw SocketError(error)
        }
    }

    /// Restarts the child whenever it ends. Connections made in between wait for the new child,
    /// which has no more rights than this process has by then.
    package func keep() -> Bool {
        DetachedThread.start { [self] in
            while let running = child.withLock({ $0 }) {
                guard running.wait(deadlineSeconds: Self.day) != nil else { continue }
                Wait.pause(milliseconds: Self.pauseMilliseconds)
                child.withLock { child in
                    guard child != nil else { return }
                    log("\(program) ended; it is started again")
                    // This thread must not end while there is a child.
                    if let anew = try? Self.start(program, arguments, environment, socket) {
                        child = anew
                    }
                }
            }
        }
    }

    package func stop() {
        let last = child.withLock { child in
            defer { child = nil }
            return child
        }
        last?.kill()
        socket.shutDown()
    }

    private static func start(
        _ program: String, _ arguments: [String], _ environment: [String], _ socket: Listener
    ) throws(SystemError) -> ChildProcess {
        try ChildProcess(
            executable: program, arguments: arguments, environment: environment,
            // The child's errors go to the log, which is standard output: standard error is closed
            // to the messages of libraries.
            passing: [(source: socket.number, target: listener), (source: 1, target: 2)],
            newSession: true)
    }
}
