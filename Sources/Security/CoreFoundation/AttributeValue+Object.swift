// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import KeychainModel

extension AttributeValue {
    /// An object of the type in which the attribute was given.
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
