// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel

/// The JSON Schema of policy files, for editors. It leaves out the constraints across several
/// fields or files, which the loader checks.
package enum PolicySchema {
    /// Draft 7, which most editors support.
    package static var text: String { document.written() + "\n" }

    package static let document = undescribed.described(as: "file")

    private static let undescribed: SchemaValue = [
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": "urn:keychain:policy:v1",
        "title": "A policy file of Keychain Services",
        "type": "object",
        "required": ["policy", "name"],
        "additionalProperties": false,
        "properties": .object([
            ("policy", ["const": "v1"]), ("name", ref("identifier")),
            ("description", ref("text")),
            ("define", ["type": "object", "additionalProperties": ref("subject")]),
            ("groups", list(of: ref("group"))), ("closed", list(of: ref("closed"))),
            ("rules", list(of: ref("rule"))), ("assert", list(of: ref("assertion"))),
            ("tests", list(of: ref("test"))),
        ]),
        "definitions": .object(words + blocks + statements + tests),
    ]

    // MARK: Building

    private static func ref(_ name: String) -> SchemaValue {
        ["$ref": .text("#/definitions/\(name)")]
    }

    private static func list(of item: SchemaValue) -> SchemaValue {
        ["type": "array", "items": item]
    }

    private static func oneOrMore(_ item: SchemaValue) -> SchemaValue {
        ["anyOf": [item, ["type": "array", "minItems": 1, "items": item]]]
    }

    private static func choice(_ words: [String]) -> SchemaValue {
        ["enum": .list(words.map { .text($0) })]
    }

    private static func object(
        _ properties: [(String, SchemaValue)], required: [String] = [],
        atLeastOne: Bool = false, besides conditions: [(String, SchemaValue)] = []
    ) -> SchemaValue {
        var entries: [(String, SchemaValue)] = [
            ("type", "object"), ("additionalProperties", false),
        ]
        if atLeastOne { entries.append(("minProperties", 1)) }
        if !required.isEmpty { entries.append(("required", names(required))) }
        return .object(entries + [("properties", .object(properties))] + conditions)
    }

    private static func names(_ names: [String]) -> SchemaValue { .list(names.map { .text($0) }) }

    /// Where `condition` holds, `then` must hold.
    private static func when(
        _ condition: SchemaValue, _ then: SchemaValue, else other: SchemaValue = [:]
    ) -> [(String, SchemaValue)] {
        [("if", condition), ("then", then), ("else", other)]
    }

    private static func has(_ name: String, _ value: SchemaValue) -> SchemaValue {
        let constant: SchemaValue = ["const": value]
        return ["properties": .object([(name, constant)]), "required": names([name])]
    }

    // MARK: Definitions

    /// All characters but ASCII signs; the loader checks the others.
    private static let letter = #"[^\u0000-/:-@\[-`{-\u007f]"#
    private static let day = "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
    private static let minute = "([01][0-9]|2[0-3]):[0-5][0-9]"
    private static let between: SchemaValue = [
        "type": "string", "pattern": .text("^\(minute)-(\(minute)|24:00)$"),
    ]

    private static let words: [(String, SchemaValue)] = [
        // An editor may read a word as a number.
        ("text", ["type": ["string", "number", "boolean"], "minLength": 1]),
        (
            "identifier",
            [
                "type": ["string", "number"], "maxLength": .number(Identifier.longest),
                "pattern": .text("^\(letter)+([._-]\(letter)+)*$"),
            ]
        ),
        ("texts", oneOrMore(ref("text"))),
        (
            "patterns",
            oneOrMore([
                "type": ["string", "number", "boolean"],
                "pattern": #"^(\*\*?|\*\.[^*]+|[^*]([^*]|\*(?!\*))*(\*\*)?)$"#,
            ])
        ),
        ("duration", ["type": "string", "pattern": "^[0-9]+(ms|s|m|h|d)$"]),
        ("date", ["type": "string", "pattern": .text("^\(day)$")]),
        ("operations", oneOrMore(choice(Vocabulary.operations))),
        (
            "uid",
            [
                "anyOf": [
                    ["type": "integer", "minimum": 0],
                    ["type": "string", "pattern": "^[0-9]+(-[0-9]+)?$"],
                ]
            ]
        ),
        ("scope", choice(Freshness.allCases.map(\.word))),
        ("service", ["type": "string", "pattern": "^keychain-[a-z0-9_-]+$"]),
        (
            "constraint",
            [
                "anyOf": [
                    choice(PolicyFactor.allCases.map(\.rawValue)),
                    object(
                        [("pam", ref("service")), ("within", ref("duration"))],
                        required: ["pam"]),
                    object(
                        [("approval", ref("texts")), ("within", ref("duration"))],
                        required: ["approval"]),
                    object([("any", ref("constraints"))], required: ["any"]),
                    object([("all", ref("constraints"))], required: ["all"]),
                    object(
                        [("k", ["type": "integer", "minimum": 1]), ("of", ref("constraints"))],
                        required: ["k", "of"]),
                ]
            ]
        ),
        ("constraints", ["type": "array", "minItems": 1, "items": ref("constraint")]),
    ]

    private static let window = object(
        [
            ("days", oneOrMore(["type": "string", "pattern": .text(days)])),
            ("between", between),
        ], atLeastOne: true)

    private static let days: String = {
        let day = "(" + FileReader.days.joined(separator: "|") + ")"
        return "^\(day)(-\(day))?$"
    }()

    private static let blocks: [(String, SchemaValue)] = [
        (
            "subject",
            object(
                [("uid", oneOrMore(ref("uid"))), ("use", ref("text"))] + fields(.subject),
                atLeastOne: true)
        ),
        (
            "resource",
            object(
                [
                    (
                        "flags",
                        object([("has", ref("flags")), ("lacks", ref("flags"))], atLeastOne: true)
                    )
                ] + fields(.resource), atLeastOne: true)
        ),
        ("flags", oneOrMore(choice(PolicyItemFlags.words))),
        ("window", ["anyOf": [between, window]]),
        (
            "when",
            object(
                [
                    (
                        "time",
                        [
                            "anyOf": [
                                oneOrMore(ref("window")),
                                object(
                                    [("outside", oneOrMore(ref("window")))], required: ["outside"]),
                            ]
                        ]
                    )
                ] + fields(.environment), atLeastOne: true)
        ),
        ("box", object(box, atLeastOne: true)),
    ]

    private static let box: [(String, SchemaValue)] = [
        ("operations", ref("operations")), ("subject", ref("subject")),
        ("resource", ref("resource")), ("when", ref("when")),
    ]

    private static func fields(_ block: PolicyBlock) -> [(String, SchemaValue)] {
        let texts = TextField.allCases.filter { $0.block == block }.map {
            ($0.name, pattern(of: $0))
        }
        let choices = ChoiceField.allCases.filter { $0.block == block }.map {
            ($0.name, oneOrMore(choice($0.words)))
        }
        let booleans = BooleanField.allCases.filter { $0.block == block }.map {
            ($0.name, ["type": "boolean"] as SchemaValue)
        }
        let ages = AgeField.allCases.filter { $0.block == block }.map {
            (
                $0.name,
                object([("min", ref("duration")), ("max", ref("duration"))], atLeastOne: true)
            )
        }
        return texts + choices + booleans + ages
    }

    private static func pattern(of field: TextField) -> SchemaValue {
        switch field {
        case .digest: oneOrMore(["type": "string", "pattern": "^sha256:[0-9a-f]{64}$"])
        case .app: oneOrMore(["type": "string", "pattern": "^(flatpak|snap):."])
        case .label: oneOrMore(["type": "string", "pattern": "^(selinux|apparmor):."])
        default: ref("patterns")
        }
    }

    private static let mode: [(String, SchemaValue)] = [
        ("mode", choice(["enforce", "complain"])), ("expires", ref("date")),
    ]

    private static let period = FileReader.period.map { ($0, ref("date")) }
    private static let match = box + [("unless", list(of: ref("box")))]
    private static let head: [(String, SchemaValue)] = [
        ("id", ref("identifier")), ("description", ref("text")),
    ]

    private static let limit = object(
        [
            ("rate", ["type": "string", "pattern": "^[1-9][0-9]*/0*[1-9][0-9]*(ms|s|m|h|d)$"]),
            ("by", oneOrMore(choice(FileReader.limitKeys))),
            ("then", choice(["deny", "require"])),
            ("require", ref("constraint")),
        ], required: ["rate", "by", "then"],
        besides: when(
            has("then", "require"), ["required": ["require"]],
            else: ["properties": ["require": false]]))

    private static let effects: [(String, SchemaValue)] = [
        ("permit", ref("text")), ("forbid", ref("text")), ("share", ref("text")),
        ("require", ref("constraint")), ("limit", limit), ("redact", ref("texts")),
        ("audit", choice(["decision", "full"])),
    ]

    private static let rule: SchemaValue = {
        let keys =
            head + [("tags", ref("texts")), ("replaces", ref("identifier"))] + mode + period
            + effects + [("within", ref("duration")), ("scope", ref("scope"))] + match
        let one = FileReader.effects.map { ["required": [.text($0)]] as SchemaValue }
        let shared = Vocabulary.operations.filter { !["all", "change-acl"].contains($0) }
        let share: SchemaValue = [
            "required": ["operations", "subject", "resource"],
            "properties": [
                "operations": oneOrMore(choice(shared)),
                "resource": ["required": ["access-group"]],
            ],
        ]
        let prompted: SchemaValue = [
            "properties": ["when": ["properties": ["prompted": false]]]
        ]
        return object(
            keys, required: ["id"],
            besides: [
                ("oneOf", .list(one)),
                (
                    "dependencies",
                    .object([
                        ("within", ["require"]), ("scope", ["require"]), ("share", share),
                    ])
                ),
                (
                    "allOf",
                    .list([
                        .object(complaining),
                        .object(when(["required": ["limit"]], [:], else: prompted)),
                    ])
                ),
            ])
    }()

    private static let complaining = when(
        has("mode", "complain"), ["required": ["expires"]],
        else: ["properties": ["expires": false]])

    private static let kindsOfIdentifiers = "flatpak|snap|portal|unit|exe|selinux|apparmor"

    private static let statements: [(String, SchemaValue)] = [
        (
            "group",
            object(
                head + [
                    (
                        "group",
                        [
                            "type": ["string", "number", "boolean"],
                            "pattern": .text("^(?!(\(kindsOfIdentifiers)):)[^*]+$"),
                        ]
                    ), ("members", oneOrMore(ref("subject"))),
                    ("mode", choice(["read", "write"])), ("home", ["type": "boolean"]),
                ] + period, required: ["id", "group", "members"])
        ),
        (
            "closed",
            object(head + mode + period + match, required: ["id"], besides: complaining)
        ),
        ("rule", rule),
        ("assertion", object(head + [("never", ref("box"))], required: ["id", "never"])),
    ]

    // MARK: Tests

    private static let expectation = object(
        [
            ("decision", choice(PolicyOutcome.allCases.map(\.rawValue))),
            ("because", ["type": "array", "items": ref("identifier")]),
            ("requires", ["anyOf": [["type": "null"], ref("constraint")]]),
            ("audit", choice(["decision", "full"])),
            ("redacted", ["type": "array", "items": ref("text")]),
            (
                "would",
                ["anyOf": [["type": "null"], choice(PolicyOutcome.allCases.map(\.rawValue))]]
            ),
        ], required: ["decision"])

    private static let tests: [(String, SchemaValue)] = [
        ("facts", ["type": "object"]),
        (
            "request",
            object(
                [
                    ("operation", choice(PolicyOperation.allCases.map(\.rawValue))),
                    ("subject", known(RequestKeys.subject)),
                    ("resource", known(RequestKeys.resource)),
                    ("when", known(RequestKeys.environment)),
                    ("evidence", ref("facts")),
                    ("interactive", ["type": ["boolean", "string"]]),
                    ("at", ["type": "string", "pattern": .text("^\(day)T\(minute)$")]),
                    ("before", ref("facts")),
                ], required: ["operation"])
        ),
        ("expectation", expectation),
        (
            "test",
            object(
                [
                    ("name", ref("text")), ("description", ref("text")),
                    ("request", ref("request")),
                    ("each", ["type": "object", "additionalProperties": ["type": "array"]]),
                    ("expect", ["anyOf": [ref("expectation"), list(of: ref("expectation"))]]),
                ], required: ["name", "request", "expect"])
        ),
    ]

    /// An object with these names and facts of any value.
    private static func known(_ names: [String]) -> SchemaValue {
        object(names.map { ($0, [:]) })
    }
}
