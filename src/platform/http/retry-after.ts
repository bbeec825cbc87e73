// `Retry-After`: what the service answers in it, and how descriptions of the API show it.

/** Seconds after which a request is worth another try, by what it was refused for. */
export const RETRY_AFTER_SECONDS = {
  /** Work that is done one at a time, or two, and takes about that long. */
  queue: 1,
  /** A fail-over takes some seconds, contention less. Sooner, most requests would be refused again. */
  database: 2,
  /** For what the service does not know now, such as revocations: it retries to read them within that time. */
  unknown: 5,
};

/** The header of an answer in OpenAPI. */
export const RETRY_AFTER = {
  'Retry-After': { description: 'Seconds', schema: { type: 'integer', minimum: 1 } },
} as const;
