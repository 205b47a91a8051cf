// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainAccessControl
@testable import KeychainMaintenance
import KeychainMessages
import KeychainModel
@testable import KeychainRequestService
import KeychainSecrets
import KeychainUserPresence
import KeychainVaults
import Testing

/// Every verb that asks the user, each made so that it asks once.
enum AskingVerb: String, CaseIterable, Sendable {
    case read, readWithPassword, readOfAnother, readLocked, list
    case add, addWithPassword, update, updateTrust, delete
    case changeSettings, addProtector, removeProtector, backUp, restore, restoreGeneration
    case authenticate, unlock, createKeychain, deleteKeychain, chooseDefault
    case readForEverything, listLetIn, leaveGroup

    /// The verbs on items, which a rule of the administrator's could refuse meanwhile.
    static let onItems: [AskingVerb] = [
        .read, .readWithPassword, .readOfAnother, .list, .add, .addWithPassword, .update,
        .updateTrust, .delete, .readForEverything, .leaveGroup,
    ]
    /// Those that are of no use once the keychain is locked. An item that can't be read for want of
    /// a key can be deleted.
    static let needingKeys: [AskingVerb] =
        onItems.filter { $0 != .delete } + [.changeSettings, .backUp, .listLetIn]
    /// A new password is typed twice.
    var questions: Int { self == .addWithPassword || self == .createKeychain ? 2 : 1 }

    /// Makes what the verb is about, and says what is asked for.
    func prepare(_ world: ServiceInMemory) throws -> (any Verb, Program) {
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
            return (CopyMatching(ServiceInMemory.query("mail")), git)
        case .list:
            try guarded()
            var query = ServiceInMemory.query("mail", .attributes)
            query.limit = nil
            return (CopyMatching(query), git)
        case .readWithPassword:
            let context = Self.context("app")
            var program = git
            program.context = context
            try world.add("mail", as: program) { $0.accessControl = .withPassword }
            world.person.types(ServiceInMemory.secret("app"))
            return (CopyMatching(ServiceInMemory.query("mail")), git)
        case .readOfAnother:
            try world.add("mail") { $0.trusted = [] }
            world.person.chooses(.always)
            let other = Program("/usr/bin/mail", process: 30)
            return (CopyMatching(ServiceInMemory.query("mail")), other)
        case .readLocked:
            try world.add("mail")
            try world.vault.lock(world.keychain)
            world.vault.getOutOfStep()
            world.person.types(ServiceInMemory.secret(ServiceInMemory.password))
            return (CopyMatching(ServiceInMemory.query("mail")), git)
        case .add:
            try world.use(rules: Self.rule("require: presence", "add"))
            return (Add(Self.item, secret: nil, returning: .reference), git)
        case .addWithPassword:
            world.person.types(ServiceInMemory.secret("app"))
            var item = Self.item
            item.accessControl = .withPassword
            return (Add(item, secret: ServiceInMemory.secret("s"), returning: .data), git)
        case .update:
            try guarded()
            var change = ItemChange()
            change.attributes = [.comment: .string("changed")]
            return (Update(ServiceInMemory.query("mail"), change, secret: nil), git)
        case .updateTrust:
            try world.add("mail")
            var change = ItemChange()
            change.trust = .replace([.identity("exe:/usr/bin/mail")])
            return (Update(ServiceInMemory.query("mail"), change, secret: nil), git)
        case .delete:
            try guarded()
            return (Delete(ServiceInMemory.query("mail")), git)
        case .changeSettings:
            var strict = KeychainSettingsChange()
            strict.lockAfter = 60
            try world.ask(ChangeSettings(keychain: nil, strict))
            var loose = KeychainSettingsChange()
            loose.lockAfter = 0
            return (ChangeSettings(keychain: nil, loose), git)
        case .addProtector: return (Self.newRecoveryKey(), git)
        case .removeProtector:
            try world.ask(Self.newRecoveryKey())
            let all = try world.ask(ListProtectors(keychain: nil))
            let added = try #require(all.first { $0.kind == .recoveryKey })
            world.person.forgets()
            world.evidence.forget(geteuid())
            return (
                RemoveProtector(keychain: nil, identifier: added.identifier), git
            )
        case .backUp: return (BeginBackup(keychain: nil), git)
        case .restore: return (BeginRestore(keychain: nil), git)
        case .restoreGeneration:
            try world.add("mail")
            GenerationKeeper(world.folder, log: { _ in }).keepWhatIsDue()
            let kept = try world.ask(ListGenerations(keychain: nil))
            let number = try #require(kept.first?.number)
            return (RestoreGeneration(keychain: nil, generation: number), git)
        case .authenticate:
            var program = git
            program.context = AuthenticationContext()
            return (Authenticate(.userPresence), program)
        case .unlock:
            try world.vault.lock(world.keychain)
            world.person.types(ServiceInMemory.secret(ServiceInMemory.password))
            return (Unlock(keychain: nil, password: nil), git)
        case .createKeychain:
            world.person.types(ServiceInMemory.secret("work"))
            return (CreateKeychain(name: "work", password: nil, asks: true), git)
        case .deleteKeychain:
            try world.ask(
                CreateKeychain(name: "work", password: ServiceInMemory.secret("work")))
            return (DeleteKeychain(keychain: "work"), git)
        case .chooseDefault:
            let program = Program("/usr/bin/git", process: 10, via: .secretService)
            return (Preferences(.defaultKeychain("login")), program)
        case .readForEverything: return try Self.readingForEverything(world)
        case .listLetIn: return (ListLetIn(keychain: nil), git)
        case .leaveGroup:
            let (reading, program) = try Self.readingForEverything(world)
            _ = try world.ask(reading, program)
            world.person.forgets()
            return (
                LeaveGroup(keychain: nil, "exe:/usr/bin/browser", from: "exe:/usr/bin/git"), git
            )
        }
    }

    private static func readingForEverything(
        _ world: ServiceInMemory
    ) throws -> (CopyMatching, Program) {
        var item = NewItem(.attributed)
        item.attributes = [.pair("app"): .string("git")]
        item.trusted = []
        let added = try world.ask(
            Add(item, secret: ServiceInMemory.secret("key"), returning: .reference),
            Program("/usr/bin/git", process: 10).relayed)
        world.person.chooses(.everything)
        var query = ItemQuery(.attributed)
        query.references = [added.reference]
        query.returnFields = .data
        return (CopyMatching(query), Program("/usr/bin/browser", process: 31).relayed)
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

    private static func newRecoveryKey() -> AddProtector {
        AddProtector(
            keychain: nil, .recoveryKey(HeldSecret(RecoveryKey.random().text())),
            opening: .password(ServiceInMemory.secret(ServiceInMemory.password)))
    }

    static func rule(_ effect: String, _ operations: String) -> String {
        "  - id: test.rule\n    \(effect)\n    operations: \(operations)\n"
    }
}
