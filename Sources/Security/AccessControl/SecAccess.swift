// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import KeychainModel

/// The programs that may use an item beside its access group; the item's user is asked about any
/// other. The value of `kSecAttrAccess`.
public final class SecAccess: NSObject, @unchecked Sendable {
    private let descriptor: String
    let programs: [NamedProgram]

    init(_ descriptor: String, _ programs: [NamedProgram]) {
        self.descriptor = descriptor
        self.programs = programs
    }

    public override var hash: Int { programs.hashValue }
    public override func isEqual(_ other: Any?) -> Bool {
        (other as? SecAccess)?.programs == programs
    }

    public override var description: String {
        let names = programs.map { program in
            switch program {
            case .own: "the calling program"
            case .identity(let identity): identity
            }
        }
        return "<SecAccess \(descriptor): \(names.joined(separator: ", "))>"
    }
}

extension SecAccess {
    /// From the list of a stored item.
    convenience init(stored list: TrustList) {
        self.init("", list.applications.map { .identity($0.identity) })
    }
}

/// Makes the list of programs that may use an item, from ``SecTrustedApplication`` objects.
///
/// Without `trustedlist` the list has only the calling program. With an empty one, no other program
/// may use the item; its user is asked about every program that is not in the list. Returns
/// errSecParam for objects of another class, or more than 32 programs.
public func SecAccessCreate(
    _ descriptor: CFString, _ trustedlist: CFArray?,
    _ accessRef: UnsafeMutablePointer<SecAccess?>
) -> OSStatus {
    let programs: [NamedProgram]
    if let trustedlist {
        let applications = trustedlist.compactMap { $0 as? SecTrustedApplication }
        guard applications.count == trustedlist.count,
            applications.count <= TrustList.mostApplications
        else { return errSecParam }
        programs = applications.map(\.program)
    } else {
        programs = [.own]
    }
    // Safe: the caller's own variable for the answer.
    unsafe accessRef.pointee = SecAccess(descriptor as String, programs)
    return errSecSuccess
}
