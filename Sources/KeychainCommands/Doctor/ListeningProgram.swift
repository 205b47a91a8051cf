// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import KeychainLinuxSystem
internal import KeychainLocalSocket

/// A program of ours that hears keychaind, or its workers too, and tells all others nothing.
struct ListeningProgram {
    static let worker = Self(
        name: "keychain-worker", socket: "worker.sock", job: "serves each user by itself",
        loss: "no user is served")
    static let broker = Self(
        name: "keychain-broker", socket: "broker.sock", job: "looks at the programs that ask",
        loss: "no program is answered")
    static let audit = Self(
        name: "keychain-audit", socket: "audit.sock", job: "keeps the records of requests",
        loss: "nothing is recorded")

    let name: String
    let socket: String
    let job: String
    /// What is not done without it.
    let loss: String

    /// `program` is its file, `folder` that of the sockets.
    func finding(program: String, folder: String) -> Finding {
        guard InstalledProgram.isTrusted(program) else {
            return Finding(
                .machine, .trouble, "\(program) is missing, or not root's alone: \(loss)",
                remedy: "Install the package again.")
        }
        let path = folder + "/" + socket
        do throws(SocketError) { _ = try RecordConnection(path: path) } catch {
            // Users see that the socket is there.
            guard error == .system(EACCES) else {
                return Finding(
                    .machine, .trouble, "\(name) does not listen on \(path): \(loss)",
                    remedy: """
                        systemctl start \(name).socket; without systemd, start keychaind anew.
                        """)
            }
        }
        return Finding(.machine, .fine, "\(name) \(job)")
    }
}
