// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel
internal import PolicySyntax

extension FileReader {
    private static let factors = PolicyFactor.allCases.map(\.rawValue)
    private static let forms = ["pam", "within", "any", "all", "k", "of", "approval"]

    /// Reads the proofs that are required.
    mutating func constraint(_ node: YAMLNode) -> PolicyConstraint? {
        switch node.content {
        case .scalar:
            return word(node, "constraint", of: Self.factors)
                .flatMap { PolicyFactor(rawValue: $0) }.map { .factor($0) }
        case .list:
            note(
                .badConstraint, node, "a list does not say how many of it are needed",
                advice: "{any: […]}, {all: […]} or {k: n, of: […]}")
            return nil
        case .mapping: return compound(node)
        }
    }

    private mutating func compound(_ node: YAMLNode) -> PolicyConstraint? {
        guard let keys = mapping(node, "a constraint", keys: Self.forms) else { return nil }
        switch Set(keys.entries.map(\.key)) {
        case ["any"]: return keys["any"].flatMap { children($0) }.map { .any($0) }
        case ["all"]: return keys["all"].flatMap { children($0) }.map { .all($0) }
        case ["k", "of"]: return threshold(keys)
        case ["pam"], ["pam", "within"]: return pam(keys)
        case ["approval"], ["approval", "within"]: return approval(keys)
        default:
            if !keys.hasUnknown {
                note(
                    .badConstraint, node, "this is no constraint",
                    advice: "a factor, {pam: …}, {approval: […]}, {any: […]}, {all: […]} or "
                        + "{k: n, of: […]}")
            }
            return nil
        }
    }

    private mutating func children(_ node: YAMLNode) -> [PolicyConstraint]? {
        let items = list(node, "the constraints")
        guard !items.isEmpty else {
            if case .list = node.content { note(.empty, node, "an empty list of constraints") }
            return nil
        }
        let found = items.compactMap { constraint($0) }
        return found.count == items.count ? found : nil
    }

    private mutating func threshold(_ keys: Keys) -> PolicyConstraint? {
        guard let count = keys["k"], let of = keys["of"], let members = children(of) else {
            return nil
        }
        guard let text = text(count, "k") else { return nil }
        guard let number = Self.number(text), number > 0 else {
            note(.badNumber, count, "k \"\(text)\" is no number from 1")
            return nil
        }
        guard number <= members.count else {
            note(
                .unsatisfiable, count, "\(number) of \(members.count) can never be met",
                advice: "k is at most the number of constraints")
            return nil
        }
        return .atLeast(Int(number), of: members)
    }

    private mutating func pam(_ keys: Keys) -> PolicyConstraint? {
        guard let node = keys["pam"], let service = self.service(node) else { return nil }
        guard let node = keys["within"] else { return .pam(PolicyText(service), within: nil) }
        return duration(node, "within").map { .pam(PolicyText(service), within: $0) }
    }

    /// The most approvers of one question.
    static let mostApprovers = 8
    private static let longestName = 256

    /// The approval of one of these persons other than the asker.
    private mutating func approval(_ keys: Keys) -> PolicyConstraint? {
        guard let node = keys["approval"] else { return nil }
        let names = texts(node, "approval")
        let good = names.filter { isUserName($0.text, $0.node) }.map { PolicyText($0.text) }
        let within = keys["within"].map { duration($0, "within") }
        if names.count > Self.mostApprovers {
            note(
                .tooManyValues, node, "more than \(Self.mostApprovers) people who may approve")
            return nil
        }
        guard !good.isEmpty, good.count == names.count else { return nil }
        if let within, within == nil { return nil }
        let all = good.map { PolicyConstraint.approval(by: $0, within: within ?? nil) }
        return all.count == 1 ? all[0] : .any(all)
    }

    mutating func isUserName(_ text: String, _ node: YAMLNode) -> Bool {
        let isName =
            (1...Self.longestName).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
            && !text.utf8.contains { "/!*:,".utf8.contains($0) }
            && !["%", "@", "+"].contains(text.first)
        if !isName {
            note(
                .badConstraint, node, "\"\(text)\" is no user's name",
                advice: WrittenForms.of("approval"))
        }
        return isName
    }

    /// The prefix keeps policies from running services such as `su` or `login`.
    mutating func service(_ node: YAMLNode) -> String? {
        guard let text = self.text(node, "a PAM service") else { return nil }
        let name = text.dropFirst("keychain-".count)
        let isName =
            text.utf8.count <= 64
            && text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x2D
                    || byte == 0x5F
            }
        if text == PolicyMethod.approvalService {
            note(
                .badService, node, "\"\(text)\" authenticates another person than the asker",
                advice: "{approval: [NAME]} says whose approval is meant")
            return nil
        }
        if text.hasPrefix("keychain-"), !name.isEmpty, isName { return text }
        note(
            .badService, node, "\"\(text)\" is no PAM service of the keychain",
            advice: "its name begins with \"keychain-\" and has lower-case letters, digits, \"-\"")
        return nil
    }
}
