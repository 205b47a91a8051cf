// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel

/// The JSON Schema of policy files, for editors. It says all but what concerns several fields or
/// files: the loader checks that.
package enum PolicySchema {
    /// Draft 7, which editors know best.
    package static var text: String { document.written() + "\n" }

    private static let document: SchemaValue = [
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A policy file of Keychain Services",
        "type": "object",
        "required": ["policy", "name"],
        "additionalProperties": false,
        "properties": [
            "policy": ["const": "v1"],
            "name": ref("identifier"),
            "description": ref("text"),
            "define": ["type": "object", "additionalProperties": ref("subject")],
            "groups": list(of: ref("group")),
            "closed": list(of: ref("closed")),
            "rules": list(of: ref("rule")),
            "assert": list(of: ref("assertion")),
            "tests": list(of: ref("test")),
        ],
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
        _ properties: [(String, SchemaValue)], required: [String] = [], atLeastOne: Bool = false
    ) -> SchemaValue {
        var entries: [(String, SchemaValue)] = [
            ("type", "object"), ("additionalProperties", false),
        ]
        if atLeastOne { entries.append(("minProperties", 1)) }
        if !required.isEmpty {
            entries.append(("required", .list(required.map { .text($0) })))
        }
        return .object(entries + [("properties", .object(properties))])
    }

    // MARK: Definitions

    private static let words: [(String, SchemaValue)] = [
        // An editor may take a word for a number.
        ("text", ["type": ["string", "number", "boolean"]]),
        (
            "identifier",
            ["type": ["string", "number"], "maxLength": .number(Identifier.longest)]
        ),
        ("texts", oneOrMore(ref("text"))),
        ("duration", ["type": "string", "pattern": "^[0-9]+(ms|s|m|h|d)$"]),
        ("date", ["type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"]),
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
            (
                "between",
                ["type": "string", "pattern": "^[0-2][0-9]:[0-5][0-9]-[0-2][0-9]:[0-5][0-9]$"]
            ),
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
        ("window", ["anyOf": [["type": "string"], window]]),
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
        default: ref("texts")
        }
    }

    private static let mode: [(String, SchemaValue)] = [
        ("mode", choice(["enforce", "complain"])), ("expires", ref("date")),
    ]

    private static let match = box + [("unless", list(of: ref("box")))]
    private static let head: [(String, SchemaValue)] = [
        ("id", ref("identifier")), ("description", ref("text")),
    ]

    private static let limit = object(
        [
            ("rate", ["type": "string", "pattern": "^[1-9][0-9]*/[0-9]+(ms|s|m|h|d)$"]),
            ("by", oneOrMore(choice(FileReader.limitKeys))),
            ("then", choice(["deny", "require"])),
            ("require", ref("constraint")),
        ], required: ["rate", "by", "then"])

    private static let effects: [(String, SchemaValue)] = [
        ("permit", ref("text")), ("forbid", ref("text")), ("share", ref("text")),
        ("require", ref("constraint")), ("limit", limit), ("redact", ref("texts")),
        ("audit", choice(["decision", "full"])),
    ]

    private static let rule: SchemaValue = {
        let keys =
            head + [("tags", ref("texts")), ("replaces", ref("identifier"))] + mode
            + effects + [("within", ref("duration")), ("scope", ref("scope"))] + match
        guard case .object(let entries) = object(keys, required: ["id"]) else { return [:] }
        let one = FileReader.effects.map { ["required": [.text($0)]] as SchemaValue }
        return .object(entries + [("oneOf", .list(one))])
    }()

    private static let statements: [(String, SchemaValue)] = [
        (
            "group",
            object(
                head + [
                    ("group", ref("text")), ("members", oneOrMore(ref("subject"))),
                    ("mode", choice(["read", "write"])),
                ], required: ["id", "group", "members"])
        ),
        ("closed", object(head + mode + match, required: ["id"])),
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
                    ("at", ["type": "string"]),
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

    /// Facts of any value, of these names.
    private static func known(_ names: [String]) -> SchemaValue {
        object(names.map { ($0, [:]) })
    }
}
