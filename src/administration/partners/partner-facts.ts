// The values in the code of a partner, and how each language quotes them.

/** What the code of a partner needs to know. Nothing of it is secret. */
export interface PartnerFacts {
  readonly issuer: string;
  readonly audience: string;
  /** The instance's address. */
  readonly baseUrl: string;
  readonly kid: string;
  readonly algorithm: string;
  /** The file with the private key, PEM. */
  readonly keyFile: string;
}

export const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:token-exchange';

export function tokenAddress({ baseUrl }: PartnerFacts): string {
  return `${baseUrl}/rest/auth/oauth/token`;
}

/** JavaScript, Ruby and PHP: nothing but backslash and quote has a meaning between single quotes. */
export function single(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}

/** Python, Go, Java and C#, which read the escapes of JSON. */
export function double(text: string): string {
  return JSON.stringify(text);
}

/** An attribute of HTML, JSX and Vue. */
export function attribute(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
