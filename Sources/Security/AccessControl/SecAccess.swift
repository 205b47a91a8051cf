// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import KeychainModel

/// The programs that an item lets in beside its access group, and those that its user is asked
/// about: the value of `kSecAttrAccess`.
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
    /// The list that a stored item has.
    convenience init(stored list: TrustList) {
        self.init("", list.applications.map { .identity($0.identity) })
    }
}

/// Makes the list of programs that an item lets in, of ``SecTrustedApplication`` objects.
///
/// Without a list it names the calling program alone. A list without a program lets no other in;
/// its user is asked, as about every program that is not in the list. Anything else in the list, or
/// more than 32 programs, is errSecParam.
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
