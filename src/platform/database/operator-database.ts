// By which token modules ask for the database of the operator's page: the same one, by connections of its own.

/**
 * Injection token of a `Database` with the limits of requests. Requests to the operator's page, with made-up cookies for example,
 * take no connection from partners' requests, jobs or followers.
 */
export const OPERATOR_DATABASE = Symbol('OPERATOR_DATABASE');
