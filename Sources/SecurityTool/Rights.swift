// SPDX-License-Identifier: Apache-2.0

/// `authorize`, `authorizationdb`: polkit manages rights on this system, with tools of its own.
enum Rights {
    private static let sentence =
        "security: rights are polkit's here: see pkaction(1), pkcheck(1) and polkit(8)\n"

    static let authorize = Command(
        "authorize", "[-uc] [-C user] [-EpdPieqwxl] right...", "Obtain rights (not here)",
        letters: "ucC:EpdPieqwxl"
    ) { options, _ throws(CommandFailure) in
        guard !options.words.isEmpty, !options.has("q") else { throw .usage }
        throw refused
    }

    static let database = Command(
        "authorizationdb",
        "read right | write right [allow|deny|rule] | remove right | reset",
        "Look after the rules for rights (not here)"
    ) { options, _ throws(CommandFailure) in
        let counts: [String: ClosedRange<Int>] = [
            "read": 2...2, "write": 2...3, "remove": 2...2, "reset": 1...1,
        ]
        guard let verb = options.words.first, let count = counts[verb],
            count.contains(options.words.count)
        else { throw .usage }
        throw refused
    }

    private static var refused: CommandFailure {
        .said("NO (\(CommandFailure.unimplemented))\n" + sentence, exit: 255)
    }
}
