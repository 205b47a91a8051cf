// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// The identifiers by which `CFGetTypeID` tells classes apart. Their values have no other meaning.
private enum TypeID: CFTypeID {
    case unknown, string, data, date, boolean, number, array, set, dictionary, error, null
    case accessControl, keychainItem, keychain, certificate, key, identity, policy
    case access, trustedApplication, trust
}

public func CFGetTypeID(_ object: CFTypeRef!) -> CFTypeID { typeID(of: object).rawValue }

private func typeID(of object: CFTypeRef?) -> TypeID {
    switch object {
    case is NSString: .string
    case is NSData: .data
    case is NSDate: .date
    case let number as NSNumber: number.isBoolean ? .boolean : .number
    case is NSArray: .array
    case is NSSet: .set
    case is NSDictionary: .dictionary
    case is NSError: .error
    case is NSNull: .null
    case is SecAccessControl: .accessControl
    case is SecKeychainItem: .keychainItem
    case is SecKeychain: .keychain
    case is SecCertificate: .certificate
    case is SecKey: .key
    case is SecIdentity: .identity
    case is SecPolicy: .policy
    case is SecAccess: .access
    case is SecTrustedApplication: .trustedApplication
    case is SecTrust: .trust
    default: .unknown
    }
}

public func CFStringGetTypeID() -> CFTypeID { TypeID.string.rawValue }
public func CFDataGetTypeID() -> CFTypeID { TypeID.data.rawValue }
public func CFDateGetTypeID() -> CFTypeID { TypeID.date.rawValue }
public func CFBooleanGetTypeID() -> CFTypeID { TypeID.boolean.rawValue }
public func CFNumberGetTypeID() -> CFTypeID { TypeID.number.rawValue }
public func CFArrayGetTypeID() -> CFTypeID { TypeID.array.rawValue }
public func CFSetGetTypeID() -> CFTypeID { TypeID.set.rawValue }
public func CFDictionaryGetTypeID() -> CFTypeID { TypeID.dictionary.rawValue }
public func CFErrorGetTypeID() -> CFTypeID { TypeID.error.rawValue }
public func CFNullGetTypeID() -> CFTypeID { TypeID.null.rawValue }
public func SecAccessControlGetTypeID() -> CFTypeID { TypeID.accessControl.rawValue }
public func SecKeychainItemGetTypeID() -> CFTypeID { TypeID.keychainItem.rawValue }
public func SecKeychainGetTypeID() -> CFTypeID { TypeID.keychain.rawValue }
public func SecCertificateGetTypeID() -> CFTypeID { TypeID.certificate.rawValue }
public func SecKeyGetTypeID() -> CFTypeID { TypeID.key.rawValue }
public func SecPolicyGetTypeID() -> CFTypeID { TypeID.policy.rawValue }
public func SecIdentityGetTypeID() -> CFTypeID { TypeID.identity.rawValue }
public func SecAccessGetTypeID() -> CFTypeID { TypeID.access.rawValue }
public func SecTrustedApplicationGetTypeID() -> CFTypeID { TypeID.trustedApplication.rawValue }
public func SecTrustGetTypeID() -> CFTypeID { TypeID.trust.rawValue }
