// The keys that signed for a token or session.

/** A trusted key that took part when a token was issued or a session opened: the subject's, or the actor's. */
export interface VouchingKey {
  readonly issuer: string;
  readonly kid: string;
}

/** As tokens and sessions record it. */
export interface RecordedKey {
  readonly iss: string;
  readonly kid: string;
}

/** How keys are recorded, in a token and in a session's row; each once. */
export function recordedKeys(keys: readonly VouchingKey[]): RecordedKey[] {
  const byPair = new Map(keys.map(({ issuer, kid }) => [pairOf(issuer, kid), { iss: issuer, kid }]));
  return [...byPair.values()];
}

/** Undefined for what is not such a record. */
export function readRecordedKeys(recorded: unknown): VouchingKey[] | undefined {
  if (!Array.isArray(recorded) || !recorded.every(isRecordedKey)) return undefined;
  return recorded.map(({ iss, kid }) => ({ issuer: iss, kid }));
}

function isRecordedKey(value: unknown): value is RecordedKey {
  const { iss, kid } = (value ?? {}) as Partial<Record<keyof RecordedKey, unknown>>;
  return typeof iss === 'string' && typeof kid === 'string';
}

function pairOf(issuer: string, kid: string): string {
  return JSON.stringify([issuer, kid]);
}
