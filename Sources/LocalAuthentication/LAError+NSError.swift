// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// Lets the runtime convert one into the other in casts and `catch`, as on Apple's systems. Objects
/// with another domain, or with an unknown code, are not converted.
extension LAError: _ObjectiveCBridgeable {
    public func _bridgeToObjectiveC() -> NSError {
        NSError(domain: LAErrorDomain, code: errorCode, userInfo: errorUserInfo)
    }

    public static func _forceBridgeFromObjectiveC(_ object: NSError, result: inout LAError?) {
        result = LAError(known: object)
    }

    public static func _conditionallyBridgeFromObjectiveC(
        _ object: NSError, result: inout LAError?
    ) -> Bool {
        result = LAError(known: object)
        return result != nil
    }

    public static func _unconditionallyBridgeFromObjectiveC(_ object: NSError?) -> LAError {
        object.map(LAError.init(_nsError:)) ?? LAError(.authenticationFailed)
    }
}

/// `catch LAError.userCancel`.
public func ~= (code: LAError.Code, error: any Error) -> Bool {
    (error as? LAError)?.code == code
}
