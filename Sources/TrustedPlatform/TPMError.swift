// SPDX-License-Identifier: Apache-2.0
internal import CTSS2

/// Why a TPM did not do what it was asked.
package enum TPMError: Error, Equatable, Sendable {
    /// Nothing answers at that address.
    case unreachable
    /// The registers are not as they were when the key was sealed.
    case registersDiffer
    /// Another TPM sealed it, or this one before it was cleared.
    case otherTPM
    /// What was sealed is no longer whole.
    case damaged
    /// It answered with this code of its own.
    case refused(UInt32)

    init(_ code: TSS2_RC) {
        guard kc_is_tpm_layer(code) != 0 else {
            self = .unreachable
            return
        }
        switch kc_tpm_error(code) {
        case kc_policy_fail, kc_pcr_changed: self = .registersDiffer
        case kc_integrity: self = .otherTPM
        default: self = .refused(code)
        }
    }
}
