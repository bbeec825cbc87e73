// Shared by all pages: a notice with one action, a problem next to its cause, and news for screen readers.
import type { ComponentChildren } from 'preact';

export interface NoticeProps {
  title: string;
  text?: string;
  /** The request's id for support, with its label. */
  reference?: { label: string; id: string };
  button?: { label: string; act: () => void };
  /** Whether it stands above the view. Otherwise it replaces the view. */
  isBanner?: boolean;
}

export function Notice({ title, text, reference, button, isBanner = false }: NoticeProps) {
  return (
    <section class={isBanner ? 'card banner' : 'card message'} role={isBanner ? 'alert' : undefined}>
      <h2>{title}</h2>
      {text !== undefined && <p class="soft">{text}</p>}
      {reference !== undefined && (
        <p class="soft">
          {reference.label} <code>{reference.id}</code>
        </p>
      )}
      {button !== undefined && (
        <button type="button" class="primary" onClick={button.act}>
          {button.label}
        </button>
      )}
    </section>
  );
}

export function Problem({ children }: { children: ComponentChildren }) {
  return children ? (
    <p class="problem" role="alert">
      {children}
    </p>
  ) : null;
}

/** Announced by assistive technology. */
export function News({ text }: { text: string }) {
  return (
    <p class="unseen" role="status">
      {text}
    </p>
  );
}

/** A placeholder for rows that load. */
export function Skeleton() {
  return (
    <ul class="card list skeleton" aria-hidden="true">
      {[1, 2, 3, 4, 5].map((row) => (
        <li key={row}>
          <span class="rule" />
          <span class="rule" />
        </li>
      ))}
    </ul>
  );
}

/** A button that keeps the focus while it works. A disabled one would lose it. */
export function BusyButton({
  isBusy,
  act,
  children,
  ...attributes
}: {
  isBusy: boolean;
  act: () => void;
  children: ComponentChildren;
  [attribute: string]: unknown;
}) {
  const click = () => isBusy || act();
  return (
    <button type="button" aria-disabled={isBusy} onClick={click} {...attributes}>
      {children}
    </button>
  );
}
