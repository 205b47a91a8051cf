// SPDX-License-Identifier: Apache-2.0

/// How much a query asks for.
extension ItemQuery {
    /// Whether it wants the secrets of all passwords there are.
    package var wantsAllSecrets: Bool {
        guard limit == nil, returnFields.contains(.data) else { return false }
        return itemClass == .genericPassword || itemClass == .internetPassword
    }

    /// Whether it names one item so well that who asks knows of it from somewhere: what others have
    /// can't be found out by such queries, but for what was guessed right.
    package var namesOneItem: Bool {
        guard limit == 1, !returnFields.isEmpty, accessGroup == nil, folding.isEmpty,
            hostOrSubdomain == nil, authenticationUI == .allow
        else { return false }
        if let references { return references.count == 1 }
        return switch itemClass {
        case .genericPassword: has(.service) && has(.account)
        case .internetPassword: has(.server) && has(.account)
        case .certificate: has(.issuer) && has(.serialNumber)
        case .key: has(.applicationLabel) || has(.applicationTag)
        }
    }

    private func has(_ name: AttributeName) -> Bool {
        attributes[name].map { !$0.isEmptyCompared } ?? false
    }
}
