// Warns of successful requests with ignored values, and of links to administrators.
import { Inject, Injectable } from '@nestjs/common';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import { printableList } from '../../platform/text/printable.js';
import type { Flow } from '../endpoint/flows.js';
import type { IdentityChange, ResolvedUser } from '../identity/decide.js';
import type { RefusalContext, SubjectOrActor } from '../refusals/oauth-refusal.js';
import { noticeLine } from '../refusals/refusal-line.js';
import type { NoticeKind } from '../refusals/refusals.js';
import type { PerToken, Tokens, VerifiedToken } from '../verify/external-token.verifier.js';
import { issuerAndKid } from '../verify/external-token.verifier.js';

/** The request, and its ignored values. */
export interface Notice extends RefusalContext {
  readonly flow: Flow;
  readonly requestId: string;
  /** The name of the entry in the log. */
  readonly entry?: string;
}

@Injectable()
export class Notices {
  constructor(@Inject(LOGGER) private readonly logger: Log) {}

  warn(kind: NoticeKind, { flow, requestId, ...values }: Notice): void {
    this.logger.warn({ requestId, flow, reason: kind, ...values }, noticeLine(kind, values));
  }

  /**
   * Logs ignored claims, and external identities that were linked to administrators. Called after the commit, because a
   * transaction may be retried or fail.
   */
  warnAfterCommit(
    request: Pick<Notice, 'flow' | 'requestId'>,
    tokens: Tokens,
    users: PerToken<ResolvedUser>,
  ): void {
    this.warnOfToken(request, tokens.subject, users.subject, 'subject');
    if (tokens.actor && users.actor) this.warnOfToken(request, tokens.actor, users.actor, 'actor');
  }

  private warnOfToken(
    { flow, requestId }: Pick<Notice, 'flow' | 'requestId'>,
    token: VerifiedToken,
    { userId, ignoredRole, keptProjects = [], changes }: ResolvedUser,
    which: SubjectOrActor,
  ): void {
    this.warnOfPrivilegedLink(requestId, token, changes);
    if (ignoredRole === undefined && keptProjects.length === 0) return;
    const entry = token.key.policy.label;
    const of = { flow, requestId, party: flow === 'embed' ? undefined : which };
    const about = { ...of, ...issuerAndKid(token), entry, userId };
    if (ignoredRole !== undefined) this.warn('role_ignored', { ...about, ...ignoredRole });
    if (keptProjects.length > 0)
      this.warn('project_administrator_kept', {
        ...about,
        expected: 'another administrator of the project',
        found: `none in ${printableList(keptProjects)}`,
      });
  }

  private warnOfPrivilegedLink(
    requestId: string,
    { key }: VerifiedToken,
    changes: readonly IdentityChange[],
  ): void {
    const { issuer } = key.policy;
    for (const change of changes)
      if (change.kind === 'identity-linked' && change.isPrivileged)
        this.logger.warn(
          { requestId, issuer, userId: change.userId, role: change.role },
          'an external identity was linked to the account of an administrator by its e-mail address',
        );
  }
}
