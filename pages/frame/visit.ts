// A visit: who is signed in, from the first answer to the end, with what the visitor and the host page are told of it.
import { signal } from '@preact/signals';
import type { EndReason, Failure } from '../protocol.js';
import { RefusedError, failureOf } from '../shared/api.js';
import { Tasks } from '../shared/tasks.js';
import type { Account, Instance, Person } from './instance.js';
import { SessionWatch } from './session-watch.js';
import type { Steps } from './steps.js';
import { Workflows } from './workflows.js';

/** A cookie's session can become another user's; a bound session cannot. */
export type End = EndReason | 'another-user';

/** What the page is about now. */
export type Phase =
  | { kind: 'loading' }
  | { kind: 'open' }
  /** Nobody is signed in yet, and nobody tries to. */
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

/** A session as a login or the account tells of it. */
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
  /** Settles once no sign-out is under way. */
  left: Promise<void> = Promise.resolve();
  /** The session that there is, or that has expired while its user is still shown. */
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
    // A page that the browser kept while another was shown may be about a session that has ended.
    addEventListener('pageshow', ({ persisted }) => persisted && this.isOpen && void this.look());
  }

  get isOpen(): boolean {
    return this.session !== null && this.phase.value.kind !== 'ended';
  }

  /** Takes note of a session: a new one, or the same one with more time. */
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

  /** Whether the session is still there. What is shown stays as long as it is. */
  look(): Promise<void> {
    return this.tasks.run(
      'look',
      async (signal) => this.showAccount(await this.instance.readAccount(signal)),
      // Without an answer what is shown stays, and the watch goes on asking.
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

  /** @returns whether the session has ended, as an answer of the instance tells */
  noticeEnd(error: unknown): boolean {
    const found = endOf(error);
    // It is this page that has ended it, and is about to hear so.
    if (found === undefined || this.isLeaving.value) return found !== undefined;
    this.end(found === 'revoked' && this.watch.isOver ? 'expired' : found);
    return true;
  }

  /** After its time the session's page stays in view, so that a renewal goes on with it; otherwise nothing of the user stays. */
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

/** The instance's codes for a session that there is not; the second one for a renewal. */
const ENDED = ['invalid_token', 'session_ended'];

/** Why the session has ended, if an error says that it has. */
export function endOf(error: unknown): End | undefined {
  if (!(error instanceof RefusedError)) return undefined;
  if (error.error === 'session_of_another_user') return 'another-user';
  if (error.error === 'signed_out_by_provider') return 'signed-out-by-provider';
  // Another 401 is about a proof, or is a proxy's.
  return error.status === 401 && ENDED.includes(error.error) ? 'revoked' : undefined;
}
