// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import KeychainModel

/// The keys and values of one item's dictionary during its construction. A mutable dictionary would
/// convert each of them to Swift's types and back, which costs more than reading the item.
struct ResultObjects {
    /// The names of items' attributes as objects, made once.
    // Safe: the table is set once, and no text in it can be changed.
    nonisolated(unsafe) private static let names: [AttributeName: NSString] = {
        let classes: [ItemClass] = ItemClass.ofSecItem
        let names = Set(classes.flatMap { $0.attributeRules.all.map(\.name) }).union([
            .accessible, .accessControl,
        ])
        return Dictionary(uniqueKeysWithValues: names.map { ($0, $0.rawValue as NSString) })
    }()

    private var keys: [NSObject] = []
    private var values: [AnyObject] = []

    init(capacity: Int) {
        keys.reserveCapacity(capacity)
        values.reserveCapacity(capacity)
    }

    mutating func add(_ name: AttributeName, _ value: NSObject) {
        // Safe: the table is made once, before its first reader, and only read.
        keys.append(unsafe Self.names[name] ?? name.rawValue as NSString)
        values.append(value)
    }

    /// Adds nothing for nil.
    mutating func add(_ key: QueryParameters.ValueKey, _ value: NSObject?) {
        if let value { add(key.rawValue, value) }
    }

    mutating func add(_ key: String, _ value: NSObject) {
        keys.append(key as NSString)
        values.append(value)
    }

    var dictionary: CFDictionary {
        // Safe: there are as many keys as values, and both outlive the call.
        unsafe keys.withUnsafeBufferPointer { keys in
            unsafe values.withUnsafeBufferPointer { values in
                unsafe NSDictionary(
                    objects: values.baseAddress, forKeys: keys.baseAddress, count: keys.count)
            }
        }
    }
}

extension [CFTypeRef] {
    /// The elements as an array.
    var object: CFArray {
        // Safe: the objects outlive the call.
        unsafe withUnsafeBufferPointer {
            unsafe NSArray(objects: $0.baseAddress, count: $0.count)
        }
    }
}
