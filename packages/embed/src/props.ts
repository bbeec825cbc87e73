// The properties of the components for React and Vue, and the element's attributes that they become.
import type { Attribute, ElementOptions, FetchToken, OptionName } from './options.js';
import { attributeOf, ATTRIBUTES } from './options.js';

export interface EmbeddedInstanceProps extends ElementOptions {
  url: string;
  title: string;
  /** Fetches a new token of the user from your backend. The next login calls a changed function. */
  fetchToken: FetchToken;
}

export const PROPERTIES = Object.keys(ATTRIBUTES) as OptionName[];

/** Undefined and false leave an attribute out. */
export function attributesOf(props: ElementOptions): Record<Attribute, string | undefined> {
  const entries = PROPERTIES.map((name) => [attributeOf(name), valueOf(props[name])] as const);
  return Object.fromEntries(entries) as Record<Attribute, string | undefined>;
}

function valueOf(value: boolean | number | string | undefined): string | undefined {
  if (typeof value === 'boolean') return value ? '' : undefined;
  return value === undefined ? undefined : String(value);
}
