// Generates, stores and rotates the keys that sign access tokens.
import type { KeyObject } from 'node:crypto';
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import type { BeforeApplicationShutdown, OnModuleInit } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import type { JSONWebKeySet, JWK } from 'jose';
import { calculateJwkThumbprint } from 'jose/jwk/thumbprint';
import { Clock } from '../../platform/clock.js';
import type { Transaction } from '../../platform/database/transaction.js';
import { Transactions } from '../../platform/database/transaction.js';
import { PUBLISHED_MAX_AGE_SECONDS } from '../../platform/http/http-messages.js';
import { AlwaysLeader } from '../../platform/jobs/leader.js';
import { PeriodicJob } from '../../platform/jobs/periodic.job.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import { KeyRing } from '../../platform/secrets/key-ring.js';
import type { Schedule, SigningKey } from './signing-key.repository.js';
import { sealedForSigningKey, SigningKeyRepository } from './signing-key.repository.js';

/** A key that this instance can sign and verify with. */
export interface LoadedKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly publicJwk: JWK;
  readonly signsFrom: Date;
}

const DAY_MS = 86_400_000;
/** A key signs for 30 days; its successor is published a day before it signs, so that caches know it in time. */
const SIGNING_MS = 30 * DAY_MS;
const SUCCESSOR_AHEAD_MS = DAY_MS;
/**
 * A successor is published for at least that long before it signs. Caches keep a key set for half of it; the rest is for instances
 * whose clocks differ, or which read the table late.
 */
const PUBLISHED_AHEAD_MS = 2 * PUBLISHED_MAX_AGE_SECONDS * 1000;
/** A key signs its last token when its successor begins to. No token lives longer than a day; an hour is for clocks that differ. */
const PUBLISHED_AFTER_MS = 25 * 3_600_000;
/** A deleted key is refused everywhere within 10 seconds. */
const REFRESH_SECONDS = 5;
/** Tokens with an unknown kid cause at most one read of the table in this time. */
const RELOAD_PAUSE_MS = 1_000;

function scheduleOf(signsFrom: Date, signsUntil: Date): Schedule {
  return { signsFrom, signsUntil, publishedUntil: new Date(signsUntil.getTime() + PUBLISHED_AFTER_MS) };
}

/** The key of `findPublished` that signs at a time: the last one that has started. */
function signingAt<Key extends Pick<SigningKey, 'signsFrom'>>(
  keys: readonly Key[],
  nowMs: number,
): Key | undefined {
  return keys.findLast(({ signsFrom }) => signsFrom.getTime() <= nowMs) ?? keys[0];
}

/**
 * @rule D29 Access tokens are signed with the instance's own keys, which are sealed in its database, published and rotated. See
 * access-token.service.ts for the claims, metadata.controller.ts for the publication.
 */
@Injectable()
export class SigningKeyService implements OnModuleInit, BeforeApplicationShutdown {
  private keys: readonly LoadedKey[] = [];
  /** On the monotonic clock. */
  private readAtMs = Number.NEGATIVE_INFINITY;
  private readonly job: PeriodicJob;
  private isFailing = false;

  constructor(
    private readonly repository: SigningKeyRepository,
    private readonly transactions: Transactions,
    private readonly keyRing: KeyRing,
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Log,
  ) {
    // Every instance must know the keys, so each refreshes by itself. The lock lets only one create a key.
    const run = () => this.refreshQuietly();
    const work = { name: 'signing-keys', intervalSeconds: REFRESH_SECONDS, run };
    this.job = new PeriodicJob(work, new AlwaysLeader(), logger);
  }

  async onModuleInit(): Promise<void> {
    await this.refresh();
    this.job.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.job.stop();
  }

  /** The present signing key, from memory, because transactions call this. */
  current(): LoadedKey {
    const key = signingAt(this.keys, this.clock.nowMs());
    if (key === undefined) throw new Error('no signing key is loaded');
    return key;
  }

  /** The published key with this kid. Another instance may just have created an unknown one. */
  async find(kid: string): Promise<LoadedKey | undefined> {
    const loaded = this.keys.find((key) => key.kid === kid);
    if (loaded !== undefined || this.clock.monotonicMs() - this.readAtMs < RELOAD_PAUSE_MS) return loaded;
    await this.refresh();
    return this.keys.find((key) => key.kid === kid);
  }

  /** The public keys as a JWK set (RFC 7517 §5). */
  publicKeys(): JSONWebKeySet {
    return { keys: this.keys.map(({ publicJwk }) => publicJwk) };
  }

  /** Creates the first key or a due successor, deletes expired keys, and reads the rest. */
  async refresh(): Promise<void> {
    const rows = await this.published();
    if (!this.isSuccessorDue(rows)) return this.take(rows);
    try {
      await this.transactions.run((transaction) => this.rotate(transaction));
    } finally {
      // Until then the old key signs, so that no request fails.
      this.take(await this.published());
    }
  }

  private async refreshQuietly(): Promise<void> {
    try {
      await this.refresh();
      this.isFailing = false;
    } catch (error) {
      if (!this.isFailing)
        this.logger.error({ err: error }, 'the signing keys cannot be read; the known ones stay in use');
      this.isFailing = true;
    }
  }

  private async rotate(transaction: Transaction): Promise<void> {
    const now = this.clock.now();
    await this.repository.lock(transaction);
    await this.repository.deleteUnpublished(transaction, now);
    // Another instance may have created it while this one waited for the lock.
    const rows = await this.repository.findPublished(now, transaction);
    if (!this.isSuccessorDue(rows)) return;
    const signsFrom = Math.max(now.getTime(), rows.at(-1)?.signsUntil.getTime() ?? 0);
    await this.repository.insert(transaction, await this.newKey(new Date(signsFrom)));
  }

  private isSuccessorDue(rows: readonly SigningKey[]): boolean {
    const last = rows.at(-1);
    return last === undefined || last.signsUntil.getTime() - this.clock.nowMs() < SUCCESSOR_AHEAD_MS;
  }

  private async newKey(signsFrom: Date): Promise<SigningKey> {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const jwk = publicKey.export({ format: 'jwk' }) as JWK;
    const kid = await calculateJwkThumbprint(jwk);
    return {
      kid,
      publicJwk: { ...jwk, kid, use: 'sig', alg: 'ES256' },
      sealedPrivateKey: this.keyRing.seal(
        privateKey.export({ format: 'der', type: 'pkcs8' }),
        sealedForSigningKey(kid),
      ),
      ...scheduleOf(signsFrom, new Date(signsFrom.getTime() + SIGNING_MS)),
    };
  }

  private published(): Promise<SigningKey[]> {
    this.readAtMs = this.clock.monotonicMs();
    return this.repository.findPublished(this.clock.now());
  }

  private take(rows: readonly SigningKey[]): void {
    const loaded = new Map(this.keys.map((key) => [key.kid, key]));
    this.keys = rows.map(({ signsFrom, ...row }) => ({
      ...(loaded.get(row.kid) ?? this.unsealed(row)),
      signsFrom,
    }));
  }

  private unsealed({ kid, sealedPrivateKey, publicJwk }: Omit<SigningKey, 'signsFrom'>) {
    const der = this.keyRing.unseal(sealedPrivateKey, sealedForSigningKey(kid));
    const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    return { kid, privateKey, publicKey: createPublicKey(privateKey), publicJwk };
  }
}

/**
 * Ends the present key early. Instances then generate its successor, because only they have the sealing keys. A published
 * successor signs earlier. A repeated call postpones nothing.
 * @returns when the successor begins to sign; undefined if there is no key
 */
export async function endPresentKey(
  repository: SigningKeyRepository,
  transaction: Transaction,
  now: Date,
): Promise<Date | undefined> {
  await repository.lock(transaction);
  const keys = await repository.findPublished(now, transaction);
  const present = signingAt(keys, now.getTime());
  if (present === undefined) return undefined;
  const soonMs = now.getTime() + PUBLISHED_AHEAD_MS;
  if (present.signsUntil.getTime() <= soonMs) return present.signsUntil;
  const soon = new Date(soonMs);
  await repository.reschedule(transaction, { kid: present.kid, ...scheduleOf(present.signsFrom, soon) });
  const next = keys[keys.indexOf(present) + 1];
  if (next !== undefined)
    await repository.reschedule(transaction, { kid: next.kid, ...scheduleOf(soon, next.signsUntil) });
  return soon;
}
