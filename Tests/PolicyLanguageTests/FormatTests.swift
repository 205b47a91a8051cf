// SPDX-License-Identifier: Apache-2.0
import PolicyLanguage
import PolicySyntax
import Testing

struct FormatTests {
    private func formatted(_ text: String) throws -> String {
        String(decoding: try PolicyFormatter.format(file(text)), as: UTF8.self)
    }

    private let untidy = """


        # Head.
        policy:   v1
        name: n


        # Before rules.
        rules:
        # The first.
        -   id: a.b   # its name
            forbid:  >
                 Folded,
                   and more.

                 Last.
            operations:   [ read-secret,export ,
               sign ]  # three
            # Between.
            subject: {user:   u ,  app: [ "flatpak:a" ]}
            description: a plain text
                that goes on
            unless:
              -   when: {remote: true}
              #- when: {active: true}
        -   {id: a.c, forbid: "it's \\"no\\""}

        # The end.
        """

    private let tidy = """
        # Head.
        policy: v1
        name: n

        # Before rules.
        rules:
          # The first.
          - id: a.b  # its name
            forbid: >
              Folded,
                and more.

              Last.
            operations: [read-secret, export,
              sign]  # three
            # Between.
            subject: {user: u, app: ["flatpak:a"]}
            description: a plain text
              that goes on
            unless:
              - when: {remote: true}
              #- when: {active: true}
          - {id: a.c, forbid: "it's \\"no\\""}

        # The end.

        """

    @Test func `all files are written the same way, with their comments`() throws {
        #expect(try formatted(untidy) == tidy)
    }

    @Test func `what is formatted stays as it is`() throws {
        #expect(try formatted(tidy) == tidy)
    }

    @Test func `line ends of other systems become ours`() throws {
        #expect(try formatted("policy: v1\r\nname: n\r\n") == "policy: v1\nname: n\n")
    }

    @Test func `an empty file stays empty`() throws {
        #expect(try formatted("") == "")
        #expect(try formatted("\n\n") == "")
        #expect(try formatted("# only this") == "# only this\n")
    }

    @Test func `block scalars keep their lines`() throws {
        let text = "policy: v1\nname: n\ndescription: |2-\n    two  \n   one\n\n  none\n"
        #expect(try formatted(text) == text)
    }

    @Test func `a digit in the comment of a block scalar indents nothing`() throws {
        let text = "a: |#8\n  one\nb: >-2\n   two\n"
        #expect(try formatted(text) == text)
    }

    @Test func `what is no YAML is told, not written`() {
        #expect(throws: Diagnostic.self) { try formatted("a: [") }
    }
}
