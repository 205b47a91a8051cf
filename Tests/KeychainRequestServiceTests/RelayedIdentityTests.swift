// SPDX-License-Identifier: Apache-2.0
@testable import CallerIdentity
import Glibc
import KeychainKernelKeyring
import KeychainLinuxSystem
import KeychainModel
@testable import KeychainPolicyCompiler
import KeychainPolicyEngine
import KeychainPolicyModel
import PolicyLanguage
import PolicySyntax
import Testing

@Suite struct MovingPathTests {
    @Test(arguments: [
        ("/tmp/.mount_Obsidi3fGh1k/obsidian", "/tmp/.mount_Obsidi/obsidian"),
        ("/run/user/1000/.mount_aXyZ123/usr/bin/b", "/run/user/1000/.mount_a/usr/bin/b"),
        (
            "/nix/store/0c5fa3vz1i5yaqjl3qk5vmq1ki5h1f3x-git-2.44.0/bin/git",
            "/nix/store/git-2.44.0/bin/git"
        ),
    ])
    func `the part that changes is left out`(_ path: String, _ name: String) {
        #expect(MovingPath.name(path) == name)
    }

    @Test(arguments: [
        "/usr/bin/git", "/tmp/.mount_abcdef/x", "/tmp/.mount_Obsidi3fGh1k", "/tmp/mount_ab123456/x",
        "/tmp/.mount_ab12345\u{E9}/x", "/nix/store/short-git/bin/git",
        "/nix/store/0c5fa3vz1i5yaqjl3qk5vmq1ki5h1f3x-/bin/git",
        // A letter that hashes there have not.
        "/nix/store/ec5fa3vz1i5yaqjl3qk5vmq1ki5h1f3x-git/bin/git",
        "/home/a/nix/store/0c5fa3vz1i5yaqjl3qk5vmq1ki5h1f3x-git/bin/git",
    ])
    func `any other path stays`(_ path: String) {
        #expect(MovingPath.name(path) == nil)
    }
}

@Suite struct FlatpakProxyTests {
    @Test func `an application is named once, in its own part`() {
        let text =
            "[Application]\nname=org.mozilla.firefox\nruntime=x\n[Instance]\nname=org.other.App\n"
        #expect(FlatpakProxy.application(text) == "org.mozilla.firefox")
    }

    @Test(arguments: [
        "", "name=org.mozilla.firefox", "[Other]\nname=org.mozilla.firefox",
        "[Application]\nname=org.a.b\nname=org.a.c", "[Application]\nname=firefox",
        "[Application]\nname=org.mozilla", "[Application]\nname=org..firefox",
        "[Application]\nname=org.mozilla.1x", "[Application]\nname=org.mozilla.fire/fox",
        "[Application]\nname=org.mozilla.fire fox", "[Application]\nname=org.mozilla.",
    ])
    func `what is no name of an application names none`(_ text: String) {
        #expect(FlatpakProxy.application(text) == nil)
    }
}

@Suite(.enabled(if: KernelKeyring.isAvailable(), "this kernel gives no keyring"))
struct RelayedIdentityTests {
    private let server: ServerInMemory

    init() throws { server = try ServerInMemory() }

    private func caller(_ process: PinnedProcess) -> Caller {
        server.resolver.resolve(
            relayed: process, running: ProgramLook(at: process), of: geteuid())
    }

    @Test func `it is worth a path, whichever unit the process is in`() throws {
        let child = try ChildProcess(
            executable: "/bin/sleep", arguments: ["600"], environment: [], passing: [],
            newSession: true)
        defer { child.kill() }
        let process = try #require(PinnedProcess(pid: child.id, pidfd: nil))
        let caller = caller(process)
        let path = try #require(process.executablePath())
        #expect(caller.identifier == "exe:" + path)
        #expect(caller.accessGroups == ["exe:" + path])
        #expect(caller.strength == .rootsFile && caller.via == .secretService)
        #expect(!caller.isOfMachine)
    }

    @Test func `programs that have ended have no name, and share a group`() throws {
        let child = try ChildProcess(
            executable: "/bin/sleep", arguments: ["600"], environment: [], passing: [],
            newSession: true)
        let process = try #require(PinnedProcess(pid: child.id, pidfd: nil))
        child.kill()
        let caller = caller(process)
        #expect(caller.identity == .unknown && caller.accessGroups == ["bus:unidentified"])
    }

    @Test func `an application of the portal's has its own group and no home`() throws {
        let child = try ChildProcess(
            executable: "/bin/sleep", arguments: ["600"], environment: [], passing: [],
            newSession: true)
        defer { child.kill() }
        let process = try #require(PinnedProcess(pid: child.id, pidfd: nil))
        let path = try #require(process.executablePath())
        let source = SourceFile(
            path: "home.yaml",
            bytes: Array(
                """
                policy: v1
                name: home
                groups:
                  - {id: a.home, group: home-all, members: {exe: \(path)}, home: true}
                """.utf8))
        let policy = try CompiledPolicy(
            LoadedPolicies([[source]], today: 20_778).policy.reachOnly)
        let caller = Caller(
            user: geteuid(), process: child.id, identity: .sandbox("portal:org.a.B"), session: nil,
            terminal: nil, accessGroups: ["portal:org.a.B"], via: .portal)
        func groups(_ via: Caller.Via) -> [String] {
            CallerFacts(
                process, running: ProgramLook(at: process), in: nil, label: .none, via: via,
                server.directory
            )
            .atHome(caller, policy).accessGroups
        }
        #expect(groups(.portal) == ["portal:org.a.B"])
        #expect(groups(.secretService) == ["home-all", "portal:org.a.B"])
    }

    @Test func `policies know it by no name that the kernel guards`() throws {
        let own = try #require(PinnedProcess(pid: getpid(), pidfd: nil))
        let program = ProgramLook(at: own)
        let facts = CallerFacts(
            own, running: program, in: nil, label: .none, via: .secretService, server.directory)
        let known = facts.facts(of: caller(own), .told)
        for field in [TextField.unit, .slice, .userUnit, .app, .label] {
            #expect(known[field] == .unknown, "\(field)")
        }
        let stranger = Caller(
            user: geteuid(), process: getpid(), identity: .unknown, session: nil, terminal: nil,
            accessGroups: ["bus:unidentified"], via: .secretService)
        let unknown = CallerFacts(
            own, running: program, in: nil, label: .none, via: .secretService, server.directory
        )
        .facts(of: stranger, .told)
        #expect(unknown[.exe] == .unknown && unknown[.trustedExe] == .unknown)
    }
}
