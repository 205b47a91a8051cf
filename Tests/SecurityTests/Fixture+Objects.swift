// SPDX-License-Identifier: Apache-2.0
import Foundation
import Security

extension Fixture {
    static func certificate(_ der: Data) -> SecCertificate? {
        SecCertificateCreateWithData(nil, der as CFData)
    }

    static func key(
        _ data: Data, _ type: CFString, _ keyClass: CFString = kSecAttrKeyClassPrivate
    ) -> SecKey? {
        let attributes: [CFString: Any] = [kSecAttrKeyType: type, kSecAttrKeyClass: keyClass]
        return SecKeyCreateWithData(data as CFData, attributes as CFDictionary, nil)
    }

    static var identity: SecIdentity? {
        guard let certificate = certificate(leaf), let key = key(leafKey, kSecAttrKeyTypeEC) else {
            return nil
        }
        return SecIdentityCreate(nil, certificate, key)
    }
}
