// SPDX-License-Identifier: Apache-2.0

// Statuses about requests and databases.

public var errSecRejectedForm: OSStatus { -67845 }
public var errSecRequestLost: OSStatus { -67846 }
public var errSecRequestRejected: OSStatus { -67847 }
public var errSecUnsupportedAddressType: OSStatus { -67848 }
public var errSecUnsupportedService: OSStatus { -67849 }
public var errSecInvalidTupleGroup: OSStatus { -67850 }
public var errSecInvalidBaseACLs: OSStatus { -67851 }
public var errSecInvalidTupleCredentials: OSStatus { -67852 }
public var errSecInvalidEncoding: OSStatus { -67853 }
public var errSecInvalidValidityPeriod: OSStatus { -67854 }
public var errSecInvalidRequestor: OSStatus { -67855 }
public var errSecRequestDescriptor: OSStatus { -67856 }
public var errSecInvalidBundleInfo: OSStatus { -67857 }
public var errSecInvalidCRLIndex: OSStatus { -67858 }
public var errSecNoFieldValues: OSStatus { -67859 }
public var errSecUnsupportedFieldFormat: OSStatus { -67860 }
public var errSecUnsupportedIndexInfo: OSStatus { -67861 }
public var errSecUnsupportedLocality: OSStatus { -67862 }
public var errSecUnsupportedNumAttributes: OSStatus { -67863 }
public var errSecUnsupportedNumIndexes: OSStatus { -67864 }
public var errSecUnsupportedNumRecordTypes: OSStatus { -67865 }
public var errSecFieldSpecifiedMultiple: OSStatus { -67866 }
public var errSecIncompatibleFieldFormat: OSStatus { -67867 }
public var errSecInvalidParsingModule: OSStatus { -67868 }
public var errSecDatabaseLocked: OSStatus { -67869 }
public var errSecDatastoreIsOpen: OSStatus { -67870 }
public var errSecMissingValue: OSStatus { -67871 }
public var errSecUnsupportedQueryLimits: OSStatus { -67872 }
public var errSecUnsupportedNumSelectionPreds: OSStatus { -67873 }
public var errSecUnsupportedOperator: OSStatus { -67874 }
public var errSecInvalidDBLocation: OSStatus { -67875 }
public var errSecInvalidAccessRequest: OSStatus { -67876 }
public var errSecInvalidIndexInfo: OSStatus { -67877 }
public var errSecInvalidNewOwner: OSStatus { -67878 }
public var errSecInvalidModifyMode: OSStatus { -67879 }
public var errSecMissingRequiredExtension: OSStatus { -67880 }

extension StatusMessages {
    static let request: [OSStatus: String] = [
        errSecRejectedForm: "The form was rejected.",
        errSecRequestLost: "The request was lost.",
        errSecRequestRejected: "The request was rejected.",
        errSecUnsupportedAddressType: "The address type is not supported.",
        errSecUnsupportedService: "The service is not supported.",
        errSecInvalidTupleGroup: "The tuple group is not valid.",
        errSecInvalidBaseACLs: "The base access control lists are not valid.",
        errSecInvalidTupleCredentials: "The tuple credentials are not valid.",
        errSecInvalidEncoding: "The encoding is not valid.",
        errSecInvalidValidityPeriod: "The validity period is not valid.",
        errSecInvalidRequestor: "The requester is not valid.",
        errSecRequestDescriptor: "The request descriptor is not valid.",
        errSecInvalidBundleInfo: "The bundle info is not valid.",
        errSecInvalidCRLIndex: "The revocation list index is not valid.",
        errSecNoFieldValues: "The fields have no values.",
        errSecUnsupportedFieldFormat: "The field format is not supported.",
        errSecUnsupportedIndexInfo: "The index info is not supported.",
        errSecUnsupportedLocality: "The locality is not supported.",
        errSecUnsupportedNumAttributes: "This number of attributes is not supported.",
        errSecUnsupportedNumIndexes: "This number of indexes is not supported.",
        errSecUnsupportedNumRecordTypes: "This number of record types is not supported.",
        errSecFieldSpecifiedMultiple: "A field was specified more than once.",
        errSecIncompatibleFieldFormat: "The field format is not compatible.",
        errSecInvalidParsingModule: "The parsing module is not valid.",
        errSecDatabaseLocked: "The database is locked.",
        errSecDatastoreIsOpen: "The data store is open.",
        errSecMissingValue: "A value is missing.",
        errSecUnsupportedQueryLimits: "The query limits are not supported.",
        errSecUnsupportedNumSelectionPreds: "This number of selection predicates is not supported.",
        errSecUnsupportedOperator: "The operator is not supported.",
        errSecInvalidDBLocation: "The database location is not valid.",
        errSecInvalidAccessRequest: "The access request is not valid.",
        errSecInvalidIndexInfo: "The index info is not valid.",
        errSecInvalidNewOwner: "The new owner is not valid.",
        errSecInvalidModifyMode: "The modify mode is not valid.",
        errSecMissingRequiredExtension: "A required certificate extension is missing.",
    ]
}
