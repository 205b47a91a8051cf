// SPDX-License-Identifier: Apache-2.0
internal import KeychainAccessControl
internal import KeychainItemStore
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets

/// What a user does with the things that open their keychains.
extension KeychainService {
    func protectors(
        _ request: ProtectorRequest, for asker: any Asker
    ) throws(Refusal) -> Answer {
        let keychain = try keychain(request.keychain, for: asker.caller)
        var answer = Answer()
        switch request.verb {
        case .list: answer.protectors = try protectors.list(keychain)
        case .add(let new, let opener):
            try checkLength(opener.secret)
            var evidence = Evidence()
            let grant = try grant(.add, keychain, proving: &evidence, for: asker)
            let added = try attempt(keychain.place) { () throws(Refusal) in
                try protectors.add(new, to: keychain, from: opener, grant)
            }
            if keychain.isSystem { openAtOnce(keychain, for: asker.caller) }
            answer.protectors = [added]
            audit?.record(.addProtector, asker, evidence, nil)
        case .remove(let identifier):
            var evidence = Evidence()
            let grant = try grant(.remove, keychain, proving: &evidence, for: asker)
            let hadPassword = try isProtected(keychain)
            try protectors.remove(identifier, from: keychain, grant)
            let hasPassword = try isProtected(keychain)
            if hadPassword, !hasPassword { try forgetPassword(of: keychain) }
            audit?.record(.removeProtector, asker, evidence, nil)
        case .test(let identifier, let typed):
            try checkLength(typed)
            let kind = try protectors.list(keychain).first { $0.identifier == identifier }?.kind
            let shows: Guesses.Outcome = kind == .password ? .right : .undecided
            try attempt(keychain.place, shows: shows) { () throws(Refusal) in
                try protectors.test(identifier, typed, of: keychain)
            }
            audit?.record(.testProtector, asker, Evidence(), nil)
        case .open(let opener, let password):
            try open(keychain, opener, newPassword: password, for: asker)
        }
        return answer
    }

    /// What it has opened and proven is over with it.
    private func forgetPassword(of keychain: OpenKeychain) throws(Refusal) {
        vault.endRenewal(of: keychain)
        authentication.forget(keychain.user)
        try vault.lock(keychain)
    }

    /// Services wait for it, and need not find out by themselves that it opens again.
    private func openAtOnce(_ keychain: OpenKeychain, for caller: Caller) {
        let begun = vault.locks.now(keychain.place)
        guard vault.lockState(of: keychain) != .unlocked,
            let keys = try? protectors.unlockUnasked(keychain)
        else { return }
        try? vault.keep(keys, of: keychain, for: caller, since: begun)
    }

    private func open(
        _ keychain: OpenKeychain, _ opener: KeychainOpener, newPassword: HeldSecret?,
        for asker: any Asker
    ) throws(Refusal) {
        try checkLength(opener.secret)
        try checkLength(newPassword)
        guard newPassword?.bytes.count != 0 else { throw .badRequest }
        // Services could not open it any more.
        guard newPassword == nil || !keychain.isSystem else { throw .notImplemented }
        let begun = vault.locks.now(keychain.place)
        let shows: Guesses.Outcome = if case .recoveryKey = opener { .right } else { .undecided }
        let keys = try attempt(keychain.place, shows: shows) { () throws(Refusal) in
            switch (opener, newPassword) {
            case (.recoveryKey(let text), nil):
                return try unlock(keychain, recoveryKey: text)
            case (.recoveryKey(let text), let newPassword?):
                try protectors.setPassword(keychain, recoveryKey: text, new: newPassword)
                vault.endRenewal(of: keychain)
                return try protectors.unlock(keychain, newPassword)
            case (.securityKey(let pin), nil): return try protectors.unlock(keychain, pin: pin)
            case (.securityKey, _), (.password, _), (.unasked, _): throw .badRequest
            }
        }
        try vault.keep(keys, of: keychain, for: asker.caller, since: begun)
        if newPassword != nil {
            authentication.forget(asker.caller.user)
            audit?.record(.setPassword, asker, Evidence(), nil)
        }
        audit?.record(.unlock, asker, Evidence(), nil)
    }

    /// Judge, ask, and judge again with what was proven.
    private func grant(
        _ operation: ProtectorChange.Operation, _ keychain: OpenKeychain,
        proving evidence: inout Evidence, for asker: any Asker
    ) throws(Refusal) -> ProtectorGrant {
        let change = ProtectorChange(
            operation, keychain: keychain.file.identifier,
            isPasscodeSet: try hasProvableOwner(keychain, for: asker.caller),
            mayAsk: authentication.mayAsk(.allow, for: asker),
            provable: authentication.provable(for: asker))
        let judge = policy.now.judge
        switch judge.judge(change, evidence) {
        case .allow(let grant): return grant
        case .deny(let denial): throw Refusal(denial)
        case .allowAfter(let requirement):
            let question = Question(
                operation == .add ? .addProtector : .removeProtector,
                names: [keychain.name.description], itemCount: 0, reason: asker.context?.reason)
            evidence = try authentication.satisfy(
                requirement, question, given: evidence, for: asker)
            guard case .allow(let grant) = judge.judge(change, evidence) else {
                throw .authenticationFailed
            }
            return grant
        }
    }
}

extension ProtectorRequest {
    var auditedOperation: AuditLog.Operation {
        switch verb {
        case .list: .status
        case .add: .addProtector
        case .remove: .removeProtector
        case .test: .testProtector
        case .open: .unlock
        }
    }
}
