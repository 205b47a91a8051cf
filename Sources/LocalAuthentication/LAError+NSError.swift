// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// What an `LAError` is where an object is wanted: `catch let error as NSError`.
public final class LAErrorObject: NSError, @unchecked Sendable {
    fileprivate init(_ error: LAError) {
        super.init(domain: LAErrorDomain, code: error.errorCode, userInfo: error.errorUserInfo)
    }

    public required init?(coder: NSCoder) { super.init(coder: coder) }
}

/// With this the runtime turns one into the other in casts and `catch`, as it does on Apple's
/// systems; an `NSError` that somebody else made is left to `LAError(_nsError:)`.
extension LAError: _ObjectiveCBridgeable {
    public func _bridgeToObjectiveC() -> LAErrorObject { LAErrorObject(self) }

    public static func _forceBridgeFromObjectiveC(
        _ object: LAErrorObject, result: inout LAError?
    ) {
        result = LAError(_nsError: object)
    }

    public static func _conditionallyBridgeFromObjectiveC(
        _ object: LAErrorObject, result: inout LAError?
    ) -> Bool {
        result = LAError(_nsError: object)
        return result != nil
    }

    public static func _unconditionallyBridgeFromObjectiveC(_ object: LAErrorObject?) -> LAError {
        object.flatMap(LAError.init(_nsError:)) ?? LAError(.authenticationFailed)
    }
}

/// `catch LAError.userCancel`.
public func ~= (code: LAError.Code, error: any Error) -> Bool {
    (error as? LAError)?.code == code
}
