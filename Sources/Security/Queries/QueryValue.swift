// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import KeychainEndpoints

/// One value of a dictionary as the caller gave it, with its class determined once.
enum QueryValue {
    case string(String)
    case data(NSData)
    case boolean(Bool)
    case number(Int64)
    /// A number with a fraction, or one that is too large for an integer.
    case real(Double)
    /// Seconds since 2001.
    case date(Double)
    case uuid(UUID)
    case null
    case array([AnyObject])
    case dictionary(NSDictionary)
    case accessControl(SecAccessControl)
    case access(SecAccess)
    case reference(ValueReference)
    case keychain(SecKeychain)
    case policy(SecPolicy)
    case context(any AuthenticationContextCarrier)
    case other

    init(_ value: AnyObject) {
        switch value {
        case let string as NSString: self = .string(string as String)
        case let data as NSData: self = .data(data)
        case let number as NSNumber: self.init(number)
        case let date as NSDate: self = .date(date.timeIntervalSinceReferenceDate)
        case let uuid as NSUUID: self = .uuid(uuid as UUID)
        case is NSNull: self = .null
        case let array as NSArray: self = .array(array.map { $0 as AnyObject })
        case let dictionary as NSDictionary: self = .dictionary(dictionary)
        case let accessControl as SecAccessControl: self = .accessControl(accessControl)
        case let access as SecAccess: self = .access(access)
        case let item as SecKeychainItem: self = .reference(.password(item))
        case let certificate as SecCertificate: self = .reference(.certificate(certificate))
        case let key as SecKey: self = .reference(.key(key))
        case let identity as SecIdentity: self = .reference(.identity(identity))
        case let keychain as SecKeychain: self = .keychain(keychain)
        case let policy as SecPolicy: self = .policy(policy)
        case let context as any AuthenticationContextCarrier: self = .context(context)
        default: self = .other
        }
    }

    private init(_ number: NSNumber) {
        if number.isBoolean {
            self = .boolean(number.boolValue)
        } else if let whole = number as? Int64 {
            // 1.0 and 1 are the same number.
            self = .number(whole)
        } else {
            self = .real(number.doubleValue)
        }
    }
}
