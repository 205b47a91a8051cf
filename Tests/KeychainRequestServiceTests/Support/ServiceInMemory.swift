// SPDX-License-Identifier: Apache-2.0
import CallerIdentity
import Foundation
import KeychainActivePolicy
import KeychainItemStore
import KeychainMessages
import KeychainModel
import KeychainPolicyCompiler
import KeychainPolicyEngine
import KeychainRequestAudit
@testable import KeychainManagement
@testable import KeychainRequestService
import KeychainSecrets
import KeychainUserPresence
import KeychainVaults
import PolicyLanguage
import PolicySyntax
import Testing

/// The service on a login keychain with a password, with its class keys in this process's memory and a
/// user who answers: without root, a daemon or a kernel's keyring.
final class ServiceInMemory {
    static let password = "battery"

    /// The files of a new keychain and what opens it, made once: a password takes its time.
    private struct Template: Sendable {
        let files: [String: Data]
        let bundles: MemoryVault.Bundles

        init() throws {
            let home = NSTemporaryDirectory() + "template-" + UUID().uuidString
            try FileManager.default.createDirectory(
                atPath: home, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            defer { try? FileManager.default.removeItem(atPath: home) }
            let (folder, protectors) = try ServiceInMemory.parts(home)
            try protectors.create(
                .login, of: geteuid(), password: ServiceInMemory.secret(ServiceInMemory.password))
            let keychain = try folder.keychain(nil, of: geteuid())
            bundles = MemoryVault.Bundles(
                try protectors.unlock(
                    keychain, ServiceInMemory.secret(ServiceInMemory.password)))
            var files: [String: Data] = [:]
            for name in try FileManager.default.contentsOfDirectory(atPath: home) {
                files[name] = FileManager.default.contents(atPath: home + "/" + name)
            }
            self.files = files
        }
    }
    private static let template = Result { try Template() }

    let home = NSTemporaryDirectory() + "service-" + UUID().uuidString
    let person = Person()
    let policy = ActivePolicy()
    let evidence = EvidenceStore(keyring: nil)
    let folder: KeychainFolder
    let protectors: Protectors
    let vault: MemoryVault
    let service: KeychainService
    let audit: AuditLog

    init(
        unlocking: (any UnlockStep)? = nil, consent: (any ConsentStep)? = nil
    ) throws {
        let template = try Self.template.get()
        let private600 = [FileAttributeKey.posixPermissions: 0o600]
        try FileManager.default.createDirectory(
            atPath: home, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        for (name, bytes) in template.files {
            let path = home + "/" + name
            try bytes.write(to: URL(filePath: path))
            try FileManager.default.setAttributes(private600, ofItemAtPath: path)
        }
        (folder, protectors) = try Self.parts(home)
        vault = MemoryVault(protectors, login: template.bundles)
        audit = AuditLog(folder: home)
        var parts = KeychainService.Parts(
            folder: folder, vault: vault, protectors: protectors, authenticator: person,
            mode: .daemon)
        parts.policy = policy
        parts.evidence = evidence
        parts.audit = audit
        parts.unlocking = unlocking
        parts.consent = consent
        service = KeychainService(parts)
    }

    deinit { try? FileManager.default.removeItem(atPath: home) }

    private static func parts(_ home: String) throws -> (KeychainFolder, Protectors) {
        let folder = KeychainFolder(home, layout: .ownUser, accountName: { _ in "a" })
        return (
            folder,
            Protectors(
                folder: folder, deviceKey: try Protectors.deviceKey(at: home + "/device.key"),
                allowsDeviceProtector: false, passwordCost: .least)
        )
    }

    // MARK: Words

    static func secret(_ text: String) -> HeldSecret {
        HeldSecret(SecretBytes(copying: Array(text.utf8)))
    }

    var keychain: OpenKeychain {
        get throws { try folder.keychain(nil, of: geteuid()) }
    }

    @discardableResult
    func ask<V: Verb>(_ verb: V, _ program: Program = .git) throws(RequestError) -> V.Answer {
        var answer: V.Answer?
        let last = try service.answer(verb, for: program) { part in
            if answer?.append(part: part) == nil { answer = part }
        }
        return answer?.append(part: last) == nil ? last : answer ?? last
    }

    @discardableResult
    func add(
        _ name: String, as program: Program = .git, _ change: (inout NewItem) -> Void = { _ in }
    ) throws(RequestError) -> ItemReference? {
        var item = NewItem(.genericPassword)
        item.attributes = [.service: .string(name), .account: .string("me")]
        change(&item)
        let verb = Add(
            item, secret: Self.secret("secret of " + name), returning: .reference)
        return try ask(verb, program).reference
    }

    static func query(_ name: String, _ parts: ReturnFields = .data) -> ItemQuery {
        var query = ItemQuery(.genericPassword)
        query.attributes = [.service: .string(name), .account: .string("me")]
        query.returnFields = parts
        return query
    }

    /// The secret of an item, as a program reads it.
    func read(_ name: String, as program: Program = .git) throws(RequestError) -> String? {
        try ask(CopyMatching(Self.query(name)), program).first?.secret.map {
            String(decoding: $0.bytes.copy().releasedFromLockedMemory(), as: UTF8.self)
        }
    }

    /// Rules of an administrator, in YAML.
    func use(rules: String) throws { policy.use(try Self.rules(rules)) }

    static func rules(
        _ rules: String, writtenOn day: Int32 = 20_778
    ) throws -> ActivePolicy.Pair {
        let text = "policy: v1\nname: test\nrules:\n" + rules
        let loaded = LoadedPolicies(
            [[SourceFile(path: "50-test.yaml", bytes: Array(text.utf8))]], today: day)
        #expect(!loaded.hasErrors)
        return ActivePolicy.Pair(
            try CompiledPolicy(loaded.policy), reach: try CompiledPolicy(loaded.policy.reachOnly))
    }

    // MARK: What there is

    /// All that a verb could have changed: items, what opens the keychain, settings, files.
    func state() throws -> [String] {
        let keychain = try keychain
        let keys = try vault.keysOfLocked(keychain)
        var query = ItemQuery(.genericPassword)
        query.limit = nil
        let groups = ["exe:/usr/bin/git", "exe:/usr/bin/keychainctl", "exe:/usr/bin/mail"]
        let items = try keychain.file.find(query, groups: groups, keys: keys).map {
            "\($0.reference.identifier) \($0.generation) \($0.accessGroup)"
                + " \($0.trusted?.applications.map(\.identity) ?? [])"
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: home).filter {
            !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") && !$0.hasPrefix("audit")
        }
        return items + (try protectors.list(keychain).map(\.identifier)) + files.sorted()
            + ["\(try keychain.file.unverifiedSettings())"]
            + (try keychain.file.joinedGroups(keys).groups.map { "\($0)" })
    }

    /// Records of the audit: an operation and its outcome each.
    func recorded() throws -> [String] {
        audit.flush()
        let text = FileManager.default.contents(atPath: home + "/audit.jsonl") ?? Data()
        return try text.split(separator: 10).map { line in
            let record = try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any]
            return "\(record?["operation"] ?? "") \(record?["outcome"] ?? "")"
        }
    }
}

extension ItemAccessControl {
    /// Reading and deleting take a proof.
    static let guarded = ItemAccessControl(
        protection: .whenUnlocked,
        operations: [.decrypt: .userPresence, .encrypt: .always, .delete: .userPresence],
        defaultOperation: nil)
    static let withPassword = ItemAccessControl(
        protection: .whenUnlocked, operations: [:], defaultOperation: .always,
        needsApplicationPassword: true)
}
