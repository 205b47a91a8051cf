// SPDX-License-Identifier: Apache-2.0

/// Distinct values, each with its number.
struct Interned<Value: Hashable> {
    private(set) var values: [Value] = []
    private var numbers: [Value: UInt32] = [:]

    mutating func number(of value: Value) -> UInt32 {
        if let known = numbers[value] { return known }
        let number = UInt32(values.count)
        numbers[value] = number
        values.append(value)
        return number
    }
}
