// SPDX-License-Identifier: Apache-2.0
public import KeychainMessages

/// An object that programs give as `kSecUseAuthenticationContext`: `LAContext`, which `Security`
/// cannot name, being below it.
public protocol AuthenticationContextCarrier: AnyObject {
    /// What goes with a request; nil once the context has ended.
    var authentication: AuthenticationContext? { get }
}
