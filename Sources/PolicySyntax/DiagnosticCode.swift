// SPDX-License-Identifier: Apache-2.0

/// The number of a mistake, for people to look up: 10xx for the file's form, 19xx for files and
/// folders, 20xx for its statements, 3xxx for statements that are probably not meant so, 40xx for
/// tests and assertions.
package enum DiagnosticCode: Int, Sendable, Hashable, CaseIterable {
    case notUTF8 = 1001
    case fileTooLarge = 1002
    case tooDeep = 1003
    case tooManyValues = 1004
    case manyDocuments = 1005
    case anchorOrAlias = 1006
    case tag = 1007
    case mergeKey = 1008
    case complexKey = 1009
    case tab = 1010
    case duplicateKey = 1011
    case controlCharacter = 1012
    case bidirectionalControl = 1013
    case syntax = 1014
    case tooManyRules = 1015
    case mixedScript = 1016
    case confusable = 1017

    case unreadable = 1901
    case wrongOwner = 1902
    case wrongMode = 1903
    case linkedElsewhere = 1904
    case notARegularFile = 1905

    case unknownKey = 2001
    case missingKey = 2002
    case unknownSubjectField = 2003
    case unknownResourceField = 2004
    case unknownConditionField = 2005
    case wrongKind = 2006
    case unknownWord = 2007
    case badIdentifier = 2008
    case badDuration = 2009
    case badDate = 2010
    case badWindow = 2011
    case badNumber = 2012
    case badBoolean = 2013
    case badPattern = 2014
    case badForm = 2015
    case effectCount = 2016
    case badConstraint = 2017
    case badService = 2018
    case badRate = 2019
    case duplicateID = 2020
    case unknownDefinition = 2021
    case recursiveDefinition = 2022
    case expiryWithoutComplain = 2023
    case complainWithoutExpiry = 2024
    case badReplacement = 2025
    case shareTooWide = 2026
    case foreignGroup = 2027
    case promptedOutsideLimit = 2028
    case unknownVersion = 2029
    case notATest = 2030
    case badTest = 2031
    case unknownRule = 2032
    case empty = 2033
    case tooMuchRedacted = 2034

    case unknownName = 3002
    case weakGrant = 3012
    case chosenByCreator = 3013
    case interpreter = 3014
    case userWritablePath = 3015
    case impossibleName = 3016
    case unknownAttribute = 3017
    case contradiction = 3018
    case unusedDefinition = 3019
    case wrongMember = 3020
    case weakShare = 3021
    case broadShare = 3022
    case weakProgram = 3023
    case forbidsAll = 3024
    case reasonIsNoText = 3025
    case complainTooLong = 3030
    case dead = 3101
    case shadowed = 3102
    case duplicateRule = 3103
    case permitOutsideClosed = 3104
    case unconfiguredService = 3105
    case nobodyToAsk = 3106
    case freshnessBeyondBounds = 3107
    case unsatisfiable = 3108
    case undecided = 3109
    case over = 3110
    case slow = 3201
    case untested = 3301

    case failedTest = 4001
    case refutedAssertion = 4002
    case undecidedAssertion = 4003

    package var name: String { "KC\(rawValue)" }

    package var severity: DiagnosticSeverity {
        switch self {
        case .mixedScript, .confusable, .undecidedAssertion: .warning
        case .weakShare, .complainTooLong, .unsatisfiable: .error
        default: rawValue / 1_000 == 3 ? .warning : .error
        }
    }
}

package enum DiagnosticSeverity: String, Sendable, Hashable {
    case error
    case warning
}
