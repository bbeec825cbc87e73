// The page of `/`, after a login by a plain form. Its session is a cookie, which the browser's other frames share.
import { failureOf } from '../shared/api.js';
import type { CookieAuthentication } from '../shared/cookie-authentication.js';
import type { Instance } from './instance.js';
import type { HostPage, Visit } from './visit.js';
import { endOf } from './visit.js';

/** Tells the surrounding page about the session, if its origin posted the login. */
export class FormHost implements HostPage {
  origin: string | null = null;

  tellReady(session: { expiresAt: string; userId: string }): void {
    this.tell({ type: 'session-ready', ...session });
  }

  tellExpiring(expiresAt: string): void {
    this.tell({ type: 'session-expiring', expiresAt });
  }

  tellEnded(reason: string): void {
    this.tell({ type: 'session-ended', reason });
  }

  tellSignOutFailed(): void {
    // The page shows the failure itself. The host page did not ask for it.
  }

  private tell(message: object): void {
    if (this.origin !== null && parent !== window) parent.postMessage(message, this.origin);
  }
}

export class CookiePage {
  constructor(
    private readonly visit: Visit,
    private readonly instance: Instance,
    private readonly auth: CookieAuthentication,
    private readonly host: FormHost,
  ) {}

  readonly start = (): Promise<void> => {
    const { visit } = this;
    visit.phase.value = { kind: 'loading' };
    return visit.tasks.run(
      'login',
      async (signal) => {
        const account = await this.instance.readAccount(signal);
        const { user, expiresAt, expiresInSeconds, hostOrigin } = account;
        this.auth.userId = user.id;
        this.host.origin = hostOrigin;
        visit.welcome({ userId: user.id, expiresAt, expiresInSeconds }, { isRenewal: false });
        visit.showAccount(account);
        await visit.workflows.begin(visit.steps.place);
      },
      (error) => {
        const kind = endOf(error) === undefined ? 'failed' : 'nobody';
        visit.phase.value = kind === 'nobody' ? { kind } : { kind: 'failed', failure: failureOf(error) };
      },
    );
  };
}
