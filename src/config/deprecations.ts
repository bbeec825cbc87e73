// The variables that will go: since when each is deprecated, which release is without it, and what to set instead.

/** One name of a variable, which may also be an alias of one that stays. */
export interface Deprecation {
  readonly name: string;
  /** The minor release that was the first to warn, such as `0.3.0`. */
  readonly since: string;
  /** The release that no longer knows it: at least one minor release later (docs/internals/versioning.md). */
  readonly removal: string;
  /** What to set instead; absent where nothing takes its place. */
  readonly successor?: string;
}

/** Nothing is deprecated at present. A new row here needs its sentence in docs/configuration.md. */
export const DEPRECATIONS: readonly Deprecation[] = [];

/**
 * Warnings for those that are set, as themselves or as `NAME_FILE`; without their values.
 * @rule 9.5 A deprecated variable is announced at the start, at least one minor release before its removal.
 */
export function deprecationWarnings(
  sources: readonly Readonly<Record<string, string | undefined>>[],
  deprecations: readonly Deprecation[],
): string[] {
  // As everywhere, an empty variable counts as unset.
  const isSet = (name: string) => sources.some((source) => source[name] || source[`${name}_FILE`]);
  return deprecations.filter(({ name }) => isSet(name)).map(warningOf);
}

function warningOf({ name, since, removal, successor }: Deprecation): string {
  const instead = successor === undefined ? 'nothing takes its place' : `set ${successor} instead`;
  return `${name} is deprecated since ${since} and goes with ${removal}: ${instead}`;
}
