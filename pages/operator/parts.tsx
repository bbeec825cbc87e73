// Small parts of views: heads, facts, marks, names from elsewhere, and times.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { plainText } from '../shared/format.js';
import { fromNow, isMoment, momentInWords, partsOf, sentenceOf } from './words.js';

interface WithChildren {
  children?: ComponentChildren;
}

interface PageHeadProps {
  title: ComponentChildren;
  lead?: ComponentChildren;
  actions?: ComponentChildren;
  back?: { href: string; text: string };
}

/** What a page is about, and what can be done there. */
export function PageHead({ title, lead, actions, back }: PageHeadProps) {
  return (
    <div class="page-head">
      {back && (
        <a class="back" href={back.href}>
          <span aria-hidden="true">‹ </span>
          {plainText(back.text)}
        </a>
      )}
      <div class="title-row">
        <h1>{title}</h1>
        <div class="buttons">{actions}</div>
      </div>
      {lead !== undefined && <p class="soft lead">{lead}</p>}
    </div>
  );
}

/** A part of a page with its own title. */
export function Section({
  title,
  beside,
  children,
}: WithChildren & { title: string; beside?: ComponentChildren }) {
  return (
    <section class="section">
      <div class="title-row">
        <h2>{title}</h2>
        {beside}
      </div>
      {children}
    </section>
  );
}

export function Card({ children }: WithChildren) {
  return <div class="card padded">{children}</div>;
}

/** Takes the focus in place of the control that was pressed and is gone. */
export function Arrival({ children }: WithChildren) {
  const place = useRef<HTMLParagraphElement>(null);
  useLayoutEffect(() => place.current?.focus(), []);
  return (
    <p ref={place} tabIndex={-1}>
      {children}
    </p>
  );
}

interface FoldedProps extends WithChildren {
  summary: ComponentChildren;
  /** It opens by itself for a problem within, and stays open. */
  hasProblem: boolean;
}

export function Folded({ summary, hasProblem, children }: FoldedProps) {
  const place = useRef<HTMLDetailsElement>(null);
  useLayoutEffect(() => {
    if (hasProblem && place.current) place.current.open = true;
  }, [hasProblem]);
  return (
    <details ref={place}>
      <summary>{summary}</summary>
      {children}
    </details>
  );
}

/** Pairs of term and description; those without a description are left out. */
export function Facts({ pairs }: { pairs: readonly (readonly [ComponentChildren, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {pairs
        .filter(([, value]) => value !== null && value !== undefined && value !== false)
        .map(([term, value], index) => (
          <div key={index}>
            <dt>{term}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** Phrases, a sentence each. */
export function Phrases({
  items,
  look = 'card padded phrases',
}: {
  items: readonly string[];
  look?: string;
}) {
  return (
    <ul class={look}>
      {items.map((item) => (
        <li key={item}>
          <Sentence text={item} />
        </li>
      ))}
    </ul>
  );
}

/** One word on how something is; the colour and the shape say it again. */
export function Mark({ kind = '', children }: WithChildren & { kind?: 'good' | 'warn' | 'bad' | '' }) {
  return <span class={`state ${kind}`}>{children}</span>;
}

export function Soft({ children }: WithChildren) {
  return <span class="soft">{children}</span>;
}

/** What programs call something. */
export function Code({ children }: { children: string }) {
  return <code>{plainText(children)}</code>;
}

/** A name or an id from elsewhere, whatever its direction. */
export function Name({ children }: { children: string }) {
  return <bdi>{plainText(children)}</bdi>;
}

/** An e-mail address. One in which letters of other scripts may look like those of another address is marked. */
export function Email({ children }: { children: string }) {
  return (
    <>
      <Name>{children}</Name>
      {/[^ -~]/.test(children) && <Soft> (not ASCII)</Soft>}
    </>
  );
}

/** A clause as a sentence, with code in it as such. */
export function Sentence({ text }: { text: string }) {
  return <WithCode text={sentenceOf(text)} />;
}

/** What stands between backquotes becomes code. */
export function WithCode({ text }: { text: string }) {
  const parts = plainText(text).split('`');
  return <>{parts.map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>;
}

interface TimeProps {
  at: string | null | undefined;
  /** Said where there is none. */
  otherwise?: string;
}

/** How far away a moment is, with the whole moment where one points at it. */
export function Time({ at, otherwise = 'never' }: TimeProps) {
  if (!isMoment(at)) return <Soft>{at ?? otherwise}</Soft>;
  return (
    <time dateTime={at} title={momentInWords(at)} class="nowrap">
      {fromNow(at)}
    </time>
  );
}

/** The whole moment. Its zone stands once, where the page says who is signed in. */
export function WholeTime({ at }: { at: string }) {
  return (
    <time dateTime={at} title={momentInWords(at)}>
      {partsOf(at).text}
    </time>
  );
}

/** The whole moment, with how far away it is. */
export function TimeFromNow({ at, otherwise }: TimeProps) {
  if (!isMoment(at)) return <Time at={at} otherwise={otherwise} />;
  return (
    <span>
      <WholeTime at={at} /> <span class="soft nowrap">({fromNow(at)})</span>
    </span>
  );
}
