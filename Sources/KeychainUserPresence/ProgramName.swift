// SPDX-License-Identifier: Apache-2.0
package import KeychainModel

/// The name of a program in questions to the user.
package enum ProgramName {
    /// Of its application identifier, which does not tell whether the user can change the file: so
    /// each path is quoted.
    package static func shown(_ identity: String) -> String {
        guard identity.hasPrefix("exe:/") else {
            return ShownText.cleaned(identity, longest: 200)
        }
        let path = ShownText.quotedPath(String(identity.dropFirst("exe:".count)))
        return Interpreters.contains(identity) ? path + " (an interpreter)" : path
    }
}

extension ImportedItems {
    /// Names of kin that a question shows.
    private static let mostNames = 3

    /// What the answer *always* comes to, for the user who is asked about such an item.
    package static func remark(kin names: [String]) -> String {
        let own = "The item was imported and belongs to no program. Always gives it to this one"
        guard !names.isEmpty else { return own + ", which may then change and delete it." }
        let shown = names.prefix(mostNames).map { ShownText.quoted($0, longest: 60) }
        let rest = names.count - shown.count
        let list = shown.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
        return own
            + ", and with it \(names.count == 1 ? "another" : "\(names.count) others") of its"
            + " kind: \(list). The program may then change and delete them."
    }
}

extension JoinedGroups {
    /// What the answer *everything* comes to, for the user who is asked.
    package static func remark(group: String) -> String {
        let name = ProgramName.shown(group)
        return "Everything (all of it) lets this program have all that \(name) keeps here, now and"
            + " later, to read, change and delete: choose that where it is the same program under a"
            + " new name."
    }
}

// MARK: What changes come to

extension TrustChange {
    /// For the audit.
    package var word: String {
        switch self {
        case .replace: "replaced"
        case .add: "added"
        case .remove: "removed"
        case .reset: "reset"
        }
    }

    /// What it comes to, for the user who has to agree.
    package var remark: String {
        switch self {
        case .replace(let programs), .add(let programs):
            programs.isEmpty
                ? "Other programs could then ask for it."
                : "It would let in: \(programs.map(\.shown).joined(separator: ", "))"
        case .remove(let identities):
            "It would no longer let in: "
                + identities.map { ProgramName.shown($0) }.joined(separator: ", ")
        case .reset: "It would let in no other program."
        }
    }
}

extension NamedProgram {
    fileprivate var shown: String {
        switch self {
        case .own: "the program itself"
        case .identity(let identity): ProgramName.shown(identity)
        }
    }
}

extension ItemChange {
    /// What a move comes to, for the user who has to agree.
    package var moveRemark: String? {
        guard let accessGroup else { return nil }
        return
            "It would give the item for good to \(ProgramName.shown(accessGroup)), which opens it "
            + "unasked, whichever program starts that."
    }
}

extension Caller.Identity {
    /// What a user should know before such a program is let in.
    package var remarks: [String] {
        switch self {
        case .trustedExecutable(let path), .executable(let path):
            Interpreters.contains(path)
                ? ["It is an interpreter: whatever it runs would be let in too."]
                : ["Other programs of yours could start it, or take it over."]
        default: []
        }
    }
}
