// SPDX-License-Identifier: Apache-2.0

/// A four-character attribute name as queries and results use it.
public struct AttributeName: RawRepresentable, Hashable, Sendable, Comparable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static func == (a: Self, b: Self) -> Bool {
        a.rawValue.utf8.elementsEqual(b.rawValue.utf8)
    }
    public static func < (a: Self, b: Self) -> Bool {
        a.rawValue.utf8.lexicographicallyPrecedes(b.rawValue.utf8)
    }
    public func hash(into hasher: inout Hasher) {
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
