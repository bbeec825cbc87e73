// How the page looks where the host page has a say in it: theme, accent, language, header.
// What it says stands in the address, so that it is there before the first paint, and comes by message where it changes.

const LANGUAGES = ['en', 'de'];
const THEMES = ['light', 'dark'];
/** What text stands on, in the light theme and in the dark one: see theme.css. */
const GROUNDS = { light: '#ffffff', dark: '#191f29' };
/** WCAG 2.2, success criterion 1.4.3. */
const READABLE_CONTRAST = 4.5;
const COLOUR = /^#[\da-f]{6}$/i;

const root = document.documentElement;

/** The language that the page speaks: the one that is asked for, or the visitor's; English where it knows neither. */
export function languageOf(asked, spoken) {
  const wanted = asked ? [asked] : spoken;
  return wanted.map((tag) => tag.slice(0, 2).toLowerCase()).find((tag) => LANGUAGES.includes(tag)) ?? 'en';
}

/** Takes what the address says; what it does not say, or says wrongly, is left as it would be. */
export function appearanceInAddress(search = location.search) {
  const query = new URLSearchParams(search);
  return {
    theme: query.get('theme'),
    accent: query.get('accent'),
    lang: query.get('lang'),
    hideHeader: query.get('hideHeader') === 'true',
  };
}

/** Shows it. */
export function wear({ theme, accent, lang, hideHeader }) {
  root.lang = languageOf(lang, navigator.languages);
  root.dataset.header = hideHeader === true ? 'hidden' : 'shown';
  if (THEMES.includes(theme)) root.dataset.theme = theme;
  else delete root.dataset.theme;
  for (const [name, value] of Object.entries(accentColours(accent))) root.style.setProperty(name, value);
}

/** The accent in both themes, and what can be read on it; nothing where none is asked for. */
function accentColours(accent) {
  if (!COLOUR.test(accent ?? '')) return { '--accent': '', '--on-accent': '' };
  const light = readableOn(GROUNDS.light, accent);
  const dark = readableOn(GROUNDS.dark, accent);
  return {
    '--accent': `light-dark(${light}, ${dark})`,
    '--on-accent': `light-dark(${inkOn(light)}, ${inkOn(dark)})`,
  };
}

/** The colour itself, or the nearest one on its way to black or white that can be read. */
function readableOn(ground, colour) {
  const end = luminance(ground) > 0.5 ? 0 : 255;
  let channels = channelsOf(colour);
  while (contrast(hex(channels), ground) < READABLE_CONTRAST)
    channels = channels.map(
      (channel) => channel + Math.sign(end - channel) * Math.ceil(Math.abs(end - channel) / 16),
    );
  return hex(channels);
}

function inkOn(colour) {
  return contrast(colour, '#ffffff') >= READABLE_CONTRAST ? '#ffffff' : '#000000';
}

/** WCAG 2.2, "contrast ratio". */
function contrast(one, other) {
  const [darker, lighter] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

/** WCAG 2.2, "relative luminance". */
function luminance(colour) {
  const [red, green, blue] = channelsOf(colour)
    .map((channel) => channel / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function channelsOf(colour) {
  return [1, 3, 5].map((start) => parseInt(colour.slice(start, start + 2), 16));
}

function hex(channels) {
  return `#${channels.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
}
