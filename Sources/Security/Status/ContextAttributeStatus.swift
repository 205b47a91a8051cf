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
        errSecInvalidAttributeKey: "The attribute 'key' is not valid.",
        errSecMissingAttributeKey: "The attribute for the key is missing.",
        errSecInvalidAttributeInitVector: "The attribute for the initial vector is not valid.",
        errSecMissingAttributeInitVector: "The attribute for the initial vector is missing.",
        errSecInvalidAttributeSalt: "The attribute for the salt is not valid.",
        errSecMissingAttributeSalt: "The attribute for the salt is missing.",
        errSecInvalidAttributePadding: "The attribute for the padding is not valid.",
        errSecMissingAttributePadding: "The attribute for the padding is missing.",
        errSecInvalidAttributeRandom: "The attribute for the random is not valid.",
        errSecMissingAttributeRandom: "The attribute for the random is missing.",
        errSecInvalidAttributeSeed: "The attribute for the seed is not valid.",
        errSecMissingAttributeSeed: "The attribute for the seed is missing.",
        errSecInvalidAttributePassphrase: "The attribute for the passphrase is not valid.",
        errSecMissingAttributePassphrase: "The attribute for the passphrase is missing.",
        errSecInvalidAttributeKeyLength: "The attribute for the key length is not valid.",
        errSecMissingAttributeKeyLength: "The attribute for the key length is missing.",
        errSecInvalidAttributeBlockSize: "The attribute for the block size is not valid.",
        errSecMissingAttributeBlockSize: "The attribute for the block size is missing.",
        errSecInvalidAttributeOutputSize: "The attribute for the output size is not valid.",
        errSecMissingAttributeOutputSize: "The attribute for the output size is missing.",
        errSecInvalidAttributeRounds: "The attribute for the rounds is not valid.",
        errSecMissingAttributeRounds: "The attribute for the rounds is missing.",
        errSecInvalidAlgorithmParms: "The algorithm's parameters are not valid.",
        errSecMissingAlgorithmParms: "The algorithm's parameters are missing.",
        errSecInvalidAttributeLabel: "The attribute for the label is not valid.",
        errSecMissingAttributeLabel: "The attribute for the label is missing.",
        errSecInvalidAttributeKeyType: "The attribute for the key type is not valid.",
        errSecMissingAttributeKeyType: "The attribute for the key type is missing.",
        errSecInvalidAttributeMode: "The attribute for the mode is not valid.",
        errSecMissingAttributeMode: "The attribute for the mode is missing.",
        errSecInvalidAttributeEffectiveBits: "The attribute for the effective bits is not valid.",
        errSecMissingAttributeEffectiveBits: "The attribute for the effective bits is missing.",
        errSecInvalidAttributeStartDate: "The attribute for the start date is not valid.",
        errSecMissingAttributeStartDate: "The attribute for the start date is missing.",
        errSecInvalidAttributeEndDate: "The attribute for the end date is not valid.",
        errSecMissingAttributeEndDate: "The attribute for the end date is missing.",
        errSecInvalidAttributeVersion: "The attribute for the version is not valid.",
        errSecMissingAttributeVersion: "The attribute for the version is missing.",
        errSecInvalidAttributePrime: "The attribute for the prime is not valid.",
        errSecMissingAttributePrime: "The attribute for the prime is missing.",
        errSecInvalidAttributeBase: "The attribute for the base is not valid.",
        errSecMissingAttributeBase: "The attribute for the base is missing.",
        errSecInvalidAttributeSubprime: "The attribute for the subprime is not valid.",
        errSecMissingAttributeSubprime: "The attribute for the subprime is missing.",
        errSecInvalidAttributeIterationCount: "The attribute for the iteration count is not valid.",
        errSecMissingAttributeIterationCount: "The attribute for the iteration count is missing.",
        errSecInvalidAttributeDLDBHandle: "The attribute for the database handle is not valid.",
        errSecMissingAttributeDLDBHandle: "The attribute for the database handle is missing.",
        errSecInvalidAttributeAccessCredentials:
            "The attribute for the access credentials is not valid.",
        errSecMissingAttributeAccessCredentials:
            "The attribute for the access credentials is missing.",
        errSecInvalidAttributePublicKeyFormat:
            "The attribute for the public key format is not valid.",
        errSecMissingAttributePublicKeyFormat:
            "The attribute for the public key format is missing.",
        errSecInvalidAttributePrivateKeyFormat:
            "The attribute for the private key format is not valid.",
        errSecMissingAttributePrivateKeyFormat:
            "The attribute for the private key format is missing.",
        errSecInvalidAttributeSymmetricKeyFormat:
            "The attribute for the symmetric key format is not valid.",
        errSecMissingAttributeSymmetricKeyFormat:
            "The attribute for the symmetric key format is missing.",
        errSecInvalidAttributeWrappedKeyFormat:
            "The attribute for the wrapped key format is not valid.",
        errSecMissingAttributeWrappedKeyFormat:
            "The attribute for the wrapped key format is missing.",
    ]
}
