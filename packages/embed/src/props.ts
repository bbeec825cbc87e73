// What the components for React and Vue take, and the attributes of the element that it becomes.
import type { Appearance } from './options.js';

export interface EmbeddedInstanceProps extends Appearance {
  /** Origin of the instance. */
  url: string;
  /** What assistive technology calls the frame. */
  title: string;
  /** Fetches a new token of the user from your backend; another function serves the next login. */
  fetchToken: () => Promise<string>;
  /** Any text that changes with the user: then the element signs in anew. */
  userKey?: string;
  /** The path to show, at the start and whenever it changes. */
  redirectTo?: string;
  /** `auto`: the frame is as high as its page; else as your style says. */
  height?: 'auto';
  /** `none`: failures are shown by your page alone. */
  errorUi?: 'none';
}

export type Attribute =
  | 'url'
  | 'title'
  | 'height'
  | 'theme'
  | 'accent'
  | 'lang'
  | 'font'
  | 'background'
  | 'user-key'
  | 'redirect-to'
  | 'error-ui'
  | 'hide-header'
  | 'full-width';

/** An attribute that is undefined is left out. */
export function attributesOf(
  props: Omit<EmbeddedInstanceProps, 'fetchToken'>,
): Record<Attribute, string | undefined> {
  const { url, title, userKey, redirectTo, height, errorUi, hideHeader, fullWidth, ...look } = props;
  const { theme, accent, lang, font, background } = look;
  return {
    ...{ url, title, height, theme, accent, lang, font, background },
    'user-key': userKey,
    'redirect-to': redirectTo,
    'error-ui': errorUi,
    'hide-header': hideHeader === true ? '' : undefined,
    'full-width': fullWidth === true ? '' : undefined,
  };
}
