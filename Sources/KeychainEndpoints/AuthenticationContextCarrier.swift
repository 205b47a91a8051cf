// SPDX-License-Identifier: Apache-2.0
package import KeychainMessages

/// An object that programs give as `kSecUseAuthenticationContext`: `LAContext`, which `Security`
/// cannot name, being below it.
package protocol AuthenticationContextCarrier: AnyObject {
    /// What goes with a request; nil once the context has ended.
    var authentication: AuthenticationContext? { get }
}
