// Where the npm packages lie that this repository publishes, all with its version.

/** The module for other products, and the client for partners' backends. */
export const PACKAGE_FOLDERS = ['src/token-exchange', 'packages/partner'];
