// Edits of stored entries, for `StoredEntryService.change`.

type Entry = Readonly<Record<string, unknown>>;

export function suspended(entry: Entry): Entry {
  return { ...entry, suspended: true };
}

export function resumed({ suspended: _suspended, ...entry }: Entry): Entry {
  return entry;
}

/** Sets members, and takes others away. */
export function setting(members: object, ...unset: string[]) {
  return (entry: Entry): Entry =>
    Object.fromEntries(Object.entries({ ...entry, ...members }).filter(([name]) => !unset.includes(name)));
}
