// The options of a frame. Attributes, properties of components, checks and their documentation derive from these tables.

/** One option: its check, and how an attribute sets it. */
export interface Option<Value> {
  isGood(value: unknown): value is Value;
  /** The end of the message about a wrong value. */
  must: string;
  /** The constructor of the value, which Vue requires. */
  type: BooleanConstructor | NumberConstructor | StringConstructor;
}

function text(must: string, isGood: (value: string) => boolean): Option<string> {
  return {
    isGood: (value): value is string => typeof value === 'string' && isGood(value),
    must,
    type: String,
  };
}

function oneOf<const Word extends string>(...words: Word[]): Option<Word> {
  const isGood = (value: unknown): value is Word => words.includes(value as Word);
  return { isGood, must: words.join(' or '), type: String };
}

const FLAG: Option<boolean> = {
  isGood: (value): value is boolean => typeof value === 'boolean',
  must: 'true or false',
  type: Boolean,
};

const PIXELS: Option<number> = {
  isGood: (value): value is number => typeof value === 'number' && value > 0,
  must: 'a number of pixels',
  type: Number,
};

function isAddress(value: string): boolean {
  try {
    return /^https?:$/.test(new URL(value).protocol);
  } catch {
    return false;
  }
}

/** How the page in the frame looks. */
export const LOOKS = {
  /** `light`, `dark`, or `auto` for the browser's setting. @default `auto` */
  theme: oneOf('light', 'dark', 'auto'),
  /** The colour of buttons and links as `#rrggbb`. @default the instance's */
  accent: text('a colour like #2f5bd0', (value) => /^#[\da-f]{6}$/i.test(value)),
  /** The language: English or German. @default your page's `<html lang>` */
  lang: text('a language tag', () => true),
  /** Hides title, user and sign-out button. @default shown */
  hideHeader: FLAG,
  /** Installed fonts, such as `Inter, sans-serif`. @default the system's */
  font: text('names of fonts', (value) => /^[\p{L}\d ,'"_-]{1,200}$/u.test(value)),
  /** `#rrggbb` or `transparent`. With `transparent` set `theme` too. @default the instance's */
  background: text('a colour like #2f5bd0 or transparent', (value) =>
    /^(#[\da-f]{6}|transparent)$/i.test(value),
  ),
  /** The page is as wide as the frame. @default at most 80rem */
  fullWidth: FLAG,
};

/** Options that can change while the frame is shown. */
export const CHANGEABLE = {
  /** The frame's name for screen readers. @default required */
  title: text('a name', (value) => value.trim() !== ''),
  /** The path to show at the start, and whenever it changes. @default `/` */
  redirectTo: text('a path', () => true),
  /** The least height with `height="auto"`, in CSS pixels. @default none */
  minHeight: PIXELS,
  /** The greatest height with `height="auto"`, in CSS pixels. @default none */
  maxHeight: PIXELS,
  /** An address of your page with `{path}`, for new tabs. @default your page with `address="hash"` */
  linkTemplate: text('an absolute URL with {path}', (value) => value.includes('{path}') && isAddress(value)),
};

/** Options whose change needs another frame. */
export const FIXED = {
  /** The instance's address. @default the script's origin */
  url: text('an absolute URL', isAddress),
  /** Any string that changes with your user. @default none */
  userKey: text('a string', () => true),
  /** With `auto` the frame is as high as its page, which your page scrolls. @default your style's */
  height: oneOf('auto'),
  /** With `hash` your page's fragment follows the frame, and Back and Forward move it. @default none */
  address: oneOf('hash'),
  /** With `none` only your page shows failures. @default a notice */
  errorUi: oneOf('none'),
};

/** Every attribute of the element, by the name of its option. */
export const ATTRIBUTES = { ...CHANGEABLE, ...FIXED, ...LOOKS };

export type OptionName = keyof typeof ATTRIBUTES;
type Values<Table> = { [Name in keyof Table]?: Table[Name] extends Option<infer Value> ? Value : never };

export type Appearance = Values<typeof LOOKS>;
export type ChangeableOptions = Appearance & Values<typeof CHANGEABLE>;
export type ElementOptions = Values<typeof ATTRIBUTES>;

/** How to make a frame. */
export interface EmbeddedInstanceOptions extends Omit<ElementOptions, 'errorUi' | 'title'> {
  /** The element that contains the frame. Style the `iframe` in it. */
  container: Element;
  /** The frame's name for screen readers. */
  title: string;
  /** The longest time of a login or renewal in seconds; 30 by default. */
  loginTimeoutSeconds?: number;
  /** `none`, or an element of yours that is shown after a failure and otherwise hidden. */
  errorUi?: 'none' | HTMLElement;
}

/** Fetches a new token of the user from your backend. `jkt` is the thumbprint of the frame's key, to which the token may be bound. */
export type FetchToken = (request: { jkt: string }) => Promise<string>;
export type TokenSource = string | Promise<string> | FetchToken;

/** `hideHeader` as `hide-header`. */
export type AttributeOf<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `-${Lowercase<First>}`}${AttributeOf<Rest>}`
  : '';
export type Attribute = AttributeOf<OptionName>;

export function attributeOf<Name extends string>(name: Name): AttributeOf<Name> {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`) as AttributeOf<Name>;
}

/** Options of the class alone. */
const CLASS_OPTIONS = {
  container: { isGood: (value: unknown) => value instanceof Element, must: 'an element' },
  loginTimeoutSeconds: { ...PIXELS, must: 'more than 0' },
  errorUi: {
    isGood: (value: unknown) => value === 'none' || value instanceof HTMLElement,
    must: 'none or an element',
  },
};
const CHECKS: Record<string, { isGood(value: unknown): boolean; must: string }> = {
  ...ATTRIBUTES,
  ...CLASS_OPTIONS,
};
const REQUIRED = ['container', 'title', 'url'];

/** @returns what is wrong with an option; undefined if nothing is */
export function optionFault(name: string, value: unknown): string | undefined {
  const check = Object.hasOwn(CHECKS, name) ? CHECKS[name] : undefined;
  if (check === undefined) return `There is no option ${name}`;
  if ((value === undefined && !REQUIRED.includes(name)) || check.isGood(value)) return undefined;
  return `${name} is ${typeof value === 'string' ? `"${value}"` : String(value)}. It must be ${check.must}`;
}

/** @throws TypeError for an option that is unknown or has a wrong value */
export function checkOptions(options: object): void {
  for (const [name, value] of Object.entries(options)) {
    const fault = optionFault(name, value);
    if (fault !== undefined) throw new TypeError(fault);
  }
}

/** The unchecked value that an attribute has for an option. */
export function readAttribute(name: OptionName, given: string | null): unknown {
  const { type } = ATTRIBUTES[name];
  if (given === null) return undefined;
  if (type === Number) return Number(given);
  if (type === String) return given;
  // Frameworks write `hide-header="false"`.
  if (given === 'false') return false;
  return ['', 'true', attributeOf(name)].includes(given) || given;
}
