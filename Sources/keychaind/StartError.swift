// SPDX-License-Identifier: Apache-2.0
internal import KeychainLocalSocket

/// Why the daemon does not start, in words for its administrator.
enum StartError: Error, CustomStringConvertible {
    case notRoot
    case programMissing(String)
    case socketInUse(String)
    case socketFailed(String, String)
    case noThreads

    static func listening(on path: String, _ error: SocketError) -> StartError {
        error == .addressInUse ? .socketInUse(path) : .socketFailed(path, "\(error)")
    }

    var description: String {
        switch self {
        case .notRoot:
            "keychaind must run as root: it starts what keeps every user's keychain"
        case .programMissing(let path):
            "\(path): not installed as it should be (a regular file, root's, in folders that only "
                + "root can write to); install the package again"
        case .socketInUse(let path):
            "\(path): another daemon is listening there"
        case .socketFailed(let path, let why):
            "\(path): cannot listen there (\(why)); its folder must exist and be root's"
        case .noThreads:
            "cannot start a thread: raise TasksMax= of keychaind.service, or kernel.threads-max"
        }
    }
}
