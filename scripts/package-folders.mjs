// The folders of the npm packages that this repository publishes. All have the repository's version.

/** The module for other products, the client for partners' backends, and the element for host pages. */
export const PACKAGE_FOLDERS = ['src/token-exchange', 'packages/partner', 'packages/embed'];
