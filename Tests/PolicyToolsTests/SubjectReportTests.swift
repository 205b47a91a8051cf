// SPDX-License-Identifier: Apache-2.0
import KeychainPolicyModel
import PolicyLanguage
import PolicyTools
import Testing

/// What the keychain service says of a process, as people and other commands take it.
@Suite struct SubjectReportTests {
    private static let words = """
        subject {"user": "ann", "group": ["ann", "we \\"quote\\""], "exe": "/usr/bin/git", \
        "unit": "unknown!", "uid": 1000}
        when {"remote": false, "time": "fri 14:30"}
        access-group "exe:/usr/bin/git"
        unknown subject.unit its control group can't be read
        """

    @Test func `facts are written as tests take them, with a reason at what is unknown`() throws {
        let report = try #require(SubjectReport(Self.words))
        #expect(
            report.yaml == """
                # own access group: exe:/usr/bin/git
                subject:
                  user: ann
                  group: [ann, "we \\"quote\\""]
                  exe: /usr/bin/git
                  unit: unknown!  # its control group can't be read
                  uid: 1000
                when:
                  remote: false
                  time: "fri 14:30"

                """)
    }

    @Test func `the written facts are those of the request`() throws {
        let report = try #require(SubjectReport(Self.words))
        let line = report.json(.delete)
        let request = try RequestLine.read(line, today: testDay)
        #expect(request.operation == .delete && request.json == line)
        let indented = report.yaml.split(separator: "\n").map { "      \($0)" }
        let test = """
            policy: v1
            name: n
            tests:
              - name: t
                request:
                  operation: delete
            \(indented.joined(separator: "\n"))
                expect: {decision: allow}
            """
        let loaded = load(test)
        #expect(loaded.diagnostics.isEmpty)
        // A test happens on no day unless it says when.
        var facts = request.facts
        facts.date = .unknown
        #expect(loaded.files.first?.tests.first?.request.facts == facts)
    }

    @Test func `an item without a group is one of the program's own`() throws {
        let report = try #require(SubjectReport(Self.words))
        let request = try report.request(.readSecret, item: PolicyFacts(), today: testDay)
        #expect(request.facts[.accessGroup] == .known(["exe:/usr/bin/git"]))
        #expect(request.facts[.member] == .absent)
        #expect(request.facts[.unlocked] == .known(true))
    }

    @Test(arguments: [("exe:/usr/bin/git", true), ("deploy", false)])
    func `the program is a member of its own groups`(_ group: String, _ isMember: Bool) throws {
        let report = try #require(SubjectReport(Self.words))
        var item = PolicyFacts()
        item[.accessGroup] = .known([PolicyText(group)])
        let request = try report.request(.readSecret, item: item, today: testDay)
        #expect(request.facts[.member] == .known(isMember))
    }

    @Test(arguments: ["", "nonsense", "when {}"])
    func `lines of another form are no report`(_ words: String) {
        #expect(SubjectReport(words) == nil)
    }
}
