// Shows of people what an operator may see.

/** An e-mail address, as `a***@p***.example`. */
export function maskedEmail(address: string): string {
  const at = address.lastIndexOf('@');
  if (at < 0) return masked(address);
  const [domain = '', ...rest] = address.slice(at + 1).split('.');
  const suffix = rest.length === 0 ? '' : `.${rest.at(-1) ?? ''}`;
  return `${masked(address.slice(0, at))}@${masked(domain)}${suffix}`;
}

/** The first character, where there are others. */
export function masked(text: string): string {
  const [first = '', ...others] = text;
  return others.length === 0 ? '***' : `${first}***`;
}
