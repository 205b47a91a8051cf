// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import KeychainModel

/// Which programs joined which groups.
@Suite struct JoinedGroupsTests {
    private func program(
        _ identity: Caller.Identity, via: Caller.Via? = .secretService
    ) -> Caller {
        Caller(
            user: 1000, process: 7, identity: identity, session: nil, terminal: nil,
            accessGroups: [], via: via)
    }

    private func listed(
        _ name: String, _ strength: ProgramStrength = .rootsFile
    ) -> TrustedApplication {
        TrustedApplication(name, strength: strength, listedBy: nil, listedAt: 1)
    }

    private var joined: JoinedGroups {
        var groups = JoinedGroups()
        groups.add(listed("exe:/usr/bin/new"), to: "exe:/usr/bin/old")
        groups.add(listed("exe:/usr/bin/new"), to: "desktop-accounts")
        groups.add(listed("exe:/usr/bin/other"), to: "exe:/usr/bin/old")
        return groups
    }

    @Test func `a program has the groups that it joined, and no others`() {
        let new = program(.trustedExecutable("/usr/bin/new"))
        #expect(joined.joined(by: new) == ["desktop-accounts", "exe:/usr/bin/old"])
        #expect(
            joined.joined(by: program(.trustedExecutable("/usr/bin/other"))) == ["exe:/usr/bin/old"]
        )
        #expect(joined.joined(by: program(.trustedExecutable("/usr/bin/old"))) == [])
        #expect(joined.joined(by: program(.unknown)) == [])
    }

    @Test func `a name that is guarded less than it was then has none`() {
        #expect(joined.joined(by: program(.executable("/usr/bin/new"))) == [])
    }

    @Test func `only a program that the Secret Service brings has them`() {
        let identity = Caller.Identity.trustedExecutable("/usr/bin/new")
        #expect(joined.joined(by: program(identity, via: nil)) == [])
        #expect(joined.joined(by: program(identity, via: .portal)) == [])
    }

    @Test func `an interpreter has none, whatever is written`() {
        var groups = JoinedGroups()
        groups.add(listed("exe:/usr/bin/python3.11", .weak), to: "exe:/usr/bin/old")
        #expect(groups.joined(by: program(.trustedExecutable("/usr/bin/python3.11"))) == [])
        #expect(!JoinedGroups.mayJoin(program(.trustedExecutable("/usr/bin/python3.11"))))
        #expect(JoinedGroups.mayJoin(program(.trustedExecutable("/usr/bin/new"))))
    }

    @Test(arguments: ["imported", "bus:unidentified", "portal:org.example.App", ""])
    func `a group that is no program's and no family's has no programs that joined`(
        _ group: String
    ) {
        #expect(!JoinedGroups.isOpen(group))
        var groups = JoinedGroups()
        groups.add(listed("exe:/usr/bin/new"), to: group)
        #expect(groups.joined(by: program(.trustedExecutable("/usr/bin/new"))) == [])
    }

    @Test(arguments: ["exe:/usr/bin/old", "snap:old", "flatpak:a.b.Old", "desktop-accounts"])
    func `a program's group and a family's may be joined`(_ group: String) {
        #expect(JoinedGroups.isOpen(group))
    }

    @Test func `what is taken back is gone, and an empty group with it`() {
        var groups = joined
        func remove(_ program: String, from group: String) -> Bool {
            groups.remove("exe:/usr/bin/" + program, from: group)
        }
        #expect(remove("new", from: "desktop-accounts"))
        #expect(groups.groups.map(\.name) == ["exe:/usr/bin/old"])
        #expect(!remove("new", from: "desktop-accounts"))
        #expect(!remove("third", from: "exe:/usr/bin/old"))
        #expect(remove("new", from: "exe:/usr/bin/old"))
        #expect(groups.joined(by: program(.trustedExecutable("/usr/bin/new"))) == [])
        #expect(groups.groups.map(\.name) == ["exe:/usr/bin/old"])
    }

    @Test func `groups stand in the order of their names, each once`() {
        #expect(joined.groups.map(\.name) == ["desktop-accounts", "exe:/usr/bin/old"])
        #expect(joined.groups.map(\.programs.applications.count) == [1, 2])
    }
}
