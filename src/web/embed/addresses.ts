// Addresses of the instance.
import type { Appearance } from './options.js';

/** The path itself where it is one of the instance, in WHATWG form; `/` otherwise. */
export function innerPath(origin: string, path: string): string {
  const url = URL.canParse(path, origin) ? new URL(path, origin) : undefined;
  return url?.origin === origin && path.startsWith('/') ? url.href.slice(origin.length) : '/';
}

/** With what the page there has to know before it is painted. */
export function dressed(origin: string, path: string, look: Appearance): string {
  const url = new URL(path, origin);
  for (const [name, value] of Object.entries(look)) if (value) url.searchParams.set(name, String(value));
  return url.href.slice(origin.length);
}

/** Only `/` reports its session: other targets are reached through a page that does. */
export function landing(origin: string, target: string, look: Appearance): string {
  const inner = innerPath(origin, target);
  if (new URL(inner, origin).pathname === '/') return dressed(origin, inner, look);
  return dressed(origin, `/renewed?${String(new URLSearchParams({ to: inner }))}`, look);
}

/** Frames share one cookie, so the address says for whom a page is. */
export function namingUser(address: string, userId: string): string {
  return `${address}${address.includes('#') ? '&' : '#'}user=${encodeURIComponent(userId)}`;
}
