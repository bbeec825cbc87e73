// Revokes trust in a key, or in all keys of an issuer, with all that they signed for; restores it; and lists every revocation.
import type { TrustRevocation } from '../token-exchange/instance.js';
import { restoreTrust, revokeTrust, MAX_ISSUER_BYTES, MAX_KID_BYTES } from '../token-exchange/instance.js';
import { CommandError } from './command-error.js';
import type { Read } from './input.js';
import { checkedText, members, readNothing } from './input.js';
import type { ChangeWork } from './operation.js';
import { changeOperation, listOperation } from './operation.js';
import { refuseTrustChange } from './owner-protection.js';
import { printable, tableOf } from './table.js';

/** Without a kid: every key of the issuer. */
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

  command: {
    about:
      'end all access tokens and sessions that a key signed for, and refuse the key until it is restored',
    more:
      'Its access tokens and sessions end on every instance within 10 seconds, for good. The key need not be configured,\n' +
      'so check the spelling: `keys revocations` shows what is revoked.',
    example: '--issuer https://partner.example --kid 2026-11',
    text: ({ revokedAt }, keys) =>
      `Revoked at ${revokedAt}: ${inWords(keys)}. What it signed for ends on every instance within 10 seconds.\n`,
    json: ({ revokedAt }, keys) => ({ ...keys, revokedAt }),
  },
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

  command: {
    about: 'trust a revoked key again, for new access tokens and sessions',
    example: '--issuer https://partner.example --kid 2026-11',
    text: ({ stillRevoked: kids }, { issuer, kid: restored }) =>
      [
        `Restored: ${inWords({ issuer, kid: restored })}. Access tokens and sessions from before stay ended.\n`,
        ...kids.map((kid) => `Still revoked: ${inWords({ issuer, kid })}.\n`),
      ].join(''),
    json: ({ stillRevoked: kids }, keys) => ({ ...keys, stillRevoked: kids }),
  },
});

/** The keys of the issuer that are still revoked; null: all of them. */
async function stillRevoked(issuer: string, { parts, transaction }: ChangeWork): Promise<(string | null)[]> {
  const all = await parts.revocations.list(transaction);
  return all.filter((one) => one.issuer === issuer && one.restoredAt === null).map(({ kid }) => kid);
}

function textOf(maxBytes: number) {
  return checkedText<string>((text) => {
    if (text === '') return { rule: 'must not be empty' };
    return Buffer.byteLength(text) <= maxBytes
      ? { value: text }
      : { rule: `must have at most ${maxBytes} bytes` };
  });
}

function kidOrNull(value: unknown): Read<string | null> {
  return value === undefined || value === null ? { value: null } : textOf(MAX_KID_BYTES)(value);
}

function inWords({ issuer, kid }: ChosenKeys): string {
  return printable(kid === null ? `every key of ${issuer}` : `the key ${kid} of ${issuer}`);
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

  command: {
    about: 'list present and former revocations',
    nothing: 'Nothing is revoked.',
    text: tableOf<ListedRevocation>(
      ['ISSUER', 'KID', 'STATE', 'REVOKED', 'RESTORED'],
      ({ issuer, kid, ...times }) => {
        const { revokedAt, restoredAt } = times;
        const state = restoredAt === null ? 'revoked' : 'restored';
        return [issuer, kid ?? 'every key', state, revokedAt, restoredAt ?? '-'];
      },
    ),
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
