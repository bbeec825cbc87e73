// What the web module is told at registration.

export interface WebOptions {
  /** Folder that holds the page and the files it is made of. */
  readonly publicDirectory: string;
  /** The origins that may frame the instance now; none at all: nobody may; undefined: nothing is said here. */
  readonly frameAncestors: () => readonly string[] | undefined;
}

/** Injection token of the options. */
export const WEB_OPTIONS = Symbol('WEB_OPTIONS');
