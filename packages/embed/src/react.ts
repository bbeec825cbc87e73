'use client';
// The element as a component for React.
import './embedded-instance-element.js';
import type { DetailedHTMLProps, HTMLAttributes, ReactElement, ReactNode } from 'react';
import { createElement, useEffect, useRef } from 'react';
import { EmbeddedInstance as Instance } from './embedded-instance.js';
import type { EmbeddedInstanceElement } from './embedded-instance-element.js';
import type { EmbeddedInstanceEvents } from './events.js';
import type { Attribute } from './options.js';
import type { EmbeddedInstanceProps as Props } from './props.js';
import { attributesOf } from './props.js';

/** The element's attributes in JSX, for use without the component. */
export type ElementAttributes = DetailedHTMLProps<
  HTMLAttributes<EmbeddedInstanceElement>,
  EmbeddedInstanceElement
> &
  Partial<Record<Attribute, string>>;

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'embedded-instance': ElementAttributes;
    }
  }
}

/** `session-ready` as `SessionReady`. */
type Pascal<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${Capitalize<First>}${Pascal<Rest>}`
  : Capitalize<Name>;
type Handlers = {
  [Name in keyof EmbeddedInstanceEvents as `on${Pascal<Name>}`]?: (
    detail: EmbeddedInstanceEvents[Name],
  ) => void;
};

export interface EmbeddedInstanceProps extends Props, Handlers {
  className?: string;
  /** A child with `slot="error"` is shown after a failed login. */
  children?: ReactNode;
  /** Called with the element after it is mounted, and with null after it is removed. */
  elementRef?: (element: EmbeddedInstanceElement | null) => void;
}

/** Effects set `fetchToken` and listeners: a server renders only attributes, and an element that is defined later keeps its properties. */
export function EmbeddedInstance(props: EmbeddedInstanceProps): ReactElement {
  const { fetchToken, className, children, elementRef } = props;
  const element = useRef<EmbeddedInstanceElement | null>(null);
  const latest = useRef(props);
  useEffect(() => {
    latest.current = props;
    if (element.current) element.current.fetchToken = fetchToken;
  });
  useEffect(() => {
    const { current } = element;
    const listeners = Instance.events.map((name) => {
      const property = `on-${name}`.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
      const listener = ({ detail }: CustomEvent) =>
        (latest.current as unknown as Record<string, ((detail: unknown) => void) | undefined>)[property]?.(
          detail,
        );
      current?.addEventListener(name, listener);
      return () => current?.removeEventListener(name, listener as EventListener);
    });
    elementRef?.(current);
    return () => {
      for (const remove of listeners) remove();
      elementRef?.(null);
    };
  }, []);
  return createElement(
    'embedded-instance',
    { ...attributesOf(props), class: className, ref: element },
    children,
  );
}
