// SPDX-License-Identifier: Apache-2.0
package import KeychainMessages

/// An object that programs pass as `kSecUseAuthenticationContext`: `LAContext`, which `Security`
/// can't import, as it is the lower module.
package protocol AuthenticationContextCarrier: AnyObject {
    /// The context for a request; nil once it has ended.
    var authentication: AuthenticationContext? { get }
}
