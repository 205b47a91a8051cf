// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
internal import KeychainStatusCodes

extension Refusal {
    package var status: OSStatus { statusCode }
}
