// What the module of the operator's pages is told at registration.

export interface OperatorPageOptions {
  /** Folder that holds the pages and the files of their own that they are made of. */
  readonly publicDirectory: string;
  /** Folder of the instance's other pages, whose looks these share. */
  readonly sharedDirectory: string;
}

/** Injection token of the options. */
export const OPERATOR_PAGE_OPTIONS = Symbol('OPERATOR_PAGE_OPTIONS');
