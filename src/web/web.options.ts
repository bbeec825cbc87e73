// What the web module is told at registration.

export interface WebOptions {
  /** Folder that holds the page and the files it is made of. */
  readonly publicDirectory: string;
}

/** Injection token of the options. */
export const WEB_OPTIONS = Symbol('WEB_OPTIONS');
