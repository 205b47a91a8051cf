// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import KeychainDatabase
internal import KeychainKernelKeyring
internal import KeychainLinuxSystem
internal import KeychainLocalSocket
internal import ProcessBroker

/// `keychain-worker`: serves one user. Descriptor 3 is a connection of keychaind's, from systemd, or from
/// the process of this program that listens where there is no systemd.
@main
struct KeychainWorker {
    private static let socket: Int32 = 3

    static func main() {
        do {
            try CrashReport.begin("keychain-worker")
            try ProcessHardening.apply()
            // To look at the process that connected, once, and to become a user's.
            try ProcessHardening.keepOnly([.trace, .setUser, .setGroup])
        } catch { fail("cannot give rights up: \(error)") }
        ProcessHardening.raiseLimits()
        signal(SIGPIPE, SIG_IGN)
        guard geteuid() == 0, let keychaind = InstalledProgram.sibling("../../sbin/keychaind")
        else { fail("is started by systemd or keychaind, as root, with a socket") }
        if let listener = Listener.inheritedRecords(socket) { WorkerListener(listener).run() }
        serve(keychaind)
    }

    private static func serve(_ keychaind: String) -> Never {
        let descriptor = Descriptor(owning: socket)
        // Another program of root's gets nothing of it, and can give it no keys, policies or connections.
        guard PeerProgram.runs(descriptor, one: [keychaind]) else {
            fail("another program than \(keychaind) connected")
        }
        ProcessHardening.boundMemory()
        Database.countNoMemory()
        // Before there is another thread. systemd's unit has it so too.
        KernelKeyring.joinEmptySession()
        do {
            try ProcessHardening.forbidNewPrivileges()
            let connection = try RecordConnection(accepted: descriptor)
            try ServedUser(connection).serve()
        } catch { fail("\(error)") }
        exit(0)
    }

    private static func fail(_ words: String) -> Never {
        ServiceLog(of: "keychain-worker").write(words, .error)
        exit(2)
    }
}
