// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
package import KeychainSecrets

/// The values of `kSecAttrKeyClass`.
package enum KeyClass {
    package static let publicKey: Int64 = 0
    package static let privateKey: Int64 = 1
}

extension KeyContent {
    /// The attributes of a new item for this key (docs/secitem.md, kSecClassKey).
    package var attributesOfNewItem: Attributes {
        let uses: [AttributeName: Bool] = [
            .canEncrypt: !isPrivate, .canDecrypt: isPrivate, .canSign: isPrivate,
            .canVerify: !isPrivate, .canWrap: !isPrivate, .canUnwrap: isPrivate,
            .canDerive: true, .canSignRecover: false, .canVerifyRecover: false,
            .isPermanent: true,
        ]
        return attributes(of: uses).merging(attributesOfQuery)
    }

    /// The attributes by which an item of this key is found, whatever its uses are by now.
    package var attributesOfQuery: Attributes {
        // Apple's systems call public keys private, too.
        let facts: [AttributeName: Bool] = [
            .isPrivate: true, .isModifiable: true, .isSensitive: false,
            .wasAlwaysSensitive: false, .isExtractable: true, .wasNeverExtractable: false,
        ]
        let bits = AttributeValue.number(Int64(kind.bits))
        var attributes = attributes(of: facts)
        attributes[.keyClass] = .number(isPrivate ? KeyClass.privateKey : KeyClass.publicKey)
        attributes[.applicationLabel] = .data(KeyLabel.of(publicBytes))
        attributes[.type] = .number(kind.type.rawValue)
        attributes[.keySize] = bits
        attributes[.effectiveKeySize] = bits
        return attributes
    }

    private func attributes(of facts: [AttributeName: Bool]) -> Attributes {
        var attributes = Attributes(minimumCapacity: facts.count)
        for (name, holds) in facts { attributes[name] = .number(holds ? 1 : 0) }
        return attributes
    }

    /// The secret of an item for this key.
    package var secret: HeldSecret {
        privateBytes ?? HeldSecret(SecretBytes(copying: publicBytes))
    }
}
