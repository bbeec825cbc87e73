// Starts the page: with its own session at `/frame`, with the cookie's session at `/`.
import { render } from 'preact';
import type { Cause } from '../protocol.js';
import { ApiClient } from '../shared/api.js';
import { applyLook, lookInAddress } from '../shared/appearance.js';
import { CookieAuthentication } from '../shared/cookie-authentication.js';
import { DpopAuthentication } from '../shared/dpop-authentication.js';
import { keepFocus } from '../shared/focus.js';
import { ProofKey } from '../shared/proof-key.js';
import { Notice } from '../shared/states.js';
import { App } from './app.js';
import { BoundPage, scriptOf } from './bound-page.js';
import { CookiePage, FormHost } from './cookie-page.js';
import { HostLink } from './host-link.js';
import { Instance } from './instance.js';
import type { Model } from './model.js';
import { Steps } from './steps.js';
import type { HostPage } from './visit.js';
import { Visit } from './visit.js';
import { words } from './words.js';

declare const VERSION: string;

const root = document.getElementById('app') ?? document.body;

interface Obstacle {
  cause: Cause;
  description: string;
}

/** @param baseUrl from the document of `/frame`, in which the server also writes its time */
async function startBound(baseUrl: string, serverTime: number): Promise<void> {
  const link = new HostLink(new URLSearchParams(location.search).get('host') ?? '');
  const key = await keyFor(baseUrl);
  if (!(key instanceof ProofKey)) {
    const { failedTitle, failedText, reason } = words();
    const reference = { label: reason, id: key.cause };
    render(
      <main>
        <Notice title={failedTitle} text={failedText} reference={reference} />
      </main>,
      root,
    );
    return link.tell({ type: 'page-ready', version: VERSION, ...key });
  }
  const auth = new DpopAuthentication(key, baseUrl, serverTime);
  const instance = new Instance(new ApiClient(auth));
  const steps = (path: string, isStep: boolean) => link.tell({ type: 'navigated', path, isStep });
  const visit = visitOf(instance, scriptOf(link, auth), steps);
  if (parent === window) visit.phase.value = { kind: 'nobody' };
  draw({
    visit,
    addressOf: (path) => link.addressOf(path),
    get retry() {
      return link.settings.value.canRetry ? () => link.tell({ type: 'retry' }) : undefined;
    },
    get retries() {
      return link.settings.value.retries;
    },
    get showsFailures() {
      return link.settings.value.showsFailures;
    },
  });
  link.listen(new BoundPage(visit, instance, auth, link).hear);
  link.followHeight();
  link.tell({ type: 'page-ready', version: VERSION, jkt: key.thumbprint });
}

/** @returns the key of the page's session, or why the page cannot have a session */
async function keyFor(baseUrl: string): Promise<ProofKey | Obstacle> {
  const { origin } = new URL(baseUrl);
  if (location.origin !== origin)
    return {
      cause: 'wrong_address',
      description: `The frame is at ${location.origin}, and SVC_BASE_URL is ${origin}. Use the same address.`,
    };
  try {
    return await ProofKey.create();
  } catch {
    const description = 'The browser offers no keys here. Serve the host page and the instance over HTTPS.';
    return { cause: 'insecure_page', description };
  }
}

function startWithCookie(): void {
  const auth = new CookieAuthentication();
  const instance = new Instance(new ApiClient(auth));
  const host = new FormHost();
  const visit = visitOf(instance, host, () => undefined);
  const { start } = new CookiePage(visit, instance, auth, host);
  const addressOf = (path: string) => path;
  draw({ visit, addressOf, retry: undefined, retries: false, showsFailures: true, start });
  addEventListener('online', () => visit.phase.value.kind === 'failed' && void start());
  void start();
}

function visitOf(instance: Instance, host: HostPage, tell: (path: string, isStep: boolean) => void): Visit {
  const visit: Visit = new Visit(
    instance,
    host,
    new Steps(tell, (place) => visit.isOpen && visit.workflows.follow(place)),
  );
  return visit;
}

function draw(model: Model): void {
  const { workflows } = model.visit;
  render(<App model={model} />, root);
  keepFocus(root, () => {
    const row =
      workflows.nextFocus.value && root.querySelector(`[data-id="${workflows.nextFocus.value}"] .name`);
    return (row || root.querySelector('#detail h2, #title')) as HTMLElement | null;
  });
}

applyLook(lookInAddress(location.search));
const { baseUrl, serverTime } = document.documentElement.dataset;
if (baseUrl === undefined) startWithCookie();
else void startBound(baseUrl, Number(serverTime));
