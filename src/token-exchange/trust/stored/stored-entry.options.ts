// Injection token of what stored entries are checked by: the configured entries, and their rules.

/** Of a `StoredEntriesRules`. */
export const STORED_ENTRIES_RULES = Symbol('STORED_ENTRIES_RULES');
