// Revokes trust in a key, or in all keys of an issuer, with all that they signed for; restores it; and lists every revocation.
import type { TrustRevocation } from '../token-exchange/instance.js';
import { restoreTrust, revokeTrust } from '../token-exchange/instance.js';
import { MAX_ISSUER_BYTES, MAX_KID_BYTES } from '../token-exchange/plain.js';
import { CommandError } from './command-error.js';
import type { Read } from './input.js';
import { members, readNothing, storableText } from './input.js';
import type { ChangeWork } from './operation.js';
import { changeOperation, listOperation } from './operation.js';
import { refuseTrustChange } from './owner-protection.js';

/** Of a kid that is null: every key of the issuer. */
const read = members({ issuer: textOf(MAX_ISSUER_BYTES), kid: kidOrNull });
export type ChosenKeys = ReturnType<typeof read>;

export const REVOKE_KEYS = changeOperation('keys revoke', read, {
  async change(keys, work) {
    const { parts, transaction, context } = work;
    await refuseTrustChange(keys.issuer, work);
    const { result, events } = await revokeTrust(parts.revocations, transaction, keys, context);
    return { result: { revokedAt: result.toISOString() }, things: {}, events };
  },

  applied: ({ learnRevocations }) => learnRevocations(),
});

export const RESTORE_KEYS = changeOperation('keys restore', read, {
  async change(keys, work) {
    const { parts, transaction, context } = work;
    await refuseTrustChange(keys.issuer, work);
    const { result: isRestored, events } = await restoreTrust(parts.revocations, transaction, keys, context);
    if (!isRestored)
      throw new CommandError('There is no such revocation in force; see svc-admin keys revocations.');
    return { result: { stillRevoked: await stillRevoked(keys.issuer, work) }, things: {}, events };
  },

  applied: ({ learnRevocations }) => learnRevocations(),
});

/** The keys of the issuer that are still revoked; null: all of them. */
async function stillRevoked(issuer: string, { parts, transaction }: ChangeWork): Promise<(string | null)[]> {
  const all = await parts.revocations.list(transaction);
  return all.filter((one) => one.issuer === issuer && one.restoredAt === null).map(({ kid }) => kid);
}

function textOf(maxBytes: number) {
  return (value: unknown): Read<string> => {
    const text = storableText(value);
    if ('rule' in text) return text;
    if (text.value === '') return { rule: 'must not be empty' };
    return Buffer.byteLength(text.value) <= maxBytes ? text : { rule: `must have at most ${maxBytes} bytes` };
  };
}

function kidOrNull(value: unknown): Read<string | null> {
  return value === null ? { value } : textOf(MAX_KID_BYTES)(value);
}

/** Times are ISO 8601. */
export interface ListedRevocation {
  readonly issuer: string;
  /** Null: every key of the issuer. */
  readonly kid: string | null;
  readonly revokedAt: string;
  /** Null while it holds. */
  readonly restoredAt: string | null;
}

export const LIST_REVOCATIONS = listOperation('keys revocations', readNothing, {
  async *list(_input, { revocations }) {
    yield (await revocations.list()).map(listed);
  },
});

function listed({ issuer, kid, revokedAt, restoredAt }: TrustRevocation): ListedRevocation {
  return {
    issuer,
    kid,
    revokedAt: revokedAt.toISOString(),
    restoredAt: restoredAt?.toISOString() ?? null,
  };
}
