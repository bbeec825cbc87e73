// Injection tokens of what the start has opened.

/**
 * Of a `Database` with the limits of requests. Requests to the operator's page, with made-up cookies for example, take no connection
 * from partners' requests, jobs or followers.
 */
export const OPERATOR_DATABASE = Symbol('OPERATOR_DATABASE');

/** Of the `DatabaseSettings` by which the database was opened. */
export const DATABASE_SETTINGS = Symbol('DATABASE_SETTINGS');
