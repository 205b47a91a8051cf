// SPDX-License-Identifier: Apache-2.0

// Statuses about the attributes of a cryptographic context.

public var errSecInvalidAttributeKey: OSStatus { -67748 }
public var errSecMissingAttributeKey: OSStatus { -67749 }
public var errSecInvalidAttributeInitVector: OSStatus { -67750 }
public var errSecMissingAttributeInitVector: OSStatus { -67751 }
public var errSecInvalidAttributeSalt: OSStatus { -67752 }
public var errSecMissingAttributeSalt: OSStatus { -67753 }
public var errSecInvalidAttributePadding: OSStatus { -67754 }
public var errSecMissingAttributePadding: OSStatus { -67755 }
public var errSecInvalidAttributeRandom: OSStatus { -67756 }
public var errSecMissingAttributeRandom: OSStatus { -67757 }
public var errSecInvalidAttributeSeed: OSStatus { -67758 }
public var errSecMissingAttributeSeed: OSStatus { -67759 }
public var errSecInvalidAttributePassphrase: OSStatus { -67760 }
public var errSecMissingAttributePassphrase: OSStatus { -67761 }
public var errSecInvalidAttributeKeyLength: OSStatus { -67762 }
public var errSecMissingAttributeKeyLength: OSStatus { -67763 }
public var errSecInvalidAttributeBlockSize: OSStatus { -67764 }
public var errSecMissingAttributeBlockSize: OSStatus { -67765 }
public var errSecInvalidAttributeOutputSize: OSStatus { -67766 }
public var errSecMissingAttributeOutputSize: OSStatus { -67767 }
public var errSecInvalidAttributeRounds: OSStatus { -67768 }
public var errSecMissingAttributeRounds: OSStatus { -67769 }
public var errSecInvalidAlgorithmParms: OSStatus { -67770 }
public var errSecMissingAlgorithmParms: OSStatus { -67771 }
public var errSecInvalidAttributeLabel: OSStatus { -67772 }
public var errSecMissingAttributeLabel: OSStatus { -67773 }
public var errSecInvalidAttributeKeyType: OSStatus { -67774 }
public var errSecMissingAttributeKeyType: OSStatus { -67775 }
public var errSecInvalidAttributeMode: OSStatus { -67776 }
public var errSecMissingAttributeMode: OSStatus { -67777 }
public var errSecInvalidAttributeEffectiveBits: OSStatus { -67778 }
public var errSecMissingAttributeEffectiveBits: OSStatus { -67779 }
public var errSecInvalidAttributeStartDate: OSStatus { -67780 }
public var errSecMissingAttributeStartDate: OSStatus { -67781 }
public var errSecInvalidAttributeEndDate: OSStatus { -67782 }
public var errSecMissingAttributeEndDate: OSStatus { -67783 }
public var errSecInvalidAttributeVersion: OSStatus { -67784 }
public var errSecMissingAttributeVersion: OSStatus { -67785 }
public var errSecInvalidAttributePrime: OSStatus { -67786 }
public var errSecMissingAttributePrime: OSStatus { -67787 }
public var errSecInvalidAttributeBase: OSStatus { -67788 }
public var errSecMissingAttributeBase: OSStatus { -67789 }
public var errSecInvalidAttributeSubprime: OSStatus { -67790 }
public var errSecMissingAttributeSubprime: OSStatus { -67791 }
public var errSecInvalidAttributeIterationCount: OSStatus { -67792 }
public var errSecMissingAttributeIterationCount: OSStatus { -67793 }
public var errSecInvalidAttributeDLDBHandle: OSStatus { -67794 }
public var errSecMissingAttributeDLDBHandle: OSStatus { -67795 }
public var errSecInvalidAttributeAccessCredentials: OSStatus { -67796 }
public var errSecMissingAttributeAccessCredentials: OSStatus { -67797 }
public var errSecInvalidAttributePublicKeyFormat: OSStatus { -67798 }
public var errSecMissingAttributePublicKeyFormat: OSStatus { -67799 }
public var errSecInvalidAttributePrivateKeyFormat: OSStatus { -67800 }
public var errSecMissingAttributePrivateKeyFormat: OSStatus { -67801 }
public var errSecInvalidAttributeSymmetricKeyFormat: OSStatus { -67802 }
public var errSecMissingAttributeSymmetricKeyFormat: OSStatus { -67803 }
public var errSecInvalidAttributeWrappedKeyFormat: OSStatus { -67804 }
public var errSecMissingAttributeWrappedKeyFormat: OSStatus { -67805 }

extension StatusMessages {
    static let contextAttribute: [OSStatus: String] = [
        errSecInvalidAttributeKey: "The key attribute is not valid.",
        errSecMissingAttributeKey: "The key attribute is missing.",
        errSecInvalidAttributeInitVector: "The initialization vector attribute is not valid.",
        errSecMissingAttributeInitVector: "The initialization vector attribute is missing.",
        errSecInvalidAttributeSalt: "The salt attribute is not valid.",
        errSecMissingAttributeSalt: "The salt attribute is missing.",
        errSecInvalidAttributePadding: "The padding attribute is not valid.",
        errSecMissingAttributePadding: "The padding attribute is missing.",
        errSecInvalidAttributeRandom: "The random number attribute is not valid.",
        errSecMissingAttributeRandom: "The random number attribute is missing.",
        errSecInvalidAttributeSeed: "The seed attribute is not valid.",
        errSecMissingAttributeSeed: "The seed attribute is missing.",
        errSecInvalidAttributePassphrase: "The passphrase attribute is not valid.",
        errSecMissingAttributePassphrase: "The passphrase attribute is missing.",
        errSecInvalidAttributeKeyLength: "The key length attribute is not valid.",
        errSecMissingAttributeKeyLength: "The key length attribute is missing.",
        errSecInvalidAttributeBlockSize: "The block size attribute is not valid.",
        errSecMissingAttributeBlockSize: "The block size attribute is missing.",
        errSecInvalidAttributeOutputSize: "The output size attribute is not valid.",
        errSecMissingAttributeOutputSize: "The output size attribute is missing.",
        errSecInvalidAttributeRounds: "The rounds attribute is not valid.",
        errSecMissingAttributeRounds: "The rounds attribute is missing.",
        errSecInvalidAlgorithmParms: "The algorithm's parameters are not valid.",
        errSecMissingAlgorithmParms: "The algorithm's parameters are missing.",
        errSecInvalidAttributeLabel: "The label attribute is not valid.",
        errSecMissingAttributeLabel: "The label attribute is missing.",
        errSecInvalidAttributeKeyType: "The key type attribute is not valid.",
        errSecMissingAttributeKeyType: "The key type attribute is missing.",
        errSecInvalidAttributeMode: "The mode attribute is not valid.",
        errSecMissingAttributeMode: "The mode attribute is missing.",
        errSecInvalidAttributeEffectiveBits: "The effective bits attribute is not valid.",
        errSecMissingAttributeEffectiveBits: "The effective bits attribute is missing.",
        errSecInvalidAttributeStartDate: "The start date attribute is not valid.",
        errSecMissingAttributeStartDate: "The start date attribute is missing.",
        errSecInvalidAttributeEndDate: "The end date attribute is not valid.",
        errSecMissingAttributeEndDate: "The end date attribute is missing.",
        errSecInvalidAttributeVersion: "The version attribute is not valid.",
        errSecMissingAttributeVersion: "The version attribute is missing.",
        errSecInvalidAttributePrime: "The prime attribute is not valid.",
        errSecMissingAttributePrime: "The prime attribute is missing.",
        errSecInvalidAttributeBase: "The base attribute is not valid.",
        errSecMissingAttributeBase: "The base attribute is missing.",
        errSecInvalidAttributeSubprime: "The subprime attribute is not valid.",
        errSecMissingAttributeSubprime: "The subprime attribute is missing.",
        errSecInvalidAttributeIterationCount: "The iteration count attribute is not valid.",
        errSecMissingAttributeIterationCount: "The iteration count attribute is missing.",
        errSecInvalidAttributeDLDBHandle: "The database handle attribute is not valid.",
        errSecMissingAttributeDLDBHandle: "The database handle attribute is missing.",
        errSecInvalidAttributeAccessCredentials: "The access credentials attribute is not valid.",
        errSecMissingAttributeAccessCredentials: "The access credentials attribute is missing.",
        errSecInvalidAttributePublicKeyFormat: "The public key format attribute is not valid.",
        errSecMissingAttributePublicKeyFormat: "The public key format attribute is missing.",
        errSecInvalidAttributePrivateKeyFormat: "The private key format attribute is not valid.",
        errSecMissingAttributePrivateKeyFormat: "The private key format attribute is missing.",
        errSecInvalidAttributeSymmetricKeyFormat:
            "The symmetric key format attribute is not valid.",
        errSecMissingAttributeSymmetricKeyFormat: "The symmetric key format attribute is missing.",
        errSecInvalidAttributeWrappedKeyFormat: "The wrapped key format attribute is not valid.",
        errSecMissingAttributeWrappedKeyFormat: "The wrapped key format attribute is missing.",
    ]
}
