// SPDX-License-Identifier: Apache-2.0
// Numbers are cut into atoms at the ends of all ranges that rules name: within an atom no rule can
// tell two values apart.
package import KeychainPolicyModel

/// The dimensions whose facts are numbers.
package enum NumberDimension: Int, CaseIterable {
    case uid, time, sessionAge, presenceAge

    package var dimension: Int {
        switch self {
        case .uid: Dimension.uid
        case .time: Dimension.time
        case .sessionAge: Dimension.of(AgeField.session)
        case .presenceAge: Dimension.of(AgeField.presence)
        }
    }

    package init(_ field: AgeField) { self = field == .session ? .sessionAge : .presenceAge }
}

extension PolicyImage {
    package func atom(of value: Int64, _ dimension: NumberDimension) -> UInt32 {
        let first = Int(word(.breakpointPlaces, dimension.rawValue))
        var low = first
        var high = first + Int(word(.breakpointPlaces, dimension.rawValue, 1))
        while low < high {
            let middle = (low + high) / 2
            let point = Int64(bitPattern: wide(.breakpoints, middle))
            if point <= value { low = middle + 1 } else { high = middle }
        }
        return UInt32(low - first)
    }
}
