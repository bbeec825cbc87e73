// Lets requests through while it is known what has been revoked: no flow begins what it could not answer for.
import type { CanActivate } from '@nestjs/common';
import { Injectable } from '@nestjs/common';
import { Revocations } from '../revocation/revocations.js';

@Injectable()
export class RevocationsKnownGuard implements CanActivate {
  constructor(private readonly revocations: Revocations) {}

  /** @throws TemporarilyUnavailableException */
  canActivate(): boolean {
    this.revocations.ensureKnown();
    return true;
  }
}
