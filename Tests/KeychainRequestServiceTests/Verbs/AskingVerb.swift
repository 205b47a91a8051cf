// SPDX-License-Identifier: Apache-2.0
import KeychainAccessControl
import KeychainMessages
import KeychainModel
import KeychainSecrets
import Foundation
import Testing

@testable import KeychainRequestService

/// Every verb that asks the user, each made so that it asks once.
enum AskingVerb: String, CaseIterable, Sendable {
    case read, readWithPassword, readOfAnother, readLocked, list
    case add, addWithPassword, update, updateTrust, delete
    case changeSettings, addProtector, removeProtector, backUp, restore, restoreGeneration
    case authenticate

    /// The verbs on items, which a rule of the administrator's could refuse meanwhile.
    static let onItems: [AskingVerb] = [
        .read, .readWithPassword, .readOfAnother, .list, .add, .addWithPassword, .update,
        .updateTrust, .delete,
    ]
    /// Those that are of no use once the keychain is locked. An item that can't be read for want of
    /// a key can be deleted.
    static let needingKeys: [AskingVerb] =
        onItems.filter { $0 != .delete } + [.changeSettings, .backUp]
    /// A new application password is typed twice.
    var questions: Int { self == .addWithPassword ? 2 : 1 }

    /// Makes what the verb is about, and says what is asked for.
    func prepare(_ world: ServiceInMemory) throws -> (Request, Program) {
        let git = Program("/usr/bin/git", process: 10)
        func guarded(_ change: (inout NewItem) -> Void = { _ in }) throws {
            try world.add("mail") {
                $0.accessControl = .guarded
                change(&$0)
            }
        }
        switch self {
        case .read:
            try guarded()
            return (.copyMatching(ServiceInMemory.query("mail")), git)
        case .list:
            try guarded()
            var query = ServiceInMemory.query("mail", .attributes)
            query.limit = nil
            return (.copyMatching(query), git)
        case .readWithPassword:
            let context = Self.context("app")
            var program = git
            program.context = context
            try world.add("mail", as: program) { $0.accessControl = .withPassword }
            world.person.types(ServiceInMemory.secret("app"))
            return (.copyMatching(ServiceInMemory.query("mail")), git)
        case .readOfAnother:
            try world.add("mail") { $0.trusted = [] }
            world.person.chooses(.always)
            let other = Program("/usr/bin/mail", process: 30)
            return (.copyMatching(ServiceInMemory.query("mail")), other)
        case .readLocked:
            try world.add("mail")
            try world.vault.lock(world.keychain)
            world.vault.getOutOfStep()
            world.person.types(ServiceInMemory.secret(ServiceInMemory.password))
            return (.copyMatching(ServiceInMemory.query("mail")), git)
        case .add:
            try world.use(rules: Self.rule("require: presence", "add"))
            return (.add(Self.item, secret: nil, returning: .reference), git)
        case .addWithPassword:
            world.person.types(ServiceInMemory.secret("app"))
            var item = Self.item
            item.accessControl = .withPassword
            return (.add(item, secret: ServiceInMemory.secret("s"), returning: .data), git)
        case .update:
            try guarded()
            var change = ItemChange()
            change.attributes = [.comment: .string("changed")]
            return (.update(ServiceInMemory.query("mail"), change, secret: nil), git)
        case .updateTrust:
            try world.add("mail")
            var change = ItemChange()
            change.trust = .replace([.identity("exe:/usr/bin/mail")])
            return (.update(ServiceInMemory.query("mail"), change, secret: nil), git)
        case .delete:
            try guarded()
            return (.delete(ServiceInMemory.query("mail")), git)
        case .changeSettings:
            var strict = KeychainSettingsChange()
            strict.lockAfter = 60
            try world.ask(.changeSettings(keychain: nil, strict))
            var loose = KeychainSettingsChange()
            loose.lockAfter = 0
            return (.changeSettings(keychain: nil, loose), git)
        case .addProtector: return (Self.newRecoveryKey(), git)
        case .removeProtector:
            try world.ask(Self.newRecoveryKey())
            let all = try world.ask(.protectors(ProtectorRequest(nil, .list))).protectors
            let added = try #require(all.first { $0.kind == .recoveryKey })
            world.person.forgets()
            world.evidence.forget(geteuid())
            return (
                .protectors(ProtectorRequest(nil, .remove(identifier: added.identifier))), git
            )
        case .backUp: return (.safekeeping(keychain: nil, .beginBackup), git)
        case .restore: return (.safekeeping(keychain: nil, .beginRestore), git)
        case .restoreGeneration:
            try world.add("mail")
            GenerationKeeper(world.folder, log: { _ in }).keepWhatIsDue()
            let kept = try world.ask(.safekeeping(keychain: nil, .generations)).safekept
            let number = try #require(kept?.generations.first?.number)
            return (.safekeeping(keychain: nil, .restoreGeneration(number)), git)
        case .authenticate:
            var program = git
            program.context = AuthenticationContext()
            return (.authenticate(.userPresence), program)
        }
    }

    private static var item: NewItem {
        var item = NewItem(.genericPassword)
        item.attributes = [.service: .string("new"), .account: .string("me")]
        return item
    }

    private static func context(_ password: String) -> AuthenticationContext {
        let context = AuthenticationContext()
        context.applicationPassword = ServiceInMemory.secret(password)
        return context
    }

    private static func newRecoveryKey() -> Request {
        .protectors(
            ProtectorRequest(
                nil,
                .add(
                    .recoveryKey(HeldSecret(RecoveryKey.random().text())),
                    opening: .password(ServiceInMemory.secret(ServiceInMemory.password)))))
    }

    static func rule(_ effect: String, _ operations: String) -> String {
        "  - id: test.rule\n    \(effect)\n    operations: \(operations)\n"
    }
}
