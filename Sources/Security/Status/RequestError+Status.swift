// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
internal import KeychainStatusCodes

extension RequestError {
    package var status: OSStatus { statusCode }
}
