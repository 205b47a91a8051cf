// SPDX-License-Identifier: Apache-2.0
package import KeychainMessages
package import KeychainModel
package import KeychainPolicyModel
package import KeychainSecrets

/// Proves to the engine that the user is there, by PAM and nothing else.
package protocol Authenticator: Sendable {
    /// Whether a user could be asked for this client.
    func canAsk(for client: any Client) -> Bool
    /// Whether the question would be put to the client's user now.
    func wouldAsk(_ question: Question, for client: any Client) -> Bool
    /// Whether a prompter is registered for the caller's session.
    func hasPrompter(for caller: Caller) -> Bool
    /// What the caller could be asked to prove on this machine.
    func provable(for caller: Caller) -> Set<PolicyMethod>
    /// Whether the machine has a PAM service for biometry, whichever users are enrolled.
    func hasBiometryService() -> Bool
    /// Changes with what the caller has enrolled; empty where that is nothing.
    func enrolledBiometry(of caller: Caller) -> [UInt8]
    /// Asks for the proof. Refuses where it wasn't given.
    func prove(
        _ method: PolicyMethod, _ question: Question, for client: any Client
    ) throws(RequestError)
    /// Has one of these people approve, none of whom is the asker; tells who did.
    func approval(
        by names: [String], _ question: Question, for client: any Client
    ) throws(RequestError) -> String
    /// Asks for a secret that is the user's and the program's, and no proof of anything.
    func ask(
        _ prompt: String, _ question: Question, for client: any Client
    ) throws(RequestError) -> HeldSecret
    /// Asks for a new password, which is typed twice and not empty.
    func newPassword(
        _ question: Question, for client: any Client
    ) throws(RequestError) -> HeldSecret
    /// Asks for what opens a keychain until `opens` says that it does, a few times at most, and not
    /// any more once `isOpen`. `.interactionNotAllowed` and `.tooManyRequests` mean that the user
    /// was not asked.
    func open(
        _ prompt: String, _ question: Question, for client: any Client, unless isOpen: () -> Bool,
        with opens: (HeldSecret) throws(RequestError) -> Bool
    ) throws(RequestError)
    /// Asks whether the program may have another one's item, if `candidate` finds one; nil where it
    /// does not. `.cancelled` and `.authenticationFailed` mean that the user was asked, and nothing
    /// else does.
    func consent(
        for client: any Client, _ candidate: () -> (question: Question, options: ConsentOptions)?
    ) throws(RequestError) -> ConsentResult?
}

extension Authenticator {
    package func wouldAsk(_ question: Question, for client: any Client) -> Bool {
        canAsk(for: client)
    }

    /// Where no other person can be asked.
    package func approval(
        by names: [String], _ question: Question, for client: any Client
    ) throws(RequestError) -> String { throw .refused(.interactionNotAllowed) }

    /// In two questions, where what shows them knows of no new passwords.
    package func newPassword(
        _ question: Question, for client: any Client
    ) throws(RequestError) -> HeldSecret {
        let typed = try ask("New password: ", question, for: client)
        let again = try ask("The same again: ", question, for: client)
        guard typed.bytes.count > 0, typed.bytes.matches(again.bytes) else {
            throw .refused(.authenticationFailed)
        }
        return typed
    }
}

/// What a user may choose from, with what has to be proven for it.
package struct ConsentOptions: Sendable {
    package var proofs: [TrustChoice: [PolicyMethod]] = [:]

    package init() {}

    /// In their order; the user may always say no.
    package var choices: [TrustChoice] {
        TrustChoice.allCases.filter { $0 == .deny || proofs[$0] != nil }
    }
}

/// What the user chose, which is not to deny it, and what was proven.
package struct ConsentResult: Sendable {
    package let choice: TrustChoice
    package let proven: [PolicyMethod]

    package init(choice: TrustChoice, proven: [PolicyMethod]) {
        self.choice = choice
        self.proven = proven
    }
}

/// What the user is told before the question: the service's own facts, and below them the program's
/// words.
package struct Question: Sendable, Equatable {
    package enum Purpose: String, Sendable {
        case read, list, change, delete, add, authenticate, keepOpen, addProtector, removeProtector
        /// Which programs the keychain's user let in for good.
        case listLetIn
        /// It needs a keychain that its user's login did not open.
        case openKeychain
        /// All of it, for whatever programs.
        case unlockKeychain
        case createKeychain, deleteKeychain
        /// New items go there where programs name no keychain.
        case setDefaultKeychain
        /// What the keychain of that name is copied to, or replaced by, is the program's choice.
        case backUp, restore
    }

    package let purpose: Purpose
    /// The keychain that it is about as a whole.
    package var keychain: String? {
        switch purpose {
        case .openKeychain, .unlockKeychain: names.first
        default: nil
        }
    }
    /// What it would change besides items, as far as a no to it is one to the same question later.
    package var change: String? {
        switch purpose {
        // Its name is the program's to choose.
        case .createKeychain: purpose.rawValue
        case .deleteKeychain, .setDefaultKeychain:
            ([purpose.rawValue] + names.prefix(1)).joined(separator: " ")
        default: nil
        }
    }
    /// Names of the items it is about, at most `mostNames`.
    package let names: [String]
    package let itemCount: Int
    /// The items themselves.
    package let items: [ItemReference]
    /// The asking program's own words.
    package let reason: String?
    /// More of the service's own words, a line each.
    package let remarks: [String]

    package static let mostNames = 20
    /// So that the first line stays on a terminal.
    private static let longestRemark = 600

    package init(
        _ purpose: Purpose, names: [String], itemCount: Int, items: [ItemReference] = [],
        reason: String?, remarks: [String] = []
    ) {
        self.remarks = remarks
        self.purpose = purpose
        self.names = Array(names.prefix(Self.mostNames))
        self.itemCount = itemCount
        self.items = items
        self.reason = reason
    }

    /// About the matter, without words for people.
    package init(_ matter: WouldAsk.Matter) {
        switch matter {
        case .items(let items):
            self.init(.read, names: [], itemCount: items.count, items: items, reason: nil)
        case .unlocking(let keychain):
            self.init(.unlockKeychain, names: [keychain], itemCount: 0, reason: nil)
        case .creatingKeychain:
            self.init(.createKeychain, names: [], itemCount: 0, reason: nil)
        case .deleting(let keychain):
            self.init(.deleteKeychain, names: [keychain], itemCount: 0, reason: nil)
        }
    }

    package func adding(_ remark: String) -> Question {
        Question(
            purpose, names: names, itemCount: itemCount, items: items, reason: reason,
            remarks: remarks + [remark])
    }

    /// The text for the user. Whatever a program could have chosen is quoted, cut and cleaned of
    /// characters that could change how the rest reads.
    package func text(for caller: Caller) -> String {
        let name = ShownText.quoted(names.first ?? "", longest: 64)
        let purpose =
            switch purpose {
            case .authenticate: "know that it is you"
            case .keepOpen: "keep a keychain open longer than until now"
            case .backUp: "copy all of your keychain \(name), as sealed as it is, to a file"
            case .restore: "replace your keychain \(name) with an earlier copy"
            case .openKeychain: "use your keychain \(name), which your login did not open"
            case .unlockKeychain: "unlock your keychain \(name)"
            case .createKeychain: "make a new keychain \(name) of yours"
            case .deleteKeychain: "delete your keychain \(name), with all that is in it"
            case .setDefaultKeychain: "have new passwords kept in your keychain \(name)"
            case .addProtector: "add something that opens your keychain \(name)"
            case .removeProtector: "remove something that opens your keychain \(name)"
            case .listLetIn: "see which programs you let into items of your keychain \(name)"
            case .list: "see the attributes of \(things)"
            case .read, .change, .delete, .add: "\(purpose.rawValue) \(things)"
            }
        var lines =
            ["\(Self.program(caller))\(Self.way(of: caller)) wants to \(purpose)."]
            + remarks.map { ShownText.cut($0, longest: Self.longestRemark) }
        if let reason, !reason.isEmpty {
            lines.append("The program says: \(ShownText.quoted(reason, longest: 200))")
        }
        return lines.joined(separator: "\n")
    }

    private var things: String {
        let shown = names.prefix(3).map { ShownText.quoted($0, longest: 60) }
        guard !shown.isEmpty else { return "a keychain item" }
        let list = shown.joined(separator: ", ")
        return itemCount > shown.count
            ? "\(list) and \(itemCount - shown.count) more keychain items"
            : "the keychain item \(list)"
    }

    /// Which service brings the question.
    private static func way(of caller: Caller) -> String {
        switch caller.via {
        case .secretService: ", through the Secret Service,"
        case .portal: ", through the desktop's portal,"
        // The path before it stands between commas.
        case nil: if case .executable = caller.identity { "," } else { "" }
        }
    }

    private static func program(_ caller: Caller) -> String {
        switch caller.identity {
        case .trustedExecutable(let path): ShownText.cleaned(path, longest: 200)
        // Its user chose the path.
        case .executable(let path): "An unverified program, " + ShownText.quotedPath(path)
        case .unit(let name): "The service " + ShownText.cleaned(name, longest: 100)
        case .label(let name), .sandbox(let name): ShownText.cleaned(name, longest: 200)
        case .unknown: "A program that could not be identified"
        }
    }
}
