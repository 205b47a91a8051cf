// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import KeychainModel

extension AttributeValue {
    /// Of the type that the attribute was given in.
    var object: NSObject {
        switch self {
        case .string(let text): text as NSString
        case .data(let bytes): bytes.object
        case .number(let number): NSNumber(value: number)
        case .real(let number): NSNumber(value: number)
        case .date(let seconds): NSDate(timeIntervalSinceReferenceDate: seconds)
        }
    }
}
