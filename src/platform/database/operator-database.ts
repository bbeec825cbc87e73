// By which token modules ask for the database of the operator's page: the same one, by connections of its own.

/**
 * Injection token of a `Database` with the limits of requests. Whoever only knocks at the page, with a cookie that somebody has made
 * up, takes no connection of partners' requests, nor of jobs and followers.
 */
export const OPERATOR_DATABASE = Symbol('OPERATOR_DATABASE');
