// SPDX-License-Identifier: Apache-2.0
package import KeychainMessages
package import KeychainModel
package import KeychainSecrets

package func secret(_ text: String) -> HeldSecret {
    HeldSecret(SecretBytes(copying: Array(text.utf8)))
}

package func text(_ secret: HeldSecret?) -> String? {
    secret.map { String(decoding: $0.bytes.releasedFromLockedMemory(), as: UTF8.self) }
}

/// Each verb with all of its fields set, and an answer to each.
package enum Samples {
    package static let identifier = [UInt8](repeating: 3, count: BackupTransfer.identifierBytes)
    package static let digest = [UInt8](repeating: 4, count: BackupDigest.byteCount)

    package static var query: ItemQuery {
        var query = ItemQuery(.internetPassword)
        query.keychain = "work"
        query.attributes = [
            .account: .string("me"), .server: .data([0, 255]), .port: .number(-1),
            .creationDate: .date(1.5), .creator: .real(0.5),
        ]
        query.accessible = .alwaysThisDeviceOnly
        query.accessGroup = "exe:/usr/bin/git"
        query.synchronizable = .any
        query.references = [reference]
        query.hostOrSubdomain = "example.org"
        query.folding = [.caseInsensitive, .diacriticInsensitive]
        query.limit = nil
        query.returnFields = [.data, .attributes]
        query.authenticationUI = .skip
        query.reason = "to pay"
        return query
    }

    package static var reference: ItemReference {
        ItemReference(itemClass: .internetPassword, identifier: Array(0..<16))
            ?? { preconditionFailure("an identifier has its length") }()
    }

    package static var rights: ItemAccessControl {
        ItemAccessControl(
            protection: .afterFirstUnlock,
            operations: [
                .decrypt: .atLeast(required: 1, of: [.userPresence, .biometryCurrentSet]),
                .delete: .always, .sign: .devicePasscode, .encrypt: .biometryAny,
                .attest: .companion, .computeKey: .never,
            ],
            defaultOperation: .never, needsApplicationPassword: true)
    }

    package static var newItem: NewItem {
        var item = NewItem(.genericPassword)
        item.keychain = "work"
        item.attributes = [.service: .string("mail")]
        item.accessGroup = "group"
        item.isSynchronizable = true
        item.accessControl = rights
        item.trusted = [.own, .identity("exe:/usr/bin/git")]
        item.whenSame = .replace
        item.authenticationUI = .fail
        item.reason = "to pay"
        return item
    }

    package static var change: ItemChange {
        var change = ItemChange()
        change.attributes = [.label: .string("new")]
        change.replacesPairs = true
        change.accessGroup = "group"
        change.isSynchronizable = false
        change.accessible = .always
        change.accessControl = rights
        change.trust = .add([.own, .identity("exe:/a")])
        return change
    }

    package static var item: Item {
        Item(
            reference: reference, attributes: [.label: .string("x"), .port: .number(7)],
            accessControl: rights,
            trusted: TrustList([
                TrustedApplication("exe:/a", strength: .weak, listedBy: nil, listedAt: 1),
                TrustedApplication(
                    "unit:b.service", strength: .guarded, listedBy: "exe:/a", listedAt: 2),
            ]), keychain: "work", secret: secret("s3cret"))
    }

    package static var status: ServiceStatus {
        var keychain = KeychainStatus(
            name: "login", path: "/home/x", lockState: .unlocked, isPasswordProtected: true,
            lockReason: .slept, itemCount: 7, problem: .failed(.keychainGone),
            settings: KeychainSettings(lockAfterIdle: 5, lockAfter: nil, locksOnSleep: false))
        (keychain.isProvisional, keychain.hasPendingPassword) = (true, true)
        (keychain.damagedItems, keychain.quarantinedItems) = (8, 9)
        keychain.remains = ["login.keychain-wal"]
        keychain.label = "Anna's"
        (keychain.created, keychain.modified) = (1, .max)
        return ServiceStatus(
            mode: .embedded, keychains: [keychain], callerIdentifier: "exe:/a", hasSession: true,
            hasPrompter: true, locksMemory: true, usesKernelKeyring: true, deviceKeyOnDisk: true,
            vaultKeyPlace: .file)
    }

    package static var settings: KeychainSettingsChange {
        var change = KeychainSettingsChange()
        (change.lockAfterIdle, change.lockAfter) = (0, 60)
        (change.locksOnSleep, change.locksWithScreen) = (true, false)
        change.label = "Anna's"
        return change
    }

    package static var protector: Protector {
        var protector = Protector(
            identifier: "0123abcd", kind: .securityKey, opensAtLogin: true, made: -1,
            registers: [7, 11], credential: "name")
        protector.usesPIN = true
        return protector
    }

    package static var capabilities: Capabilities {
        var known = Capabilities()
        known.biometry = .notEnrolled
        (known.companion, known.passcode) = (true, true)
        known.biometryState = [1, 2]
        return known
    }

    package static var findings: KeychainFindings {
        var findings = KeychainFindings()
        (findings.isStructureWhole, findings.whole, findings.sealed) = (false, 1, 2)
        (findings.damaged, findings.misindexed, findings.strayEntries) = (3, 4, 5)
        (findings.quarantined, findings.leftovers) = (6, 7)
        return findings
    }

    package static var restored: RestoredKeychain {
        var restored = RestoredKeychain()
        (restored.replaced, restored.setAside) = (9, 10)
        return restored
    }

    package static var changes: KeychainChanges {
        KeychainChanges(
            position: .max, isComplete: false,
            changes: [
                KeychainChange(keychain: "work", .created),
                KeychainChange(keychain: "work", .locked(true)),
                KeychainChange(keychain: "work", .locked(false)),
                KeychainChange(keychain: "work", .labelled("Work")),
                KeychainChange(keychain: "work", .replaced),
                KeychainChange(keychain: "work", .deleted),
                KeychainChange(
                    keychain: "work", .item(attributedReference, of: "exe:/a", .deleted)),
            ])
    }

    private static var attributedReference: ItemReference {
        guard let reference = ItemReference(itemClass: .attributed, identifier: Array(0..<16))
        else { preconditionFailure("an identifier has its length") }
        return reference
    }

    package static var matches: [AttributedMatch] {
        [
            AttributedMatch(keychain: "work", reference: attributedReference, isLocked: true),
            AttributedMatch(keychain: "old", reference: nil, isLocked: true),
        ]
    }

    private static var letIn: [LetIn] {
        let program = TrustedApplication(
            "exe:/usr/bin/new", strength: .rootsFile, listedBy: nil, listedAt: 7.5)
        return [
            LetIn(program, group: "exe:/usr/bin/old", item: nil, label: ""),
            LetIn(program, group: "exe:/a", item: attributedReference, label: "Key"),
        ]
    }

    package static var verbs: [any Verb] {
        let word = secret("password")
        return [
            Add(newItem, secret: secret("s3cret"), returning: [.attributes, .reference]),
            CopyMatching(query), Update(query, change, secret: secret("")), Delete(query),
            Status(), CreateKeychain(name: "work", password: word, recoveryKey: secret("key")),
            Unlock(keychain: "work", password: word), Lock(keychain: "work"),
            ChangeSettings(keychain: "work", settings),
            SetPassword(keychain: nil, old: secret("old"), new: secret("new")),
            Authenticate(.atLeast(required: 2, of: [.always, .userPresence, .companion])),
            ReadCapabilities(), EndContext(), Policies(.facts, of: 4711),
            Preferences(.searchList(["login", "work"])), ListProtectors(keychain: "work"),
            AddProtector(
                keychain: "work", .securityKey(pin: secret("1234"), atLogin: true),
                opening: .password(word)),
            RemoveProtector(keychain: nil, identifier: "0123abcd"),
            TestProtector(keychain: "work", identifier: "0123abcd", secret: word),
            UnlockWithProtector(keychain: "work", .recoveryKey(secret("key")), newPassword: word),
            CheckKeychain(keychain: "work", repair: true), ListGenerations(keychain: nil),
            BeginBackup(keychain: "work"),
            ReadBackup(keychain: nil, transfer: identifier, offset: .max),
            BeginRestore(keychain: "work"),
            SendRestore(keychain: nil, transfer: identifier, piece: [1, 2]),
            FinishRestore(keychain: "work", transfer: identifier, digest: digest),
            RestoreGeneration(keychain: nil, generation: 7),
            Introduce(heardOf: .max, for: PortalApplication("org.example.One")), ForgetPeer(7),
            FindAttributed(keychain: "work", pairs: [.pair("a"): .string("b")], limit: 9),
            WatchKeychains(after: 9), EndProofs(of: [attributedReference]),
            ReadFormerSecrets(keychain: "work", attributedReference, generation: 3),
            DeleteKeychain(keychain: "work"), WouldAsk(.items([attributedReference])),
            ListLetIn(keychain: "work"),
            LeaveGroup(keychain: "work", "exe:/usr/bin/new", from: "exe:/usr/bin/old"),
        ]
    }

    /// One answer for each verb, in the order of the table.
    package static var answers: [ServerMessage] {
        func part<V: Verb>(_ verb: V.Type, _ answer: V.Answer) -> ServerMessage {
            .answer(answer, to: verb, continues: true)
        }
        let generation = Generation(number: 9, made: 1.5, bytes: 10)
        let transfer = BackupTransfer(identifier: identifier, bytes: .max)
        let preferences = KeychainPreferences(
            defaultKeychain: .login, searchList: [.system], aliases: ["work": .login])
        return [
            part(Add.self, item), part(CopyMatching.self, [item, item]), part(Update.self, 3),
            part(Delete.self, 4), part(Status.self, status), part(CreateKeychain.self, Done()),
            part(Unlock.self, Done()), part(Lock.self, Done()),
            part(ChangeSettings.self, Done()), part(SetPassword.self, Done()),
            part(Authenticate.self, Done()), part(ReadCapabilities.self, capabilities),
            part(EndContext.self, Done()), part(Policies.self, "in force"),
            part(Preferences.self, preferences), part(ListProtectors.self, [protector]),
            part(AddProtector.self, protector), part(RemoveProtector.self, Done()),
            part(TestProtector.self, Done()), part(UnlockWithProtector.self, Done()),
            part(CheckKeychain.self, findings), part(ListGenerations.self, [generation]),
            part(BeginBackup.self, transfer), part(ReadBackup.self, BackupPiece([8])),
            part(BeginRestore.self, transfer), part(SendRestore.self, Done()),
            part(FinishRestore.self, restored), part(RestoreGeneration.self, restored),
            part(Introduce.self, RelayedPeer(handle: .max, groups: ["family", "exe:/a"])),
            part(ForgetPeer.self, Done()),
            part(FindAttributed.self, matches), part(WatchKeychains.self, changes),
            part(EndProofs.self, [attributedReference]),
            part(
                ReadFormerSecrets.self,
                [
                    FormerSecret(
                        item: attributedReference, generation: 3, label: "Key",
                        contentType: "text/plain", replaced: 1.5, program: "exe:/a",
                        secret: secret("old"))
                ]),
            part(DeleteKeychain.self, Done()), part(WouldAsk.self, true),
            part(ListLetIn.self, letIn), part(LeaveGroup.self, Done()),
        ]
    }

    package static var context: AuthenticationContext {
        var context = AuthenticationContext()
        context.mayInteract = false
        context.reason = "to pay"
        context.applicationPassword = secret("application")
        return context
    }

    package static var clientMessages: [ClientMessage] {
        verbs.enumerated().map { place, verb in
            let relays = [
                nil, Relay(peer: .max, transfer: nil),
                Relay(peer: 1, transfer: .plain, window: XWindow(0x1FFF_FFFF)),
            ]
            return .request(
                verb, context: context, relay: relays[place % relays.count],
                offersTerminal: true)
        } + [
            .registerPrompter(
                showsWindows: true, on: DisplayServer(process: 42, user: 1000, number: 99)),
            .attachPrompter(challenge: [UInt8](repeating: 1, count: 16)),
            .promptReply(secret("answer")), .promptReply(nil),
        ]
    }

    package static var serverMessages: [ServerMessage] {
        answers + [
            .refusal(.refused(.forbidden), because: ["a rule (here)"]),
            .needsPrompter(challenge: [1, 2], program: "/usr/bin/x"), .registered,
            .prompt(.title("x wants")), .prompt(.title("x wants", over: XWindow(7))),
            .prompt(.choose([.once, .always])), .prompt(.finished(succeeded: true)),
            .prompt(.askHidden("Password:")), .prompt(.askNew("New password:")),
            .prompt(.confirm("Really?")),
        ]
    }
}

/// Decodes the answer in a message by the verb that it names; throws where it is malformed.
package func decodeAnswer(_ message: ServerMessage) throws {
    guard case .answer(let answer) = message, let verb = Verbs.type(answer.verb) else { return }
    func decode<V: Verb>(_ verb: V.Type) throws { _ = try answer.decoded(to: verb) }
    try decode(verb)
}
