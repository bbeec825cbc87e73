/** The paths of a scope's files below test/, with `/` between the names. */
export function filesOf(scope: 'main' | 'rest'): string[];
