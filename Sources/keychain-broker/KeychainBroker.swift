// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import KeychainLinuxSystem
internal import KeychainLocalSocket
internal import ProcessBroker

/// `keychain-broker`: looks at processes of each user for that user's worker, which has not the
/// rights for it. Descriptor 3 is its listening socket, from systemd or from keychaind, which makes
/// all connections.
///
/// It reads records of a fixed size, and what the kernel tells of processes and mounts; no message and no
/// file of a user's.
@main
struct KeychainBroker {
    private static let listener: Int32 = 3

    static func main() {
        do {
            try CrashReport.begin("keychain-broker")
            try ProcessHardening.apply()
            try ProcessHardening.keepOnly([.trace, .search])
            try ProcessHardening.forbidNewPrivileges()
        } catch { return fail("cannot give rights up: \(error)") }
        ProcessHardening.raiseLimits()
        ProcessHardening.boundMemory()
        signal(SIGPIPE, SIG_IGN)
        guard geteuid() == 0, let listener = Listener.inheritedRecords(listener),
            let daemon = InstalledProgram.sibling("../../sbin/keychaind")
        else { return fail("is started by systemd or keychaind, as root, with a socket") }
        do { try Confinement.lookOnly() } catch {
            return fail("cannot give calls up: \(error)")
        }
        BrokerServer(listener, for: daemon).run()
    }

    private static func fail(_ words: String) {
        ServiceLog(of: "keychain-broker").write(words, .error)
        exit(2)
    }
}
