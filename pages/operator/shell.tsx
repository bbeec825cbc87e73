// Surrounds every view: menu, operator, and the message about the last action.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { News } from '../shared/states.js';
import { DialogPlace } from './dialog.js';
import { shown, stage } from './navigation.js';
import { Mark, Name, PageHead } from './parts.js';
import { MENU, routeOf } from './routes.js';
import type { Operator, Phase } from './session.js';
import { begin, comeBack, phase, signOut } from './session.js';
import { SignIn } from './sign-in.js';
import { Failure, ProblemPlace, useAttempt } from './states.js';
import { partsOf, roleInWords } from './words.js';

/** The page's icon. Its address changes with its content. */
const ICON = document.querySelector<HTMLLinkElement>('link[rel=icon]')?.href;

export function Shell() {
  const { value: now } = phase;
  const main = useRef<HTMLElement>(null);
  const isIn = now.kind === 'in';
  const title = isIn ? routeOf(shown.value.hash).title : now.kind === 'out' ? 'Sign in' : '';
  useLayoutEffect(() => {
    document.title = [title, 'Administration'].filter(Boolean).join(' · ');
    document.body.classList.toggle('signed-in', isIn);
  }, [title, isIn]);
  const skip = (event: Event) => {
    event.preventDefault();
    main.current?.focus();
  };
  return (
    <>
      {isIn && (
        <a id="skip" class="skip" href="#main" onClick={skip}>
          To the content
        </a>
      )}
      {isIn && <Bar key={shown.value.id} operator={now.operator} />}
      <main id="main" ref={main} tabIndex={-1}>
        <Content now={now} />
      </main>
      <News text={isIn ? shown.value.news : now.kind === 'out' ? now.reason : ''} />
      <DialogPlace />
    </>
  );
}

function Content({ now }: { now: Phase }) {
  if (now.kind === 'in') return <Stage />;
  if (now.kind === 'out')
    return <SignIn reason={now.reason} email={now.before?.email ?? ''} onSignedIn={comeBack} />;
  if (now.kind === 'starting') return null;
  return (
    <>
      <PageHead title="Administration" />
      <Failure error={now.error} retry={() => void begin()} />
    </>
  );
}

/** Contains the view. */
function Stage() {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => place.current?.replaceChildren(stage), []);
  return <div ref={place} />;
}

/** The view of an address. */
export function View({ hash, news }: { hash: string; news: string }) {
  const { View: Shown, params, query } = routeOf(hash);
  const view = useRef<HTMLDivElement>(null);
  // The heading takes the focus, because the link that opened the view may be gone.
  useLayoutEffect(() => {
    const title = view.current?.querySelector('h1');
    if (title === null || title === undefined || shown.value.id === 0) return;
    title.tabIndex = -1;
    title.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [news]);
  return (
    <div ref={view} class="view">
      {news !== '' && (
        <p class="flash">
          <Mark kind="good">Done</Mark> {news}
        </p>
      )}
      <Shown params={params} query={query} />
    </div>
  );
}

function Bar({ operator }: { operator: Operator }) {
  const [isOpen, setOpen] = useState(false);
  const menu = useRef<HTMLButtonElement>(null);
  const { menuRow } = routeOf(shown.value.hash);
  const close = ({ key }: KeyboardEvent) => {
    if (key !== 'Escape' || !isOpen) return;
    setOpen(false);
    menu.current?.focus();
  };
  return (
    <header class="top">
      <a class="brand" href="#/">
        <img src={ICON} alt="" width="28" height="28" />
        <span>Administration</span>
      </a>
      <button
        ref={menu}
        type="button"
        class="menu"
        aria-expanded={isOpen}
        aria-controls="side"
        onClick={() => setOpen(!isOpen)}
      >
        Menu
      </button>
      <div id="side" class={isOpen ? 'side open' : 'side'} onKeyDown={close}>
        <nav aria-label="Pages">
          <ul role="list">
            {MENU.map(([name, title]) => (
              <li key={name}>
                <a href={`#/${name}`} aria-current={name === menuRow ? 'page' : undefined}>
                  {title}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <Account operator={operator} />
      </div>
    </header>
  );
}

function Account({ operator }: { operator: Operator }) {
  const { problem, attempt } = useAttempt();
  return (
    <div class="account">
      <p>
        <span class="soft">Signed in as</span> <Name>{operator.email}</Name>{' '}
        <span class="soft">({roleInWords(operator.role)})</span>
      </p>
      <p class="soft">Times are in {partsOf(new Date()).zone}</p>
      <a href="#/password">Change password</a>
      <button type="button" onClick={() => void attempt(signOut)}>
        Sign out
      </button>
      <ProblemPlace error={problem} />
    </div>
  );
}
