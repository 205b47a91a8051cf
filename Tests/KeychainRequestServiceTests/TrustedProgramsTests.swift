// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import KeychainUserPresence
@testable import KeychainRequestService
import Testing

/// The programs that an item lets in, as a program lists them and as the user reads them.
@Suite struct TrustedProgramsTests {
    private let world: ServiceInMemory
    private var service: KeychainService { world.service }
    private let git = Program.git.caller

    init() throws { world = try ServiceInMemory() }

    private func identities(_ list: TrustList?) -> [String]? { list?.applications.map(\.identity) }

    @Test func `a list says of each program how well its name is guarded, and who listed it`()
        throws
    {
        let list = try service.trustList(
            [
                .own, .identity("unit:nginx.service"), .identity("exe:/home/a/x"),
                .identity("exe:/usr/bin/python3"), .identity("snap:firefox"),
            ], listedBy: git)
        #expect(
            identities(list) == [
                "exe:/home/a/x", "exe:/usr/bin/git", "exe:/usr/bin/python3", "snap:firefox",
                "unit:nginx.service",
            ])
        #expect(
            list.applications.map(\.strength) == [.weak, .rootsFile, .weak, .rootsFile, .guarded])
        #expect(list.applications.allSatisfy { $0.listedBy == "exe:/usr/bin/git" })
    }

    @Test(arguments: [
        "git", "exe:git", "exe:/usr/../tmp/x", "exe:/usr//bin/git", "exe:/usr/bin/./git",
        "unit:nginx", "unit:a/b.service", "selinux:", "selinux:a/b", "snap:", "snap:a/b",
        "flatpak:x", "exe:/" + String(repeating: "x", count: 4200),
    ])
    func `a name that no program bears is refused`(_ name: String) {
        #expect(throws: RequestError.invalid(.badRequest)) {
            try service.trustList([.identity(name)], listedBy: git)
        }
    }

    @Test func `a list has an end, and a program without a name can't list itself`() {
        let many = (0...TrustList.mostApplications).map {
            NamedProgram.identity("unit:\($0).service")
        }
        #expect(throws: RequestError.invalid(.dataTooLarge)) {
            try service.trustList(many, listedBy: git)
        }
        let unknown = Caller(
            user: 1, process: 1, identity: .unknown, session: nil, terminal: nil,
            accessGroups: [])
        #expect(throws: RequestError.refused(.notEntitled)) {
            try service.trustList([.own], listedBy: unknown)
        }
    }

    @Test func `a change adds to a list, takes from it, replaces it or ends it`() throws {
        let old = try service.trustList([.identity("unit:a.service")], listedBy: git)
        func changed(_ change: TrustChange, _ list: TrustList?) throws -> [String]? {
            identities(try service.trustUpdate(change, by: git)(list))
        }
        let new = NamedProgram.identity("unit:b.service")
        #expect(try changed(.add([new]), old) == ["unit:a.service", "unit:b.service"])
        #expect(try changed(.add([new]), nil) == ["unit:b.service"])
        #expect(try changed(.replace([new]), old) == ["unit:b.service"])
        #expect(try changed(.remove(["unit:a.service"]), old) == [])
        #expect(try changed(.remove(["unit:a.service"]), nil) == nil)
        #expect(try changed(.reset, old) == nil)
    }

    @Test func `the user reads which programs would be let in`() {
        #expect(
            TrustChange.replace([.own, .identity("exe:/usr/bin/python3.12")]).remark
                == "It would let in: the program itself, “/usr/bin/python3.12” (an interpreter)")
        #expect(TrustChange.add([]).remark == "Other programs could then ask for it.")
        #expect(
            TrustChange.remove(["unit:a.service"]).remark
                == "It would no longer let in: unit:a.service")
    }

    @Test func `a user is told who could be behind a program's path before it is let in`() {
        func remarks(_ identity: Caller.Identity) -> [String] { identity.remarks }
        #expect(
            remarks(.trustedExecutable("/usr/bin/git"))
                == ["Other programs of yours could start it, or take it over."])
        #expect(
            remarks(.trustedExecutable("/usr/bin/python3.11"))
                == ["It is an interpreter: whatever it runs would be let in too."])
        #expect(remarks(.unit("backup.service")).isEmpty)
    }

    @Test func `a program's name shows no control characters and has an end`() {
        #expect(ProgramName.shown("exe:/usr/bin/git") == "“/usr/bin/git”")
        #expect(ProgramName.shown("exe:/tmp/a\nb") == "“/tmp/a\\u{a}b”")
        #expect(ProgramName.shown("exe:/" + String(repeating: "x", count: 500)).count < 90)
        #expect(ProgramName.shown("unit:backup.service") == "unit:backup.service")
    }
}
