// How the page looks where the host page has a say in it: theme, accent, language, header.
// What it says stands in the address, so that it is there before the first paint, and comes by message where it changes.

const LANGUAGES = ['en', 'de'];
const THEMES = ['light', 'dark'];
/** What text stands on, in the light theme and in the dark one: see theme.css. */
const GROUNDS = { light: '#ffffff', dark: '#191f29' };
/** WCAG 2.2, success criterion 1.4.3. */
const READABLE_CONTRAST = 4.5;
const COLOUR = /^#[\da-f]{6}$/i;
/** Names of fonts, without anything by which a value of CSS could load or compute something. */
const FONT = /^[\p{L}\d ,'"_-]{1,200}$/u;
/** What is written on the ground, in both themes: see theme.css. */
const INKS = {
  '--ground-ink': ['#1b2333', '#e7ebf3'],
  '--ground-soft': ['#566177', '#a3aec2'],
  '--ground-problem': ['#a3262f', '#ff9aa1'],
};

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
    font: query.get('font'),
    background: query.get('background'),
    fullWidth: query.get('fullWidth') === 'true',
  };
}

/** Shows it. */
export function wear({ theme, accent, lang, hideHeader, font, background, fullWidth }) {
  root.lang = languageOf(lang, navigator.languages);
  root.dataset.header = hideHeader === true ? 'hidden' : 'shown';
  root.dataset.width = fullWidth === true ? 'full' : 'bounded';
  if (THEMES.includes(theme)) root.dataset.theme = theme;
  else delete root.dataset.theme;
  const properties = { ...accentColours(accent), ...groundColours(background), '--font': fontOf(font) };
  for (const [name, value] of Object.entries(properties)) root.style.setProperty(name, value);
}

function fontOf(font) {
  return FONT.test(font ?? '') && CSS.supports('font-family', font) ? font : '';
}

/** The ground of the page, and what can be read on it; cards keep their own. */
function groundColours(background) {
  const isColour = COLOUR.test(background ?? '');
  const inks = Object.entries(INKS).map(([name, colours]) => {
    const [light, dark] = colours.map((colour) => isColour && readableOn(background, colour));
    return [name, isColour ? `light-dark(${light}, ${dark})` : ''];
  });
  const ground = isColour || background === 'transparent' ? background : '';
  return { '--ground': ground, ...Object.fromEntries(inks) };
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
  // Of black and white the one with more contrast, which is 4.58 at least on any ground.
  const end = contrast(ground, '#000000') > contrast(ground, '#ffffff') ? 0 : 255;
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
