// Makes, keeps and rotates the keys that sign access tokens.
import type { KeyObject } from 'node:crypto';
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import type { BeforeApplicationShutdown, OnModuleInit } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import type { JSONWebKeySet, JWK } from 'jose';
import { calculateJwkThumbprint } from 'jose/jwk/thumbprint';
import { AlwaysLeader } from '../../platform/jobs/leader.js';
import { PeriodicJob } from '../../platform/jobs/periodic.job.js';
import type { Transaction } from '../../platform/database/transaction.js';
import { Transactions } from '../../platform/database/transaction.js';
import { Clock } from '../../platform/clock.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import { KeyRing } from '../../platform/secrets/key-ring.js';
import type { SigningKey } from './signing-key.repository.js';
import { SigningKeyRepository, sealedForSigningKey } from './signing-key.repository.js';

/** A key that this instance can sign and verify with. */
export interface LoadedKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly row: SigningKey;
}

const DAY_MS = 86_400_000;
/** A key signs for 30 days; its successor is published a day before it signs, so that caches know it in time. */
const SIGNING_MS = 30 * DAY_MS;
const PUBLISHED_AHEAD_MS = DAY_MS;
/** No access token lives longer than a day, so a key is of no use a day after it signed for the last time. */
const PUBLISHED_AFTER_MS = DAY_MS;
const REFRESH_SECONDS = 600;
/** A token with an unknown kid makes at most one read of the table in this time. */
const RELOAD_PAUSE_MS = 10_000;

/**
 * @rule D29 Access tokens are signed with keys of the instance's own, sealed in its database, published and rotated.
 * See access-token.ts for what a token says, metadata.controller.ts for the publication.
 */
@Injectable()
export class SigningKeyService implements OnModuleInit, BeforeApplicationShutdown {
  private keys: readonly LoadedKey[] = [];
  /** On the monotonic clock. */
  private loadedAtMs = Number.NEGATIVE_INFINITY;
  private readonly job: PeriodicJob;

  constructor(
    private readonly repository: SigningKeyRepository,
    private readonly transactions: Transactions,
    private readonly keyRing: KeyRing,
    private readonly clock: Clock,
    @Inject(LOGGER) logger: Log,
  ) {
    // Every instance must know the keys, so each refreshes for itself; the lock in the table lets one make a new one.
    const work = { name: 'signing-keys', intervalSeconds: REFRESH_SECONDS, run: () => this.refresh() };
    this.job = new PeriodicJob(work, new AlwaysLeader(), logger);
  }

  async onModuleInit(): Promise<void> {
    await this.refresh();
    this.job.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.job.stop();
  }

  /** The key that signs now. Answers from memory: it is asked inside transactions. */
  current(): LoadedKey {
    const now = this.clock.nowMs();
    const begun = this.keys.filter(({ row }) => row.signsFrom.getTime() <= now);
    const key = begun.at(-1) ?? this.keys[0];
    if (key === undefined) throw new Error('no signing key is loaded');
    return key;
  }

  /** The published key with this kid; an unknown kid may be one that another instance has just made. */
  async find(kid: string): Promise<LoadedKey | undefined> {
    const loaded = this.keys.find((key) => key.kid === kid);
    if (loaded !== undefined || this.clock.monotonicMs() - this.loadedAtMs < RELOAD_PAUSE_MS) return loaded;
    await this.load();
    return this.keys.find((key) => key.kid === kid);
  }

  /** The public keys as a JWK set (RFC 7517 §5). */
  publicKeys(): JSONWebKeySet {
    return { keys: this.keys.map(({ row }) => row.publicJwk) };
  }

  /** Makes the first key or a successor where one is due, forgets keys that are of no use, and reads the rest. */
  async refresh(): Promise<void> {
    await this.load();
    if (!this.isSuccessorDue(this.keys.map(({ row }) => row))) return;
    await this.transactions.run((transaction) => this.rotate(transaction));
    await this.load();
  }

  private async rotate(transaction: Transaction): Promise<void> {
    const now = this.clock.now();
    await this.repository.lock(transaction);
    await this.repository.deleteUnpublished(transaction, now);
    // Another instance may have made it while this one waited for the lock.
    const rows = await this.repository.findPublished(now, transaction);
    if (!this.isSuccessorDue(rows)) return;
    const signsFrom = Math.max(now.getTime(), rows.at(-1)?.signsUntil.getTime() ?? 0);
    await this.repository.insert(transaction, await this.newKey(new Date(signsFrom)));
  }

  private isSuccessorDue(rows: readonly SigningKey[]): boolean {
    const last = rows.at(-1);
    return last === undefined || last.signsUntil.getTime() - this.clock.nowMs() < PUBLISHED_AHEAD_MS;
  }

  private async newKey(signsFrom: Date): Promise<SigningKey> {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const jwk = publicKey.export({ format: 'jwk' }) as JWK;
    const kid = await calculateJwkThumbprint(jwk);
    const signsUntil = new Date(signsFrom.getTime() + SIGNING_MS);
    return {
      kid,
      publicJwk: { ...jwk, kid, use: 'sig', alg: 'ES256' },
      sealedPrivateKey: this.keyRing.seal(
        privateKey.export({ format: 'der', type: 'pkcs8' }),
        sealedForSigningKey(kid),
      ),
      signsFrom,
      signsUntil,
      publishedUntil: new Date(signsUntil.getTime() + PUBLISHED_AFTER_MS),
    };
  }

  private async load(): Promise<void> {
    this.loadedAtMs = this.clock.monotonicMs();
    const loaded = new Map(this.keys.map((key) => [key.kid, key]));
    const rows = await this.repository.findPublished(this.clock.now());
    this.keys = rows.map((row) => loaded.get(row.kid) ?? this.unsealed(row));
  }

  private unsealed(row: SigningKey): LoadedKey {
    const der = this.keyRing.unseal(row.sealedPrivateKey, sealedForSigningKey(row.kid));
    const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    return { kid: row.kid, privateKey, publicKey: createPublicKey(privateKey), row };
  }
}
