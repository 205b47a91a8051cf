// SPDX-License-Identifier: Apache-2.0

/// A four-character attribute name as queries and results use it.
public struct AttributeName: RawRepresentable, Hashable, Sendable, Comparable {
    public let rawValue: String
    /// The bytes of a short name, which every item's are: names are compared for each attribute of
    /// each item that is read. nil for a longer one.
    private let packed: UInt64?

    public init(rawValue: String) {
        self.rawValue = rawValue
        packed = Self.packed(rawValue.utf8)
    }

    private static func packed(_ bytes: String.UTF8View) -> UInt64? {
        guard bytes.count < 8 else { return nil }
        // In order like the bytes; the length tells a name from one with zeros behind it.
        var packed = UInt64(0)
        for byte in bytes { packed = packed << 8 | UInt64(byte) }
        return packed << (8 * UInt64(8 - bytes.count)) | UInt64(bytes.count)
    }

    public static func == (a: Self, b: Self) -> Bool {
        if let a = a.packed, let b = b.packed { return a == b }
        return a.rawValue.utf8.elementsEqual(b.rawValue.utf8)
    }
    public static func < (a: Self, b: Self) -> Bool {
        if let a = a.packed, let b = b.packed { return a < b }
        return a.rawValue.utf8.lexicographicallyPrecedes(b.rawValue.utf8)
    }
    public func hash(into hasher: inout Hasher) {
        if let packed { return hasher.combine(packed) }
        for byte in rawValue.utf8 { hasher.combine(byte) }
    }
}

extension AttributeName {
    private init(_ name: String) { self.init(rawValue: name) }

    public static let accessGroup = Self("agrp")
    public static let accessible = Self("pdmn")
    public static let accessControl = Self("accc")
    public static let access = Self("acls")
    public static let synchronizable = Self("sync")
    public static let creationDate = Self("cdat")
    public static let modificationDate = Self("mdat")
    public static let label = Self("labl")
    public static let alias = Self("alis")
    public static let tokenID = Self("tkid")
    public static let syncViewHint = Self("vwht")
    public static let multiUser = Self("musr")
    public static let sharingGroup = Self("ggrp")
    public static let tombstone = Self("tomb")
    public static let digest = Self("sha1")
    public static let uuid = Self("UUID")
    public static let sysBound = Self("sysb")
    public static let appClipItem = Self("clip")
    public static let noLegacy = Self("nleg")

    public static let account = Self("acct")
    public static let service = Self("svce")
    public static let generic = Self("gena")
    public static let itemDescription = Self("desc")
    public static let comment = Self("icmt")
    public static let creator = Self("crtr")
    public static let type = Self("type")
    public static let isInvisible = Self("invi")
    public static let isNegative = Self("nega")
    public static let hasCustomIcon = Self("cusi")
    public static let scriptCode = Self("scrp")
    public static let protected = Self("prot")

    public static let securityDomain = Self("sdmn")
    public static let server = Self("srvr")
    public static let networkProtocol = Self("ptcl")
    public static let authenticationType = Self("atyp")
    public static let port = Self("port")
    public static let path = Self("path")

    public static let certificateType = Self("ctyp")
    public static let certificateEncoding = Self("cenc")
    public static let subject = Self("subj")
    public static let issuer = Self("issr")
    public static let serialNumber = Self("slnr")
    public static let subjectKeyID = Self("skid")
    public static let publicKeyHash = Self("pkhh")

    public static let keyClass = Self("kcls")
    public static let applicationLabel = Self("klbl")
    public static let applicationTag = Self("atag")
    public static let keySize = Self("bsiz")
    public static let effectiveKeySize = Self("esiz")
    public static let startDate = Self("sdat")
    public static let endDate = Self("edat")
    public static let isPermanent = Self("perm")
    public static let isPrivate = Self("priv")
    public static let isModifiable = Self("modi")
    public static let isSensitive = Self("sens")
    public static let wasAlwaysSensitive = Self("asen")
    public static let isExtractable = Self("extr")
    public static let wasNeverExtractable = Self("next")
    public static let canEncrypt = Self("encr")
    public static let canDecrypt = Self("decr")
    public static let canDerive = Self("drve")
    public static let canSign = Self("sign")
    public static let canVerify = Self("vrfy")
    public static let canSignRecover = Self("snrc")
    public static let canVerifyRecover = Self("vyrc")
    public static let canWrap = Self("wrap")
    public static let canUnwrap = Self("unwp")
}
