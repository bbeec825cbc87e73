// Small parts of views: heads, facts, marks, names from elsewhere, and times.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { plainText } from '../shared/format.js';
import { address } from './navigation.js';
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

/** A page's title, lead and actions. */
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

/** A part of a page with a title. */
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

/** Takes the focus, because the pressed control has disappeared. */
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
  /** Opens the element for a problem inside. It stays open. */
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

interface FactsProps {
  pairs: readonly (readonly [ComponentChildren, ComponentChildren])[];
  isCard?: boolean;
}

/** Pairs of term and description. Terms without a description are omitted. */
export function Facts({ pairs, isCard = false }: FactsProps) {
  return (
    <dl class={isCard ? 'card padded facts' : 'facts'}>
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

/** Phrases as sentences. */
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

/** A state in one word. Colour and shape repeat it. */
export function Mark({ kind = '', children }: WithChildren & { kind?: 'good' | 'warn' | 'bad' | '' }) {
  return <span class={`state ${kind}`}>{children}</span>;
}

export function Soft({ children }: WithChildren) {
  return <span class="soft">{children}</span>;
}

/** A name for programs. */
export function Code({ children }: { children: string }) {
  return <code>{plainText(children)}</code>;
}

/** A name or id from outside, isolated from the direction of the text. */
export function Name({ children }: { children: string }) {
  return <bdi>{plainText(children)}</bdi>;
}

/** An e-mail address. It is marked if letters of other scripts may imitate another address. */
export function Email({ children }: { children: string }) {
  return (
    <>
      <Name>{children}</Name>
      {/[^ -~]/.test(children) && <Soft> (not ASCII)</Soft>}
    </>
  );
}

export function LinkButton({ href, children }: { href: string; children: string }) {
  return (
    <a class="button" href={href}>
      {children}
    </a>
  );
}

export function UserLink({ id, email }: { id: string; email: string }) {
  return (
    <a href={address('#/users/?', id)}>
      <Email>{email}</Email>
    </a>
  );
}

export function EntryLink({ label }: { label: string }) {
  return (
    <a href={address('#/entries/?', label)}>
      <Name>{label}</Name>
    </a>
  );
}

export function RequestLink({ id }: { id: string }) {
  return (
    <a href={address('#/requests/?', id)}>
      <Code>{id}</Code>
    </a>
  );
}

/** A clause as a sentence, with its code marked up. */
export function Sentence({ text }: { text: string }) {
  return <WithCode text={sentenceOf(text)} />;
}

/** Marks text between backquotes as code. */
export function WithCode({ text }: { text: string }) {
  const parts = plainText(text).split('`');
  return <>{parts.map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>;
}

interface TimeProps {
  at: string | null | undefined;
  /** The text if there is no time. */
  otherwise?: string;
}

/** A relative time. Its tooltip has the exact time. */
export function Time({ at, otherwise = 'never' }: TimeProps) {
  if (!isMoment(at)) return <Soft>{at ?? otherwise}</Soft>;
  return (
    <time dateTime={at} title={momentInWords(at)} class="nowrap">
      {fromNow(at)}
    </time>
  );
}

/** The exact time. The page names its zone once, next to the operator's name. */
export function WholeTime({ at }: { at: string }) {
  return (
    <time dateTime={at} title={momentInWords(at)}>
      {partsOf(at).text}
    </time>
  );
}

/** The exact and the relative time. */
export function TimeFromNow({ at, otherwise }: TimeProps) {
  if (!isMoment(at)) return <Time at={at} otherwise={otherwise} />;
  return (
    <span>
      <WholeTime at={at} /> <span class="soft nowrap">({fromNow(at)})</span>
    </span>
  );
}
