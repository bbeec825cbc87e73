// Creates and changes credentials: validates their data, seals it, and never returns it.
import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isForeignKeyViolation } from '../../platform/database/database-error.js';
import { Transactions } from '../../platform/database/transaction.js';
import { BODY_LIMIT_BYTES } from '../../platform/http/http-messages.js';
import { KeyRing } from '../../platform/secrets/key-ring.js';
import { ApiRefusal, found } from '../api/api-refusal.js';
import { Quotas } from '../quotas/quotas.js';
import type { CredentialChangeBody, NewCredentialBody } from './credential.dto.js';
import type { Credential, CredentialChange, CredentialRow } from './credential.repository.js';
import { CredentialRepository, sealedForCredential } from './credential.repository.js';
import { CredentialSchemas } from './credential-types.js';

type CredentialData = Record<string, unknown>;

@Injectable()
export class CredentialService {
  constructor(
    private readonly credentials: CredentialRepository,
    private readonly schemas: CredentialSchemas,
    private readonly keyRing: KeyRing,
    private readonly transactions: Transactions,
    private readonly quotas: Quotas,
  ) {}

  /**
   * @throws ApiRefusal `bad_request` for data that its type does not allow, `not_found` for a deleted
   * project, `quota_exceeded`
   */
  async create({ projectId, name, type, data }: Required<NewCredentialBody>): Promise<CredentialRow> {
    this.check(type, data);
    const id = randomUUID();
    const credential = { id, projectId, name, type, sealedData: this.seal(id, data) };
    try {
      await this.transactions.run((transaction) =>
        this.quotas.within(transaction, { credentials: projectId }, () =>
          this.credentials.insert(transaction, credential),
        ),
      );
    } catch (error) {
      throw isForeignKeyViolation(error) ? new ApiRefusal('not_found') : error;
    }
    return this.existing(id);
  }

  /**
   * Locks the row while it reads and writes, so that concurrent merges are not lost.
   * @rule 4.5.1 Data is replaced, or merged field by field with `isPartialData`. The result must satisfy the
   * type's schema.
   * @throws ApiRefusal `bad_request`, `not_found`
   */
  async change(id: string, patch: CredentialChangeBody): Promise<CredentialRow> {
    refuseContradictions(patch);
    await this.transactions.run(async (transaction) => {
      const stored = found(await this.credentials.lock(transaction, id));
      await this.credentials.update(transaction, id, this.changeOf(stored, patch));
    });
    return this.existing(id);
  }

  async existing(id: string): Promise<CredentialRow> {
    return found(await this.credentials.find(id));
  }

  private changeOf(stored: Credential, patch: CredentialChangeBody): CredentialChange {
    const { name, type = stored.type } = patch;
    if (type !== stored.type) refuseOldData(patch);
    const data = this.newData(stored, patch);
    if (data !== undefined) this.check(type, data);
    return {
      ...(name === undefined ? {} : { name }),
      type,
      ...(data === undefined ? {} : { sealedData: this.seal(stored.id, data) }),
    };
  }

  private newData(stored: Credential, { data, isPartialData = false }: CredentialChangeBody) {
    if (data === undefined || !isPartialData) return data;
    // Checked before the merge, because the sender chooses the number of unknown fields.
    refuse(this.schemas.problemOfPatch(stored.type, data));
    return merged(this.unsealed(stored), data);
  }

  private check(type: string, data: CredentialData): void {
    refuse(this.schemas.problemOf(type, data));
  }

  /** Limits the size, so that repeated merges cannot exceed the limit of a body. */
  private seal(id: string, data: CredentialData): Buffer {
    const bytes = Buffer.from(JSON.stringify(data), 'utf8');
    if (bytes.length > BODY_LIMIT_BYTES)
      throw new ApiRefusal('bad_request', `data must have at most ${BODY_LIMIT_BYTES / 1024} KiB of JSON`);
    return this.keyRing.seal(bytes, sealedForCredential(id));
  }

  private unsealed({ id, sealedData }: Credential): CredentialData {
    const text = this.keyRing.unseal(sealedData, sealedForCredential(id)).toString('utf8');
    return JSON.parse(text) as CredentialData;
  }
}

function refuseContradictions({ name, type, data, isPartialData }: CredentialChangeBody): void {
  if (isPartialData === true && data === undefined)
    throw new ApiRefusal('bad_request', 'data is required with isPartialData');
  if (name === undefined && type === undefined && data === undefined)
    throw new ApiRefusal('bad_request', 'name, type or data must be given');
}

/** Stored data belongs to the type for which it was entered. */
function refuseOldData({ data, isPartialData = false }: CredentialChangeBody): void {
  if (data === undefined) throw new ApiRefusal('bad_request', 'data is required with another type');
  if (isPartialData) throw new ApiRefusal('bad_request', 'isPartialData must not be true with another type');
}

/** Fields of the patch replace stored ones, null removes them, and all others stay. */
function merged(stored: CredentialData, patch: CredentialData): CredentialData {
  const kept = Object.entries(stored).filter(([name]) => !Object.hasOwn(patch, name));
  const names = Object.keys(patch).filter((name) => patch[name] !== null);
  return Object.fromEntries([...kept, ...names.map((name) => [name, patch[name]] as const)]);
}

function refuse(problem: string | undefined): void {
  if (problem !== undefined) throw new ApiRefusal('bad_request', problem);
}
