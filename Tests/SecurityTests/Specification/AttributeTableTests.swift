// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import Testing

/// The attribute tables (docs/secitem.md, Attributes), row by row: name, kind, and of what is special
/// `PK` (part of what tells items apart), `H` (compared by bytes), a default, and what an update does
/// where it does not simply take the attribute.
@Suite struct AttributeTables {
    private static let shared = """
        agrp string PK
        sync number PK =0
        cdat date
        mdat date overwritten
        labl blob H
        alis blob H
        tkid string PK
        vwht string PK
        musr uuid PK ignored
        ggrp string PK refused
        tomb number
        sha1 data
        UUID string
        sysb number
        """

    private static let password = """
        acct blob PK H =""
        desc blob H
        icmt blob H
        crtr number
        type number
        invi number
        nega number
        cusi number
        scrp number
        prot blob H
        """

    private static let tables: [(ItemClass, String)] = [
        (
            .genericPassword,
            password + """

                svce blob PK H =""
                gena blob H
                """
        ),
        (
            .internetPassword,
            password + """

                sdmn blob PK H =""
                srvr blob PK H =""
                ptcl number PK =0
                atyp blob PK H =""
                port number PK =0
                path blob PK H =""
                """
        ),
        (
            .certificate,
            """
            ctyp number PK =0
            cenc number
            subj data H
            issr data PK H =empty
            slnr data PK H =empty
            skid data H
            pkhh data
            """
        ),
        (
            .key,
            """
            kcls number PK H =0
            klbl data PK =empty
            atag blob PK H =""
            crtr number PK =0
            type number PK =0
            bsiz number PK =0
            esiz number PK =0
            sdat date PK =2001
            edat date PK =2001
            perm number
            priv number
            modi number
            sens number
            asen number
            extr number
            next number
            encr number
            decr number
            drve number
            sign number
            vrfy number
            snrc number
            vyrc number
            wrap number
            unwp number
            """
        ),
    ]

    @Test(arguments: tables)
    func `each class has the attributes of its table and no others`(
        _ itemClass: ItemClass, _ own: String
    ) {
        let expected = Set((Self.shared + "\n" + own).split(separator: "\n").map(String.init))
        let rules = Set(itemClass.attributeRules.all.map(\.line))
        #expect(rules.count == itemClass.attributeRules.all.count, "each once")
        #expect(rules.subtracting(expected) == [])
        #expect(expected.subtracting(rules) == [])
    }

    @Test(arguments: tables)
    func `what tells items apart is what the table says`(_ itemClass: ItemClass, _ own: String) {
        let rows = (Self.shared + "\n" + own).split(separator: "\n")
        let expected = rows.filter { $0.contains(" PK") }.map { String($0.prefix(4)) }
        #expect(itemClass.keyAttributes.map(\.name.rawValue) == expected.sorted())
    }
}

extension AttributeRule {
    /// The rule as a row of a table.
    fileprivate var line: String {
        var words = [name.rawValue, "\(kind)"]
        if isKey { words.append("PK") }
        if isHashed { words.append("H") }
        switch defaultValue {
        case nil: break
        case .string("")?: words.append("=\"\"")
        case .data([])?: words.append("=empty")
        case .number(let number)?: words.append("=\(number)")
        case .date(0)?: words.append("=2001")
        case let other?: words.append("=\(other)")
        }
        if update != .accepted { words.append("\(update)") }
        return words.joined(separator: " ")
    }
}
