// SPDX-License-Identifier: Apache-2.0
@testable import CallerIdentity
import CKeychainLinux
import Glibc
@testable import KeychainDaemon
import KeychainKernelKeyring
import KeychainLinuxSystem
import KeychainLocalSocket
import KeychainMessages
import KeychainModel
import KeychainPolicyEngine
import Testing

/// A deputy names programs by descriptors of their processes.
@Suite(.enabled(if: KernelKeyring.isAvailable(), "this kernel gives no keyring"))
struct DeputyConnectionTests {
    private let server: ServerInMemory
    private let pair: ConnectionPair
    private let deputy: DeputyConnection

    init() throws {
        server = try ServerInMemory()
        pair = try ConnectionPair()
        deputy = try #require(
            DeputyConnection(pair.server, RelayedPeers(), server.resolver, server.directory))
    }

    private func sleeping() throws -> ChildProcess {
        try ChildProcess(
            executable: "/bin/sleep", arguments: ["600"], environment: [], passing: [],
            newSession: true)
    }

    private func introduce(
        _ descriptor: Descriptor, heardOf: UInt64? = nil, for application: PortalApplication? = nil
    ) throws(RequestError) -> RelayedPeer {
        try deputy.introduce(
            Introduce(heardOf: heardOf, for: application), descriptor, under: .empty)
    }

    private func pidfd(_ id: Int32) -> Descriptor { Descriptor(owning: kc_pidfd_open(id)) }

    /// Nanoseconds of the clock that counts sleep.
    private var now: UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    @Test func `no program but the desktop's portal asks for applications`() throws {
        let child = try sleeping()
        defer { child.kill() }
        let application = try #require(PortalApplication("org.example.One"))
        #expect(throws: RequestError.refused(.notEntitled)) {
            _ = try introduce(pidfd(child.id), for: application)
        }
    }

    @Test func `a process of the deputy's user is a peer, by its own name`() throws {
        let child = try sleeping()
        defer { child.kill() }
        let peer = try introduce(pidfd(child.id), heardOf: now)
        let program = try deputy.program(Relay(peer: peer.handle, transfer: nil))
        #expect(program.caller.process == child.id && program.caller.user == geteuid())
        #expect(program.caller.accessGroups == peer.groups)
        #expect(peer.groups.count == 1 && peer.groups[0].hasPrefix("exe:/"))
        deputy.forget(peer.handle)
        #expect(throws: RequestError.state(.noSuchPeer)) {
            _ = try deputy.program(Relay(peer: peer.handle, transfer: nil))
        }
    }

    @Test func `a process that began after its connection was heard of is another's`() throws {
        let before = now - 1_000_000_000
        let child = try sleeping()
        defer { child.kill() }
        #expect(throws: RequestError.refused(.notEntitled)) {
            _ = try introduce(pidfd(child.id), heardOf: before)
        }
        // A descriptor of the bus's own was made when the program connected.
        #expect(throws: Never.self) { _ = try introduce(pidfd(child.id), heardOf: nil) }
    }

    @Test func `what is gone, and what is no process, is refused`() throws {
        let child = try sleeping()
        let descriptor = pidfd(child.id)
        child.kill()
        #expect(throws: RequestError.refused(.notEntitled)) { _ = try introduce(descriptor) }
        let file = Descriptor(owning: unsafe open("/etc/hostname", O_RDONLY | O_CLOEXEC))
        #expect(throws: RequestError.refused(.notEntitled)) { _ = try introduce(file) }
    }

    @Test(.enabled(if: geteuid() != 0, "root's processes are the deputy's user's"))
    func `a process of another user is refused`() {
        #expect(throws: RequestError.refused(.notEntitled)) { _ = try introduce(pidfd(1)) }
    }

    @Test func `its own context is each program's, whichever the deputy names`() throws {
        let child = try sleeping()
        defer { child.kill() }
        let peer = try introduce(pidfd(child.id))
        let program = try deputy.program(Relay(peer: peer.handle, transfer: nil))
        var said = AuthenticationContext()
        said.mayInteract = false
        said.reason = "trust me"
        let own = program.context(as: said)
        #expect(own.identifier != said.identifier && !own.mayInteract && own.reason == nil)
        #expect(program.context(as: nil).mayInteract)
    }
}
