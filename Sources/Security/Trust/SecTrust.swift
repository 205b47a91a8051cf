// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// The evaluation of a certificate's chain. No function takes or makes one yet: sources that only
/// name the type compile.
public final class SecTrust: NSObject, @unchecked Sendable {}
