// SPDX-License-Identifier: Apache-2.0
import PolicySyntax

/// What is wrong with the form of a file.
let formMistakes: [Mistake] = [
    Mistake(
        .tooDeep,
        #"""
        policy: v1
        name: n
        define: [[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]

        """#,
        #"""
        p.yaml:3:24: error[KC1003]: nested deeper than 16 levels
            3 | define: [[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]
              |                        ^

        """#),
    Mistake(
        .manyDocuments,
        #"""
        policy: v1
        name: n
        ---
        rules: []

        """#,
        #"""
        p.yaml:3:1: error[KC1005]: a second document
            3 | ---
              | ^^^ put it into a file of its own

        """#),
    Mistake(
        .manyDocuments,
        #"""
        %YAML 1.2
        ---
        policy: v1
        name: n

        """#,
        #"""
        p.yaml:1:1: error[KC1005]: a directive
            1 | %YAML 1.2
              | ^ remove it

        """#),
    Mistake(
        .anchorOrAlias,
        #"""
        policy: v1
        name: n
        define:
          a: &a {user: x}
          b: *a

        """#,
        #"""
        p.yaml:4:6: error[KC1006]: an anchor
            4 |   a: &a {user: x}
              |      ^ name a subject under "define:"; quote a text that begins with "&"

        """#),
    Mistake(
        .anchorOrAlias,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, resource: {server: *.corp}}

        """#,
        #"""
        p.yaml:4:46: error[KC1006]: an alias
            4 |   - {id: a.b, forbid: no, resource: {server: *.corp}}
              |                                              ^ quote a pattern that begins with "*"; there are no aliases

        """#),
    Mistake(
        .tag,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: !!str no}

        """#,
        #"""
        p.yaml:4:23: error[KC1007]: a tag
            4 |   - {id: a.b, forbid: !!str no}
              |                       ^ quote a text that begins with "!"; there are no tags

        """#),
    Mistake(
        .mergeKey,
        #"""
        policy: v1
        name: n
        define:
          <<: {a: {user: x}}

        """#,
        #"""
        p.yaml:4:3: error[KC1008]: a merge key
            4 |   <<: {a: {user: x}}
              |   ^^ name a subject under "define:"

        """#),
    Mistake(
        .complexKey,
        #"""
        policy: v1
        name: n
        ? a
        : b

        """#,
        #"""
        p.yaml:3:1: error[KC1009]: a complex key
            3 | ? a
              | ^ keys are words

        """#),
    Mistake(
        .complexKey,
        #"""
        policy: v1
        name: n
        {a: b}: c

        """#,
        #"""
        p.yaml:3:6: error[KC1009]: a key that is no word
            3 | {a: b}: c
              |      ^

        """#),
    Mistake(
        .tab,
        #"""
        policy: v1
        name: n
        rules:
        \#u{9}- id: a

        """#,
        #"""
        p.yaml:4:1: error[KC1010]: a tab
            4 | \u{9}- id: a
              | ^ use spaces; "\t" within a text

        """#),
    Mistake(
        .duplicateKey,
        #"""
        policy: v1
        name: n
        rules:
          - id: a.b
            forbid: no
            id: a.c

        """#,
        #"""
        p.yaml:6:5: error[KC1011]: the key "id" stands twice in one mapping
            6 |     id: a.c
              |     ^^ remove one of them

        """#),
    Mistake(
        .duplicateKey,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, "id": a.c}

        """#,
        #"""
        p.yaml:4:27: error[KC1011]: the key "id" stands twice in one mapping
            4 |   - {id: a.b, forbid: no, "id": a.c}
              |                           ^^^^ remove one of them

        """#),
    Mistake(
        .controlCharacter,
        #"""
        policy: v1
        name: "n\x07"

        """#,
        #"""
        p.yaml:2:7: error[KC1012]: the control character U+0007
            2 | name: "n\x07"
              |       ^ remove it

        """#),
    Mistake(
        .controlCharacter,
        #"""
        policy: v1
        name: n\#u{1}

        """#,
        #"""
        p.yaml:2:8: error[KC1012]: the control character U+0001
            2 | name: n\u{1}
              |        ^ remove it

        """#),
    Mistake(
        .bidirectionalControl,
        #"""
        policy: v1
        name: n
        description: "a \u202e b"

        """#,
        #"""
        p.yaml:3:14: error[KC1013]: U+202E changes the direction of reading, so that the line is not what it seems
            3 | description: "a \u202e b"
              |              ^ remove it

        """#),
    Mistake(
        .bidirectionalControl,
        #"""
        policy: v1
        name: n
        description: a \#u{202e} b

        """#,
        #"""
        p.yaml:3:16: error[KC1013]: U+202E changes the direction of reading, so that the line is not what it seems
            3 | description: a \u{202e} b
              |                ^ remove it

        """#),
    Mistake(
        .syntax,
        #"""
        policy: v1
        name: n
        rules: [}

        """#,
        #"""
        p.yaml:3:9: error[KC1014]: this is not YAML: did not find expected node content
            3 | rules: [}
              |         ^
           = while parsing a flow node that begins at 3:9

        """#),
    Mistake(
        .syntax,
        #"""
        policy: v1
        name: n
        rules: "never ends

        """#,
        #"""
        p.yaml:4:1: error[KC1014]: this is not YAML: found unexpected end of stream
            4 | 
              | ^
           = while scanning a quoted scalar that begins at 3:8

        """#),
    Mistake(
        .mixedScript,
        #"""
        policy: v1
        name: n
        rules:
          - {id: pаy.rule, forbid: no}

        """#,
        #"""
        p.yaml:4:10: warning[KC1016]: "pаy.rule" mixes letters of different scripts
            4 |   - {id: pаy.rule, forbid: no}
              |          ^^^^^^^^ it may not be what it looks like

        """#),
    Mistake(
        .confusable,
        #"""
        policy: v1
        name: n
        rules:
          - {id: сор, forbid: no}

        """#,
        #"""
        p.yaml:4:10: warning[KC1017]: "сор" looks like "cop", and is not
            4 |   - {id: сор, forbid: no}
              |          ^^^

        """#),
    Mistake(
        .confusable,
        #"""
        policy: v1
        name: n
        rules:
          - {id: cop, forbid: no}
          - {id: сор, forbid: no}

        """#,
        #"""
        p.yaml:5:10: warning[KC1017]: "сор" looks like "cop", and is not
            5 |   - {id: сор, forbid: no}
              |          ^^^
        p.yaml:5:10: warning[KC1017]: "сор" looks like the id "cop"
            5 |   - {id: сор, forbid: no}
              |          ^^^

        """#),
]
