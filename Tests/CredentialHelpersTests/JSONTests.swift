// SPDX-License-Identifier: Apache-2.0
import KeychainSecrets
import Testing

@testable import CredentialHelpers
