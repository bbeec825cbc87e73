// Waits for the verification event of a new transmitter of security events.
import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { storableString } from '../../platform/input/schemas.js';
import { eventUseId, JtiRepository } from '../../token-exchange/instance.js';
import { inputOf, Read } from '../operation.js';

const PATIENCE_MS = 15_000;
const POLL_INTERVAL_MS = 250;

const readVerification = inputOf({ issuer: storableString(), state: storableString() });

@Injectable()
export class SignalOperations {
  constructor(private readonly usedIds: JtiRepository) {}

  /** Waits up to 15 seconds. */
  @Read('signals connect', readVerification)
  async verification({ issuer, state }: ReturnType<typeof readVerification>, stop: AbortSignal) {
    const deadline = performance.now() + PATIENCE_MS;
    const id = eventUseId('verification', issuer, state);
    for (;;) {
      if ((await this.usedIds.findUse(id, issuer)) !== undefined) return { hasArrived: true };
      if (stop.aborted || performance.now() > deadline) return { hasArrived: false };
      await pause(POLL_INTERVAL_MS);
    }
  }
}
