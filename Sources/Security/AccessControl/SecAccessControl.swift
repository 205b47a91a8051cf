// SPDX-License-Identifier: Apache-2.0
public import Foundation
package import KeychainModel

/// The access control of an item: when it can be opened, and the proofs that opening it requires.
public final class SecAccessControl: NSObject, @unchecked Sendable {
    /// The protection class. Only a stored class can be an item's.
    enum Protection: Hashable, Sendable {
        case stored(Accessibility)
        /// Keys of this class are never stored, so that no item can have it.
        case untilReboot
        /// Taken unchecked from the caller.
        case dictionary(String)

        init?(_ value: CFTypeRef) {
            switch value {
            case let code as NSString where code == "f": self = .untilReboot
            case let code as NSString:
                guard let accessibility = Accessibility(code: code as String) else { return nil }
                self = .stored(accessibility)
            case let dictionary as NSDictionary: self = .dictionary(dictionary.description)
            default: return nil
            }
        }

        var text: String {
            switch self {
            case .stored(let accessibility): accessibility.code
            case .untilReboot: "f"
            case .dictionary(let text): text
            }
        }
    }

    private let protection: Protection
    /// The operations' constraints; the protection in it counts only where `protection` is stored.
    private let rights: ItemAccessControl
    /// Whether it was made as a list of constraints, even an empty one. The access control of an
    /// item that was added with only an accessibility repeats the `kSecAttrAccessible` beside it.
    let carriesList: Bool

    init?(_ protection: Protection, _ flags: AccessControlFlags) {
        var accessibility = Accessibility.whenUnlocked
        if case .stored(let stored) = protection { accessibility = stored }
        guard let rights = flags.accessControl(protecting: accessibility) else { return nil }
        self.protection = protection
        self.rights = rights
        carriesList = true
    }

    /// The access control of a stored item.
    init(stored rights: ItemAccessControl) {
        protection = .stored(rights.protection)
        self.rights = rights
        carriesList = rights != .plain(rights.protection)
    }

    /// The access control in the form that items have; nil where no item can have it.
    package var itemRights: ItemAccessControl? {
        guard case .stored = protection else { return nil }
        return rights
    }

    public override var hash: Int {
        var hasher = Hasher()
        hasher.combine(protection)
        hasher.combine(rights)
        return hasher.finalize()
    }

    public override func isEqual(_ other: Any?) -> Bool {
        guard let other = other as? SecAccessControl else { return false }
        return protection == other.protection && rights == other.rights
    }

    public override var description: String {
        let parts = [protection.text] + rights.descriptions
        return "<SecAccessControlRef: \(parts.joined(separator: ";"))>"
    }
}

extension ItemAccessControl {
    /// Each operation with its constraint, always in the same order.
    fileprivate var descriptions: [String] {
        var descriptions = operations.map { "\($0.rawValue)(\($1.text))" }.sorted()
        if let defaultOperation { descriptions.append("dacl(\(defaultOperation.text))") }
        if needsApplicationPassword { descriptions.append("prp(true)") }
        return descriptions
    }
}

extension Constraint {
    fileprivate var text: String {
        switch self {
        case .always: "true"
        case .never: "false"
        case .userPresence: "cpol(DeviceOwnerAuthentication)"
        case .devicePasscode: "cup(true)"
        case .biometryAny: "cbio(pbioc())"
        case .biometryCurrentSet: "cbio(pbioc()pbioh())"
        case .companion: "cwtch(true)"
        case .atLeast(let required, let members):
            "pkofn(\(required))" + members.map(\.text).joined()
        }
    }
}
