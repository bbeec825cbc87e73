// Replaces content that loads, that is empty, or that could not be loaded.
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { RefusedError } from '../shared/api.js';
import { plainText } from '../shared/format.js';
import { BusyButton, Skeleton } from '../shared/states.js';
import { isSignedOut } from './api.js';
import { duration } from './words.js';

/** An error with a message for people. */
class ProblemError extends Error {}

export function problemOf(message: string): Error {
  return new ProblemError(message);
}

/** Runs a button's action once at a time and keeps its problem, unless the sign-in has ended, which the page itself shows. */
export function useAttempt() {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(undefined);
  const attempt = async (work: () => Promise<void>): Promise<boolean> => {
    if (isBusy) return false;
    setBusy(true);
    setProblem(undefined);
    try {
      await work();
      return true;
    } catch (error) {
      if (!isSignedOut(error)) setProblem(error);
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, problem, attempt, forget: () => setProblem(undefined) };
}

/** A problem next to its cause. It takes the focus, because the pressed button shows nothing. */
export function ProblemPlace({ error, isFocused = false }: { error: unknown; isFocused?: boolean }) {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (error !== undefined && isFocused) place.current?.focus();
  }, [error]);
  return (
    error !== undefined && (
      <div ref={place} class="problem" role="alert" tabIndex={-1}>
        <ProblemText error={error} />
      </div>
    )
  );
}

/** A problem and its remedy, in the instance's words if it has any. */
function ProblemText({ error }: { error: unknown }) {
  if (error instanceof RefusedError) return <RefusalText refusal={error} />;
  if (error instanceof ProblemError) return <Lines text={error.message} />;
  if (error instanceof TypeError || error instanceof DOMException)
    return <p>The instance did not answer. Check your connection and whether it runs, then try again.</p>;
  return <p>Something went wrong on this page. Reload it.</p>;
}

function RefusalText({ refusal }: { refusal: RefusedError }) {
  const { description, status, requestId, retryAfterSeconds } = refusal;
  return (
    <>
      <Lines text={description ?? `The instance answered ${status}.`} />
      {retryAfterSeconds !== undefined && <p>Try again in {duration(retryAfterSeconds)}.</p>}
      {status >= 500 && requestId !== undefined && (
        <p class="soft">
          In the log of the instance: <code>{requestId}</code>
        </p>
      )}
    </>
  );
}

/** The first line is the problem, and the others are list items. */
function Lines({ text }: { text: string }) {
  const [first, ...points] = plainText(text)
    .split('\n')
    .filter((line) => line.trim() !== '');
  return (
    <>
      <p>{first}</p>
      {points.length > 0 && (
        <ul>
          {points.map((line) => (
            <li key={line}>{line.replace(/^\s*-?\s*/, '')}</li>
          ))}
        </ul>
      )}
    </>
  );
}

export interface EmptyProps {
  title: string;
  text: string;
  children?: ComponentChildren;
}

/** Says that there is nothing, and what would be listed. */
export function Empty({ title, text, children }: EmptyProps) {
  return (
    <div class="card message">
      <h2>{title}</h2>
      <p class="soft">{text}</p>
      {children}
    </div>
  );
}

/** Says that something could not be loaded, and what to do. */
export function Failure({ error, retry }: { error: unknown; retry: () => void }) {
  return (
    <div class="card message" role="alert">
      <h2>This could not be loaded</h2>
      <div>
        <ProblemText error={error} />
      </div>
      <button type="button" onClick={retry}>
        Try again
      </button>
    </div>
  );
}

interface LoadedProps<Data> {
  load: (signal: AbortSignal) => Promise<Data>;
  /** A changed value loads the content again. */
  by?: unknown;
  children: (data: Data) => ComponentChildren;
}

/** Content that must be loaded. A late answer to an earlier request is ignored. */
export function Loaded<Data>({ load, by, children }: LoadedProps<Data>) {
  const [tries, setTries] = useState(0);
  const [state, setState] = useState<{ data: Data } | { error: unknown } | undefined>(undefined);
  useEffect(() => {
    const task = new AbortController();
    const settle = (next: { data: Data } | { error: unknown }) => task.signal.aborted || setState(next);
    setState(undefined);
    load(task.signal).then(
      (data) => settle({ data }),
      (error: unknown) => isSignedOut(error) || settle({ error }),
    );
    return () => task.abort();
  }, [JSON.stringify(by), tries]);
  return (
    <div aria-busy={state === undefined}>
      {state === undefined && <Skeleton />}
      {state !== undefined && 'error' in state && (
        <Failure error={state.error} retry={() => setTries(tries + 1)} />
      )}
      {state !== undefined && 'data' in state && children(state.data)}
    </div>
  );
}

/** Optional suggestions. Nothing waits for them, and errors are ignored. */
export function useSuggested<Data>(load: (signal: AbortSignal) => Promise<Data>, before: Data): Data {
  const [data, setData] = useState(before);
  useEffect(() => {
    const task = new AbortController();
    load(task.signal).then(
      (read) => task.signal.aborted || setData(read),
      () => undefined,
    );
    return () => task.abort();
  }, []);
  return data;
}

interface Page {
  data: readonly unknown[];
  nextCursor: string | null;
}

interface PagesProps<Read extends Page> {
  load: (cursor: string | undefined, signal?: AbortSignal) => Promise<Read>;
  by?: unknown;
  empty: ComponentChildren;
  /** Describes how far an incomplete page has come. */
  ended?: (page: Read) => ComponentChildren;
  /** @param pages the loaded pages in order */
  children: (rows: Read['data'][number][], pages: readonly Read[]) => ComponentChildren;
}

/** A list with a button that loads more. */
export function Pages<Read extends Page>({ load, by, ...how }: PagesProps<Read>) {
  return (
    <Loaded load={(signal) => load(undefined, signal)} by={by}>
      {(first) => <Continued first={first} next={(cursor) => load(cursor)} {...how} />}
    </Loaded>
  );
}

interface ContinuedProps<Read extends Page> extends Omit<PagesProps<Read>, 'load' | 'by'> {
  first: Read;
  next: (cursor: string) => Promise<Read>;
}

function Continued<Read extends Page>({ first, next, empty, ended, children }: ContinuedProps<Read>) {
  const [pages, setPages] = useState([first]);
  const { isBusy, problem, attempt } = useAttempt();
  const list = useRef<HTMLDivElement>(null);
  const last = pages.at(-1) ?? first;
  const rows = pages.flatMap(({ data }) => data);
  const { nextCursor } = last;
  // The first new row takes the focus, because the pressed button may be gone.
  useLayoutEffect(() => {
    if (pages.length > 1) focusRow(list.current, rows.length - last.data.length);
  }, [pages]);
  const more = () =>
    attempt(async () => {
      if (nextCursor !== null) setPages([...pages, await next(nextCursor)]);
    });
  return (
    <>
      <div ref={list}>
        {rows.length > 0 && children(rows, pages)}
        {rows.length === 0 && nextCursor === null && empty}
      </div>
      {nextCursor !== null && (
        <div class="rest">
          {ended !== undefined && <p class="soft">{ended(last)}</p>}
          <BusyButton isBusy={isBusy} act={() => void more()}>
            {rows.length === 0 ? 'Look further back' : 'Load more'}
          </BusyButton>
        </div>
      )}
      <ProblemPlace error={problem} />
    </>
  );
}

function focusRow(list: HTMLElement | null, index: number): void {
  const items = list?.querySelectorAll<HTMLElement>('tbody > tr:not(.more)') ?? [];
  const item = items[Math.min(index, items.length - 1)];
  if (item === undefined) return;
  item.tabIndex = -1;
  item.focus();
}
