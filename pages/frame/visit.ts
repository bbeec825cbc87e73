// A visit: the session from the first answer to its end, and what the visitor and the host page learn about it.
import { signal } from '@preact/signals';
import type { EndReason, Failure } from '../protocol.js';
import { failureOf, RefusedError } from '../shared/api.js';
import { Tasks } from '../shared/tasks.js';
import type { Account, Instance, Person } from './instance.js';
import { SessionWatch } from './session-watch.js';
import type { Steps } from './steps.js';
import { Workflows } from './workflows.js';

/** A cookie's session can become another user's; a bound session cannot. */
export type End = EndReason | 'another-user';

/** The state of the visit. */
export type Phase =
  | { kind: 'loading' }
  | { kind: 'open' }
  /** Nobody is signed in, and no login is running. */
  | { kind: 'nobody' }
  | { kind: 'ended'; reason: End }
  | { kind: 'failed'; failure: Failure };

/** What a visit tells the host page. */
export interface HostPage {
  tellReady(session: { expiresAt: string; userId: string }, isRenewal: boolean, id?: number): void;
  tellExpiring(expiresAt: string): void;
  tellEnded(reason: End, id?: number): void;
  tellSignOutFailed(failure: Failure, id?: number): void;
}

/** A session, from a login's answer or from the account. */
export interface Session {
  userId: string;
  expiresAt: string;
  expiresInSeconds: number;
}

export class Visit {
  readonly phase = signal<Phase>({ kind: 'loading' });
  readonly user = signal<Person | null>(null);
  readonly isLeaving = signal(false);
  readonly hasLeavingProblem = signal(false);
  readonly workflows: Workflows;
  readonly tasks = new Tasks();
  /** Settles when no sign-out is running. */
  left: Promise<void> = Promise.resolve();
  /** The current session, or an expired one whose user is still shown. */
  session: Session | null = null;
  private readonly watch: SessionWatch;

  constructor(
    private readonly instance: Instance,
    private readonly host: HostPage,
    readonly steps: Steps,
  ) {
    this.workflows = new Workflows(instance, steps, (error) => this.noticeEnd(error));
    this.watch = new SessionWatch({
      look: () => void this.look(),
      tellExpiring: () => this.session && host.tellExpiring(this.session.expiresAt),
      tellOver: () => this.end('expired'),
    });
    addEventListener('online', () => {
      this.hasLeavingProblem.value = false;
      this.workflows.tryAgain();
    });
    // A page from the browser's back-forward cache may have a session that has ended.
    addEventListener('pageshow', ({ persisted }) => persisted && this.isOpen && void this.look());
  }

  get isOpen(): boolean {
    return this.session !== null && this.phase.value.kind !== 'ended';
  }

  /** Records a new session, or the same session with more time. */
  welcome(session: Session, { isRenewal, id }: { isRenewal: boolean; id?: number }): void {
    if (this.session?.userId !== session.userId) this.forget();
    this.session = session;
    this.hasLeavingProblem.value = false;
    this.phase.value = { kind: 'open' };
    this.watch.follow(session.expiresInSeconds * 1000);
    this.host.tellReady({ expiresAt: session.expiresAt, userId: session.userId }, isRenewal, id);
  }

  showAccount({ user }: Account): void {
    this.user.value = user;
  }

  /** Checks whether the session still exists. The view stays while it does. */
  look(): Promise<void> {
    return this.tasks.run(
      'look',
      async (signal) => this.showAccount(await this.instance.readAccount(signal)),
      // Without an answer the view stays, and the watch asks again.
      (error) => void this.noticeEnd(error),
    );
  }

  signOut(everywhere: boolean, id?: number): Promise<void> {
    this.hasLeavingProblem.value = false;
    this.tasks.giveUp('login');
    this.tasks.giveUp('look');
    this.isLeaving.value = true;
    const leaving = this.tasks.run(
      'sign-out',
      async (signal) => {
        if (this.isOpen) await this.instance.signOut(signal, everywhere);
        this.leave(id);
      },
      (error) => {
        if (endOf(error) !== undefined) return this.leave(id);
        this.hasLeavingProblem.value = true;
        this.host.tellSignOutFailed(failureOf(error), id);
      },
    );
    this.left = leaving.finally(() => (this.isLeaving.value = false));
    return this.left;
  }

  private leave(id: number | undefined): void {
    this.stop({ kind: 'ended', reason: 'signed-out' });
    this.host.tellEnded('signed-out', id);
    this.forget();
  }

  /** Ends the visit if the error says that the session has ended. @returns whether it says so */
  noticeEnd(error: unknown): boolean {
    const found = endOf(error);
    // This page is ending the session itself, and the response will say so.
    if (found === undefined || this.isLeaving.value) return found !== undefined;
    this.end(found === 'revoked' && this.watch.isOver ? 'expired' : found);
    return true;
  }

  /** After an expiry the view stays, so that a renewal continues it. After any other end it is cleared. */
  private end(reason: End): void {
    if (!this.isOpen) return;
    this.stop({ kind: 'ended', reason });
    this.host.tellEnded(reason);
    if (reason !== 'expired') this.forget();
  }

  private stop(phase: Phase): void {
    this.watch.stop();
    this.tasks.giveUp('look');
    this.workflows.stop();
    this.phase.value = phase;
  }

  private forget(): void {
    this.session = null;
    this.user.value = null;
    this.workflows.forget();
  }
}

/** The instance's error codes for a session that has ended. A renewal gets the second one. */
const ENDED = ['invalid_token', 'session_ended'];

/** Why the session has ended, if the error says so. */
export function endOf(error: unknown): End | undefined {
  if (!(error instanceof RefusedError)) return undefined;
  if (error.error === 'session_of_another_user') return 'another-user';
  if (error.error === 'signed_out_by_provider') return 'signed-out-by-provider';
  // Any other 401 concerns a proof or comes from a proxy.
  return error.status === 401 && ENDED.includes(error.error) ? 'revoked' : undefined;
}
