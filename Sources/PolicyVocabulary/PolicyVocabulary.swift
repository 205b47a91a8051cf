// SPDX-License-Identifier: Apache-2.0

/// The meaning of the keys, facts and words of policies, each in a sentence: for the JSON Schema
/// and for editors. docs/policies.md has the same in more detail.
package enum PolicyVocabulary {
    /// The meaning of a key in a part of a file, by the schema's name of the part; nil where there
    /// is none.
    package static func key(_ key: String, in part: String) -> String? {
        keys[part]?[key] ?? (match.contains(part) ? keys["match"]?[key] : nil)
    }

    /// The meaning of a word as a value of `key`.
    package static func word(_ word: String, of key: String) -> String? {
        switch key {
        case "operations", "operation": operations[word]
        case "require", "constraint", "requires", "any", "all", "of", "evidence": factors[word]
        case "scope": scopes[word]
        case "session": sessions[word]
        case "mode": modes[word]
        case "decision", "would": decisions[word]
        default: nil
        }
    }

    /// The parts that have the keys of a match.
    private static let match: Set = ["rule", "closed", "box", "unless", "never"]

    private static let keys: [String: [String: String]] = [
        "file": [
            "policy": "The version of the language: `v1`.",
            "name":
                "What the file is called in messages: letters and digits, joined by `.`, `-` and `_`.",
            "description": "For people.",
            "define": "Names for subjects, used in this file as `{use: NAME}` beside other fields.",
            "groups": "Members of access groups, besides the programs that own them.",
            "closed": "Scopes in which nothing is allowed that no `permit` names.",
            "rules":
                "Rules: an id, exactly one effect, and what it matches. Their order never matters.",
            "assert":
                "Claims: requests that are never allowed. They are proved or refuted by `check`.",
            "tests": "Requests with the decision that is expected of each.",
        ],
        "match": [
            "operations": "What is done: one word or a list. Absent: every operation.",
            "subject": "Who asks. All of the fields must hold; of a list one value must.",
            "resource": "Which item. All of the fields must hold; of a list one value must.",
            "when": "The circumstances. All of the fields must hold.",
            "unless": "Exceptions, each a match: where one matches, this one does not.",
        ],
        "rule": [
            "id": "The name of the rule, once in the whole set.",
            "description": "For people.",
            "tags":
                "Words for people; `broad` on a `share` says that a group like `\"*\"` is meant, `same-user` that a program that others can take over is.",
            "from": "The first day on which the rule counts, YYYY-MM-DD.",
            "until": "The last day on which the rule counts, YYYY-MM-DD.",
            "replaces": "The id of a rule of an earlier folder that this one stands for.",
            "mode": "`complain`: until `expires` the rule decides nothing and shows up as `would`.",
            "expires": "The day on which complaining ends, YYYY-MM-DD, at most 90 days ahead.",
            "permit": "Opens the closed scopes that match. The text is the reason, for people.",
            "forbid":
                "Refuses the request; nothing overrules it. The text is the reason, for people.",
            "share":
                "Programs that are no members reach the item. The text is the reason, for people.",
            "require": "What must be proven, not longer ago than `within` and in this `scope`.",
            "limit": "How often something may happen.",
            "redact": "Attributes that are left out of the answer.",
            "audit": "`full`: the record names the item and every fact. `decision` is the rule.",
            "within":
                "How old the proof may be, as `5m`. Absent: it is given for this one request.",
            "scope": "For whom the proof counts. Absent: `context`.",
        ],
        "closed": [
            "id": "The name of the scope, once in the whole set.",
            "description": "For people.",
            "from": "The first day on which the scope counts, YYYY-MM-DD.",
            "until": "The last day on which the scope counts, YYYY-MM-DD.",
            "mode":
                "`complain`: until `expires` the scope decides nothing and shows up as `would`.",
            "expires": "The day on which complaining ends, YYYY-MM-DD, at most 90 days ahead.",
        ],
        "group": [
            "id": "The name of the entry, once in the whole set.",
            "description": "For people.",
            "group":
                "The access group that the members share. No program's own (`exe:…`, `portal:…`).",
            "members": "Subjects, each with a fact that no program of the same user can forge.",
            "mode": "`write`: all operations, if absent. `read`: reading, listing and using keys.",
            "home":
                "`true`: new items of the members belong to the group, where they name no other.",
            "from": "The first day on which the entry counts, YYYY-MM-DD.",
            "until": "The last day on which the entry counts, YYYY-MM-DD.",
        ],
        "assertion": [
            "id": "The name of the claim, once in the whole set.",
            "description": "For people.",
            "never": "A match: no request in it is ever allowed, whatever is proven.",
        ],
        "subject": [
            "uid": "The effective user's number, or a range: `\"1000-59999\"`.",
            "user": "The effective user's name.",
            "group": "One of the process's and its user's groups.",
            "exe": "The path of the program. A program of the same user can forge it.",
            "trusted-exe": "The file and every folder above it are root's alone.",
            "digest": "`sha256:…` of the program.",
            "unit": "The *system* unit that the process runs in.",
            "slice": "The *system* slice that the process runs in.",
            "user-unit":
                "A unit of the user's own service manager. A program of the same user can forge it.",
            "app": "`flatpak:ID` or `snap:ID`.",
            "label": "`selinux:…` or `apparmor:…`.",
            "session": "What kind of login the process belongs to.",
            "via": "What speaks for the program; absent where the program itself does.",
            "transfer": "How the secret goes to the program from what speaks for it.",
            "pam-service":
                "Of an `unlock`: the PAM service that the user logged in through, in lower case.",
            "tty": "The process has a controlling terminal.",
            "member": "The program belongs to the item's access group. Absent in a request: true.",
            "use": "A definition of this file.",
        ],
        "resource": [
            "keychain": "The name of the keychain that the item lies in.",
            "service": "The item's service. The program that adds an item chooses it.",
            "account": "The item's account. The program that adds an item chooses it.",
            "server": "The item's host name, in lower case.",
            "protocol": "The item's protocol, as `https`.",
            "label": "The item's label. The program that adds an item chooses it.",
            "creator": "The item's creator.",
            "access-group":
                "Whose the item is: `exe:/usr/bin/git`, `unit:x.service`, `flatpak:ID`, or a group of an administrator's.",
            "class": "The item's class.",
            "schema": "Of an `attributed` item: what it is for, its `xdg:schema`.",
            "accessible": "When the item can be read.",
            "flags":
                "What the item's access control asks for: `has` all of these, `lacks` all of those.",
            "protector": "Of an `unlock`: what is to open the keychain.",
            "constraint": "In a request: what the item itself asks for, or `never`.",
        ],
        "flags": ["has": "The item has all of these.", "lacks": "The item has none of these."],
        "when": [
            "time":
                "`{days: [mon-fri], between: \"08:00-18:00\"}`, a list of such, or `{outside: …}`.",
            "session-age": "How long ago the login began: `{min: 10m, max: 12h}`, ends included.",
            "presence-age": "How long ago the user was last proven to be there: `{max: 5m}`.",
            "remote": "The login came from another machine.",
            "active": "The login session is the one in front of its screen.",
            "screen-locked": "The session's screen is locked.",
            "unlocked": "The keychain is open.",
            "passcode-set": "The keychain has a password.",
            "interactive": "A user could answer a question. Absent in a request: true.",
            "prompted": "The request would show a question; known to `limit` rules only.",
            "host": "The machine's name.",
            "date": "In a request: the day, YYYY-MM-DD. `at` says it too.",
        ],
        "time": ["outside": "At all other times."],
        "window": [
            "days": "Days, as `mon` or `mon-fri`.",
            "between": "From and until, as `\"08:00-18:00\"`; over midnight too.",
        ],
        "session-age": ["min": "This long at the least.", "max": "This long at the most."],
        "presence-age": ["min": "This long at the least.", "max": "This long at the most."],
        "limit": [
            "rate": "A number and a duration, as `30/1m`.",
            "by": "Each value of these has a count of its own.",
            "then": "What happens beyond: `deny`, or `require`.",
            "require": "With `then: require`: what must be proven.",
        ],
        "constraint": [
            "pam": "Success of a PAM service whose name begins with `keychain-`.",
            "approval": "The consent of one of these people, and never the asker's own.",
            "within": "How old the success may be.",
            "any": "One of these.", "all": "All of these.",
            "k": "How many of those listed under `of`.",
            "of": "Constraints, of which `k` must hold.",
        ],
        "test": [
            "name": "The claim, for people.",
            "description": "For people.",
            "request": "What is asked.",
            "each": "A table: fields, as `subject.session`, with lists of equal length.",
            "expect": "The decision; with `each` one for all rows, or a list.",
        ],
        "request": [
            "operation": "What is done.",
            "subject":
                "The facts of the program that asks; `unknown!` is what could not be established.",
            "resource": "The facts of the item; for `add` and `update` as it will be.",
            "when": "The circumstances.",
            "evidence": "What was proven: `{passcode: {age: 2m, scope: process}}`.",
            "interactive": "The same as `when.interactive`.",
            "at": "The local time, YYYY-MM-DDTHH:MM.",
            "before": "For `update`: `{resource: …}`, the item as it was.",
        ],
        "expectation": [
            "decision": "What comes of the request.",
            "because": "The ids of the rules that decide, all of them.",
            "requires": "What is still missing.",
            "audit": "How much the record tells.",
            "redacted": "The attributes that are left out.",
            "would": "What rules that complain would make of it.",
        ],
    ]

    private static let operations = [
        "read-secret": "A read with the secret; of a key also an `export`.",
        "read-attributes": "A read without the secret.",
        "add": "A new item.", "update": "A changed item.", "delete": "A deleted item.",
        "sign": "A private key in use.", "decrypt": "A private key in use.",
        "derive": "A private key in use.",
        "export": "Key material that leaves the keychain.",
        "change-acl": "A change of who may use the item, or of its protection.",
        "move": "An update that gives the item to another access group.",
        "list": "A search for more than one item, as far as it finds other programs'.",
        "unlock": "A login without a password opens its user's keychain.",
        "use-key": "`sign`, `decrypt` and `derive`.",
        "write": "`add`, `update`, `move` and `delete`.",
        "all": "Every operation; the same as none named.",
    ]

    private static let factors = [
        "passcode": "The password, typed.",
        "biometry": "A fingerprint or the like.",
        "biometry-current-set": "A fingerprint or the like, with what is enrolled today.",
        "companion": "A security key or a phone.",
        "presence": "Any of `passcode`, `biometry`, `biometry-current-set` and `companion`.",
        "confirm": "A yes in a window, never on a terminal.",
        "app-password": "The item's own password.",
        "login": "The password that opened the keychain at the login; never asked for.",
    ]

    private static let scopes = [
        "operation": "This one operation.",
        "context": "The program's own context of authentication (`LAContext`).",
        "process": "This process.",
        "tty": "Programs on the terminal on which it was given.",
        "session": "Every program of the login.",
    ]

    private static let sessions = [
        "seat": "At the machine itself.", "ssh": "By ssh.",
        "remote-desktop": "By a desktop shown elsewhere.",
        "service": "No login: a system unit.", "cron": "A scheduled command.",
        "other": "A login of another kind.",
    ]

    private static let modes = [
        "enforce": "The rule decides.",
        "complain": "The rule decides nothing and shows up as `would`.",
        "read": "Reading, listing and using keys.", "write": "All operations.",
    ]

    private static let decisions = [
        "allow": "The request is granted.", "deny": "The request is refused.",
        "challenge": "The user is asked for what is missing.",
        "interaction-not-allowed": "A question would be needed, and none can be asked.",
    ]
}
