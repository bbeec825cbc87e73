// What the module of the description is told at registration.

export interface ReferenceOptions {
  /** Folder that holds the page and the files of our own that it is made of. */
  readonly publicDirectory: string;
}

/** Injection token of the options. */
export const REFERENCE_OPTIONS = Symbol('REFERENCE_OPTIONS');
