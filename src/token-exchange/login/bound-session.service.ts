// Finds the bound session of a call, and checks that the call proves the session's key.
import { Injectable } from '@nestjs/common';
import type { PresentedCall } from '../dpop/dpop-proofs.js';
import { DpopProofs } from '../dpop/dpop-proofs.js';
import type { AccessTokenRefusal } from '../tokens/access-token.service.js';
import type { WebSession } from './session.repository.js';
import { SessionService } from './session.service.js';

/** A refusal concerns the proof alone. Without both properties the session has ended, or never existed. */
export interface BoundSessionVerdict {
  readonly session?: WebSession;
  readonly refusal?: AccessTokenRefusal;
}

@Injectable()
export class BoundSessionService {
  constructor(
    private readonly sessions: SessionService,
    private readonly proofs: DpopProofs,
  ) {}

  /**
   * The session of a call with `Authorization: DPoP` and a session token. The host compares `accessGeneration` with its user's.
   * Each call needs a proof of the session's key, so that a session token alone is useless (D25).
   * @throws TemporarilyUnavailableException if the clock of the database or the revocations are unknown
   */
  async find(call: PresentedCall): Promise<BoundSessionVerdict> {
    const session = await this.sessions.findBound(call.token);
    if (session === undefined || session.keyThumbprint === null) return {};
    const refusal = await this.proofs.checkSession(call, session.keyThumbprint);
    if (refusal !== undefined) return { refusal };
    this.sessions.noteUse(session);
    return { session };
  }
}
