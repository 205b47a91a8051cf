// SPDX-License-Identifier: Apache-2.0
internal import KeychainUserPresence
internal import KeyringStore

extension SealedRecords: ProofRecords {}
