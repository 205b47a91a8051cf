// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// A table of objects by key, under Apple's name: Foundation has none here. It holds its keys,
/// which are compared as objects; whether it holds its objects is chosen when it is made.
public final class NSMapTable<KeyType: AnyObject, ObjectType: AnyObject>: NSObject {
    /// An object that exists as long as another object, or the table, holds it.
    private struct Place {
        weak var object: ObjectType?
        let held: ObjectType?
    }

    private let holdsObjects: Bool
    private var places: [AnyHashable: Place] = [:]

    private init(holdsObjects: Bool) { self.holdsObjects = holdsObjects }

    public class func strongToStrongObjects() -> NSMapTable<KeyType, ObjectType> {
        NSMapTable(holdsObjects: true)
    }
    /// An object that no other object holds any more counts as removed.
    public class func strongToWeakObjects() -> NSMapTable<KeyType, ObjectType> {
        NSMapTable(holdsObjects: false)
    }

    public func object(forKey key: KeyType?) -> ObjectType? {
        key.flatMap { places[Self.hashable($0)]?.object }
    }

    public func setObject(_ object: ObjectType?, forKey key: KeyType?) {
        guard let key, let object else { return removeObject(forKey: key) }
        places = places.filter { $0.value.object != nil }
        places[Self.hashable(key)] = Place(object: object, held: holdsObjects ? object : nil)
    }

    public func removeObject(forKey key: KeyType?) {
        if let key { places[Self.hashable(key)] = nil }
    }

    public func removeAllObjects() { places = [:] }

    public var count: Int { places.values.count { $0.object != nil } }

    private static func hashable(_ key: KeyType) -> AnyHashable {
        (key as? NSObject).map(AnyHashable.init) ?? AnyHashable(ObjectIdentifier(key))
    }
}
