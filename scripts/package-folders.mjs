// Where the npm packages lie that this repository publishes, all with its version.

/** The module for other products, the client for partners' backends, and the element for host pages. */
export const PACKAGE_FOLDERS = ['src/token-exchange', 'packages/partner', 'packages/embed'];
