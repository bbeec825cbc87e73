// What each option of a frame must be.

/** There are no other options. */
const OPTION_CHECKS: Record<string, [isGood: (value: unknown) => boolean, must: string]> = {
  container: [(value) => value instanceof Element, 'be an element'],
  title: [(value) => typeof value === 'string' && value.trim() !== '', 'be a text'],
  url: [(value) => URL.canParse(String(value)), 'be an absolute URL'],
  height: [(value) => value === 'auto', 'be auto'],
  loginTimeoutSeconds: [(value) => typeof value === 'number' && value > 0, 'be more than 0'],
  errorUi: [(value) => value === 'none' || value instanceof HTMLElement, 'be none or an element'],
  theme: [(value) => ['light', 'dark', 'auto'].includes(String(value)), 'be light, dark or auto'],
  accent: [(value) => /^#[\da-f]{6}$/i.test(String(value)), 'be a colour like #2f5bd0'],
  background: [
    (value) => /^(#[\da-f]{6}|transparent)$/i.test(String(value)),
    'be a colour like #2f5bd0 or transparent',
  ],
  font: [(value) => /^[\p{L}\d ,'"_-]{1,200}$/u.test(String(value)), 'be names of fonts'],
  lang: [(value) => typeof value === 'string', 'be a language tag'],
  hideHeader: [(value) => typeof value === 'boolean', 'be true or false'],
  fullWidth: [(value) => typeof value === 'boolean', 'be true or false'],
};

/** What is wrong with an option; undefined where nothing is. */
export function optionFault(name: string, value: unknown): string | undefined {
  const check = OPTION_CHECKS[name];
  if (check === undefined) return `There is no option ${name}`;
  const [isGood, must] = check;
  const isOptional = name !== 'container' && name !== 'title' && name !== 'url';
  if ((isOptional && value === undefined) || isGood(value)) return undefined;
  return `${name} must ${must}, and is ${typeof value === 'string' ? `"${value}"` : String(value)}`;
}

/** @throws TypeError for an option that is unknown or not as described */
export function checkOptions(options: object): void {
  for (const [name, value] of Object.entries(options)) {
    const fault = optionFault(name, value);
    if (fault !== undefined) throw new TypeError(fault);
  }
}
