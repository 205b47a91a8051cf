// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyEngine
internal import KeychainPolicyModel

/// Sentences for a question that say what else an answer opens, for which programs and how long.
extension Set<ProofReach> {
    package func remarks(ofOthers: Bool, for client: any Client) -> [String] {
        Set<String>(map { $0.remark(ofOthers: ofOthers, for: client) }).sorted()
    }
}

extension ProofReach {
    fileprivate func remark(ofOthers: Bool, for client: any Client) -> String {
        let time = within.words
        guard constraint != .factor(.confirm) else {
            return "The answer counts for \(time), for the same program and items."
        }
        return ofOthers
            ? "For \(time) the answer also opens the items of all your other programs to "
                + "\(beneficiary(client))."
            : "For \(time) the answer also counts for other items that ask for the same, "
                + "for \(beneficiary(client))."
    }

    private func beneficiary(_ client: any Client) -> String {
        if scope == .session { return "every program of this login that may have them" }
        guard scope == .tty, let terminal = client.terminal() else {
            return scope == .tty
                ? "this one run of the program and what it starts" : "this one run of the program"
        }
        return "the same program on " + (terminal.name.map { "terminal \($0)" } ?? "this terminal")
    }
}

extension PolicyDuration {
    fileprivate var words: String {
        let units = [
            ("day", 86_400_000), ("hour", 3_600_000), ("minute", 60_000), ("second", 1_000),
        ]
        for (name, length) in units where milliseconds % Int64(length) == 0 {
            let count = milliseconds / Int64(length)
            return "\(count) \(name)\(count == 1 ? "" : "s")"
        }
        return "\(milliseconds) milliseconds"
    }
}
