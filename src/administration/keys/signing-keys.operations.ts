// Replaces the keys that sign the instance's access tokens ahead of schedule.
import { Injectable, Optional } from '@nestjs/common';
import { endPresentKey, SigningKeyRepository, SigningKeyService } from '../../token-exchange/instance.js';
import { CommandError } from '../command-error.js';
import type { ChangeWork } from '../operation.js';
import { Change, readNothing } from '../operation.js';

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
