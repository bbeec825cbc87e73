// The page of `/frame`: it signs in with tokens that the host page sends, and its session belongs to this document.
import type { HostSettings, MessageFromPage, MessageToPage, SessionHandle } from '../protocol.js';
import { failureOf, RefusedError } from '../shared/api.js';
import { applyLook } from '../shared/appearance.js';
import type { DpopAuthentication } from '../shared/dpop-authentication.js';
import { ProofKey } from '../shared/proof-key.js';
import type { HostLink } from './host-link.js';
import type { Instance } from './instance.js';
import { placeOf } from './place.js';
import type { HostPage, Session, Visit } from './visit.js';
import { endOf } from './visit.js';

const EMBED = '/rest/auth/embed';
const AGAIN_MS = 3_000;

/** The answer of the embedded login. */
interface Opened {
  session_token: string;
  expires_in: number;
  expires_at: string;
  user: { id: string };
}

/** What a visit tells the script of the host page. */
export function scriptOf(link: HostLink, auth: DpopAuthentication): HostPage {
  return {
    tellReady: (session, isRenewal, id) => {
      const { key, token = '' } = auth;
      const handle: SessionHandle = { sessionToken: token, keys: key.keys };
      link.tell({ type: 'session-ready', ...session, isRenewal, jkt: key.thumbprint, handle, id });
    },
    tellExpiring: (expiresAt) => link.tell({ type: 'session-expiring', expiresAt }),
    tellEnded: (reason, id) => {
      // The token is useless now. A bound session never becomes another user's.
      auth.token = undefined;
      if (reason !== 'another-user') link.tell({ type: 'session-ended', reason, id });
    },
    tellSignOutFailed: (failure, id) => link.tell({ type: 'sign-out-failed', ...failure, id }),
  };
}

export class BoundPage {
  private isGreeted = false;

  constructor(
    private readonly visit: Visit,
    private readonly instance: Instance,
    private readonly auth: DpopAuthentication,
    private readonly link: HostLink,
  ) {}

  readonly hear = (message: MessageToPage): void => {
    const { visit } = this;
    switch (message.type) {
      case 'hello':
        return this.greet(message);
      case 'login':
        return void this.login(message.token, message.id, message.path);
      case 'renew':
        return void this.renew(message.token, message.id);
      case 'navigate':
        return visit.steps.go(placeOf(message.path), false);
      case 'appearance':
        return applyLook(message);
      case 'sign-out':
        return void visit.signOut(message.everywhere, message.id);
      case 'failure':
        return this.showFailure({ error: message.error });
    }
  };

  /** The first greeting starts the visit. Later ones only change settings. */
  private greet({ handle, path, look, ...settings }: Extract<MessageToPage, { type: 'hello' }>): void {
    this.link.settings.value = settings satisfies Omit<HostSettings, 'look'>;
    this.visit.steps.isHostKeeping = settings.address === 'hash';
    applyLook(look);
    if (this.isGreeted) return;
    this.isGreeted = true;
    this.visit.steps.begin(placeOf(path));
    if (handle === undefined) this.askForToken('start');
    else void this.resume(handle);
  }

  private askForToken(reason: Extract<MessageFromPage, { type: 'token-needed' }>['reason']): void {
    this.link.tell({ type: 'token-needed', reason, jkt: this.auth.key.thumbprint });
  }

  /** Continues another document's session. Retries until the instance answers. */
  private resume(handle: SessionHandle, isAgain = false): Promise<void> {
    const { auth, visit } = this;
    const own = auth.key;
    return visit.tasks.run(
      'login',
      async (signal) => {
        auth.key = await ProofKey.of(handle.keys);
        auth.token = handle.sessionToken;
        const account = await this.instance.readAccount(signal);
        const { user, expiresAt, expiresInSeconds } = account;
        visit.welcome({ userId: user.id, expiresAt, expiresInSeconds }, { isRenewal: false });
        visit.showAccount(account);
        void visit.workflows.begin(visit.steps.place);
      },
      (error) => {
        auth.token = undefined;
        auth.key = own;
        if (endOf(error) !== undefined) return this.askForToken('handle-refused');
        if (!isAgain) this.link.tell({ type: 'login-failed', ...failureOf(error) });
        this.showFailure(failureOf(error));
        setTimeout(
          () => !visit.isOpen && !visit.tasks.isUnderWay('login') && void this.resume(handle, true),
          AGAIN_MS,
        );
      },
    );
  }

  private login(token: string, id: number, path: string): Promise<void> {
    const { visit } = this;
    return this.attempt('login-failed', id, async (signal) => {
      const opened = await this.post({ token }, true, signal);
      visit.steps.begin(placeOf(path));
      this.open(opened, { isRenewal: false, id });
      await Promise.all([this.readAccount(signal), visit.workflows.begin(visit.steps.place)]);
    });
  }

  /** Extends the session, or opens another one for the same user if it has ended. The view stays. */
  private renew(token: string, id: number): Promise<void> {
    const { visit } = this;
    const userId = visit.session?.userId;
    if (userId === undefined) return this.login(token, id, '');
    return this.attempt('renewal-failed', id, async (signal) => {
      const wasOpen = visit.isOpen;
      const opened = await this.post({ token, userId }, !wasOpen, signal).catch((error: unknown) => {
        // The session has just ended.
        if (endOf(error) !== 'revoked' || !wasOpen) throw error;
        return this.post({ token, userId }, true, signal);
      });
      this.open(opened, { isRenewal: true, id });
      if (!wasOpen) visit.workflows.tryAgain();
    });
  }

  private attempt(
    failed: 'login-failed' | 'renewal-failed',
    id: number,
    work: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const { visit } = this;
    const workAfterwards = async (signal: AbortSignal) => {
      // A running sign-out would end the new session too.
      await visit.left;
      signal.throwIfAborted();
      if (visit.session === null) visit.phase.value = { kind: 'loading' };
      await work(signal);
    };
    return visit.tasks.run('login', workAfterwards, (error) => {
      const failure = failureOf(error);
      this.link.tell({ type: failed, ...failure, id });
      this.showFailure(failure);
    });
  }

  private post(fields: Record<string, string>, isNew: boolean, signal: AbortSignal): Promise<Opened> {
    const form = { answer: 'session', hostOrigin: this.link.origin, ...fields };
    return this.instance.api.request({ method: 'POST', path: EMBED, form, isAnonymous: isNew }, signal);
  }

  private open(
    { session_token, expires_in, expires_at, user }: Opened,
    how: { isRenewal: boolean; id: number },
  ): void {
    this.auth.token = session_token;
    const session: Session = { userId: user.id, expiresAt: expires_at, expiresInSeconds: expires_in };
    this.visit.welcome(session, how);
  }

  private async readAccount(signal: AbortSignal): Promise<void> {
    try {
      this.visit.showAccount(await this.instance.readAccount(signal));
    } catch (error) {
      // The session is open nevertheless. The next check reads the account again.
      if (!(error instanceof RefusedError)) return;
      this.visit.noticeEnd(error);
    }
  }

  /** The view stays. An open session needs no notice. */
  private showFailure(failure: ReturnType<typeof failureOf>): void {
    const { visit } = this;
    if (visit.session === null) visit.phase.value = { kind: 'failed', failure };
  }
}
