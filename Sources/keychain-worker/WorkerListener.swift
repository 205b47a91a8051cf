// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import KeychainLinuxSystem
internal import KeychainLocalSocket
internal import Synchronization

/// Starts this program anew for each connection, as systemd does with `Accept=yes`.
struct WorkerListener {
    private static let connection: Int32 = 3
    private static let day = 86_400.0
    private static let stackBytes = 128 * 1024

    private let listener: Listener

    init(_ listener: Listener) { self.listener = listener }

    /// Returns never: workers end with keychaind's end of their connections, and this process with
    /// keychaind.
    func run() -> Never {
        guard let program = InstalledProgram.ownPath() else { exit(2) }
        while true {
            guard let accepted = try? listener.acceptToPass() else { continue }
            // The child's alone once it has begun: keychaind must hear of its end.
            let connection = Mutex<PassedSocket?>(accepted)
            // The child ends with the thread that started it.
            _ = DetachedThread.start(stackBytes: Self.stackBytes) {
                let child = connection.withLock { connection in
                    defer { connection = nil }
                    return connection.flatMap { Self.start(program, $0) }
                }
                while child != nil, child?.wait(deadlineSeconds: Self.day) == nil {}
            }
        }
    }

    private static func start(_ program: String, _ connection: PassedSocket) -> ChildProcess? {
        try? ChildProcess(
            executable: program, arguments: [], environment: ProcessEnvironment.all,
            passing: [
                (source: connection.descriptor.number, target: self.connection),
                (source: 1, target: 1),
                (source: 1, target: 2),
            ], newSession: true)
    }
}
