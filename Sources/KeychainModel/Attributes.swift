// SPDX-License-Identifier: Apache-2.0

/// Attributes by name. Access control and accessibility are beside them, in types of their own.
///
/// An array in the order of the names, in which records and index entries have them too. An item has
/// few attributes: to hash one name costs as much as to compare it with a hundred.
public struct Attributes: Sendable {
    public typealias Element = (key: AttributeName, value: AttributeValue)

    /// More than any item has. A reader of attributes that others wrote stops there: each is put in
    /// its place among the others, and the time for very many grows with the square of their number.
    public static let most = 1024

    /// Each name is before the next one.
    private var elements: [Element] = []

    public init() {}

    /// Where a name is there twice, the last one counts.
    public init(_ elements: some Sequence<(AttributeName, AttributeValue)>) {
        for (name, value) in elements { self[name] = value }
    }

    public init(minimumCapacity: Int) { elements.reserveCapacity(minimumCapacity) }

    public var count: Int { elements.count }
    public var isEmpty: Bool { elements.isEmpty }
    public var keys: some Sequence<AttributeName> { elements.lazy.map(\.key) }

    public subscript(_ name: AttributeName) -> AttributeValue? {
        get {
            let (place, exists) = find(name)
            // Safe: the place of an attribute that exists.
            return exists ? elements[place].value : nil
        }
        set {
            if let newValue {
                updateValue(newValue, forKey: name)
            } else {
                removeValue(forKey: name)
            }
        }
    }

    /// Returns the former value.
    @discardableResult
    public mutating func removeValue(forKey name: AttributeName) -> AttributeValue? {
        let (place, exists) = find(name)
        // Safe: the place of an attribute that exists.
        return exists ? elements.remove(at: place).value : nil
    }

    /// Returns the former value.
    @discardableResult
    public mutating func updateValue(
        _ value: AttributeValue, forKey name: AttributeName
    ) -> AttributeValue? {
        let (place, exists) = find(name)
        guard exists else {
            elements.insert((name, value), at: place)
            return nil
        }
        // Safe: the place of an attribute that exists.
        defer { elements[place].value = value }
        return elements[place].value
    }

    public func filter(_ isIncluded: (Element) throws -> Bool) rethrows -> Attributes {
        var kept = Attributes()
        kept.elements = try elements.filter(isIncluded)
        return kept
    }

    /// The attributes of both; where both have one, the other's value counts.
    public func merging(_ other: Attributes) -> Attributes {
        var merged = self
        merged.merge(other)
        return merged
    }

    public mutating func merge(_ other: Attributes) {
        for (name, value) in other { self[name] = value }
    }

    /// The place of the attribute, or the one that it would have.
    private func find(_ name: AttributeName) -> (place: Int, exists: Bool) {
        let place = partitionPoint(of: elements.count) { elements[$0].key < name }
        // Safe: the place is behind the last element at the most.
        return (place, place < elements.count && elements[place].key == name)
    }
}

/// The number of elements, of `count` in an order, that are before a wanted one.
@inline(__always)
func partitionPoint(of count: Int, isBefore: (Int) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
        // Safe: both are places within the elements, so half their sum is one too.
        let middle = (low + high) / 2
        if isBefore(middle) { low = middle + 1 } else { high = middle }
    }
    return low
}

extension Attributes: Sequence {
    public func makeIterator() -> IndexingIterator<[Element]> { elements.makeIterator() }
    public var underestimatedCount: Int { elements.count }
}

extension Attributes: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (AttributeName, AttributeValue)...) {
        self.init(elements)
    }
}

extension Attributes: Hashable {
    public static func == (a: Self, b: Self) -> Bool {
        a.elements.elementsEqual(b.elements, by: ==)
    }

    public func hash(into hasher: inout Hasher) {
        for (name, value) in elements {
            hasher.combine(name)
            hasher.combine(value)
        }
    }
}
