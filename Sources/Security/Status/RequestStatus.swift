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
