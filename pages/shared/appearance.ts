// The look that the host page decides: theme, accent, language, font, background.
// The address has it before the first paint. A message changes it later.
import type { Look } from '../protocol.js';
import { language, languageOf } from './language.js';

/** The background colours of the light and dark themes, as in theme.css. */
const GROUNDS = ['#ffffff', '#191f29'] as const;
/** WCAG 2.2, success criterion 1.4.3. */
const READABLE_CONTRAST = 4.5;
const COLOUR = /^#[\da-f]{6}$/i;
/** Matches font names, without characters that could load or compute something in CSS. */
const FONT = /^[\p{L}\d ,'"_-]{1,200}$/u;
/** The text colours of both themes, as in theme.css. */
const INKS = {
  'ground-ink': ['#1b2333', '#e7ebf3'],
  'ground-soft': ['#566177', '#a3aec2'],
  'ground-problem': ['#a3262f', '#ff9aa1'],
} as const;

/** Ignores a wrong or missing parameter. */
export function lookInAddress(search: string): Look {
  const query = new URLSearchParams(search);
  const text = (name: string) => query.get(name) ?? undefined;
  const theme = (['light', 'dark'] as const).find((known) => known === query.get('theme'));
  return {
    theme,
    accent: text('accent'),
    lang: text('lang'),
    hideHeader: query.get('hideHeader') === 'true',
    font: text('font'),
    background: text('background'),
    fullWidth: query.get('fullWidth') === 'true',
  };
}

export function applyLook({ theme, accent, lang, hideHeader, font, background, fullWidth }: Look): void {
  const root = document.documentElement;
  language.value = languageOf(lang, navigator.languages);
  root.lang = language.value;
  root.dataset['header'] = hideHeader === true ? 'hidden' : 'shown';
  root.dataset['width'] = fullWidth === true ? 'full' : 'bounded';
  if (theme === 'light' || theme === 'dark') root.dataset['theme'] = theme;
  else delete root.dataset['theme'];
  const properties = { ...coloursOf(accent, background), '--font': fontOf(font) };
  for (const [name, value] of Object.entries(properties)) root.style.setProperty(name, value);
}

function fontOf(font = ''): string {
  return FONT.test(font) && CSS.supports('font-family', font) ? font : '';
}

/** The colours that a host page sets, for both themes. An empty value keeps the page's own. */
export function coloursOf(accent = '', background = ''): Record<string, string> {
  const isColour = COLOUR.test(background);
  const accents = GROUNDS.map((ground) => (COLOUR.test(accent) ? readableOn(ground, accent) : ''));
  return {
    '--ground': isColour || background === 'transparent' ? background : '',
    ...inThemes('accent', accents),
    ...inThemes(
      'on-accent',
      accents.map((colour) => colour && inkOn(colour)),
    ),
    ...Object.fromEntries(
      Object.entries(INKS).flatMap(([name, inks]) =>
        Object.entries(
          inThemes(
            name,
            inks.map((ink) => (isColour ? readableOn(background, ink) : '')),
          ),
        ),
      ),
    ),
  };
}

function inThemes(name: string, [light = '', dark = '']: readonly string[]): Record<string, string> {
  return { [`--${name}-light`]: light, [`--${name}-dark`]: dark };
}

/** Returns the colour, or the nearest readable one towards black or white. */
function readableOn(ground: string, colour: string): string {
  // Black or white, whichever has more contrast. It is at least 4.58 on any background.
  const end = contrast(ground, '#000000') > contrast(ground, '#ffffff') ? 0 : 255;
  let channels = channelsOf(colour);
  while (contrast(hex(channels), ground) < READABLE_CONTRAST)
    channels = channels.map(
      (channel) => channel + Math.sign(end - channel) * Math.ceil(Math.abs(end - channel) / 16),
    );
  return hex(channels);
}

function inkOn(colour: string): string {
  return contrast(colour, '#ffffff') >= READABLE_CONTRAST ? '#ffffff' : '#000000';
}

/** WCAG 2.2, "contrast ratio". */
export function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

/** WCAG 2.2, "relative luminance". */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = channelsOf(colour)
    .map((channel) => channel / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function channelsOf(colour: string): number[] {
  return [1, 3, 5].map((start) => parseInt(colour.slice(start, start + 2), 16));
}

function hex(channels: readonly number[]): string {
  return `#${channels.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
}
