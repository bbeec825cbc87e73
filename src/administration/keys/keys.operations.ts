// Revokes a key, or all keys of an issuer, and everything that they signed for; restores them; and lists revocations.
import { Injectable, Optional } from '@nestjs/common';
import { readBy, storableString } from '../../platform/input/schemas.js';
import type { TrustRevocation } from '../../token-exchange/instance.js';
import {
  endPresentKey,
  MAX_ISSUER_BYTES,
  MAX_KID_BYTES,
  restoreTrust,
  RevocationFollower,
  RevocationRepository,
  revokeTrust,
  SigningKeyRepository,
  SigningKeyService,
} from '../../token-exchange/instance.js';
import type { ChangeWork } from '../operation.js';
import { Change, CommandError, inputOf, Read, readNothing } from '../operation.js';
import { OwnerProtection } from '../users/owner-protection.js';

/** A key, or every key of the issuer if there is no kid. */
const read = inputOf({
  issuer: textOf(MAX_ISSUER_BYTES),
  kid: textOf(MAX_KID_BYTES)
    .nullish()
    .transform((kid) => kid ?? null),
});
export type ChosenKeys = ReturnType<typeof read>;

/** Times are ISO 8601. */
export interface ListedRevocation {
  readonly issuer: string;
  /** Null means every key of the issuer. */
  readonly kid: string | null;
  readonly revokedAt: string;
  /** Null while it is in force. */
  readonly restoredAt: string | null;
}

@Injectable()
export class RevocationOperations {
  /** @param follower the running service's follower; a command's process keeps no revocations */
  constructor(
    private readonly revocations: RevocationRepository,
    private readonly owner: OwnerProtection,
    @Optional() private readonly follower?: RevocationFollower,
  ) {}

  @Change('keys revoke', read)
  async revoke(keys: ChosenKeys, work: ChangeWork) {
    const { transaction, context } = work;
    await this.owner.refuseTrustChange(keys.issuer, work);
    const { result, events } = await revokeTrust(this.revocations, transaction, keys, context);
    return { result: { revokedAt: result.toISOString() }, targets: {}, events, applied: this.learn };
  }

  @Change('keys restore', read)
  async restore(keys: ChosenKeys, work: ChangeWork) {
    const { transaction, context } = work;
    await this.owner.refuseTrustChange(keys.issuer, work);
    const { result: isRestored, events } = await restoreTrust(this.revocations, transaction, keys, context);
    if (!isRestored)
      throw new CommandError('No such revocation is in force; see svc-admin keys revocations.');
    const stillRevoked = await this.stillRevoked(keys.issuer, work);
    return { result: { stillRevoked }, targets: {}, events, applied: this.learn };
  }

  @Read('keys revocations', readNothing)
  async list(): Promise<readonly ListedRevocation[]> {
    return (await this.revocations.list()).map(listed);
  }

  private readonly learn = async (): Promise<void> => this.follower?.followNews();

  /** The issuer's keys that are still revoked; null means all. */
  private async stillRevoked(issuer: string, { transaction }: ChangeWork): Promise<(string | null)[]> {
    const all = await this.revocations.list(transaction);
    return all.filter((one) => one.issuer === issuer && one.restoredAt === null).map(({ kid }) => kid);
  }
}

function textOf(maxBytes: number) {
  return readBy<string, string>(storableString(), (text) => {
    if (text === '') return { rule: 'must not be empty' };
    return Buffer.byteLength(text) <= maxBytes
      ? { value: text }
      : { rule: `must have at most ${maxBytes} bytes` };
  });
}

function listed({ issuer, kid, revokedAt, restoredAt }: TrustRevocation): ListedRevocation {
  return {
    issuer,
    kid,
    revokedAt: revokedAt.toISOString(),
    restoredAt: restoredAt?.toISOString() ?? null,
  };
}

@Injectable()
export class SigningKeyOperations {
  /** @param service the running instance's service; a command's process signs nothing and needs no sealing key */
  constructor(
    private readonly keys: SigningKeyRepository,
    @Optional() private readonly service?: SigningKeyService,
  ) {}

  @Change('keys rotate-signing', readNothing)
  async rotate(_input: object, { transaction, context }: ChangeWork) {
    const signsFrom = await endPresentKey(this.keys, transaction, context.occurredAt);
    if (signsFrom === undefined)
      throw new CommandError('There is no signing key. The service generates one when it starts.');
    return { result: { signsFrom: signsFrom.toISOString() }, targets: {}, applied: this.refresh };
  }

  @Change('keys revoke-signing', readNothing)
  async revoke(_input: object, { transaction, context }: ChangeWork) {
    await this.keys.deleteAll(transaction);
    return { result: { revokedAt: context.occurredAt.toISOString() }, targets: {}, applied: this.refresh };
  }

  private readonly refresh = async (): Promise<void> => this.service?.refresh();
}
